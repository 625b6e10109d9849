"""Handles of objects made of particles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.shapes import ObjectType
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.types import BodyType

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

Soft = TypeVar("Soft", bound="SoftObject")


@dataclass(frozen=True)
class SoftImpulse:
    """What an object made of particles did to a body or link in the last step, world axes.

    `impulse` [N s]; `moment` about the centre of mass of a single body, the origin of a link [N m s].
    """

    object: Object
    local_index: int
    impulse: Vector
    moment: Vector


class SoftObject(Object):
    """An object made of many particles. Its position is its centre of mass."""

    _buffers: dict[str, Vector]

    def __init__(self, world: Home, engine_id: int, object_type: ObjectType) -> None:
        super().__init__(world, engine_id, object_type)
        self._buffers = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_buffers": {}}

    def _copy(self: Soft, engine_id: int) -> Soft:
        """The handle of a copy that the engine has made of the object."""
        other = copy(self)
        other._engine_id, other._name = engine_id, ""
        other._buffers = {}
        return other

    def _buffer(self, name: str, *shape: int) -> Vector:
        """An array that later calls use again while the number of particles stays."""
        kept = self._buffers.get(name)
        if kept is None or kept.shape != shape:
            kept = self._buffers[name] = np.zeros(shape)
        return kept

    def get_num_particles(self) -> int:
        """How many particles there are."""
        self._alive()
        return int(lib.rs_soft_particle_count(self._c, self._engine_id))

    def get_positions(self) -> Vector:
        """Centres of all particles, N x 3, world frame [m]; filled in one call, the array is reused by the next."""
        return self._read("positions")

    def get_velocities(self) -> Vector:
        """Velocities of all particles, N x 3, world frame [m/s]; filled in one call, the array is reused."""
        return self._read("velocities")

    def _read(self, name: str) -> Vector:
        with self._world.locked():
            count = self.get_num_particles()
            out = self._buffer(name, count, 3)
            wanted = [c_array(out) if name == one else ffi.NULL for one in ("positions", "velocities")]
            check(lib.rs_soft_read(self._c, self._engine_id, count, *wanted))
        return out

    def set_positions(self, positions: NDArray[Any]) -> None:
        """Place all particles, N x 3, world frame [m]; their contacts begin anew."""
        self._write(positions=positions)

    def set_velocities(self, velocities: NDArray[Any]) -> None:
        """Give all particles velocities, N x 3, world frame [m/s]."""
        self._write(velocities=velocities)

    def _write(self, **arrays: NDArray[Any]) -> None:
        self._alive()
        tables = {name: np.ascontiguousarray(arguments.table(name, value, (-1, 3))) for name, value in arrays.items()}
        given = [c_array(tables.get(name)) for name in ("positions", "velocities", "angular_velocities")]
        check(lib.rs_soft_write(self._c, self._engine_id, len(next(iter(tables.values()))), *given))

    # ---- as a whole ----

    def get_body_type(self) -> BodyType:
        """It moves."""
        self._alive()
        return BodyType.DYNAMIC

    def get_quaternion(self) -> Vector:
        """Its frame is at the centre of mass and has the axes of the world: w, x, y, z = 1, 0, 0, 0."""
        self._alive()
        return np.array([1.0, 0.0, 0.0, 0.0])

    def set_pose(self, position: VectorLike, quaternion: VectorLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Turn all particles about the centre of mass (w, x, y, z) and move that to a position [m]."""
        target, turn = arguments.vector("position", position, 3), arguments.orientation(quaternion)
        with self._world.locked():
            centre, places = self.get_position(), self.get_positions()
            turned = places - centre
            if not np.array_equal(turn, (1.0, 0.0, 0.0, 0.0)):
                norm = float(np.linalg.norm(turn))
                if not norm > 1e-6:
                    raise InvalidValueError(f"quaternion is {turn}; expected one that is not zero")
                turned = turned @ matrix_from_quaternion(turn / norm).T
            self.set_positions(turned + np.asarray(target))

    def set_velocity(self, linear: VectorLike, angular: VectorLike = (0.0, 0.0, 0.0)) -> None:
        """Let all particles that are not held move as one rigid body about the centre of mass [m/s, rad/s]."""
        v, w = (np.asarray(arguments.vector(*given, 3)) for given in (("linear", linear), ("angular", angular)))
        with self._world.locked():
            velocities = v + np.cross(w, self.get_positions() - self.get_position())
            velocities[self._held()] = 0.0
            self.set_velocities(velocities)

    @abstractmethod
    def save_state(self) -> dict[str, NDArray[Any]]:
        """Places, velocities and what else changes, for restore_state()."""

    @abstractmethod
    def restore_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Return to what save_state() told; contacts begin anew."""

    def _held(self) -> NDArray[np.bool_]:
        """Which particles stay where they are."""
        return np.zeros(self.get_num_particles(), bool)

    def get_bounds(self) -> tuple[Vector, Vector]:
        """Lowest and highest corner of the box around all particles [m]; zeros without any."""
        with self._world.locked():
            places, radii = self.get_positions(), self._radii()
            if not len(places):
                return np.zeros(3), np.zeros(3)
            return (places - radii).min(axis=0), (places + radii).max(axis=0)

    def _radii(self) -> Any:
        """Of all particles, N x 1, or one for all."""
        return 0.0

    def _totals(self) -> Any:
        out = ffi.new("rs_soft_totals *")
        check(lib.rs_soft_get_totals(self._c, self._engine_id, out))
        return out

    def _filter(self) -> tuple[int, int]:
        self._alive()
        group, mask = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        check(lib.rs_object_get_filter(self._c, self._engine_id, -1, group, mask))
        return int(group[0]), int(mask[0])

    def get_collision_group(self) -> int:
        """Collision group, 64 bits."""
        return self._filter()[0]

    def get_collision_mask(self) -> int:
        """Groups that it collides with, 64 bits."""
        return self._filter()[1]

    def _total(self, name: str) -> Vector:
        """One of the vectors; the struct must live until it is copied."""
        totals = self._totals()
        return np.array(list(getattr(totals, name)))

    def get_mass(self) -> float:
        """Mass of all particles [kg]."""
        return float(self._totals().mass)

    def get_position(self) -> Vector:
        """Centre of mass [m]."""
        return self._total("centre_of_mass")

    def get_velocity(self) -> Vector:
        """Velocity of the centre of mass [m/s]."""
        totals = self._totals()
        return np.array(list(totals.linear_momentum)) / max(float(totals.mass), 1e-300)

    def get_linear_momentum(self) -> Vector:
        """Momentum of all particles [N s]."""
        return self._total("linear_momentum")

    def get_angular_momentum(self) -> Vector:
        """Angular momentum of all particles about the origin of the world [N m s]."""
        return self._total("angular_momentum")

    def get_kinetic_energy(self) -> float:
        """Kinetic energy of all particles [J]."""
        return float(self._totals().kinetic_energy)

    def get_potential_energy(self) -> float:
        """Potential energy in the world's gravity, zero at its origin [J]."""
        return float(self._totals().potential_energy)

    def get_elastic_energy(self) -> float:
        """Energy of the springs between the particles [J]."""
        return float(self._totals().elastic_energy)

    def get_energy(self) -> float:
        """Kinetic, potential and elastic energy together [J]."""
        totals = self._totals()
        return float(totals.kinetic_energy + totals.potential_energy + totals.elastic_energy)

    def get_impulses(self) -> list[SoftImpulse]:
        """What the object did to bodies and links in the last step."""
        with self._world.locked():
            self._alive()
            count = ffi.new("int64_t *")
            check(lib.rs_soft_read_contacts(self._c, self._engine_id, 0, ffi.NULL, count))
            out = ffi.new("rs_soft_contact[]", max(1, count[0]))
            check(lib.rs_soft_read_contacts(self._c, self._engine_id, count[0], out, count))
            impulses = []
            for entry in out[0 : count[0]]:
                if entry.object != 0:  # else it was removed since
                    impulse, moment = np.array(list(entry.impulse)), np.array(list(entry.moment))
                    other = self._world._handle_of(int(entry.object))
                    impulses.append(SoftImpulse(other, int(entry.local), impulse, moment))
        return impulses
