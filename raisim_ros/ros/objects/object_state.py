"""States of objects: bodies and robots alike are moved, kept and put back. For the stepping thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import BodyType, ControlMode
from raisim_ros.ros.conversions import BodyPose, Twist, Vector, velocity_at_com


@dataclass(frozen=True)
class RigidState:
    """State of a rigid body; the linear velocity is that of the centre of mass."""

    position: Vector
    wxyz: Vector
    linear_velocity: Vector
    angular_velocity: Vector


@dataclass(frozen=True)
class JointControl:
    """What drives the joints of a robot."""

    mode: ControlMode
    p_gains: Vector
    d_gains: Vector
    position_target: Vector
    velocity_target: Vector
    force: Vector


@dataclass(frozen=True)
class RobotState:
    """State of a robot; the base pose counts where the base is fixed."""

    position: Vector
    wxyz: Vector
    coordinates: Vector
    velocities: Vector
    control: JointControl


@dataclass(frozen=True)
class SoftState:
    """State of an object made of particles."""

    arrays: dict[str, Any]
    wind: Vector | None  # of cloth


ObjectSnapshot = RigidState | RobotState | SoftState


def is_static(handle: Any) -> bool:
    """Whether the whole object never moves. (A robot on a fixed base does.)"""
    return not isinstance(handle, ArticulatedSystem) and handle.get_body_type() == BodyType.STATIC


def set_pose(handle: Any, pose: BodyPose) -> None:
    """Moves the origin of a body, or of a robot's base link."""
    if isinstance(handle, ArticulatedSystem):
        handle.set_base_pos(pose.position)
        handle.set_base_orientation(pose.wxyz)
    else:
        handle.set_pose(pose.position, pose.wxyz)


def set_twist(handle: Any, twist: Twist) -> None:
    """Sets the velocity of the origin of what can move. (The engine's setter of bodies means the centre of mass.)"""
    if isinstance(handle, SoftObject):
        handle.set_velocity(twist.linear, twist.angular)
    elif not isinstance(handle, ArticulatedSystem):
        linear = velocity_at_com(twist, handle.get_quaternion(), handle.get_com())
        handle.set_velocity(linear, twist.angular)
    else:
        handle.set_base_velocity(twist.linear)
        handle.set_base_angular_velocity(twist.angular)


def has_fixed_base(handle: Any) -> bool:
    """Whether the object is a robot whose base link stands still."""
    return isinstance(handle, ArticulatedSystem) and handle.get_body_type(0) == BodyType.STATIC


def capture_control(robot: ArticulatedSystem) -> JointControl:
    """What drives the robot now."""
    return JointControl(
        robot.get_control_mode(),
        *robot.get_pd_gains(),
        *robot.get_pd_target(),
        robot.get_feed_forward_generalized_force(),
    )


def apply_control(robot: ArticulatedSystem, control: JointControl) -> None:
    """Lets the robot be driven so."""
    robot.set_pd_gains(control.p_gains, control.d_gains)
    robot.set_control_mode(control.mode)
    robot.set_pd_target(control.position_target, control.velocity_target)
    robot.set_generalized_force(control.force)


def capture_state(handle: Any) -> ObjectSnapshot:
    """The state that an object has now."""
    if isinstance(handle, ArticulatedSystem):
        return RobotState(
            handle.get_base_position(), handle.get_base_quaternion(), *handle.get_state(), capture_control(handle)
        )
    if isinstance(handle, SoftObject):
        return SoftState(handle.save_state(), handle.get_wind() if isinstance(handle, DeformableObject) else None)
    return RigidState(
        handle.get_position(),
        handle.get_quaternion(),
        handle.get_linear_velocity(),
        handle.get_angular_velocity(),
    )


def restore_state(handle: Any, state: ObjectSnapshot) -> None:
    """Puts an object back; what it was commanded is dropped."""
    if isinstance(state, RobotState):
        handle.set_base_pos(state.position)
        handle.set_base_orientation(state.wxyz)
        handle.set_state(state.coordinates, state.velocities)
        apply_control(handle, state.control)
        for body in range(handle.get_number_of_joints()):
            handle.clear_command(body)
        return
    if isinstance(state, SoftState):
        handle.restore_state(state.arrays)
        if state.wind is not None:
            handle.set_wind(state.wind)
        return
    handle.set_pose(state.position, state.wxyz)
    body_type = handle.get_body_type()
    if body_type != BodyType.STATIC:
        handle.set_velocity(state.linear_velocity, state.angular_velocity)
    if body_type == BodyType.DYNAMIC:
        handle.clear_command()
