"""The handle of grains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.array_file import pack, read_arrays
from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.world.soft_types import GranularMaterial, grid_places, random_places
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.soft_handles import SoftObject

_STATE_KEYS = ("positions", "velocities", "angular_velocities", "radii", "material_index", "fixed", "materials")


@dataclass(frozen=True)
class GranularStepStats:
    """What the last step did with grains.

    `largest_overlap` is relative to the smaller radius; the list of pairs near each other was made `rebuilds` times.
    """

    substeps: int
    contacts: int
    pairs: int
    rebuilds: int
    largest_overlap: float
    largest_speed: float


def fill_material(out: Any, material: GranularMaterial) -> Any:
    """The engine's struct of a material."""
    arguments.instance("material", material, GranularMaterial)
    for one in fields(material):
        if one.name != "substeps":
            setattr(out, one.name, getattr(material, one.name))
    return out


def _material_of(struct: Any, substeps: int = 1) -> GranularMaterial:
    values = {one.name: getattr(struct, one.name) for one in fields(GranularMaterial) if one.name != "substeps"}
    return GranularMaterial(**values | {"hertz": bool(struct.hertz), "substeps": substeps})


def grain_tables(positions: Any, radii: Any, velocities: Any = None) -> tuple[Vector, Vector, Vector | None]:
    """Places, radii (one for all, or one each) and velocities of grains, as the engine wants them."""
    x = np.ascontiguousarray(arguments.table("positions", positions, (-1, 3)))
    r = arguments.table("radii", radii, (-1,))
    if r.size not in (1, len(x)):
        raise InvalidValueError(f"radii has {r.size} numbers; expected 1 or {len(x)}")
    r = np.ascontiguousarray(np.broadcast_to(r, len(x)))
    if velocities is None:
        return x, r, None
    v = np.ascontiguousarray(np.broadcast_to(arguments.table("velocities", velocities, (-1, 3)), x.shape))
    return x, r, v


