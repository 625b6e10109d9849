"""What a world file says of objects made of particles, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import check_particles
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.world.soft_types import (
    DeformableMaterial,
    GranularMaterial,
    MeshBuildOptions,
    check_random_grains,
    grid_places,
    random_places,
)
from raisim_ros.description.world.types import BodyState, Numbers, ObjectEntry, WireEndEntry

Arrays = dict[str, NDArray[Any]]

# Arrays of particles by name: whole numbers or not, and numbers of each.
GRAIN_ARRAYS = {
    "pos": (float, 3),
    "radius": (float, 1),
    "vel": (float, 3),
    "ang_vel": (float, 3),
    "grain": (int, 1),
    "fixed": (int, 1),
}
VERTEX_ARRAYS = {
    "pos": (float, 3),
    "vel": (float, 3),
    "mass": (float, 1),
    "triangles": (int, 3),
    "struts": (int, 2),
    "strut_state": (float, 3),
    "hinges": (int, 6),
    "hinge_state": (float, 9),
    "tetrahedra": (int, 4),
    "tetrahedron_state": (float, 14),
    "substep": (float, 1),
}


@dataclass
class GrainFill:
    """A box [m] that is filled with grains: on a grid, or up to `count` at random places."""

    low: Numbers
    high: Numbers
    radius: Numbers  # one for all or, at random places, the least and the greatest [m]
    spacing: float | None = None  # of the grid; None: they touch
    count: int | None = None  # None: on a grid
    seed: int = 0
    velocity: Numbers = (0.0, 0.0, 0.0)
    grain: int = 0

    def most_grains(self) -> float:
        """How many there will be, at most."""
        if self.count is not None:
            return float(self.count)
        step = 2.0 * self.radius[0] if self.spacing is None else self.spacing
        lengths = np.subtract(self.high, self.low) - 2.0 * self.radius[0]
        return float(np.prod(np.floor(np.maximum(0.0, 1.0 + lengths / step + 1e-9))))


@dataclass
class GranularEntry(ObjectEntry):
    """Grains; `arrays` as GRAIN_ARRAYS tells, all of them optional but pos and radius."""

    grains: list[GranularMaterial] = field(default_factory=lambda: [GranularMaterial()])
    boundary: GranularMaterial | None = None  # None: as the first grain
    arrays: Arrays = field(default_factory=dict)
    fills: list[GrainFill] = field(default_factory=list)
    ground: float | None = None
    container: tuple[Numbers, Numbers] | None = None
    periodic: tuple[Numbers, Numbers, tuple[bool, bool, bool]] | None = None


@dataclass
class PinEntry:
    """Vertices that stay where they are, or move with a body: by index, or all in a box."""

    vertices: tuple[int, ...] = ()
    box: tuple[Numbers, Numbers] | None = None
    body: WireEndEntry | None = None  # None: the world
    points: Numbers = ()  # where, in the frame of the body, three numbers for each vertex; none: where they are now


@dataclass
class DeformableEntry(ObjectEntry):
    """Cloth or a shell: of a mesh file, or of `arrays` as VERTEX_ARRAYS tells; `state` places it."""

    substance: DeformableMaterial = field(default_factory=DeformableMaterial)
    file: Path | None = None
    scale: Numbers = (1.0, 1.0, 1.0)
    arrays: Arrays = field(default_factory=dict)
    build: MeshBuildOptions | None = None  # None: its vertices and triangles as they are
    pins: list[PinEntry] = field(default_factory=list)
    wind: Numbers = (0.0, 0.0, 0.0)
    state: BodyState = field(default_factory=BodyState)


class ParticleBudget:
    """What the soft objects of a world may have together, as far as it is known before they are made."""

    def __init__(self, entries: Iterable[ObjectEntry] = ()) -> None:
        self._particles = self._at_random = 0.0
        for entry in entries:
            self.take(entry)

    def take(self, entry: ObjectEntry) -> None:
        """Count another one; raises InvalidValueError when it is too much."""
        if not isinstance(entry, (GranularEntry, DeformableEntry)):
            return
        fills = entry.fills if isinstance(entry, GranularEntry) else []
        self._particles += len(entry.arrays.get("pos", ())) + sum(fill.most_grains() for fill in fills)
        self._at_random += sum(fill.count or 0 for fill in fills)
        check_particles("the world", self._particles)
        check_random_grains("the world", self._at_random)


def rectangle(x: float, y: float, x_cells: int, y_cells: int) -> Arrays:
    """Vertices and triangles of a flat sheet around the origin; its cells are cut along alternating diagonals."""
    if not (1 <= x_cells <= 2000 and 1 <= y_cells <= 2000):
        raise InvalidValueError(f"there are {x_cells} x {y_cells} cells; expected 1 to 2000 along each side")
    check_particles("the sheet", (x_cells + 1.0) * (y_cells + 1.0))
    columns, rows = np.meshgrid(np.arange(x_cells + 1), np.arange(y_cells + 1))
    places = [(columns / x_cells - 0.5) * x, (rows / y_cells - 0.5) * y, np.zeros(columns.shape)]
    corner = (rows[:-1, :-1] * (x_cells + 1) + columns[:-1, :-1]).reshape(-1)
    a, b, c, d = corner, corner + 1, corner + x_cells + 1, corner + x_cells + 2
    even = ((rows + columns)[:-1, :-1].reshape(-1) % 2 == 0)[:, None]
    first = np.where(even, np.column_stack([a, b, d]), np.column_stack([a, b, c]))
    second = np.where(even, np.column_stack([a, d, c]), np.column_stack([b, d, c]))
    triangles = np.stack([first, second], axis=1).reshape(-1, 3)
    return {"pos": np.stack(places, axis=-1).reshape(-1, 3), "triangles": triangles}


def filled(entry: GranularEntry) -> Arrays:
    """The arrays of an entry with the grains of its boxes; random ones keep clear of all that come before."""
    arrays = dict(entry.arrays) or {"pos": np.zeros((0, 3)), "radius": np.zeros(0)}
    count = len(arrays["pos"])
    ParticleBudget([entry])
    points, radii = [arrays["pos"]], [np.broadcast_to(arrays["radius"], count)]
    velocities = [arrays.get("vel", np.zeros((count, 3)))]
    grains = [arrays.get("grain", np.zeros(count, np.int32))]
    for fill in entry.fills:
        low, high = np.array(fill.low), np.array(fill.high)
        if fill.count is None:
            x = grid_places(low, high, fill.radius[0], fill.spacing)
            r = np.full(len(x), fill.radius[0])
        else:
            least, most = fill.radius[0], fill.radius[-1]
            near, near_radii = np.concatenate(points), np.concatenate(radii)
            x, r = random_places(low, high, fill.count, (least, most), fill.seed, near, near_radii)
        points.append(x)
        radii.append(r)
        velocities.append(np.tile(np.array(fill.velocity), (len(x), 1)))
        grains.append(np.full(len(x), fill.grain, np.int32))
    made = {"pos": points, "radius": radii, "vel": velocities, "grain": grains}
    arrays |= {name: np.ascontiguousarray(np.concatenate(parts)) for name, parts in made.items()}
    added = len(arrays["pos"]) - count
    for name, shape in (("ang_vel", (added, 3)), ("fixed", (added,))):
        if name in arrays:
            arrays[name] = np.concatenate([arrays[name], np.zeros(shape, arrays[name].dtype)])
    return arrays


def vertices_of(vertices: NDArray[np.float64], pin: PinEntry) -> list[int]:
    """Indices of the vertices of a pin; boxes count where they are before the object is placed."""
    chosen = pinned_vertices(vertices, [pin])
    if chosen and chosen[-1] >= len(vertices):
        raise InvalidValueError(f"vertex {chosen[-1]} is to be pinned; there are {len(vertices)}")
    return list(pin.vertices) if pin.box is None else chosen


def pinned_vertices(vertices: NDArray[np.float64], pins: list[PinEntry]) -> list[int]:
    """Indices of all vertices that are pinned; boxes count where they are before the object is placed."""
    chosen: set[int] = set()
    for pin in pins:
        if pin.box is None:
            chosen.update(pin.vertices)
            continue
        low, high = (np.array(corner) - 1e-9 * sign for corner, sign in zip(pin.box, (1.0, -1.0), strict=True))
        inside = np.flatnonzero(((vertices >= low) & (vertices <= high)).all(axis=1))
        if not len(inside):
            raise InvalidValueError(f"no vertex lies in the box from {pin.box[0]} to {pin.box[1]} that is to be pinned")
        chosen.update(int(k) for k in inside)
    return sorted(chosen)


def placed(points: NDArray[np.float64], state: BodyState) -> NDArray[np.float64]:
    """Points of the object's own frame in the world."""
    if state.position == (0.0, 0.0, 0.0) and state.quaternion == (1.0, 0.0, 0.0, 0.0):
        return points  # to the bit
    moved: NDArray[np.float64] = points @ matrix_from_quaternion(state.quaternion).T + np.array(state.position)
    return moved
