"""What single bodies and articulated systems have in common: bodies that collide, are pushed and follow commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.shapes import ObjectType
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, Vector, VectorLike
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.pose_control import make_gains, make_target
from raisim_ros.engine.types import BodyType, CollisionBody

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

Owner = TypeVar("Owner", bound="BodyOwner")


@dataclass
class _GivenLoads:
    """Loads given since step `step`, each with the index of its body; those of earlier steps are over."""

    step: int = -1
    forces: list[tuple[int, Vector, Vector]] = field(default_factory=list)  # body, force, world position
    torques: list[tuple[int, Vector]] = field(default_factory=list)


class BodyOwner(Object, ABC):
    """What single bodies and articulated systems have in common. `local_idx` is the index of a body, 0 the
    first; of a robot also the name of one of its links."""

    _loads: _GivenLoads
    _collision_bodies: Sequence[CollisionBody]

    def __init__(self, world: Home, engine_id: int, object_type: ObjectType, appearance: str = "") -> None:
        super().__init__(world, engine_id, object_type, appearance)
        self._loads = _GivenLoads()
        self._collision_bodies = ()

    def _copy(self: Owner, engine_id: int) -> Owner:
        """The handle of a copy that the engine has made of the object."""
        other = copy(self)
        other._engine_id, other._name = engine_id, ""
        other._loads = _GivenLoads()
        other._collision_bodies = list(self._collision_bodies)
        return other

    @abstractmethod
    def _body(self, local_idx: BodyLike) -> int:
        """Index of a body; an error when there is no such one."""

    @abstractmethod
    def get_body_type(self, local_idx: BodyLike = 0) -> BodyType:
        """DYNAMIC, KINEMATIC or STATIC."""

    @abstractmethod
    def get_position(self, local_idx: BodyLike = 0, body_point: VectorLike | None = None) -> Vector:
        """Position of the body origin, or of a point given in the body frame [m]."""

    @abstractmethod
    def get_orientation(self, local_idx: BodyLike = 0) -> Vector:
        """Orientation as a rotation matrix (body to world)."""

    @abstractmethod
    def get_velocity(self, local_idx: BodyLike = 0, body_point: VectorLike | None = None) -> Vector:
        """Linear velocity of a body, or of a point given in its frame [m/s]."""

    @abstractmethod
    def get_angular_velocity(self, local_idx: BodyLike = 0) -> Vector:
        """Angular velocity [rad/s]."""

    @abstractmethod
    def get_inertia_matrix_b(self, local_idx: BodyLike = 0) -> Vector:
        """Inertia about the centre of mass, body frame [kg m^2]."""

    @abstractmethod
    def _com_of(self, local_idx: BodyLike) -> Vector:
        """Centre of mass of a body in its frame [m]."""

    @abstractmethod
    def _push(self, local_idx: BodyLike, point: Vector, force: Vector) -> None:
        """Add a force (world axes) at a point of the body frame for the next step."""

    @abstractmethod
    def _turn(self, local_idx: BodyLike, torque: Vector) -> None:
        """Add a torque (world axes) for the next step."""

    def get_rotation_matrix(self, local_idx: BodyLike = 0) -> Vector:
        """Orientation as a rotation matrix (body to world)."""
        return self.get_orientation(local_idx)

    def get_pose(self, local_idx: BodyLike = 0) -> tuple[Vector, Vector]:
        """Position [m] and rotation matrix (body to world) of a body's frame, in the order of set_pose()."""
        with self._world.locked():
            return self.get_position(local_idx), self.get_orientation(local_idx)

    def get_com_position(self, local_idx: BodyLike = 0) -> Vector:
        """Position of the centre of mass of a body [m]."""
        return self.get_position(local_idx, self._com_of(local_idx))

    def get_body_to_com_position_rs(self, local_idx: BodyLike = 0) -> Vector:
        """Vector from the body origin to the centre of mass, in world axes [m]."""
        return self.get_orientation(local_idx) @ self._com_of(local_idx)

    def get_inertia_matrix_w(self, local_idx: BodyLike = 0) -> Vector:
        """Inertia about the centre of mass, world axes [kg m^2]."""
        rotation = self.get_orientation(local_idx)
        return rotation @ self.get_inertia_matrix_b(local_idx) @ rotation.T

    def get_contact_point_vel(self, contact_index: int) -> Vector:
        """Velocity of this object's material at a contact of get_contacts(), at the present state [m/s]."""
        contacts = self.get_contacts()
        contact = contacts[arguments.index("contact index", contact_index, len(contacts))]
        body = contact.get_local_body_index()
        arm = contact.get_position() - self.get_position(body)
        return self.get_velocity(body, (0.0, 0.0, 0.0)) + np.cross(self.get_angular_velocity(body), arm)

    # ---- collision ----

    def get_collision_group(self) -> int:
        """Collision group of the first collision body, 64 bits; 0 without any."""
        return self._filter()[0]

    def get_collision_mask(self) -> int:
        """Groups that the first collision body collides with, 64 bits; 0 without any."""
        return self._filter()[1]

    def _filter(self) -> tuple[int, int]:
        self._alive()
        if not self._collision_bodies:
            return 0, 0
        group, mask = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        check(lib.rs_object_get_filter(self._c, self._engine_id, -1, group, mask))
        return int(group[0]), int(mask[0])

    def _materials(self) -> tuple[str, ...]:
        """Material of each collision body."""
        count = len(self._collision_bodies)
        indices = ffi.new("int32_t[]", count)
        check(lib.rs_object_get_materials(self._c, self._engine_id, indices, count))
        return tuple(self._world._material_name(index) for index in indices)

    def _set_materials(self, names: Sequence[str]) -> None:
        indices = [self._world._material(name) for name in names]
        check(lib.rs_object_set_materials(self._c, self._engine_id, indices, len(indices)))

    # ---- loads ----

    @overload
    def set_external_force(self, local_idx: BodyLike, force: VectorLike, /) -> None: ...
    @overload
    def set_external_force(self, local_idx: BodyLike, pos: VectorLike, force: VectorLike, /) -> None: ...
    def set_external_force(self, local_idx: BodyLike, first: VectorLike, *second: VectorLike) -> None:
        """Add a force for the next step [N]: ``(local_idx, force)`` at the centre of mass, or
        ``(local_idx, pos, force)`` at a point of the body frame [m]. The force is in world axes.
        """
        if len(second) > 1:
            raise InvalidValueError(f"set_external_force has {2 + len(second)} arguments; expected 2 or 3")
        force = arguments.vector("force", second[0] if second else first, 3)
        point = arguments.vector("pos", first, 3) if second else self._com_of(local_idx)
        position = self.get_position(local_idx, point)
        self._push(local_idx, point, force)
        self._present_loads().forces.append((self._body(local_idx), force, position))

    def set_constraint_force(self, local_idx: BodyLike, pos: VectorLike, force: VectorLike) -> None:
        """Add the force of a constraint of the user's own at a point of the body frame, for the next step [N]."""
        self.set_external_force(local_idx, pos, force)

    def set_external_torque(self, local_idx: BodyLike, torque: VectorLike) -> None:
        """Add a torque in world axes for the next step [N m]."""
        values = arguments.vector("torque", torque, 3)
        self._turn(local_idx, values)
        self._present_loads().torques.append((self._body(local_idx), values))

    def clear_external_forces_and_torques(self) -> None:
        """Drop all forces and torques given for the next step."""
        check(lib.rs_object_clear_loads(self._c, self._engine_id))
        self._loads = _GivenLoads()

    def get_external_force(self, local_idx: BodyLike | None = None) -> list[Vector]:
        """Forces given for the next step [N], world axes: of one body, or of all."""
        wanted = self._one_or_all(local_idx)
        return [force for body, force, _ in self._present_loads().forces if wanted in (None, body)]

    def get_external_force_position(self, local_idx: BodyLike | None = None) -> list[Vector]:
        """Where the forces of get_external_force() act, world frame [m]."""
        wanted = self._one_or_all(local_idx)
        return [position for body, _, position in self._present_loads().forces if wanted in (None, body)]

    def get_external_torque(self, local_idx: BodyLike | None = None) -> list[Vector]:
        """Torques given for the next step [N m], world axes: of one body, or of all."""
        wanted = self._one_or_all(local_idx)
        return [torque for body, torque in self._present_loads().torques if wanted in (None, body)]

    def get_external_torque_position(self, local_idx: BodyLike | None = None) -> list[Vector]:
        """Where the torques of get_external_torque() act: the centres of mass, world frame [m]."""
        wanted = self._one_or_all(local_idx)
        return [self.get_com_position(body) for body, _ in self._present_loads().torques if wanted in (None, body)]

    def _one_or_all(self, local_idx: BodyLike | None) -> int | None:
        return None if local_idx is None else self._body(local_idx)

    def _present_loads(self) -> _GivenLoads:
        self._alive()
        step = self._world.get_step_count()
        if step != self._loads.step:
            self._loads = _GivenLoads(step)
        return self._loads

    # ---- commands ----

    def set_command_wrench(self, force: VectorLike, torque: VectorLike, local_idx: BodyLike = 0) -> None:
        """Apply a force at a body's centre of mass and a torque, world axes, in every step until replaced [N, N m]."""
        f, t = list(arguments.vector("force", force, 3)), list(arguments.vector("torque", torque, 3))
        check(lib.rs_object_set_command_wrench(self._c, self._engine_id, self._body(local_idx), f, t))

    def clear_command(self, local_idx: BodyLike = 0) -> None:
        """End what set_command_wrench(), or on the first body set_command_pose() or set_command_velocity(), began."""
        self.set_command_wrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), local_idx)

    @abstractmethod
    def _mass_and_inertia(self) -> tuple[float, Vector]:
        """Of the whole object; the inertia about its centre of mass, axes of its frame."""

    def _follow(self, target: Any) -> None:
        with self._world.locked():
            gains = make_gains(self._interface, *self._mass_and_inertia())
            check(lib.rs_object_set_command_pose(self._c, self._engine_id, gains, target))

    def set_command_pose(
        self,
        position: VectorLike,
        orientation: VectorLike | Sequence[VectorLike],
        linear_velocity: VectorLike = (0.0, 0.0, 0.0),
        angular_velocity: VectorLike = (0.0, 0.0, 0.0),
    ) -> None:
        """Let a dynamic body, or a robot's floating base, be driven to a pose until the next command.

        A PID controller with the gains of get_interface() pushes it: without gains, critically damped at 2 Hz, and its
        weight is carried. The pose is that of the origin and moves on with the velocity [m, m/s, rad/s].
        """
        self._follow(make_target(linear_velocity, angular_velocity, (position, orientation)))

    def set_command_velocity(self, linear: VectorLike, angular: VectorLike) -> None:
        """Let it move with a velocity of its origin [m/s] and an angular velocity [rad/s], as set_command_pose()."""
        self._follow(make_target(linear, angular))