class GranularSystem(SoftObject):
    """Grains: many spheres that collide with each other, with bodies, robots, terrain and ground."""

    Material: ClassVar[type[GranularMaterial]] = GranularMaterial

    # ---- boundaries ----

    def set_ground_plane(self, height: float = 0.0) -> None:
        """Let these grains lie on a plane of their own at z = `height` [m]."""
        check(lib.rs_grains_set_ground(self._c, self._engine_id, 1, arguments.number("height", height)))

    def disable_ground_plane(self) -> None:
        """Take the plane of set_ground_plane() away."""
        check(lib.rs_grains_set_ground(self._c, self._engine_id, 0, 0.0))

    def set_container_box(self, minimum: VectorLike, maximum: VectorLike) -> None:
        """Keep these grains within walls of their own: two corners of a box [m]."""
        check(lib.rs_grains_set_container(self._c, self._engine_id, 1, _corners(minimum, maximum)))

    def disable_container_box(self) -> None:
        """Take the walls of set_container_box() away."""
        check(lib.rs_grains_set_container(self._c, self._engine_id, 0, [0.0] * 6))

    def set_periodic_boundary(
        self, minimum: VectorLike, maximum: VectorLike, axes: Sequence[bool] = (True, True, False)
    ) -> None:
        """Let grains that leave a box [m] on one side enter it on the other, along the axes (x, y, z) that are True.

        The box must be at least 8 radii wide along them.
        """
        if not isinstance(axes, Iterable):
            raise InvalidValueError(f"axes is {arguments.shown(axes)}; expected three flags")
        flags = [int(arguments.flag("axes", one)) for one in axes]
        if len(flags) != 3:
            raise InvalidValueError(f"axes has {len(flags)} entries; expected 3")
        check(lib.rs_grains_set_periodic(self._c, self._engine_id, flags, _corners(minimum, maximum)))

    def set_boundary_material(self, material: GranularMaterial) -> None:
        """Set friction and rolling friction of ground plane and container."""
        check(lib.rs_grains_set_boundary_material(self._c, self._engine_id, _struct(material)))

    # ---- grains ----

    def add_particle(
        self,
        position: VectorLike,
        radius: float,
        velocity: VectorLike = (0.0, 0.0, 0.0),
        material: GranularMaterial | None = None,
    ) -> int:
        """Add a grain [m, m/s]; returns its index."""
        self.add_particles([position], [radius], [velocity], material)
        return self.get_num_particles() - 1

    def add_particles(
        self, positions: Any, radii: Any, velocities: Any = None, material: GranularMaterial | None = None
    ) -> None:
        """Add many grains at the end [m, m/s]: N x 3, radii for each or one for all. None: the object's material."""
        x, r, v = grain_tables(positions, radii, velocities)
        chosen = _struct(self.get_material() if material is None else material)
        check(lib.rs_grains_add(self._c, self._engine_id, len(x), c_array(x), c_array(r), c_array(v), chosen))

    def remove_particle(self, index: int) -> None:
        """Remove a grain; the last one takes its index."""
        check(lib.rs_grains_remove(self._c, self._engine_id, arguments.count("index", index)))

    def emit_box(
        self,
        minimum: VectorLike,
        maximum: VectorLike,
        radius: float,
        spacing: float | None = None,
        velocity: VectorLike = (0.0, 0.0, 0.0),
        material: GranularMaterial | None = None,
    ) -> int:
        """Fill a box with grains on a regular grid, `spacing` apart (default: touching) [m]; returns their number."""
        low, high = np.array(_corners(minimum, maximum)).reshape(2, 3)
        r = _positive("radius", radius)
        points = grid_places(low, high, r, None if spacing is None else _positive("spacing", spacing))
        self.add_particles(points, [r], [velocity], material)
        return len(points)

    def emit_box_random(
        self,
        minimum: VectorLike,
        maximum: VectorLike,
        count: int,
        radius: float | Sequence[float],
        velocity: VectorLike = (0.0, 0.0, 0.0),
        material: GranularMaterial | None = None,
        seed: int = 0,
    ) -> int:
        """Put up to `count` grains at random places of a box where none overlaps another; returns how many fitted.

        `radius`: one for all, or (least, greatest) [m]. The same seed gives the same places.
        """
        low, high = np.array(_corners(minimum, maximum)).reshape(2, 3)
        least, most = (radius, radius) if isinstance(radius, (int, float)) else arguments.table("radius", radius, (2,))
        least, most = _positive("radius", float(least)), _positive("radius", float(most))
        number, chosen = arguments.count("count", count), arguments.count("seed", seed)
        with self._world.locked():
            near, near_radii = self.get_positions().copy(), self.get_radii()
        points, radii = random_places(low, high, number, (least, most), chosen, near, near_radii)
        if len(points):
            self.add_particles(points, radii, [velocity], material)
        return len(points)

    def set_particle_fixed(self, index: int, fixed: bool = True) -> None:
        """Hold a grain where it is, whatever hits it, or let it go."""
        flag = arguments.flag("fixed", fixed)
        check(lib.rs_grains_set_fixed(self._c, self._engine_id, arguments.count("index", index), flag))

    def set_particle_material(self, index: int, material: GranularMaterial) -> None:
        """Give one grain another material; its mass follows."""
        place = arguments.count("index", index)
        check(lib.rs_grains_set_material(self._c, self._engine_id, place, _struct(material)))

    def _settings(self) -> Any:
        out = ffi.new("rs_grains_settings *")
        check(lib.rs_grains_get_settings(self._c, self._engine_id, out))
        return out

    def get_material(self, index: int = 0) -> GranularMaterial:
        """The material of the object, or another one of its grains (get_particle_materials())."""
        out, substeps = ffi.new("rs_grain_material *"), int(self._settings().substeps)
        check(lib.rs_grains_get_material(self._c, self._engine_id, arguments.count("index", index), out))
        return _material_of(out, substeps)

    def get_boundary_material(self) -> GranularMaterial:
        """Material of ground plane and container."""
        return _material_of(self._settings().boundary)

    def _read_grains(self) -> tuple[Vector, NDArray[np.int32], NDArray[np.uint8], Vector]:
        with self._world.locked():
            count = self.get_num_particles()
            radii, turns = np.zeros(count), np.zeros((count, 3))
            kinds, fixed = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.uint8)
            into = c_array(radii), c_array(kinds), c_array(fixed), c_array(turns)
            check(lib.rs_grains_read(self._c, self._engine_id, count, *into))
        return radii, kinds, fixed, turns

    def get_radii(self) -> Vector:
        """Radius of each grain [m]."""
        return self._read_grains()[0]

    def get_particle_materials(self) -> NDArray[np.int32]:
        """For each grain the number of its material, see get_material()."""
        return self._read_grains()[1]

    def get_fixed(self) -> NDArray[np.bool_]:
        """For each grain whether it is fixed."""
        return self._read_grains()[2].astype(bool)

    def get_angular_velocities(self) -> Vector:
        """Angular velocity of each grain, N x 3 [rad/s]."""
        return self._read_grains()[3]

    def get_last_step_stats(self) -> GranularStepStats:
        """What the last step did."""
        out = ffi.new("rs_grains_stats *")
        check(lib.rs_grains_get_stats(self._c, self._engine_id, out))
        return GranularStepStats(*(getattr(out, one.name) for one in fields(GranularStepStats)))

    def _held(self) -> NDArray[np.bool_]:
        return self.get_fixed()

    def _radii(self) -> Vector:
        return self.get_radii()[:, None]

    def save_state(self) -> dict[str, NDArray[Any]]:
        """All grains of now, for restore_state()."""
        with self._world.locked():
            return self._state_arrays()

    def restore_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace all grains by those of save_state(); their contacts begin anew."""
        known = state if isinstance(state, Mapping) else {}
        missing = [key for key in _STATE_KEYS if key not in known]
        if missing:
            raise InvalidValueError(f"the state has no '{missing[0]}'; expected one of save_state()")
        self._restore_arrays(dict(state), "state")

    # ---- files ----

    def _state_arrays(self) -> dict[str, NDArray[Any]]:
        radii, kinds, fixed, turns = self._read_grains()
        names = [one.name for one in fields(GranularMaterial) if one.name != "substeps"]
        count = int(self._settings().material_count)
        rows = [[float(getattr(self.get_material(k), name)) for name in names] for k in range(count)]
        arrays = (self.get_positions().copy(), self.get_velocities().copy(), turns, radii, kinds, fixed, np.array(rows))
        return dict(zip(_STATE_KEYS, arrays, strict=True))

    def save_granular_state(self, path: str | Path) -> None:
        """Write places, velocities, radii and materials of all grains to a NumPy file (.npz)."""
        with self._world.locked():
            arrays = self._state_arrays()
        write_file(arguments.path("path", path), pack(arrays))

    def load_granular_state(self, path: str | Path) -> None:
        """Replace all grains by those of save_granular_state(); their contacts begin anew."""
        source = arguments.path("path", path)
        arrays = read_arrays(source)
        missing = [key for key in _STATE_KEYS if key not in arrays]
        if missing:
            raise InvalidValueError(f"{source}: no saved grains ({', '.join(missing)} is missing)")
        self._restore_arrays(arrays, str(source))

    def _restore_arrays(self, arrays: dict[str, NDArray[Any]], source: str) -> None:
        x, r, _ = grain_tables(arrays["positions"], arrays["radii"])
        v = np.ascontiguousarray(arguments.table(f"{source}: velocities", arrays["velocities"], x.shape))
        kinds = arguments.table(f"{source}: material_index", arrays["material_index"], (len(x),), np.int64)
        fixed = arguments.table(f"{source}: fixed", arrays["fixed"], (len(x),), np.uint8)
        turns = np.ascontiguousarray(arguments.table("angular_velocities", arrays["angular_velocities"], x.shape))
        names = [one.name for one in fields(GranularMaterial) if one.name != "substeps"]
        rows = arguments.table(f"{source}: materials", arrays["materials"], (-1, len(names)))
        materials = [
            GranularMaterial(**dict(zip(names, row, strict=True)) | {"hertz": bool(row[-1])}) for row in rows.tolist()
        ]
        if len(kinds) and not (kinds.min() >= 0 and kinds.max() < len(materials)):
            raise InvalidValueError(f"{source}: material_index names a material that is not there")
        if not (np.isfinite(x).all() and np.isfinite(v).all() and np.isfinite(turns).all() and (r > 0.0).all()):
            raise InvalidValueError(f"{source}: a number is not finite, or a radius not greater than 0")
        with self._world.locked():
            check(lib.rs_grains_clear(self._c, self._engine_id))
            self._append(x, r, v, turns, kinds, fixed, materials)

    def _append(
        self, x: Vector, r: Vector, v: Vector, turns: Vector, kinds: Any, fixed: Any, materials: list[GranularMaterial]
    ) -> None:
        """Adds grains of several materials at the end of none."""
        for start, end, kind in _runs(kinds):
            self.add_particles(x[start:end], r[start:end], v[start:end], materials[kind])
        if len(x):
            self._write(angular_velocities=turns)
        for index in np.flatnonzero(fixed):
            self.set_particle_fixed(int(index))

    # ---- world files ----

    def _put_arrays(self, arrays: Mapping[str, NDArray[Any]], materials: list[GranularMaterial]) -> None:
        """Puts the grains of a world file into an object without any."""
        x, r, _ = grain_tables(arrays["pos"], arrays["radius"])
        zeros, none = np.zeros_like(x), np.zeros(len(x), np.int32)
        defaults: dict[str, NDArray[Any]] = {"vel": zeros, "ang_vel": zeros, "grain": none, "fixed": none}
        given = {name: arrays.get(name, default) for name, default in defaults.items()}
        for name, array in given.items():
            if array.shape != defaults[name].shape:
                raise InvalidValueError(f"{name} has {array.size} numbers; expected {defaults[name].size}")
        if len(x) and not given["grain"].max() < len(materials):
            raise InvalidValueError(f"grain names material {given['grain'].max()}; there are {len(materials)}")
        v, turns = (np.ascontiguousarray(given[name]) for name in ("vel", "ang_vel"))
        self._append(x, r, v, turns, given["grain"], given["fixed"], materials)

    def _description(self) -> dict[str, Any]:
        """What the entry of a world file says of these grains."""
        settings, radii, kinds, fixed, turns = self._settings(), *self._read_grains()
        box, domain = list(settings.container), list(settings.domain)
        low, high, axes = tuple(domain[:3]), tuple(domain[3:]), tuple(bool(axis) for axis in settings.periodic)
        arrays: dict[str, NDArray[Any]] = {"pos": self.get_positions().copy(), "radius": radii}
        arrays["vel"] = self.get_velocities().copy()
        arrays |= {"ang_vel": turns, "grain": kinds, "fixed": fixed.astype(np.int32)}
        return {
            "grains": [self.get_material(k) for k in range(int(settings.material_count))],
            "boundary": self.get_boundary_material(),
            "arrays": arrays if len(radii) else {},
            "ground": float(settings.ground) if settings.has_ground else None,
            "container": (tuple(box[:3]), tuple(box[3:])) if settings.has_container else None,
            "periodic": (low, high, axes) if any(axes) else None,
        }


def _corners(minimum: VectorLike, maximum: VectorLike) -> list[float]:
    return [*arguments.vector("minimum", minimum, 3), *arguments.vector("maximum", maximum, 3)]


def _positive(name: str, value: float) -> float:
    number = arguments.number(name, value)
    if not 0.0 < number < 1e12:
        raise InvalidValueError(f"{name} is {arguments.shown(value)}; expected a finite number greater than 0")
    return number


def _struct(material: GranularMaterial) -> Any:
    return fill_material(ffi.new("rs_grain_material *"), material)


def _runs(kinds: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Neighbours of one material: first, end, material."""
    cuts = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    return [(a, b, int(kinds[a])) for a, b in pairwise(cuts) if b > a]
