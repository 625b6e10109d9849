"""Handles of the objects in a world. Frames: world frame unless a name or docstring says otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.interface_settings import InterfaceSettings
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.contact import Contact
from raisim_ros.engine.errors import ObjectRemovedError, check
from raisim_ros.engine.pose_control import make_gains, make_target
from raisim_ros.engine.types import BodyType, CollisionBody, GyroscopicMode, ObjectType

if TYPE_CHECKING:
    from raisim_ros.engine.sensors import SensorSet
    from raisim_ros.engine.world import World


class Object:
    """Something in a world. Using the handle after the object was removed raises ObjectRemovedError."""

    def __init__(self, world: World, engine_id: int, object_type: ObjectType, appearance: str = "") -> None:
        self._world = world
        self._engine_id = engine_id
        self._type = object_type
        self._name = ""
        self._appearance = appearance
        self._interface = InterfaceSettings()

    def __repr__(self) -> str:
        name = f" '{self._name}'" if self._name else ""
        return f"<{type(self).__name__} {self.get_id()}{name}>"

    @property
    def _c(self) -> Any:
        """The engine's world."""
        return self._world._world

    def _alive(self) -> None:
        if not lib.rs_object_is_alive(self._c, self._engine_id):
            raise ObjectRemovedError(f"{self!r} was removed from its world")

    def get_id(self) -> int:
        """Stable number of the object, never reused within a world."""
        return self._engine_id >> 32

    def get_index_in_world(self) -> int:
        """Present place in the world's object list; removing other objects can change it."""
        self._alive()
        return int(lib.rs_object_index(self._c, self._engine_id))

    def set_name(self, name: str) -> None:
        """Give the object a name; names need not be unique, look-ups return the first."""
        self._alive()
        self._world._rename(self, name)

    def get_name(self) -> str:
        """The name, empty when none was given."""
        return self._name

    def get_object_type(self) -> ObjectType:
        """What the object is."""
        return self._type

    def set_appearance(self, appearance: str) -> None:
        """Set the look: a colour name, "r g b a" (0..1), a texture name or "hidden"."""
        self._alive()
        if not isinstance(appearance, str):
            raise InvalidValueError(f"appearance is {appearance!r}; expected a string")
        self._appearance = appearance

    def get_appearance(self) -> str:
        """The look, empty for the default one."""
        return self._appearance

    def set_interface(self, settings: InterfaceSettings) -> None:
        """Set what the object's state and command topics hold, and the gains of commanded poses."""
        self._alive()
        if not isinstance(settings, InterfaceSettings):
            raise InvalidValueError(f"settings is {settings!r}; expected InterfaceSettings")
        self._interface = settings

    def get_interface(self) -> InterfaceSettings:
        """What the object's state and command topics hold; the defaults unless a world file or a call set it."""
        return self._interface

    def _mass_and_inertia(self) -> tuple[float, Vector]:
        """Of the whole object; the inertia about its centre of mass, axes of its frame."""
        raise NotImplementedError

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

    def get_sensor_sets(self) -> list[SensorSet]:
        """The sensor sets that the object carries."""
        self._alive()
        return self._world.get_sensor_sets(self)

    def get_sensor_set(self, name: str) -> SensorSet | None:
        """The sensor set of that name (a robot's is named after its link); None when there is none."""
        self._alive()
        return self._world.get_sensor_set(self, name)

    def get_contacts(self) -> list[Contact]:
        """Contacts of the object in the last step."""
        self._alive()
        return self._world._contacts_of(self)


@dataclass
class _GivenLoads:
    """Loads given since step `step`, each with the index of its body; those of earlier steps are over."""

    step: int = -1
    forces: list[tuple[int, Vector, Vector]] = field(default_factory=list)  # body, force, world position
    torques: list[tuple[int, Vector]] = field(default_factory=list)


