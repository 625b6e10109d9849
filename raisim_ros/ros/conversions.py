"""From ROS messages to plain numbers and back. Pure functions; what is wrong is named by its field."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import Point, Vector3
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError

Vector = NDArray[np.float64]

# A quaternion shorter than this is a mistake (all zeros, most often), not a rotation.
_MIN_QUATERNION_NORM = 1e-6
# Nothing that is simulated is farther away than this [m]; larger numbers are mistakes, and lose all precision.
MAX_DISTANCE = 1e9
# The same for all other numbers in requests and commands, in their SI units.
MAX_NUMBER = 1e12


class Stamp(NamedTuple):
    """A ROS time."""

    sec: int
    nanosec: int


def stamp(seconds: float) -> Stamp:
    """Simulation time as a ROS time, rounded to nanoseconds."""
    return Stamp(*divmod(round(seconds * 1e9), 1_000_000_000))


def finite_vector(values: Sequence[float] | Vector, field: str, limit: float = MAX_NUMBER) -> Vector:
    """`values` as an array. Raises InvalidValueError, naming the field, when one is NaN, infinite or beyond `limit`."""
    array = np.asarray(values, np.float64)
    if not np.isfinite(array).all():
        raise InvalidValueError(f"{field}: expected finite numbers, got {[float(value) for value in array]}")
    if (np.abs(array) > limit).any():
        raise InvalidValueError(f"{field}: expected numbers of at most {limit:g}, got {[float(v) for v in array]}")
    return array


def vector_from_xyz(message: Any, field: str, limit: float = MAX_NUMBER) -> Vector:
    """A Vector3 or Point as an array."""
    return finite_vector((message.x, message.y, message.z), field, limit)


def wxyz_from_quaternion(message: Any, field: str) -> Vector:
    """A Quaternion message as a unit quaternion w, x, y, z."""
    wxyz = finite_vector((message.w, message.x, message.y, message.z), field)
    norm = math.sqrt(float(wxyz @ wxyz))
    if norm < _MIN_QUATERNION_NORM:
        raise InvalidValueError(f"{field}: expected a rotation, got a quaternion of length {norm:.3g}")
    # The engine keeps a quaternion that is a unit one to 1e-12 bit by bit: do not touch it here.
    return wxyz if abs(norm - 1.0) <= 1e-12 else wxyz / norm


class BodyPose(NamedTuple):
    """Position [m] and orientation (w, x, y, z) of a body frame in the world."""

    position: Vector
    wxyz: Vector


class Twist(NamedTuple):
    """Velocity of a body origin [m/s] and angular velocity [rad/s], world axes."""

    linear: Vector
    angular: Vector


class Wrench(NamedTuple):
    """Force [N] and torque [N m], world axes."""

    force: Vector
    torque: Vector


def point(xyz: Any) -> Point:
    """The message of a point."""
    return Point(x=float(xyz[0]), y=float(xyz[1]), z=float(xyz[2]))


def vector3(xyz: Any) -> Vector3:
    """The message of a vector."""
    return Vector3(x=float(xyz[0]), y=float(xyz[1]), z=float(xyz[2]))


def pose_from_message(message: Any, field: str) -> BodyPose:
    """A geometry_msgs/Pose."""
    return BodyPose(
        vector_from_xyz(message.position, f"{field}.position", MAX_DISTANCE),
        wxyz_from_quaternion(message.orientation, f"{field}.orientation"),
    )


def twist_from_message(message: Any, field: str) -> Twist:
    """A geometry_msgs/Twist."""
    return Twist(
        vector_from_xyz(message.linear, f"{field}.linear"),
        vector_from_xyz(message.angular, f"{field}.angular"),
    )


def wrench_from_message(message: Any, field: str) -> Wrench:
    """A geometry_msgs/Wrench."""
    return Wrench(
        vector_from_xyz(message.force, f"{field}.force"),
        vector_from_xyz(message.torque, f"{field}.torque"),
    )


def rotate(wxyz: Vector, vectors: Vector) -> Vector:
    """Rotates vectors (..., 3) by unit quaternions w, x, y, z (..., 4)."""
    scalar, axis = wxyz[..., :1], wxyz[..., 1:]
    twice = 2.0 * np.cross(axis, vectors)
    return np.asarray(vectors + scalar * twice + np.cross(axis, twice))


def compose_xyzw(outer: Vector, inner: Vector) -> Vector:
    """Poses (..., 7: x y z qx qy qz qw) of frames given in other frames: `outer` after `inner`."""
    outer_axis, outer_scalar = outer[..., 3:6], outer[..., 6:7]
    inner_axis, inner_scalar = inner[..., 3:6], inner[..., 6:7]
    wxyz = np.concatenate((outer_scalar, outer_axis), axis=-1)
    position = outer[..., :3] + rotate(wxyz, inner[..., :3])
    axis = outer_scalar * inner_axis + inner_scalar * outer_axis + np.cross(outer_axis, inner_axis)
    scalar = outer_scalar * inner_scalar - np.sum(outer_axis * inner_axis, axis=-1, keepdims=True)
    return np.concatenate((position, axis, scalar), axis=-1)


def inverse_xyzw(poses: Vector) -> Vector:
    """Poses (..., 7) of the outer frames in the inner ones."""
    wxyz = np.concatenate((poses[..., 6:7], -poses[..., 3:6]), axis=-1)
    return np.concatenate((-rotate(wxyz, poses[..., :3]), -poses[..., 3:6], poses[..., 6:7]), axis=-1)


def velocity_at_com(twist: Twist, wxyz: Vector, com: Vector) -> Vector:
    """Velocity of the centre of mass (`com` in the body frame) of a body whose origin moves with `twist`."""
    return np.asarray(twist.linear + np.cross(twist.angular, rotate(wxyz, com)))


def principal_inertia(inertia: Vector) -> Vector:
    """Principal moments of a 3 × 3 inertia, ascending."""
    return np.asarray(np.linalg.eigvalsh(inertia.reshape(3, 3)), np.float64)
