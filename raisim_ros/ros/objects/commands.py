"""Commands to objects: what a message asks for, how it is applied, and when it is dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from raisim_ros.description.errors import RaisimError
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import BodyType
from raisim_ros.msg import ObjectCmd
from raisim_ros.ros.conversions import (
    BodyPose,
    Twist,
    Wrench,
    pose_from_message,
    twist_from_message,
    wrench_from_message,
)
from raisim_ros.ros.objects.object_state import set_twist
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.state_topics import Entry, ShownFields
from raisim_ros.ros.pacing import period_in_steps
from raisim_ros.ros.robots.joint_commands import (
    JointTargets,
    apply_joint_targets,
    check_gains,
    hold_joints,
    release_joints,
    targets_of_joint_state,
    targets_of_object_command,
)
from raisim_ros.ros.robots.trajectories import Check, GiveUp, Trajectories


class CommandRefusedError(RaisimError):
    """The command makes no sense for this object; `kind` groups equal reasons in the log."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


class StaleAction(Enum):
    """What happens to a command that was not renewed in time."""

    RELEASE = "release"  # drop the wrench, stop the kinematic body
    HOLD = "hold"  # keep it acting


Target = Wrench | Twist | tuple[BodyPose, Twist]


def target_of(message: Any) -> Target:
    """What a command asks of a body, or of a robot's base: a wrench, a twist, or a pose with its twist.

    Raises InvalidValueError for numbers that are not finite, CommandRefusedError for a contradiction.
    """
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


def _body_type(entry: ObjectRow) -> BodyType:
    """How the object answers to forces: robots do, also on a fixed base."""
    body_type: BodyType = BodyType.DYNAMIC if entry.joints is not None else entry.handle.get_body_type()
    return body_type


def joint_targets_of(entry: ObjectRow, message: Any) -> JointTargets | None:
    """What a command asks of the joints."""
    if entry.joints is not None:
        return targets_of_object_command(entry.joints, message)
    if message.joint_names or len(message.joint_cmds) or len(message.joint_cmds_types):
        raise CommandRefusedError("joints", "it commands joints, and the object has none")
    return None


def shown_fields_of(entry: Entry, message: Any) -> ShownFields:
    """The fields that a command wants in the state of the object."""
    described = ShownFields.described(entry)
    chosen = {}
    for field in ("children_names", "joint_names", "joint_positions"):
        flag = getattr(message, f"publish_{field}")
        if flag not in (ObjectCmd.AS_DESCRIBED, ObjectCmd.ON, ObjectCmd.OFF):
            expected = "0 (as described), 1 (on) or 2 (off)"
            raise CommandRefusedError("flag", f"publish_{field} is {flag}; expected {expected}")
        chosen[field] = getattr(described, field) if flag == ObjectCmd.AS_DESCRIBED else flag == ObjectCmd.ON
    return ShownFields(**chosen)


def apply_command(entry: ObjectRow, target: Target) -> None:
    """Makes the object follow a command from the next step on."""
    body_type = _body_type(entry)
    if isinstance(entry.handle, SoftObject):
        if isinstance(target, Wrench) and not (target.force.any() or target.torque.any()):
            return
        raise CommandRefusedError(
            "soft", f"an object made of particles takes no wrench, pose or velocity; see {entry.name}/{entry.type}_cmd"
        )
    if body_type == BodyType.STATIC:
        raise CommandRefusedError("static", "a static object takes no commands")
    driven = body_type == BodyType.DYNAMIC  # pushed by a controller to where it shall be
    if isinstance(target, Wrench):
        if driven:  # on a kinematic object it is meaningless and does nothing
            entry.handle.set_command_wrench(target.force, target.torque)
    elif isinstance(target, Twist):
        if driven:
            entry.handle.set_command_velocity(target.linear, target.angular)
        else:
            set_twist(entry.handle, target)
    else:
        pose, twist = target
        if driven:
            entry.handle.set_command_pose(pose.position, pose.wxyz, twist.linear, twist.angular)
        else:
            entry.handle.set_pose(pose.position, pose.wxyz)
            set_twist(entry.handle, twist)


class Aspect(Enum):
    """What of an object is commanded; each has a watchdog of its own."""

    BODY = "body"  # wrench, pose and velocity
    JOINTS = "joints"


Commanded = Aspect | int  # an integer is the body of a link