class BodyOwner(Object, ABC):
    """What single bodies and articulated systems have in common. `local_idx` is the index of a body, 0 the first."""

    def __init__(self, world: World, engine_id: int, object_type: ObjectType, appearance: str = "") -> None:
        super().__init__(world, engine_id, object_type, appearance)
        self._loads = _GivenLoads()
        self._collision_bodies: Sequence[CollisionBody] = ()

    @abstractmethod
    def get_body_type(self, local_idx: int = 0) -> BodyType:
        """DYNAMIC, KINEMATIC or STATIC."""

    @abstractmethod
    def get_position(self, local_idx: int = 0, body_point: VectorLike | None = None) -> Vector:
        """Position of the body origin, or of a point given in the body frame [m]."""

    @abstractmethod
    def get_orientation(self, local_idx: int = 0) -> Vector:
        """Orientation as a rotation matrix (body to world)."""

    @abstractmethod
    def get_velocity(self, local_idx: int = 0, body_point: VectorLike | None = None) -> Vector:
        """Linear velocity of a body, or of a point given in its frame [m/s]."""

    @abstractmethod
    def get_angular_velocity(self, local_idx: int = 0) -> Vector:
        """Angular velocity [rad/s]."""

    @abstractmethod
    def get_inertia_matrix_b(self, local_idx: int = 0) -> Vector:
        """Inertia about the centre of mass, body frame [kg m^2]."""

    @abstractmethod
    def _com_of(self, local_idx: int) -> Vector:
        """Centre of mass of a body in its frame [m]."""

    @abstractmethod
    def _push(self, local_idx: int, point: Vector, force: Vector) -> None:
        """Add a force (world axes) at a point of the body frame for the next step."""

    @abstractmethod
    def _turn(self, local_idx: int, torque: Vector) -> None:
        """Add a torque (world axes) for the next step."""

    @abstractmethod
    def _drop_loads(self) -> None:
        """Let the engine forget what was added for the next step."""

    def get_rotation_matrix(self, local_idx: int = 0) -> Vector:
        """Orientation as a rotation matrix (body to world)."""
        return self.get_orientation(local_idx)

    def get_com_position(self, local_idx: int = 0) -> Vector:
        """Position of the centre of mass of a body [m]."""
        return self.get_position(local_idx, self._com_of(local_idx))

    def get_body_to_com_position_rs(self, local_idx: int = 0) -> Vector:
        """Vector from the body origin to the centre of mass, in world axes [m]."""
        return self.get_orientation(local_idx) @ self._com_of(local_idx)

    def get_inertia_matrix_w(self, local_idx: int = 0) -> Vector:
        """Inertia about the centre of mass, world axes [kg m^2]."""
        rotation = self.get_orientation(local_idx)
        return rotation @ self.get_inertia_matrix_b(local_idx) @ rotation.T

    def get_contact_point_vel(self, contact_index: int) -> Vector:
        """Velocity of this object's material at a contact of get_contacts(), at the present state [m/s]."""
        contacts = self.get_contacts()
        if not 0 <= contact_index < len(contacts):
            raise InvalidValueError(f"contact index is {contact_index}; there are {len(contacts)} contacts")
        contact = contacts[contact_index]
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
        check(lib.rs_object_filter(self._c, self._engine_id, -1, group, mask))
        return int(group[0]), int(mask[0])

    def _materials(self) -> tuple[str, ...]:
        """Material of each collision body."""
        count = len(self._collision_bodies)
        indices = ffi.new("int32_t[]", count)
        check(lib.rs_object_materials(self._c, self._engine_id, indices, count))
        return tuple(self._world._material_name(index) for index in indices)

    def _set_materials(self, names: Sequence[str]) -> None:
        indices = [self._world._material(name) for name in names]
        check(lib.rs_object_set_materials(self._c, self._engine_id, indices, len(indices)))

    # ---- loads ----

    @overload
    def set_external_force(self, local_idx: int, force: VectorLike, /) -> None: ...
    @overload
    def set_external_force(self, local_idx: int, pos: VectorLike, force: VectorLike, /) -> None: ...
    def set_external_force(self, local_idx: int, first: VectorLike, *second: VectorLike) -> None:
        """Add a force for the next step [N]: ``(local_idx, force)`` at the centre of mass, or
        ``(local_idx, pos, force)`` at a point of the body frame [m]. The force is in world axes.
        """
        if len(second) > 1:
            raise InvalidValueError(f"set_external_force has {2 + len(second)} arguments; expected 2 or 3")
        force = arguments.vector("force", second[0] if second else first, 3)
        point = arguments.vector("pos", first, 3) if second else self._com_of(local_idx)
        position = self.get_position(local_idx, point)
        self._push(local_idx, point, force)
        self._present_loads().forces.append((local_idx, force, position))

    def set_constraint_force(self, local_idx: int, pos: VectorLike, force: VectorLike) -> None:
        """Add the force of a constraint of the user's own at a point of the body frame, for the next step [N]."""
        self.set_external_force(local_idx, pos, force)

    def set_external_torque(self, local_idx: int, torque: VectorLike) -> None:
        """Add a torque in world axes for the next step [N m]."""
        values = arguments.vector("torque", torque, 3)
        self._turn(local_idx, values)
        self._present_loads().torques.append((local_idx, values))

    def clear_external_forces_and_torques(self) -> None:
        """Drop all forces and torques given for the next step."""
        self._drop_loads()
        self._loads = _GivenLoads()

    def get_external_force(self, local_idx: int | None = None) -> list[Vector]:
        """Forces given for the next step [N], world axes: of one body, or of all."""
        return [force for body, force, _ in self._present_loads().forces if local_idx in (None, body)]

    def get_external_force_position(self, local_idx: int | None = None) -> list[Vector]:
        """Where the forces of get_external_force() act, world frame [m]."""
        return [position for body, _, position in self._present_loads().forces if local_idx in (None, body)]

    def get_external_torque(self, local_idx: int | None = None) -> list[Vector]:
        """Torques given for the next step [N m], world axes: of one body, or of all."""
        return [torque for body, torque in self._present_loads().torques if local_idx in (None, body)]

    def get_external_torque_position(self, local_idx: int | None = None) -> list[Vector]:
        """Where the torques of get_external_torque() act: the centres of mass, world frame [m]."""
        return [self.get_com_position(body) for body, _ in self._present_loads().torques if local_idx in (None, body)]

    def _present_loads(self) -> _GivenLoads:
        self._alive()
        step = self._world.get_step_count()
        if step != self._loads.step:
            self._loads = _GivenLoads(step)
        return self._loads


