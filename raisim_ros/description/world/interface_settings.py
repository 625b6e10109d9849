"""What an object's description says about its state and command topics (after AMBF)."""

from __future__ import annotations

from dataclasses import dataclass, fields

from raisim_ros.description import checked
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.drive import ODOMETRY_SOURCES, DriveSettings

# States are published after a step, so that no higher rate makes sense [Hz of simulation time].
MAX_RATE_HZ = 1e6
# Which of an object's frames are in /tf: its own one (in the world frame) and those of its links.
FRAME_CHOICES = ("all", "base", "links", "none")


@dataclass(frozen=True)
class InterfaceSettings:
    """How an object talks to the outside.

    The gains (p, i, d) are those of the controller that follows commanded poses: per metre [N/m, N/(m s), N s/m] and
    per radian [N m/rad, N m/(rad s), N m s/rad]; None: critically damped at 2 Hz from mass and inertia.
    """

    linear_gains: tuple[float, float, float] | None = None
    angular_gains: tuple[float, float, float] | None = None
    publish_children_names: bool = False
    publish_joint_names: bool = True
    publish_joint_positions: bool = False
    publish_links: bool = False  # each link of a robot has a state and a command topic of its own
    publish_tf: str = "all"  # which of its frames are in /tf: all, base, links or none
    odometry: str = "none"  # what <object>/odom tells: none, truth or wheels
    odom_tf: bool = False  # its frame is given in a frame `odom`, and that in the world
    min_rate_hz: float | None = None  # of its state while it is not commanded; None: the node's parameter
    max_rate_hz: float | None = None  # while it is commanded
    drive: DriveSettings | None = None  # how velocities move a robot's base

    def __post_init__(self) -> None:
        for switch in fields(self):
            if switch.type == "bool":
                checked.flag(switch.name, getattr(self, switch.name))
        checked.one_of("odometry", self.odometry, ODOMETRY_SOURCES)
        checked.one_of("publish_tf", self.publish_tf, FRAME_CHOICES)
        if not isinstance(self.drive, (DriveSettings, type(None))):
            raise InvalidValueError(f"drive is {checked.shown(self.drive)}; expected DriveSettings or None")
        if self.odometry == "wheels" and (self.drive is None or not self.drive.joints):
            raise InvalidValueError("odometry is 'wheels'; that needs a drive with wheels")
        if self.odom_tf and self.odometry == "none":
            raise InvalidValueError("odom_tf needs odometry; expected truth or wheels")
        for name in ("min_rate_hz", "max_rate_hz"):
            rate = getattr(self, name)
            if rate is not None and not 0.0 < checked.number(name, rate) <= MAX_RATE_HZ:
                raise InvalidValueError(f"{name} is {rate}; expected a rate above 0 and at most {MAX_RATE_HZ:g}")
        if self.min_rate_hz is not None and self.max_rate_hz is not None and self.min_rate_hz > self.max_rate_hz:
            limit = f"expected at most max_rate_hz {self.max_rate_hz:g}"
            raise InvalidValueError(f"min_rate_hz is {self.min_rate_hz:g}; {limit}")
        for name in ("linear_gains", "angular_gains"):
            gains = getattr(self, name)
            if gains is None:
                continue
            numbers = checked.numbers(name, gains, 3)
            if not all(gain >= 0.0 for gain in numbers):
                raise InvalidValueError(f"{name} is {gains!r}; expected 3 numbers, zero or more")
            object.__setattr__(self, name, numbers)
