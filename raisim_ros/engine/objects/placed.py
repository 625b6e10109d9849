"""What every ``add_*`` of a world may be told about the new object beside its shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.engine import arguments
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import BodyType, GyroscopicMode

Owner = TypeVar("Owner", bound=BodyOwner | SoftObject)


class Placed(TypedDict, total=False):
    """Keywords of every ``add_*``, all optional."""

    name: str
    """For ``world[name]``."""
    position: VectorLike
    """Of the origin; of a robot that of its base [m]."""
    orientation: VectorLike | Sequence[VectorLike]
    """Quaternion w, x, y, z or rotation matrix."""
    velocity: VectorLike
    """Linear velocity [m/s], or linear and angular [rad/s]: 3 or 6 numbers."""
    body_type: BodyType
    """DYNAMIC, KINEMATIC or STATIC; not of robots."""
    appearance: str
    """A colour, "r g b a", a texture or "hidden"."""


class BodyKeywords(Placed, total=False):
    """Those of single bodies, beside."""

    linear_damping: float
    """Air drag against the velocity [N s/m]."""
    angular_damping: VectorLike
    """The same about each body axis [N m s/rad]."""
    gyroscopic_mode: GyroscopicMode
    """How the gyroscopic torque is integrated."""


class PrimitiveKeywords(BodyKeywords, total=False):
    """Those of primitive shapes, beside."""

    com: VectorLike
    """Centre of mass in the body frame [m]."""
    inertia: Sequence[VectorLike] | NDArray[Any]
    """About the centre of mass, body axes, 3 x 3 [kg m^2]; default: that of a uniform solid about this point."""


def check_keywords(placed: Any, kind: Any) -> None:
    """Raise InvalidValueError unless all keywords are of that kind."""
    unknown = sorted(set(placed) - set(kind.__annotations__))
    if unknown:
        known = ", ".join(kind.__annotations__)
        raise InvalidValueError(f"'{unknown[0]}' is no keyword of an object; expected one of {known}")


def velocities(placed: Placed) -> tuple[Vector, Vector]:
    """Linear and angular velocity, of three or six numbers."""
    given = placed.get("velocity", np.zeros(6))
    size = 6 if math.prod(arguments.shape(given)) == 6 else 3
    values = np.r_[arguments.vector("velocity", given, size), np.zeros(6 - size)]
    return values[:3], values[3:]


def dress(handle: Owner, placed: Placed) -> Owner:
    """Look and name of a new object; it is taken out again when one is wrong."""
    try:
        if "appearance" in placed:
            handle.set_appearance(placed["appearance"])
        if "name" in placed:
            handle.set_name(placed["name"])
    except BaseException:
        handle._world.remove_object(handle)  # type: ignore[attr-defined]
        raise
    return handle


def place(handle: Owner, placed: Placed) -> Owner:
    """Do to a new robot or soft object what the keywords of its ``add_*`` say; it goes again when one is wrong."""
    try:
        check_keywords(placed, Placed)
        _place_robot(handle, placed) if isinstance(handle, BodyOwner) else _place_particles(handle, placed)
    except BaseException:
        handle._world.remove_object(handle)  # type: ignore[attr-defined]
        raise
    return dress(handle, placed)


def _place_robot(robot: Any, placed: Placed) -> None:
    if "body_type" in placed:
        raise InvalidValueError(f"body_type: {robot!r} is a robot; its base is fixed or floating by its file")
    if "position" in placed:
        robot.set_base_pos(placed["position"])
    if "orientation" in placed:
        robot.set_base_orientation(placed["orientation"])
    if "velocity" in placed:
        linear, angular = velocities(placed)
        robot.set_base_velocity(linear)
        robot.set_base_angular_velocity(angular)


def _place_particles(soft: SoftObject, placed: Placed) -> None:
    if "body_type" in placed:
        raise InvalidValueError(f"body_type: {soft!r} is made of particles, which always move")
    origin = arguments.vector("position", placed.get("position", (0.0, 0.0, 0.0)), 3)
    turn = matrix_from_quaternion(arguments.orientation(placed.get("orientation", (1.0, 0.0, 0.0, 0.0))))
    if "position" in placed or "orientation" in placed:
        soft.set_positions(soft.get_positions() @ turn.T + origin)
    if "orientation" in placed:
        soft.set_velocities(soft.get_velocities() @ turn.T)
    if "velocity" in placed:
        linear, angular = velocities(placed)
        soft.set_velocities(soft.get_velocities() + linear + np.cross(angular, soft.get_positions() - origin))