class SingleBodyObject(BodyOwner):
    """One rigid body. `local_idx` arguments exist for uniformity with articulated systems; only 0 is valid."""

    def __init__(
        self,
        world: World,
        engine_id: int,
        object_type: ObjectType,
        collision_bodies: Sequence[CollisionBody],
        appearance: str = "",
    ) -> None:
        super().__init__(world, engine_id, object_type, appearance)
        self._collision_bodies = list(collision_bodies)

    # ---- state ----

    def _state(self) -> Any:
        state = ffi.new("rs_body_state *")
        check(lib.rs_body_state_get(self._c, self._engine_id, state))
        return state

    def _set_state(self, **fields: Vector) -> None:
        with self._world.locked():
            state = self._state()
            for name, values in fields.items():
                setattr(state, name, list(values))
            check(lib.rs_body_state_set(self._c, self._engine_id, state))

    def get_position(self, local_idx: int = 0, body_point: VectorLike | None = None) -> Vector:
        """Position of the body origin, or of a point given in the body frame [m]."""
        _check_local(local_idx)
        state = self._state()
        origin = _array(state, "position")
        if body_point is None:
            return origin
        rotation = arguments.rotation_of_quaternion(_array(state, "quaternion"))
        return origin + rotation @ arguments.vector("body_point", body_point, 3)

    def get_quaternion(self, local_idx: int = 0) -> Vector:
        """Orientation as w, x, y, z."""
        _check_local(local_idx)
        return _array(self._state(), "quaternion")

    def get_orientation(self, local_idx: int = 0) -> Vector:
        """Orientation as a rotation matrix (body to world)."""
        return arguments.rotation_of_quaternion(self.get_quaternion(local_idx))

    def get_linear_velocity(self, local_idx: int = 0) -> Vector:
        """Velocity of the centre of mass [m/s]."""
        _check_local(local_idx)
        return _array(self._state(), "linear_velocity")

    def get_angular_velocity(self, local_idx: int = 0) -> Vector:
        """Angular velocity [rad/s]."""
        _check_local(local_idx)
        return _array(self._state(), "angular_velocity")

    def get_velocity(self, local_idx: int = 0, body_point: VectorLike | None = None) -> Vector:
        """Velocity of the centre of mass, or of a point given in the body frame [m/s]."""
        _check_local(local_idx)
        state = self._state()
        linear, angular = _array(state, "linear_velocity"), _array(state, "angular_velocity")
        if body_point is None:
            return linear
        rotation = arguments.rotation_of_quaternion(_array(state, "quaternion"))
        arm = rotation @ (arguments.vector("body_point", body_point, 3) - self.get_com())
        return linear + np.cross(angular, arm)

    def set_position(self, x: float | VectorLike, y: float | None = None, z: float | None = None) -> None:
        """Move the body origin to a point, given as three numbers or one sequence [m]."""
        self._set_state(position=arguments.vector("position", _one_or_three(x, y, z), 3))

    def set_orientation(
        self,
        w: float | VectorLike | Sequence[VectorLike],
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
    ) -> None:
        """Set the orientation: w, x, y, z, one quaternion, or a rotation matrix."""
        value: Any = w if x is None else (w, x, y, z)
        self._set_state(quaternion=arguments.orientation(value))

    def set_pose(self, position: VectorLike, orientation: VectorLike | Sequence[VectorLike]) -> None:
        """Set position [m] and orientation (quaternion w, x, y, z or rotation matrix)."""
        self._set_state(
            position=arguments.vector("position", position, 3), quaternion=arguments.orientation(orientation)
        )

    def set_velocity(self, linear: VectorLike, angular: VectorLike | None = None) -> None:
        """Set the velocity of the centre of mass [m/s] and the angular velocity [rad/s]; also as six numbers."""
        if angular is None:
            both = arguments.vector("velocity", linear, 6)
            linear, angular = both[:3], both[3:]
        self._set_state(
            linear_velocity=arguments.vector("linear velocity", linear, 3),
            angular_velocity=arguments.vector("angular velocity", angular, 3),
        )

    def set_linear_velocity(self, velocity: VectorLike) -> None:
        """Set the velocity of the centre of mass [m/s]."""
        self._set_state(linear_velocity=arguments.vector("linear velocity", velocity, 3))

    def set_angular_velocity(self, velocity: VectorLike) -> None:
        """Set the angular velocity [rad/s]."""
        self._set_state(angular_velocity=arguments.vector("angular velocity", velocity, 3))

    # ---- mass and damping ----

    def _properties(self) -> Any:
        properties = ffi.new("rs_body_properties *")
        check(lib.rs_body_properties_get(self._c, self._engine_id, properties))
        return properties

    def _set_properties(self, **fields: Any) -> None:
        with self._world.locked():
            properties = self._properties()
            for name, value in fields.items():
                setattr(properties, name, value)
            check(lib.rs_body_properties_set(self._c, self._engine_id, properties))

    def get_body_type(self, local_idx: int = 0) -> BodyType:
        """DYNAMIC, KINEMATIC or STATIC."""
        _check_local(local_idx)
        return BodyType(self._properties().body_type)

    def set_body_type(self, body_type: BodyType) -> None:
        """Change how the body answers to forces; a static body loses its velocity."""
        self._set_properties(body_type=int(arguments.choice("body_type", BodyType, body_type)))

    def get_mass(self, local_idx: int = 0) -> float:
        """Mass [kg]."""
        _check_local(local_idx)
        return float(self._properties().mass)

    def set_mass(self, mass: float) -> None:
        """Set the mass [kg]; the inertia stays."""
        self._set_properties(mass=arguments.number("mass", mass))

    def get_inertia_matrix_b(self, local_idx: int = 0) -> Vector:
        """Inertia about the centre of mass, body frame [kg m^2]."""
        _check_local(local_idx)
        return arguments.matrix_of_symmetric6(_array(self._properties(), "inertia"))

    def _mass_and_inertia(self) -> tuple[float, Vector]:
        properties = self._properties()
        return float(properties.mass), arguments.matrix_of_symmetric6(_array(properties, "inertia"))

    def set_inertia(self, inertia: Sequence[VectorLike] | NDArray[Any]) -> None:
        """Set the inertia about the centre of mass, body frame, 3 x 3 [kg m^2]."""
        self._set_properties(inertia=list(arguments.symmetric6("inertia", inertia)))

    def get_com(self) -> Vector:
        """Centre of mass in the body frame [m]."""
        return _array(self._properties(), "com")

    def _com_of(self, local_idx: int) -> Vector:
        _check_local(local_idx)
        return self.get_com()

    def set_com(self, com: VectorLike) -> None:
        """Set the centre of mass in the body frame [m]."""
        self._set_properties(com=list(arguments.vector("com", com, 3)))

    def set_linear_damping(self, damping: float) -> None:
        """Air drag proportional to the velocity of the centre of mass [N s/m]."""
        self._set_properties(linear_damping=arguments.number("damping", damping))

    def set_angular_damping(self, damping: VectorLike) -> None:
        """Air drag proportional to the angular velocity about each body axis [N m s/rad]."""
        self._set_properties(angular_damping=list(arguments.vector("damping", damping, 3)))

    def set_gyroscopic_mode(self, mode: GyroscopicMode) -> None:
        """Choose how the gyroscopic torque is integrated."""
        self._set_properties(gyroscopic_mode=int(arguments.choice("mode", GyroscopicMode, mode)))

    def get_gyroscopic_mode(self) -> GyroscopicMode:
        """How the gyroscopic torque is integrated."""
        return GyroscopicMode(self._properties().gyroscopic_mode)

    # ---- energy and momentum ----

    def get_kinetic_energy(self) -> float:
        """Kinetic energy [J]."""
        v, w = self.get_linear_velocity(), self.get_angular_velocity()
        return 0.5 * float(self.get_mass() * (v @ v) + w @ self.get_inertia_matrix_w() @ w)

    def get_potential_energy(self, gravity: VectorLike | None = None) -> float:
        """Potential energy of the weight against the world origin [J]; gravity defaults to the world's."""
        g = self._world.get_gravity() if gravity is None else arguments.vector("gravity", gravity, 3)
        return -self.get_mass() * float(g @ self.get_com_position())

    def get_energy(self, gravity: VectorLike | None = None) -> float:
        """Kinetic plus potential energy [J]."""
        return self.get_kinetic_energy() + self.get_potential_energy(gravity)

    def get_linear_momentum(self) -> Vector:
        """Linear momentum [kg m/s]."""
        return self.get_mass() * self.get_linear_velocity()

    # ---- loads ----

    def _push(self, local_idx: int, point: Vector, force: Vector) -> None:
        position = self.get_position(0, point)
        check(lib.rs_body_add_force(self._c, self._engine_id, list(force), list(position)))

    def _turn(self, local_idx: int, torque: Vector) -> None:
        _check_local(local_idx)
        check(lib.rs_body_add_torque(self._c, self._engine_id, list(torque)))

    def _drop_loads(self) -> None:
        check(lib.rs_body_clear_forces(self._c, self._engine_id))

    def set_command_wrench(self, force: VectorLike, torque: VectorLike) -> None:
        """Apply a force at the centre of mass and a torque, world axes, every step until another command [N, N m]."""
        values = arguments.vector("force", force, 3), arguments.vector("torque", torque, 3)
        check(lib.rs_body_set_command_wrench(self._c, self._engine_id, list(values[0]), list(values[1])))

    def clear_command(self) -> None:
        """End what set_command_wrench(), set_command_pose() or set_command_velocity() began."""
        self.set_command_wrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    # ---- collision ----

    def get_collision_body_list(self) -> list[CollisionBody]:
        """The shapes that collide, with their poses in the body frame and their present materials."""
        return [
            replace(body, material=material)
            for body, material in zip(self._collision_bodies, self._materials(), strict=True)
        ]


