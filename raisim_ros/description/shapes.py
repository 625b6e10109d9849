"""The primitive shapes: what each is called, what its numbers mean, where it ends. SI units.

Adding one touches this table, the engine's (csrc/model/shape.h and the pair table of csrc/collision), what draws it
(ros/objects/markers.py, viewer/surfaces.py) and ``World.add_<name>``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Corner = tuple[float, float, float]


@dataclass(frozen=True)
class Shape:
    """A primitive shape. `fields` names the numbers in its `dim`; `in_robots`: robot files have it, too."""

    name: str
    fields: tuple[str, ...]
    top: Callable[[Sequence[float]], Corner]  # corner of the box around it, in its frame
    bottom: Callable[[Sequence[float]], Corner] | None = None  # the opposite one; None: by symmetry
    in_robots: bool = True

    def box(self, dim: Sequence[float]) -> tuple[Corner, Corner]:
        """Lowest and highest corner of the box around it, in its frame [m]."""
        top = self.top(dim)
        return self.bottom(dim) if self.bottom else (-top[0], -top[1], -top[2]), top

    def dim_of(self, message: Any) -> tuple[float, ...]:
        """Its numbers in a message with `radius`, `height` and `size` (x, y, z)."""
        values = {"radius": message.radius, "height": message.height, **dict(zip("xyz", message.size, strict=True))}
        return tuple(float(values[field]) for field in self.fields)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("sphere", ("radius",), lambda dim: (dim[0], dim[0], dim[0])),
        Shape("box", ("x", "y", "z"), lambda dim: (0.5 * dim[0], 0.5 * dim[1], 0.5 * dim[2])),
        Shape("cylinder", ("radius", "height"), lambda dim: (dim[0], dim[0], 0.5 * dim[1])),
        Shape(  # its origin is the centroid of the solid
            "cone",
            ("radius", "height"),
            lambda dim: (dim[0], dim[0], 0.75 * dim[1]),
            lambda dim: (-dim[0], -dim[0], -0.25 * dim[1]),
            in_robots=False,
        ),
        Shape("capsule", ("radius", "height"), lambda dim: (dim[0], dim[0], 0.5 * dim[1] + dim[0])),
    )
}

# What collides in the place of a mesh object.
MESH_MODES = ("original", "convex_hull", "convexify")