def release_command(entry: ObjectRow, what: Commanded) -> None:
    """Ends the effect of the last command."""
    body_type = _body_type(entry)
    if isinstance(entry.handle, SoftObject):
        return  # nothing acts
    if isinstance(what, int):
        entry.handle.clear_command(what)
    elif what is Aspect.JOINTS:
        release_joints(entry)
    elif body_type == BodyType.DYNAMIC:
        entry.handle.clear_command()
    elif body_type == BodyType.KINEMATIC:
        entry.handle.set_velocity((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Watchdog:
    """How long a command to an object lasts [s of simulation time; 0: for ever], and what happens then."""

    timeout: float
    action: StaleAction


class Commands:
    """The commands that are acting. For the stepping thread."""

    def __init__(
        self,
        watchdog: Watchdog,
        set_commanded: Callable[[int, bool], None],
        show: Callable[[Entry, ShownFields], None],
    ) -> None:
        """`set_commanded` and `show` are told how the states of objects are to be published."""
        self.watchdog = watchdog
        self.trajectories = Trajectories()
        self._set_commanded = set_commanded
        self._show = show
        self._last_step: dict[tuple[int, Commanded], int] = {}  # the step count when the command came

    def accept(self, entry: ObjectRow, message: Any, step: int) -> None:
        """Applies an ObjectCmd; raises RaisimError, and changes nothing, when it cannot."""
        target, joints, shown = target_of(message), joint_targets_of(entry, message), shown_fields_of(entry, message)
        if joints is not None:
            check_gains(entry, joints.places, joints.positions, joints.velocities)
        apply_command(entry, target)
        self._note(entry.id, Aspect.BODY, step)
        if joints is not None:
            self._drive(entry, joints, step)
        self._show(entry, shown)

    def accept_link(self, entry: ObjectRow, body: int, message: Any, step: int) -> None:
        """Applies an ObjectCmd to a link of a robot; raises RaisimError, and changes nothing, when it cannot."""
        link = entry.links[body - 1]
        target = target_of(message)
        if not isinstance(target, Wrench):
            raise CommandRefusedError("link", "a link takes wrenches; poses go to the robot, or to its joints")
        if message.joint_names or len(message.joint_cmds) or len(message.joint_cmds_types):
            raise CommandRefusedError("link", f"joints are commanded through {entry.name}/cmd")
        shown = shown_fields_of(link, message)
        entry.handle.set_command_wrench(target.force, target.torque, body)
        self._note(entry.id, body, step)
        self._show(link, shown)

    def accept_joints(self, entry: ObjectRow, message: Any, step: int) -> None:
        """Applies a JointState; raises RaisimError, and changes nothing, when it cannot."""
        assert entry.joints is not None  # only robots have the topic
        self._drive(entry, targets_of_joint_state(entry.joints, message), step)

    def _drive(self, entry: ObjectRow, joints: JointTargets, step: int) -> None:
        apply_joint_targets(entry, joints)
        self.trajectories.cancel(entry.id, "a command to joints came")
        self._note(entry.id, Aspect.JOINTS, step)

    def accept_velocity(self, entry: ObjectRow, message: Any, step: int) -> None:
        """Drives a robot's base by a Twist or TwistStamped, in the axes of the base."""
        drive = entry.interface.drive
        assert drive is not None  # only driven robots have the topic
        assert entry.joints is not None
        twist = twist_from_message(getattr(message, "twist", message), "cmd_vel")
        velocity = drive.limited(float(twist.linear[0]), float(twist.linear[1]), float(twist.angular[2]))
        if drive.joints:
            nothing = np.full(len(drive.joints), np.nan)
            places = entry.joints.places(drive.joints, "drive")
            self._drive(entry, JointTargets(places, nothing, drive.wheel_speeds(*velocity), nothing), step)
            return
        forward, left, turning = velocity
        linear = entry.handle.get_orientation(0) @ (forward, left, 0.0)
        apply_command(entry, Twist(linear, np.array([0.0, 0.0, turning])))
        self._note(entry.id, Aspect.BODY, step)

    def accept_trajectory(
        self,
        entry: ObjectRow,
        message: Any,
        sim_time: float,
        check: Check | None = None,
        give_up: GiveUp = lambda reason: None,
    ) -> None:
        """Follows a JointTrajectory to its end, without a watchdog; commands to joints are over."""
        self.trajectories.accept(entry, message, sim_time, check, give_up)
        self._drop(entry.id, Aspect.JOINTS)

    def stop_trajectory(self, entry: ObjectRow) -> None:
        """Ends the trajectory of a robot; its joints stay where they are."""
        if self.trajectories.is_active(entry.id):
            self.trajectories.cancel(entry.id, "cancelled")
            hold_joints(entry)

    def check_trajectories(self, sim_time: float, entry_of: Callable[[int], ObjectRow]) -> None:
        """Looks after a step whether trajectories are kept to."""
        self.trajectories.check(sim_time, lambda object_id: hold_joints(entry_of(object_id)))

    def _note(self, object_id: int, what: Commanded, step: int) -> None:
        if not self._is_commanded(object_id):
            self._set_commanded(object_id, True)
        self._last_step[object_id, what] = step

    def _drop(self, object_id: int, what: Commanded) -> None:
        if self._last_step.pop((object_id, what), None) is not None and not self._is_commanded(object_id):
            self._set_commanded(object_id, False)

    def _is_commanded(self, object_id: int) -> bool:
        return any(commanded == object_id for commanded, _ in self._last_step)

    def forget(self, object_id: int) -> None:
        """The object is gone, or its state was reset."""
        self.trajectories.cancel(object_id, "the robot was removed, or its state was reset")
        for commanded, what in list(self._last_step):
            if commanded == object_id:
                self._drop(object_id, what)

    def patience(self, time_step: float) -> int:
        """Steps that a command lasts; 0: for ever."""
        return period_in_steps(1.0 / self.watchdog.timeout, time_step) if self.watchdog.timeout else 0

    def steps_until_due(self, step: int, time_step: float) -> int:
        """Steps until the first command must be dropped, or targets move on."""
        follow, limit = self.trajectories.steps_until_due(), self.patience(time_step)
        if not self._last_step or not limit:
            return follow
        return min(follow, max(1, min(self._last_step.values()) + limit - step))

    def drop_stale(self, step: int, time_step: float, entry_of: Callable[[int], ObjectRow]) -> None:
        """Drops the commands whose time is over."""
        limit = self.patience(time_step)
        if not self._last_step or not limit:
            return
        stale = [key for key, since in self._last_step.items() if step - since >= limit]
        for object_id, what in stale:
            if self.watchdog.action is StaleAction.RELEASE:
                release_command(entry_of(object_id), what)
            self._drop(object_id, what)
