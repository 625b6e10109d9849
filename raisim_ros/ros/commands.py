"""Commands to objects: what a message asks for, how it is applied, and when it is dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from raisim_ros.description.errors import RaisimError
from raisim_ros.engine.types import BodyType
from raisim_ros.msg import ObjectCmd
from raisim_ros.ros.conversions import (
    Pose,
    Twist,
    Wrench,
    pose_from_message,
    twist_from_message,
    wrench_from_message,
)
from raisim_ros.ros.object_table import ObjectEntry, set_twist
from raisim_ros.ros.pacing import period_in_steps
from raisim_ros.ros.topic import NEVER


class CommandRefusedError(RaisimError):
    """The command makes no sense for this object; `kind` groups equal reasons in the log."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


class StaleAction(Enum):
    """What happens to a command that was not renewed in time."""

    RELEASE = "release"  # drop the wrench, stop the kinematic body
    HOLD = "hold"  # keep it acting


Target = Wrench | Twist | tuple[Pose, Twist]


def target_of(message: Any) -> Target:
    """What a command asks for: a wrench, a twist, or a pose with its twist.

    Raises InvalidValueError for numbers that are not finite, CommandRefusedError for a contradiction.
    """
    if message.joint_names or len(message.joint_cmds) or len(message.joint_cmds_types):
        raise CommandRefusedError("joints", "it commands joints, and the object has none")
    kind = message.cartesian_cmd_type
    if kind not in (ObjectCmd.FORCE, ObjectCmd.POSITION, ObjectCmd.VELOCITY):
        raise CommandRefusedError(
            "type", f"cartesian_cmd_type is {kind}; expected 0 (force), 1 (position) or 2 (velocity)"
        )
    if not message.enable_position_controller:
        if kind != ObjectCmd.FORCE:
            raise CommandRefusedError(
                "controller", f"cartesian_cmd_type {kind} needs enable_position_controller, which is false"
            )
        return wrench_from_message(message.wrench, "wrench")
    twist = twist_from_message(message.twist, "twist")
    return twist if kind == ObjectCmd.VELOCITY else (pose_from_message(message.pose, "pose"), twist)


def apply_command(entry: ObjectEntry, target: Target) -> None:
    """Makes the object follow a command from the next step on."""
    body_type = entry.handle.get_body_type()
    if body_type == BodyType.STATIC:
        raise CommandRefusedError("static", "a static object takes no commands")
    if isinstance(target, Wrench):
        # A wrench on a kinematic object is meaningless and does nothing.
        if body_type == BodyType.DYNAMIC:
            entry.handle.set_command_wrench(target.force, target.torque)
        return
    if body_type == BodyType.DYNAMIC:
        raise CommandRefusedError(
            "dynamic", "poses and velocities of dynamic objects cannot be commanded; send a wrench"
        )
    if isinstance(target, Twist):
        set_twist(entry.handle, target)
        return
    pose, twist = target
    entry.handle.set_pose(pose.position, pose.wxyz)
    set_twist(entry.handle, twist)


def release_command(entry: ObjectEntry) -> None:
    """Ends the effect of the last command."""
    body_type = entry.handle.get_body_type()
    if body_type == BodyType.DYNAMIC:
        entry.handle.clear_command_wrench()
    elif body_type == BodyType.KINEMATIC:
        entry.handle.set_velocity((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Watchdog:
    """How long a command to an object lasts [s of simulation time; 0: for ever], and what happens then."""

    timeout: float
    action: StaleAction


class Commands:
    """The commands that are acting. For the stepping thread."""

    def __init__(self, watchdog: Watchdog, set_commanded: Callable[[int, bool], None]) -> None:
        self.watchdog = watchdog
        self._set_commanded = set_commanded
        self._last_step: dict[int, int] = {}  # the step count when the command came

    def accept(self, entry: ObjectEntry, message: Any, step: int) -> None:
        """Applies a command; raises RaisimError, and changes nothing, when it cannot."""
        apply_command(entry, target_of(message))
        if entry.id not in self._last_step:
            self._set_commanded(entry.id, True)
        self._last_step[entry.id] = step

    def forget(self, object_id: int) -> None:
        """The object is gone, or its state was reset."""
        if self._last_step.pop(object_id, None) is not None:
            self._set_commanded(object_id, False)

    def steps_until_stale(self, step: int, time_step: float) -> int:
        """Steps until the first command must be dropped."""
        if not self._last_step or self.watchdog.timeout == 0.0:
            return NEVER
        limit = period_in_steps(1.0 / self.watchdog.timeout, time_step)
        return max(1, min(self._last_step.values()) + limit - step)

    def drop_stale(self, step: int, time_step: float, entry_of: Callable[[int], ObjectEntry]) -> None:
        """Drops the commands whose time is over."""
        if not self._last_step or self.watchdog.timeout == 0.0:
            return
        limit = period_in_steps(1.0 / self.watchdog.timeout, time_step)
        stale = [object_id for object_id, since in self._last_step.items() if step - since >= limit]
        for object_id in stale:
            if self.watchdog.action is StaleAction.RELEASE:
                release_command(entry_of(object_id))
            self.forget(object_id)
