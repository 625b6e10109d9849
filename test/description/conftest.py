"""What the tests of robots share."""

import numpy as np
import pytest

from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.rotation import matrix_from_axis_angle, matrix_from_quaternion


def body_poses(tree, q):
    """World position and rotation of each body at q: the definition of the coordinates, written out."""
    poses = []
    at = 0
    for body in tree.bodies:
        coordinate = q[at : at + body.joint_type.coordinate_dim]
        at += body.joint_type.coordinate_dim
        if body.parent < 0:
            position, rotation = np.zeros(3), np.eye(3)
        else:
            parent_position, parent_rotation = poses[body.parent]
            position = parent_position + parent_rotation @ body.joint_position
            rotation = parent_rotation @ body.joint_rotation
        if body.joint_type is JointType.FLOATING:
            position, rotation = coordinate[:3], matrix_from_quaternion(coordinate[3:])
        elif body.joint_type is JointType.REVOLUTE:
            rotation = rotation @ matrix_from_axis_angle(body.axis, coordinate[0])
        elif body.joint_type is JointType.PRISMATIC:
            position = position + rotation @ body.axis * coordinate[0]
        elif body.joint_type is JointType.SPHERICAL:
            rotation = rotation @ matrix_from_quaternion(coordinate)
        poses.append((position, rotation))
    return poses


def random_configuration(tree, rng):
    q = []
    for body in tree.bodies:
        coordinate = rng.normal(size=body.joint_type.coordinate_dim)
        if body.joint_type in (JointType.FLOATING, JointType.SPHERICAL):
            coordinate[-4:] /= np.linalg.norm(coordinate[-4:])
        q.append(coordinate)
    return np.concatenate(q)


ARRAYS = ("joint_position", "joint_rotation", "axis", "com", "inertia", "position", "rotation", "scale", "anchor",
          "nominal_config", "spring_mount", "lifted_com")  # fmt: skip
PARTS = ("bodies", "frames", "pins", "sensors", "collisions", "visuals")


def assert_same(first, second, tolerance, path="tree"):
    """Compare two trees field by field."""
    for name in vars(first):
        here, a, b = f"{path}.{name}", getattr(first, name), getattr(second, name)
        if name in ("robot_description", "source", "resource_dir"):
            continue
        if name in PARTS:
            assert len(a) == len(b), here
            for index, (one, other) in enumerate(zip(a, b, strict=True)):
                assert_same(one, other, tolerance, f"{here}[{index}]")
        elif name in ARRAYS:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=here)
        elif isinstance(a, float):
            assert a == pytest.approx(b, rel=tolerance, abs=tolerance), here
        else:
            assert a == b, here


@pytest.fixture
def forward_kinematics():
    return body_poses


@pytest.fixture
def random_q():
    return random_configuration


@pytest.fixture
def same_tree():
    return assert_same
