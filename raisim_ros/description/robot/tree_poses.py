"""Where the bodies and links of a tree are."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import Array, matrix_from_axis_angle, matrix_from_quaternion


def joint_motion(body: TreeBody, coordinate: Array) -> Pose:
    """The frame of a body in the frame of its joint, at that part of q."""
    kind = body.joint_type
    if kind.slides:
        return Pose(float(coordinate[0]) * body.axis)
    if kind.has_axis:
        return Pose(rotation=matrix_from_axis_angle(body.axis, float(coordinate[0])))
    if kind is JointType.SPHERICAL:
        return Pose(rotation=matrix_from_quaternion(coordinate))
    if kind is JointType.FLOATING:
        return Pose(coordinate[:3], matrix_from_quaternion(coordinate[3:]))
    return Pose()


def coordinate_parts(tree: KinematicTree, coordinate: Array) -> list[Array]:
    """The part of q of each body."""
    ends = np.cumsum([body.joint_type.coordinate_dim for body in tree.bodies])
    return np.split(np.asarray(coordinate, dtype=np.float64), ends[:-1])


def velocity_parts(tree: KinematicTree, velocity: Array) -> list[Array]:
    """The part of u of each body."""
    ends = np.cumsum([body.joint_type.velocity_dim for body in tree.bodies])
    return np.split(np.asarray(velocity, dtype=np.float64), ends[:-1])


def body_poses(tree: KinematicTree, coordinate: Array) -> list[Pose]:
    """The place of each body at q, a fixed base in the origin."""
    poses: list[Pose] = []
    for body, part in zip(tree.bodies, coordinate_parts(tree, coordinate), strict=True):
        above = poses[body.parent] if body.parent >= 0 else Pose()
        poses.append(above @ Pose(body.joint_position, body.joint_rotation) @ joint_motion(body, part))
    return poses


def link_poses(tree: KinematicTree) -> dict[str, Pose]:
    """The place of each link in its body."""
    poses = {body.links[0]: Pose() for body in tree.bodies}
    poses.update({frame.link: Pose(frame.position, frame.rotation) for frame in tree.frames})
    return poses


def relative(outer: Pose, position: Array, rotation: Array) -> Pose:
    """A place given in some frame, seen from the frame `outer` given in the same."""
    outer_position, outer_rotation = outer.arrays()
    return Pose(outer_rotation.T @ (position - outer_position), outer_rotation.T @ rotation)
