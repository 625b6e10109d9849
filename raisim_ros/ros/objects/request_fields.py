"""What requests to add objects of all kinds have in common."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from raisim_ros.description.appearance import check_appearance
from raisim_ros.description.errors import InvalidValueError, Place
from raisim_ros.description.robot.drive import DriveSettings
from raisim_ros.description.world.interface_settings import InterfaceSettings

PLACE = Place("request")


def interface_of(request: Any) -> InterfaceSettings:
    """What every request to add an object says about its topics."""
    low, high = own_rates(request)
    return InterfaceSettings(
        publish_tf=request.publish_tf,
        odometry=request.odometry,
        odom_tf=request.odom_tf,
        min_rate_hz=low,
        max_rate_hz=high,
        drive=_drive(request.drive) if hasattr(request, "drive") else None,
    )


def own_rates(request: Any) -> tuple[float | None, float | None]:
    """The lowest and highest rate of an object; negative ones are left to the node."""
    low, high = (None if rate < 0.0 else rate for rate in (request.min_rate_hz, request.max_rate_hz))
    return low, high


def _drive(message: Any) -> DriveSettings | None:
    """A Drive message; None: the robot is not driven."""
    if not message.type:
        return None
    values = {field.name: getattr(message, field.name) for field in fields(DriveSettings)}
    joints = {name: tuple(getattr(message, name)) for name in ("left_joints", "right_joints")}
    return DriveSettings(**{**values, **joints})


def seen_fields(request: Any) -> dict[str, Any]:
    """What every new object has."""
    check_appearance(request.appearance)
    check_material(request.material, "material")
    return {
        "place": PLACE,
        "material": request.material,
        "appearance": request.appearance,
        "collision_group": request.collision_group,
        "collision_mask": request.collision_mask,
        "interface": interface_of(request),
    }


def check_material(name: str, field: str) -> None:
    """Refuses a material without a name."""
    if not name.strip():
        raise InvalidValueError(f"{field} is empty; expected the name of a material")
