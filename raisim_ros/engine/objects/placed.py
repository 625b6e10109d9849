"""What every ``add_*`` of a world may be told about the new object beside its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, TypeVar

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine import arguments
from raisim_ros.engine.arguments import VectorLike
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.types import BodyType

Owner = TypeVar("Owner", bound=BodyOwner)


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


def place(handle: Owner, placed: Any) -> Owner:
    """Do to a new object what the keywords of its ``add_*`` say; it is taken out again when one is wrong."""
    if not placed:
        return handle
    try:
        unknown = sorted(set(placed) - set(Placed.__annotations__))
        if unknown:
            known = ", ".join(Placed.__annotations__)
            raise InvalidValueError(f"'{unknown[0]}' is no keyword of an object; expected one of {known}")
        _place(handle, placed)
    except BaseException:
        handle._world.remove_object(handle)  # type: ignore[attr-defined]
        raise
    return handle


def _place(handle: BodyOwner, placed: Placed) -> None:
    single = handle if isinstance(handle, SingleBodyObject) else None
    robot: Any = handle
    if "body_type" in placed:
        if single is None:
            raise InvalidValueError(f"body_type: {handle!r} is a robot; its base is fixed or floating by its file")
        single.set_body_type(placed["body_type"])
    if "position" in placed:
        single.set_position(placed["position"]) if single else robot.set_base_pos(placed["position"])
    if "orientation" in placed:
        turn = placed["orientation"]
        single.set_orientation(turn) if single else robot.set_base_orientation(turn)
    if "velocity" in placed:
        size = 6 if np.size(placed["velocity"]) == 6 else 3
        values = arguments.vector("velocity", placed["velocity"], size)
        linear, angular = values[:3], values[3:] if size == 6 else np.zeros(3)
        if single is not None:
            single.set_velocity(linear, angular)
        else:
            robot.set_base_velocity(linear)
            robot.set_base_angular_velocity(angular)
    if "appearance" in placed:
        handle.set_appearance(placed["appearance"])
    if "name" in placed:
        handle.set_name(placed["name"])
