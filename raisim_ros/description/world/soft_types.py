"""Plain values of objects made of particles: materials and how they are built."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.checked import flag, is_whole, number, one_of, shown
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import check_particles, get_file_limits


@dataclass(frozen=True)
class GranularMaterial:
    """What grains are made of.

    Surfaces that overlap repel each other by a spring [N/m] and a damper [N s/m] along the normal; with `hertz` the
    force is normal_stiffness * sqrt(radius) * overlap^1.5 [N/m^2]. A tangential spring (0: half as stiff as the normal
    one) slips at `friction` times the normal force; `rolling_friction` times normal force and radius is the largest
    torque against rolling. Surfaces nearer than `cohesion_distance` [m] pull: cohesion_stiffness * (distance - gap).

    Of two materials springs and dampers act in series, friction and cohesion are geometric means. `substeps` is the
    least number of substeps in a step; as many are made as stiffness and mass ask for.
    """

    density: float = 1600.0
    normal_stiffness: float = 1e5
    normal_damping: float = 20.0
    tangential_stiffness: float = 0.0
    tangential_damping: float = 0.0
    friction: float = 0.5
    rolling_friction: float = 0.0
    cohesion_stiffness: float = 0.0
    cohesion_distance: float = 0.0
    hertz: bool = False
    substeps: int = 1

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "hertz":
                flag(one.name, value)
            elif one.name == "substeps":
                if not is_whole(value) or not 1 <= value <= 100000:
                    raise InvalidValueError(f"substeps is {shown(value)}; expected 1 to 100000")
            elif number(one.name, value) < 0.0 or (one.name in ("density", "normal_stiffness") and not value > 0.0):
                least = "greater than 0" if one.name in ("density", "normal_stiffness") else "at least 0"
                raise InvalidValueError(f"{one.name} is {shown(value)}; expected a number {least}")


_TRIES = 30  # places that are tried for a grain before it is left out


def grid_places(low: NDArray[Any], high: NDArray[Any], radius: float, spacing: float | None) -> NDArray[np.float64]:
    """Centres of equal balls on a regular grid in a box [m]; spacing None: they touch."""
    step = 2.0 * radius if spacing is None else spacing
    along = np.maximum(0.0, np.floor(1.0 + (high - low - 2.0 * radius) / step + 1e-9))  # balls along each axis
    if not along.all():
        return np.zeros((0, 3))
    check_particles("the box", float(np.prod(along)))
    axes = [np.arange(a + radius, b - radius + 1e-9 * step, step) for a, b in zip(low, high, strict=True)]
    return np.ascontiguousarray(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3))


def check_random_grains(what: str, count: float) -> None:
    """Raises InvalidValueError where more would be put to random places than `max_random_grains`."""
    most = get_file_limits().max_random_grains
    if not count <= most:
        limit = f"at most {most} (limit max_random_grains), or a grid"
        raise InvalidValueError(f"{what} would get {count:g} grains at random places; expected {limit}")


def random_places(
    low: NDArray[Any],
    high: NDArray[Any],
    count: int,
    radii: tuple[float, float],
    seed: int,
    near: NDArray[Any],
    near_radii: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Up to `count` balls (least, greatest radius) at random places of a box: centres and radii [m]."""
    check_random_grains("the box", count)
    random = np.random.default_rng(seed)
    return scatter(random, low, high, random.uniform(*radii, count), near, near_radii)


_Cell = tuple[int, int, int]
_Ball = tuple[float, float, float, float]  # place and radius
# A cell and those around it: first those where an overlap is most likely.
_AROUND = sorted(product((-1, 0, 1), repeat=3), key=lambda shift: sum(map(abs, shift)))


def _cells_of(points: NDArray[Any], size: float) -> list[_Cell]:
    return [(int(i), int(j), int(k)) for i, j, k in np.floor(points / size).tolist()]


