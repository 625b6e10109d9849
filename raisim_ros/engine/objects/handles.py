"""Handles of single bodies. Frames: world frame unless a name or docstring says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.shapes import ObjectType
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, Vector, VectorLike
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.types import BodyType, CollisionBody, GyroscopicMode

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


class SingleBodyObject(BodyOwner):
    """One rigid body. `local_idx` arguments exist for uniformity with articulated systems; only 0 is valid."""

    _KEPT = (*BodyOwner._KEPT, "_inertia_given")
    _inertia_given: bool

    def __init__(
        self,
        world: Home,
        engine_id: int,
        object_type: ObjectType,
        collision_bodies: Sequence[CollisionBody],
        appearance: str = "",
    ) -> None:
        super().__init__(world, engine_id, object_type, appearance)
        self._collision_bodies = list(collision_bodies)
        self._inertia_given = False  # by the user; otherwise it is that of the shape

    def _body(self, local_idx: BodyLike) -> int:
        return arguments.index("local_idx", local_idx, 1)  # type: ignore[arg-type]  # refuses names, too

    # ---- state ----

    def _state(self) -> Any:
        state = ffi.new("rs_body_state *")
        check(lib.rs_body_get_state(self._c, self._engine_id, state))
        return state

    def _set_state(self, **fields: VectorLike) -> None:
        with self._world.locked():
            state = self._state()
            for name, values in fields.items():
                setattr(state, name, list(values))
            check(lib.rs_body_set_state(self._c, self._engine_id, state))

    def get_position(self, local_idx: BodyLike = 0, body_point: VectorLike | None = None) -> Vector:
        """Position of the body origin, or of a point given in the body frame [m]."""
        self._body(local_idx)
        state = self._state()
        origin = _array(state, "position")
        if body_point is None:
            return origin
        rotation = matrix_from_quaternion(_array(state, "quaternion"))
        return origin + rotation @ arguments.vector("body_point", body_point, 3)

    def get_quaternion(self, local_idx: BodyLike = 0) -> Vector:
        """Orientation as w, x, y, z."""
        self._body(local_idx)
        return _array(self._state(), "quaternion")

    def get_orientation(self, local_idx: BodyLike = 0) -> Vector:
        """Orientation as a rotation matrix (body to world)."""
        return matrix_from_quaternion(self.get_quaternion(local_idx))

    def get_linear_velocity(self, local_idx: BodyLike = 0) -> Vector:
        """Velocity of the centre of mass [m/s]."""
        self._body(local_idx)
        return _array(self._state(), "linear_velocity")

    def get_angular_velocity(self, local_idx: BodyLike = 0) -> Vector:
        """Angular velocity [rad/s]."""
        self._body(local_idx)
        return _array(self._state(), "angular_velocity")

    def get_velocity(self, local_idx: BodyLike = 0, body_point: VectorLike | None = None) -> Vector:
        """Velocity of the centre of mass, or of a point given in the body frame [m/s]."""
        self._body(local_idx)
        state = self._state()
        linear, angular = _array(state, "linear_velocity"), _array(state, "angular_velocity")
        if body_point is None:
            return linear
        rotation = matrix_from_quaternion(_array(state, "quaternion"))
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
        check(lib.rs_body_get_properties(self._c, self._engine_id, properties))
        return properties

    def _set_properties(self, **fields: Any) -> None:
        with self._world.locked():
            properties = self._properties()
            for name, value in fields.items():
                setattr(properties, name, value)
            check(lib.rs_body_set_properties(self._c, self._engine_id, properties))
            self._inertia_given |= "inertia" in fields

    def get_body_type(self, local_idx: BodyLike = 0) -> BodyType:
        """DYNAMIC, KINEMATIC or STATIC."""
        self._body(local_idx)
        return BodyType(self._properties().body_type)

    def set_body_type(self, body_type: BodyType) -> None:
        """Change how the body answers to forces; a static body loses its velocity."""
        self._set_properties(body_type=int(arguments.choice("body_type", BodyType, body_type)))

    def get_mass(self, local_idx: BodyLike = 0) -> float:
        """Mass [kg]."""
        self._body(local_idx)
        return float(self._properties().mass)

    def set_mass(self, mass: float) -> None:
        """Set the mass [kg]. An inertia that was never given follows it; one that was given stays."""
        new = arguments.number("mass", mass)
        with self._world.locked():
            given, old = self._inertia_given, self._properties()
            scale = 1.0 if given or not new > 0.0 else new / old.mass
            self._set_properties(mass=new, inertia=[scale * moment for moment in old.inertia])
            self._inertia_given = given

    def get_inertia_matrix_b(self, local_idx: BodyLike = 0) -> Vector:
        """Inertia about the centre of mass, body frame [kg m^2]."""
        self._body(local_idx)
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

    def _com_of(self, local_idx: BodyLike) -> Vector:
        self._body(local_idx)
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

    def _push(self, local_idx: BodyLike, point: Vector, force: Vector) -> None:
        position = self.get_position(0, point)
        check(lib.rs_body_add_force(self._c, self._engine_id, list(force), list(position)))

    def _turn(self, local_idx: BodyLike, torque: Vector) -> None:
        self._body(local_idx)
        check(lib.rs_body_add_torque(self._c, self._engine_id, list(torque)))

    # ---- collision ----

    def get_collision_body_list(self) -> list[CollisionBody]:
        """The shapes that collide, with their poses in the body frame and their present materials."""
        return [
            replace(body, material=material)
            for body, material in zip(self._collision_bodies, self._materials(), strict=True)
        ]


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



def _one_or_three(x: float | VectorLike, y: float | None, z: float | None) -> Any:
    return x if y is None and z is None else (x, y, z)