class Sphere(SingleBodyObject):
    """A ball."""

    def get_radius(self) -> float:
        """Radius [m]."""
        return float(self._collision_bodies[0].dim[0])


class Box(SingleBodyObject):
    """A box; origin at its centre."""

    def get_dim(self) -> Vector:
        """Full lengths along the body's x, y and z axes [m]."""
        return self._collision_bodies[0].dim.copy()


class _RoundObject(SingleBodyObject):
    """Shapes with a radius and a height along the body's z axis."""

    def get_radius(self) -> float:
        """Radius [m]."""
        return float(self._collision_bodies[0].dim[0])

    def get_height(self) -> float:
        """Height along z [m]: full length, or for a capsule the distance of the sphere centres."""
        return float(self._collision_bodies[0].dim[1])


class Cylinder(_RoundObject):
    """A cylinder along z; origin at its centre."""


class Cone(_RoundObject):
    """A cone, apex towards +z; origin at the centroid of the solid, a quarter of the height above the base."""


class Capsule(_RoundObject):
    """A cylinder along z with half-spherical ends; origin at its centre."""


class Compound(SingleBodyObject):
    """Several primitives in one rigid body."""


class Ground(SingleBodyObject):
    """The half-space below a horizontal plane; always static."""

    def get_height(self) -> float:
        """z of the plane [m]."""
        return float(self.get_position()[2])


def _array(struct: Any, field: str) -> Vector:
    """Copy of an array inside a C struct; the field alone would not keep the struct's memory alive."""
    return np.array(list(getattr(struct, field)), dtype=np.float64)


def _check_local(local_idx: int) -> None:
    if local_idx != 0:
        raise InvalidValueError(f"local_idx is {local_idx}; a single body has only 0")


def _one_or_three(x: float | VectorLike, y: float | None, z: float | None) -> Any:
    return x if y is None and z is None else (x, y, z)