def scatter(
    random: np.random.Generator,
    low: NDArray[Any],
    high: NDArray[Any],
    radii: NDArray[Any],
    near: NDArray[Any],
    near_radii: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places of balls in a box where none overlaps another or those near: largest first, those that fit."""
    ordered = np.sort(np.asarray(radii, dtype=np.float64))[::-1]
    if not len(ordered):
        return np.zeros((0, 3)), ordered
    size = 2.0 * max(float(ordered[0]), float(np.max(near_radii, initial=0.0)))
    cells: dict[_Cell, list[_Ball]] = {}

    def is_free(x: float, y: float, z: float, radius: float, cell: _Cell) -> bool:
        i, j, k = cell
        for di, dj, dk in _AROUND:
            for x_, y_, z_, other in cells.get((i + di, j + dj, k + dk), ()):
                if (x - x_) ** 2 + (y - y_) ** 2 + (z - z_) ** 2 < (radius + other) ** 2:
                    return False
        return True

    for (x, y, z), cell, radius in zip(near.tolist(), _cells_of(near, size), near_radii.tolist(), strict=True):
        cells.setdefault(cell, []).append((x, y, z, radius))
    kept: list[_Ball] = []
    for radius in ordered.tolist():
        if np.any(high - low < 2.0 * radius):
            continue
        tries = random.uniform(low + radius, high - radius, (_TRIES, 3))
        for (x, y, z), cell in zip(tries.tolist(), _cells_of(tries, size), strict=True):
            if is_free(x, y, z, radius, cell):
                kept.append((x, y, z, radius))
                cells.setdefault(cell, []).append(kept[-1])
                break
    table = np.array(kept).reshape(-1, 4)
    return np.ascontiguousarray(table[:, :3]), np.ascontiguousarray(table[:, 3])


_NOT_NEGATIVE = ("damping", "air_drag")
_POSITIVE = ("total_mass", "distance_stiffness", "thickness", "collision_radius")


@dataclass(frozen=True)
class DeformableMaterial:
    """What cloth and other deformable objects are made of.

    `total_mass` [kg] is shared out by area. Edges give way by `distance_compliance` [m/N], -1: 1 / distance_stiffness;
    `bend_compliance` is 1 / flexural rigidity [1/(N m)], -1: nothing resists bending. With a `youngs_modulus` [N/m^2]
    edges and bending follow from it, from `poisson_ratio` and from the `thickness` [m]; filled bodies are then made of
    neo-Hookean tetrahedra of that modulus and ratio instead of edges. `volume_compliance` is 1 / bulk modulus [m^2/N]
    of filled bodies without Young's modulus, -1: edges alone keep their volume. `damping` is the rate at which
    velocities decay [1/s]; across the surface the air presses with air_drag * (speed against the wind)^2 [N/m^2]. Every
    vertex collides as a ball of `collision_radius` [m]. `solver_mode` "PBD" takes edges as stiff. `iterations` and
    `substeps` (at least so many; more where stiffness asks for them) make the solution finer. What is stretched by more
    than `tear_strain` of its length tears, -1: nothing does.
    """

    total_mass: float = 1.0
    distance_stiffness: float = 1e4
    distance_compliance: float = -1.0
    bend_compliance: float = -1.0
    youngs_modulus: float = -1.0
    poisson_ratio: float = 0.3
    volume_compliance: float = -1.0
    thickness: float = 0.01
    damping: float = 0.0
    air_drag: float = 0.0
    self_collision: bool = False
    collision_radius: float = 0.01
    tear_strain: float = -1.0
    iterations: int = 6
    substeps: int = 1
    solver_mode: str = "XPBD"

    def __post_init__(self) -> None:
        for name in (*_POSITIVE, *_NOT_NEGATIVE):
            value = number(name, getattr(self, name))
            if not value >= 0.0 or (name in _POSITIVE and value < 1e-30) or value > 1e30:
                least = "1e-30" if name in _POSITIVE else "0"
                raise InvalidValueError(f"{name} is {shown(value)}; expected a number from {least} to 1e30")
        for name in ("distance_compliance", "bend_compliance", "youngs_modulus", "volume_compliance", "tear_strain"):
            value = number(name, getattr(self, name))
            positive = name in ("youngs_modulus", "volume_compliance", "tear_strain")
            if not (0.0 <= value <= 1e30 or value == -1.0) or (positive and 0.0 <= value < 1e-30):
                least = "1e-30" if positive else "0"
                raise InvalidValueError(f"{name} is {shown(value)}; expected a number from {least} to 1e30, or -1")
        if not -1.0 < number("poisson_ratio", self.poisson_ratio) < 0.5:
            raise InvalidValueError(
                f"poisson_ratio is {shown(self.poisson_ratio)}; expected more than -1, less than 0.5"
            )
        for name, most in (("iterations", 10000), ("substeps", 100000)):
            value = getattr(self, name)
            if not is_whole(value) or not 1 <= value <= most:
                raise InvalidValueError(f"{name} is {shown(value)}; expected 1 to {most}")
        one_of("solver_mode", self.solver_mode, ("XPBD", "PBD"))
        flag("self_collision", self.self_collision)


@dataclass(frozen=True)
class MeshBuildOptions:
    """How a mesh becomes a deformable object.

    `mode` "surface": a shell whose edges are halved until none is longer than `spacing` [m]; "filled": a closed mesh is
    filled with tetrahedra about that long, with at most `max_fill_particles` particles inside. `internal_struts`
    "pairs_within_radius" keeps all particles within `strut_radius` [m] of each other at their distances, with
    `strut_compliance` [m/N], -1: that of the material's edges. `scale` of a mesh file.
    """

    mode: str = "surface"
    spacing: float = 0.05
    max_fill_particles: int = 50000
    internal_struts: str = "none"
    strut_radius: float = 0.1
    strut_compliance: float = -1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        one_of("mode", self.mode, ("surface", "filled"))
        one_of("internal_struts", self.internal_struts, ("none", "pairs_within_radius"))
        for name in ("spacing", "strut_radius", "scale"):
            if not 0.0 < number(name, getattr(self, name)) <= 1e6:
                raise InvalidValueError(f"{name} is {shown(getattr(self, name))}; expected a number greater than 0")
        if not (0.0 <= number("strut_compliance", self.strut_compliance) <= 1e30 or self.strut_compliance == -1.0):
            raise InvalidValueError(
                f"strut_compliance is {shown(self.strut_compliance)}; expected a number, at least 0, or -1"
            )
        if not is_whole(self.max_fill_particles) or not 0 <= self.max_fill_particles <= 10_000_000:
            raise InvalidValueError(f"max_fill_particles is {shown(self.max_fill_particles)}; expected 0 to 10000000")
