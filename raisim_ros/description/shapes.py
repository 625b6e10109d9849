"""The primitive shapes: what each is called, what its numbers mean, where it ends, how it is drawn and what robot files
call it. SI units.

Adding one touches this file, engine/entries/primitives.py (its handle and ``World.add_<name>``) and the engine: its
number in `rs_shape_type`, model/shape.c, a row of the pair table in collision/narrow_phase.c. Its mass and inertia as a
uniform solid are the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

Corner = tuple[float, float, float]
Dim = Sequence[float]


class ObjectType(IntEnum):
    """What an object is."""

    SPHERE = 0
    BOX = 1
    CYLINDER = 2
    CONE = 3
    CAPSULE = 4
    MESH = 5
    GROUND = 6
    COMPOUND = 7
    HEIGHTMAP = 8
    ARTICULATED_SYSTEM = 9
    LIGHT = 10
    VIEW_CAMERA = 11
    GRANULAR = 12
    DEFORMABLE = 13


class ShapeType(IntEnum):
    """Shape of a collision body; the numbers are those of the engine's `rs_shape_type`."""

    SPHERE = 0
    BOX = 1
    CYLINDER = 2
    CONE = 3
    CAPSULE = 4
    CONVEX = 5
    HALF_SPACE = 6
    MESH = 7
    HEIGHTMAP = 8


@dataclass(frozen=True)
class Piece:
    """A solid of `solids.SOLIDS`, as long as `size` along each axis, at `z` on the axis of the shape that it draws."""

    solid: str
    size: Corner
    z: float = 0.0


@dataclass(frozen=True)
class Shape:
    """A primitive shape. `fields` names the numbers in its `dim`.

    `urdf`: its attributes in URDF, each with other spellings behind it; one for all numbers, or one each; empty: robot
    files do not have it; `urdf_own`: other programs may not know it. `mjcf`: its numbers divided by those of a geom's
    size in MJCF; empty: unknown there.
    """

    name: str
    fields: tuple[str, ...]
    top: Callable[[Dim], Corner]  # corner of the box around it, in its frame
    pieces: Callable[[Dim], tuple[Piece, ...]]
    bottom: Callable[[Dim], Corner] | None = None  # the opposite one; None: by symmetry
    urdf: tuple[str, ...] = ()
    urdf_own: bool = False
    mjcf: tuple[float, ...] = ()

    def box(self, dim: Dim) -> tuple[Corner, Corner]:
        """Lowest and highest corner of the box around it, in its frame [m]."""
        top = self.top(dim)
        return self.bottom(dim) if self.bottom else (-top[0], -top[1], -top[2]), top

    def dim_of(self, message: Any) -> tuple[float, ...]:
        """Its numbers in a message with `radius`, `height` and `size` (x, y, z)."""
        values = {"radius": message.radius, "height": message.height, **dict(zip("xyz", message.size, strict=True))}
        return tuple(float(values[field]) for field in self.fields)


def _round(solid: str, dim: Dim) -> Piece:
    return Piece(solid, (2.0 * dim[0], 2.0 * dim[0], dim[1]))


def _ball(radius: float, z: float = 0.0) -> Piece:
    return Piece("ball", (2.0 * radius, 2.0 * radius, 2.0 * radius), z)


# What the numbers mean.
FIELDS = {
    "radius": "radius [m]",
    "height": "full height, of a capsule the distance of its sphere centres [m]",
    **{axis: f"full length along {axis} [m]" for axis in "xyz"},
}

SHAPES = {
    shape.name: shape
    for shape in (
        Shape(
            "sphere",
            ("radius",),
            top=lambda dim: (dim[0], dim[0], dim[0]),
            pieces=lambda dim: (_ball(dim[0]),),
            urdf=("radius",),
            mjcf=(1.0,),
        ),
        Shape(
            "box",
            ("x", "y", "z"),
            top=lambda dim: (0.5 * dim[0], 0.5 * dim[1], 0.5 * dim[2]),
            pieces=lambda dim: (Piece("block", (dim[0], dim[1], dim[2])),),
            urdf=("size",),
            mjcf=(2.0, 2.0, 2.0),
        ),
        Shape(
            "cylinder",
            ("radius", "height"),
            top=lambda dim: (dim[0], dim[0], 0.5 * dim[1]),
            pieces=lambda dim: (_round("rod", dim),),
            urdf=("radius", "length"),
            mjcf=(1.0, 2.0),
        ),
        Shape(  # its origin is the centroid of the solid
            "cone",
            ("radius", "height"),
            top=lambda dim: (dim[0], dim[0], 0.75 * dim[1]),
            bottom=lambda dim: (-dim[0], -dim[0], -0.25 * dim[1]),
            pieces=lambda dim: (_round("cone", dim),),
        ),
        Shape(
            "capsule",
            ("radius", "height"),
            top=lambda dim: (dim[0], dim[0], 0.5 * dim[1] + dim[0]),
            pieces=lambda dim: (_round("tube", dim), _ball(dim[0], 0.5 * dim[1]), _ball(dim[0], -0.5 * dim[1])),
            urdf=("radius", "height length"),
            urdf_own=True,
            mjcf=(1.0, 2.0),
        ),
    )
}


def pieces(shape: str, dim: Iterable[float]) -> tuple[Piece, ...]:
    """What draws a shape, in its frame; nothing for shapes that are not in the table."""
    known = SHAPES.get(shape)
    return known.pieces([float(value) for value in dim]) if known else ()


# What collides in the place of a mesh object.
MESH_MODES = ("original", "convex_hull", "convexify")
