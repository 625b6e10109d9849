"""A robot of this package as a MuJoCo model: the same bodies, joints, shapes, springs, motors and limits."""

from __future__ import annotations

import mujoco
import numpy as np

from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody, TreeCollision

_JOINTS = {JointType.REVOLUTE: "hinge", JointType.PRISMATIC: "slide", JointType.SPHERICAL: "ball"}


def _text(values) -> str:
    return " ".join(f"{float(value):.17g}" for value in np.ravel(values))


def _quaternion(rotation) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ravel(np.asarray(rotation, dtype=float)))
    return _text(quaternion)


def _joint(body: TreeBody) -> str:
    if body.joint_type is JointType.FLOATING:
        return "<freejoint/>"
    if body.joint_type is JointType.FIXED:
        return ""
    ball = body.joint_type is JointType.SPHERICAL
    limits = ""
    if np.isfinite(body.upper):
        limits = f'limited="true" range="{_text([0.0 if ball else body.lower, body.upper])}"'
    axis = "" if ball else f'axis="{_text(body.axis)}"'
    return (f'<joint name="{body.joint_name}" type="{_JOINTS[body.joint_type]}" {axis} {limits} '
            f'damping="{body.damping}" armature="{body.rotor_inertia}" '
            f'stiffness="{body.stiffness}" frictionloss="{body.friction}"/>')


def _geom(shape: TreeCollision) -> str:
    size = {"sphere": lambda d: d, "box": lambda d: np.array(d) / 2, "cylinder": lambda d: (d[0], d[1] / 2),
            "capsule": lambda d: (d[0], d[1] / 2)}[shape.shape](shape.dim)
    return (f'<geom type="{shape.shape}" size="{_text(size)}" pos="{_text(shape.position)}" '
            f'quat="{_quaternion(shape.rotation)}"/>')


def _body(tree: KinematicTree, index: int, collide: bool) -> str:
    body = tree.bodies[index]
    inertia = np.asarray(body.inertia)
    inertial = ""
    if body.mass > 0:
        full = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        inertial = f'<inertial mass="{body.mass}" pos="{_text(body.com)}" fullinertia="{_text(full)}"/>'
    shapes = "".join(_geom(shape) for shape in body.collisions) if collide else ""
    children = "".join(_body(tree, k, collide) for k, other in enumerate(tree.bodies) if other.parent == index)
    return (f'<body name="{body.name}" pos="{_text(body.joint_position)}" quat="{_quaternion(body.joint_rotation)}">'
            f"{inertial}{_joint(body)}{shapes}{children}</body>")


def robot_xml(tree: KinematicTree, collide: bool = True) -> str:
    """The robot as an element of <worldbody>."""
    return _body(tree, 0, collide).replace('name="world"', 'name="root"')


def motors_xml(tree: KinematicTree, p_gain: float, d_gain: float) -> str:
    """<actuator> with a position servo on every joint."""
    servos = [
        f'<position joint="{b.joint_name}" kp="{p_gain}" kv="{d_gain}" forcelimited="true" '
        f'forcerange="{-b.effort_limit} {b.effort_limit}"/>'
        for b in tree.bodies if b.joint_type in (JointType.REVOLUTE, JointType.PRISMATIC)
    ]
    return f"<actuator>{''.join(servos)}</actuator>"
