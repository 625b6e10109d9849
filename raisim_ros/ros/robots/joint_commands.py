"""What the joints of a robot shall do: by force, velocity or position, each joint as it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.types import ControlMode
from raisim_ros.msg import ObjectCmd
from raisim_ros.ros.conversions import Vector, finite_vector
from raisim_ros.ros.objects.object_state import JointControl, RobotState, apply_control, capture_control
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.robots.robot_joints import RobotJoints

# What a command to joints changes, apart from position targets, which stay.
_COMMANDED = ("p_gains", "d_gains", "velocity_target", "force")


@dataclass(frozen=True)
class JointTargets:
    """Targets of some joints; NaN where none is given.

    A joint with a position follows it by its described gains, towards the velocity if there is one; a joint with a
    velocity alone follows that by its velocity gain; other joints are left to the force, which adds to all of them.
    """

    places: NDArray[np.int64]  # in RobotJoints.names
    positions: Vector  # [m, rad]
    velocities: Vector  # [m/s, rad/s]
    forces: Vector  # [N, N m]


def _numbers(joints: RobotJoints, names: Sequence[str], values: Any, field: str) -> Vector:
    """One number per joint, or none; NaN: none for that joint.

    Hardware interfaces of ros2_control that speak by topics name all joints, but have numbers for those alone whose
    <command_interface> has this name.
    """
    own = np.arange(len(names))
    if len(values) not in (0, len(names)):
        commanded = [k for k, name in enumerate(names) if field in joints.command_interfaces.get(name, ())]
        own = np.array(commanded, np.int64)
        if len(values) != len(own):
            raise InvalidValueError(f"{field} has {len(values)} numbers for {len(names)} joints")
    numbers = np.full(len(names), np.nan)
    array = np.asarray(values, np.float64)
    given = np.flatnonzero(~np.isnan(array))
    numbers[own[given]] = finite_vector(array[given], field)
    return numbers


def targets_of_joint_state(joints: RobotJoints, message: Any) -> JointTargets:
    """What a JointState asks for; its empty arrays ask for nothing."""
    names = message.name
    places = joints.places(names, "name")
    targets = JointTargets(
        places,
        _numbers(joints, names, message.position, "position"),
        _numbers(joints, names, message.velocity, "velocity"),
        _numbers(joints, names, message.effort, "effort"),
    )
    if len(names) == 0:
        raise InvalidValueError("name is empty; expected joints")
    if not (len(message.position) or len(message.velocity) or len(message.effort)):
        raise InvalidValueError("position, velocity and effort are all empty; expected one of them")
    given = ~(np.isnan(targets.positions) & np.isnan(targets.velocities) & np.isnan(targets.forces))
    if joints.whole(places[given]).tolist() != sorted(places[given].tolist()):
        raise InvalidValueError("a spherical joint has numbers for some of its entries only; expected all or none")
    return JointTargets(places[given], targets.positions[given], targets.velocities[given], targets.forces[given])


def targets_of_object_command(joints: RobotJoints, message: Any) -> JointTargets | None:
    """What an ObjectCmd asks of the joints, each by its own type; None when it names none."""
    count = len(message.joint_names)
    if len(message.joint_cmds) != count:
        raise InvalidValueError(f"joint_cmds has {len(message.joint_cmds)} numbers for {count} joint_names")
    kinds = np.array(message.joint_cmds_types or [ObjectCmd.FORCE] * count, np.int64)
    if len(kinds) != count:
        raise InvalidValueError(f"joint_cmds_types has {len(kinds)} types for {count} joint_names")
    wrong = ~np.isin(kinds, (ObjectCmd.FORCE, ObjectCmd.POSITION, ObjectCmd.VELOCITY))
    if wrong.any():
        raise InvalidValueError(
            f"joint_cmds_types has a {kinds[wrong][0]}; expected 0 (force), 1 (position) or 2 (velocity)"
        )
    places = joints.places(message.joint_names, "joint_names")
    values = finite_vector(message.joint_cmds, "joint_cmds")
    if count == 0:
        return None
    by_kind = {
        kind: np.where(kinds == kind, values, np.nan)
        for kind in (ObjectCmd.POSITION, ObjectCmd.VELOCITY, ObjectCmd.FORCE)
    }
    targets = JointTargets(places, *by_kind.values())
    for columns in joints.spherical_columns(places):
        if len(set(kinds[columns])) > 1:
            entries = ", ".join(message.joint_names[column] for column in columns)
            raise InvalidValueError(f"joint_cmds_types: {entries} belong to one joint; expected one type for all")
    return targets


def _described(entry: ObjectRow) -> tuple[RobotJoints, JointControl]:
    """The joints of a robot, and what drove them when it came into the world."""
    assert entry.joints is not None  # the caller has a robot
    assert isinstance(entry.initial, RobotState)
    return entry.joints, entry.initial.control


def check_gains(entry: ObjectRow, places: NDArray[np.int64], positions: Vector, velocities: Vector) -> None:
    """Refuses a position or velocity for a joint that has no gain to follow it."""
    joints, described = _described(entry)
    u = joints.u[places]
    for what, gains, lacking in (
        ("position", "p_gains", ~np.isnan(positions) & (described.p_gains[u] == 0.0)),
        ("velocity", "d_gains", ~np.isnan(velocities) & np.isnan(positions) & (described.d_gains[u] == 0.0)),
    ):
        if lacking.any():
            name = joints.names[int(places[lacking][0])]
            advice = f"spawn the robot with {gains}, or send a force"
            raise InvalidValueError(f"joint '{name}' has no {what} gain and cannot follow a {what}; {advice}")


def apply_joint_targets(entry: ObjectRow, targets: JointTargets) -> None:
    """Drives the named joints so from the next step on; the others go on as they do."""
    check_gains(entry, targets.places, targets.positions, targets.velocities)
    joints, described = _described(entry)
    u = joints.u[targets.places]
    by_position = ~np.isnan(targets.positions)
    steered = by_position | ~np.isnan(targets.velocities)
    control = capture_control(entry.handle)
    control.p_gains[u] = np.where(by_position, described.p_gains[u], 0.0)
    control.d_gains[u] = np.where(steered, described.d_gains[u], 0.0)
    joints.put_positions(control.position_target, targets.places, targets.positions)
    control.velocity_target[u] = np.nan_to_num(targets.velocities)
    control.force[u] = np.nan_to_num(targets.forces)
    apply_control(entry.handle, replace(control, mode=ControlMode.PD_PLUS_FEEDFORWARD_TORQUE))


def uncommanded_control(entry: ObjectRow) -> JointControl:
    """What drives a robot without its commands: positions stay targets; what force or velocity moved stays in place."""
    joints, described = _described(entry)
    control = capture_control(entry.handle)
    if all(np.array_equal(getattr(control, name), getattr(described, name)) for name in _COMMANDED):
        return control
    present = joints.positions(entry.handle.get_generalized_coordinate())
    free = joints.whole(np.flatnonzero(control.p_gains[joints.u] == 0.0))
    joints.put_positions(control.position_target, free, present[free])
    control.velocity_target[joints.u] = 0.0
    control.force[joints.u] = 0.0
    return replace(control, p_gains=described.p_gains, d_gains=described.d_gains)


def present_gains(entry: ObjectRow) -> dict[str, Vector]:
    """The gains with which commands to come steer the joints, by the names of the arguments of `set_gains`."""
    joints, described = _described(entry)
    return {"p_gains": described.p_gains[joints.u], "d_gains": described.d_gains[joints.u]}


def set_gains(entry: ObjectRow, places: NDArray[np.int64], p_gains: Vector | None, d_gains: Vector | None) -> None:
    """Gives some joints other gains, for commands to come and for what steers them now.

    Joints that had no gains hold where they are; joints that a force drives stay free of gains until that is over.
    """
    joints, described = _described(entry)
    u = joints.u[places]
    control = capture_control(entry.handle)
    steered = (control.p_gains[u] != 0.0) | (control.d_gains[u] != 0.0)
    without = (described.p_gains[u] == 0.0) & (described.d_gains[u] == 0.0)
    for gains, new in ((described.p_gains, p_gains), (described.d_gains, d_gains)):
        if new is not None:
            gains[u] = new
    present = joints.positions(entry.handle.get_generalized_coordinate())
    idle = joints.whole(places[without & ~steered])
    joints.put_positions(control.position_target, idle, present[idle])
    engaged = u[steered | without]
    by_velocity = (control.p_gains[engaged] == 0.0) & (control.d_gains[engaged] != 0.0)
    control.p_gains[engaged] = np.where(by_velocity, 0.0, described.p_gains[engaged])
    control.d_gains[engaged] = described.d_gains[engaged]
    apply_control(entry.handle, replace(control, mode=ControlMode.PD_PLUS_FEEDFORWARD_TORQUE))


def hold_joints(entry: ObjectRow) -> None:
    """Makes the present positions of all joints that have gains their targets, at rest."""
    joints, described = _described(entry)
    control = capture_control(entry.handle)
    present = joints.positions(entry.handle.get_generalized_coordinate())
    joints.put_positions(control.position_target, np.arange(len(present)), present)
    control.velocity_target[joints.u] = 0.0
    control.force[joints.u] = 0.0
    apply_control(entry.handle, replace(control, p_gains=described.p_gains, d_gains=described.d_gains))


def release_joints(entry: ObjectRow) -> None:
    """Ends commands to joints."""
    apply_control(entry.handle, uncommanded_control(entry))
