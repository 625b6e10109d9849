"""What every part of ArticulatedSystem builds on: its tree, coordinates and velocities, base and bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError, near_names
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.description.shapes import ObjectType
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import BodyLike, Vector, VectorLike
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import UnknownNameError, check
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.types import BodyType

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home


_FLOAT64 = np.dtype(np.float64)


def vector(name: str, values: VectorLike, size: int) -> Vector:
    """The array itself when the engine can read it (it checks that the numbers are finite), else a new one."""
    if (
        type(values) is np.ndarray
        and values.dtype is _FLOAT64
        and values.shape == (size,)
        and values.flags.c_contiguous
    ):
        return values
    return arguments.vector(name, values, size)


class ArticulatedCore(BodyOwner):
    """Coordinates q and velocities u of a tree of bodies.

    q: floating base position (3) and quaternion w, x, y, z (4); revolute and prismatic 1; spherical quaternion (4).
    u: floating base linear velocity of the base link's origin (3) and angular velocity (3), world frame; revolute and
    prismatic 1; spherical 3, in the joint frame fixed to the parent. Generalised forces are conjugate to u.
    """

    _tree: KinematicTree
    _q_count: int
    _u_count: int
    _q_first: list[int]  # place of each body's first coordinate,
    _u_first: list[int]  # and velocity

    def __init__(self, world: Home, engine_id: int, tree: KinematicTree) -> None:
        super().__init__(world, engine_id, ObjectType.ARTICULATED_SYSTEM)
        self._tree = tree
        self._q_count = tree.coordinate_dim
        self._u_count = tree.velocity_dim
        q_dims = [body.joint_type.coordinate_dim for body in tree.bodies]
        u_dims = [body.joint_type.velocity_dim for body in tree.bodies]
        self._q_first = [int(n) for n in np.cumsum([0, *q_dims[:-1]])]
        self._u_first = [int(n) for n in np.cumsum([0, *u_dims[:-1]])]

    # ---- vectors ----

    def _read(self, field: int, count: int) -> Vector:
        out = np.empty(count)
        check(lib.rs_articulation_read(self._c, self._engine_id, field, c_array(out), count))
        return out

    def _write(self, field: int, values: Vector) -> None:
        check(lib.rs_articulation_write(self._c, self._engine_id, field, c_array(values), len(values)))

    def _read_two(self, field: int, count: int, other: int, other_count: int) -> tuple[Vector, Vector]:
        a, b = np.empty(count), np.empty(other_count)
        engine, key = self._world._world, self._engine_id
        check(lib.rs_articulation_read_two(engine, key, field, c_array(a), count, other, c_array(b), other_count))
        return a, b

    def _write_two(self, field: int, values: Vector, other: int, other_values: Vector) -> None:
        """Nothing is written when one of the two is refused."""
        engine, key, a, b = self._world._world, self._engine_id, c_array(values), c_array(other_values)
        check(lib.rs_articulation_write_two(engine, key, field, a, len(values), other, b, len(other_values)))

    def _read_u(self, field: int) -> Vector:
        return self._read(field, self._u_count)

    def _write_u(self, field: int, name: str, values: VectorLike) -> None:
        self._write(field, vector(name, values, self._u_count))

    def _write_q(self, field: int, name: str, values: VectorLike) -> None:
        self._write(field, vector(name, values, self._q_count))

    # ---- sizes ----

    def get_dof(self) -> int:
        """Number of degrees of freedom, the size of u."""
        return self._u_count

    def get_generalized_velocity_dim(self) -> int:
        """Size of u."""
        return self._u_count

    def get_generalized_coordinate_dim(self) -> int:
        """Size of q."""
        return self._q_count

    def get_number_of_joints(self) -> int:
        """Number of bodies, each with its joint; the base counts."""
        return len(self._tree.bodies)

    def get_body_type(self, local_idx: BodyLike = 0) -> BodyType:
        """STATIC for the base link of a fixed base, else DYNAMIC."""
        return BodyType.STATIC if self._body(local_idx) == 0 and self._tree.fixed_base else BodyType.DYNAMIC

    def _body(self, local_idx: BodyLike) -> int:
        return self._index("link", local_idx, [body.links for body in self._tree.bodies])

    def _joint(self, joint_idx: BodyLike) -> int:
        return self._index("joint", joint_idx, [(body.joint_name,) for body in self._tree.bodies])

    def _index(self, what: str, wanted: BodyLike, names: Sequence[Sequence[str]]) -> int:
        """The place of a body, given as such or by one of its names."""
        if not isinstance(wanted, str):
            return arguments.index("body index", wanted, len(names))
        for index, own in enumerate(names):
            if wanted in own:
                return index
        raise UnknownNameError(near_names(what, wanted, (name for own in names for name in own)))

    # ---- state ----

    def get_generalized_coordinate(self) -> Vector:
        """Coordinates q."""
        return self._read(lib.RS_FIELD_COORDINATE, self._q_count)

    def set_generalized_coordinate(self, coordinate: VectorLike) -> None:
        """Set q; quaternions w, x, y, z are normalised."""
        self._write_q(lib.RS_FIELD_COORDINATE, "generalized coordinate", coordinate)

    def get_generalized_velocity(self) -> Vector:
        """Velocities u."""
        return self._read_u(lib.RS_FIELD_VELOCITY)

    def set_generalized_velocity(self, velocity: VectorLike) -> None:
        """Set u."""
        self._write_u(lib.RS_FIELD_VELOCITY, "generalized velocity", velocity)

    def get_state(self) -> tuple[Vector, Vector]:
        """Coordinates and velocities (q, u)."""
        return self._read_two(lib.RS_FIELD_COORDINATE, self._q_count, lib.RS_FIELD_VELOCITY, self._u_count)

    def _set_state(self, coordinate: VectorLike, velocity: VectorLike) -> None:
        u = vector("generalized velocity", velocity, self._u_count)
        q = vector("generalized coordinate", coordinate, self._q_count)
        self._write_two(lib.RS_FIELD_VELOCITY, u, lib.RS_FIELD_COORDINATE, q)

    def get_generalized_acceleration(self) -> Vector:
        """Change of u in the last step per time; zero before the first one."""
        return self._read_u(lib.RS_FIELD_ACCELERATION)

    # ---- base ----

    def _options(self) -> Any:
        options = ffi.new("rs_articulation_options *")
        check(lib.rs_articulation_get_options(self._c, self._engine_id, options))
        return options

    def _set_options(self, **fields: Any) -> None:
        with self._world.locked():
            options = self._options()
            for name, value in fields.items():
                setattr(options, name, value)
            check(lib.rs_articulation_set_options(self._c, self._engine_id, options))

    def get_base_position(self) -> Vector:
        """Position of the base link's origin [m]."""
        if self._tree.fixed_base:
            options = self._options()  # must live until its numbers are copied
            return np.array(list(options.base_position))
        return self.get_generalized_coordinate()[:3]

    def get_base_quaternion(self) -> Vector:
        """Orientation of the base link as w, x, y, z."""
        if self._tree.fixed_base:
            options = self._options()
            return np.array(list(options.base_quaternion))
        return self.get_generalized_coordinate()[3:7]

    def get_base_orientation(self) -> Vector:
        """Orientation of the base link as a rotation matrix (link to world)."""
        return matrix_from_quaternion(self.get_base_quaternion())

    def set_base_pos(self, position: VectorLike) -> None:
        """Move the base link's origin [m]; a fixed base too."""
        self._set_base(arguments.vector("position", position, 3), slice(0, 3), "base_position")

    def set_base_orientation(self, orientation: VectorLike | Sequence[VectorLike]) -> None:
        """Turn the base link: quaternion w, x, y, z or rotation matrix; a fixed base too."""
        self._set_base(arguments.orientation(orientation), slice(3, 7), "base_quaternion")

    def _set_base(self, values: Vector, place: slice, option: str) -> None:
        if self._tree.fixed_base:
            self._set_options(**{option: list(values)})
            return
        with self._world.locked():
            q = self.get_generalized_coordinate()
            q[place] = values
            self.set_generalized_coordinate(q)

    def set_base_velocity(self, velocity: VectorLike) -> None:
        """Set the linear velocity of a floating base link's origin [m/s]."""
        self._set_base_velocity(arguments.vector("velocity", velocity, 3), slice(0, 3))

    def set_base_angular_velocity(self, velocity: VectorLike) -> None:
        """Set the angular velocity of a floating base [rad/s]."""
        self._set_base_velocity(arguments.vector("angular velocity", velocity, 3), slice(3, 6))

    def _set_base_velocity(self, values: Vector, place: slice) -> None:
        if self._tree.fixed_base:
            raise InvalidValueError(f"{self!r} has a fixed base, which has no velocity")
        with self._world.locked():
            u = self.get_generalized_velocity()
            u[place] = values
            self.set_generalized_velocity(u)

    # ---- bodies ----

    def _link(self, body: int) -> Any:
        link = ffi.new("rs_link_def *")
        check(lib.rs_articulation_get_link(self._c, self._engine_id, body, link))
        return link

    def _com_of(self, local_idx: BodyLike) -> Vector:
        return np.array(list(self._link(self._body(local_idx)).com))

    def get_inertia_matrix_b(self, local_idx: BodyLike = 0) -> Vector:
        """Inertia of a body about its centre of mass, body frame [kg m^2]."""
        return arguments.matrix_of_symmetric6(list(self._link(self._body(local_idx)).inertia))
