"""How the base of a robot is driven by velocities: wheels, and what they do. Pure functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError

Vector = NDArray[np.float64]

DRIVE_TYPES = ("differential", "skid", "mecanum", "holonomic")
ODOMETRY_SOURCES = ("none", "truth", "wheels")


@dataclass(frozen=True)
class DriveSettings:
    """A drive. Velocities of the base (forward, left, turning left) and of its wheels belong together.

    Lengths in m. Wheels of a mecanum drive stand front first on each side. A holonomic drive has none: the base itself
    moves as it is told.
    """

    type: str
    left_joints: tuple[str, ...] = ()
    right_joints: tuple[str, ...] = ()
    wheel_radius: float = 0.0
    wheel_separation: float = 0.0
    wheel_base: float = 0.0
    separation_multiplier: float = 1.0
    max_linear_speed: float = 0.0  # [m/s]; 0: no limit
    max_angular_speed: float = 0.0  # [rad/s]; 0: no limit

    def __post_init__(self) -> None:
        if self.type not in DRIVE_TYPES:
            raise InvalidValueError(f"drive: type is '{self.type}'; expected {', '.join(DRIVE_TYPES)}")
        for name in ("max_linear_speed", "max_angular_speed", "wheel_base"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise InvalidValueError(f"drive: {name} is {getattr(self, name)}; expected 0 or more")
        if self.type == "holonomic":
            if self.joints:
                raise InvalidValueError("drive: a holonomic drive has no wheels; expected no joints")
            return
        for name in ("wheel_radius", "wheel_separation", "separation_multiplier"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InvalidValueError(f"drive: {name} is {getattr(self, name)}; expected more than 0")
        if not self.left_joints or len(self.left_joints) != len(self.right_joints):
            counts = f"{len(self.left_joints)} left and {len(self.right_joints)} right joints"
            raise InvalidValueError(f"drive: it has {counts}; expected as many on each side, at least one")
        if self.type == "mecanum" and (len(self.left_joints) != 2 or not self.wheel_base > 0.0):
            raise InvalidValueError("drive: mecanum needs two wheels on each side, and a wheel_base above 0")
        if len(set(self.joints)) != len(self.joints):
            raise InvalidValueError(f"drive: a joint is named twice among {', '.join(self.joints)}")

    @property
    def joints(self) -> tuple[str, ...]:
        """Of all wheels, the left ones first."""
        return (*self.left_joints, *self.right_joints)

    def limited(self, forward: float, left: float, turning: float) -> tuple[float, float, float]:
        """The velocity nearest to a wanted one, in its direction, that the drive has."""
        speed = math.hypot(forward, left)
        if self.max_linear_speed and speed > self.max_linear_speed:
            forward, left = forward * self.max_linear_speed / speed, left * self.max_linear_speed / speed
        if self.max_angular_speed:
            turning = max(-self.max_angular_speed, min(self.max_angular_speed, turning))
        return forward, left, turning

    def _matrix(self) -> Vector:
        """Wheel speeds from the velocity of the base: a row for each wheel."""
        half = 0.5 * self.wheel_separation * self.separation_multiplier
        if self.type == "mecanum":
            arm = half + 0.5 * self.wheel_base
            rows = [[1.0, -1.0, -arm], [1.0, 1.0, -arm], [1.0, 1.0, arm], [1.0, -1.0, arm]]
        else:
            rows = [[1.0, 0.0, -half]] * len(self.left_joints) + [[1.0, 0.0, half]] * len(self.right_joints)
        return np.array(rows) / self.wheel_radius

    def wheel_speeds(self, forward: float, left: float, turning: float) -> Vector:
        """Speeds of the wheels [rad/s], in the order of `joints`; what the drive cannot do is left out."""
        return np.asarray(self._matrix() @ (forward, left, turning))

    def base_motion(self, wheels: Vector) -> Vector:
        """Forward, left and turning motion of the base that fits motions of the wheels best (speeds, or angles)."""
        return np.asarray(np.linalg.lstsq(self._matrix(), wheels, rcond=None)[0])
