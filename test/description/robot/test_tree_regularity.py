"""Massless links: fine where the mass matrix is regular, refused where it is not."""

import numpy as np
import pytest

from raisim_ros.description.errors import UrdfError
from raisim_ros.description.robot.model import Child, Joint, Link, Pose
from raisim_ros.description.robot.tree_regularity import find_singular_body
from raisim_ros.description.urdf.file import tree_from_child

X, Y, Z = np.eye(3)
BALL = {"mass": 1.0, "inertia": np.eye(3)}


def serial(joints, links, root=None):
    """A chain on the world; joints as (type, axis, more), links as keyword arguments."""
    child = None
    for index in range(len(joints) - 1, -1, -1):
        kind, axis, more = joints[index]
        joint = Joint(f"j{index}", kind, axis=axis, **more)
        child = Child(Link(f"l{index}", **links[index]), joint, [child] if child else [])
    return Child(root or Link("world"), children=[child])


@pytest.mark.parametrize(
    ("joints", "links", "singular"),
    [
        ([("revolute", X, {})], [BALL], None),
        ([("revolute", X, {})], [{}], "j0"),
        ([("revolute", X, {"rotor_inertia": 0.1})], [{}], None),
        ([("prismatic", X, {})], [{"mass": 1.0}], None),
        ([("revolute", X, {})], [{"mass": 1.0}], "j0"),
        ([("revolute", X, {})], [{"mass": 1.0, "com": (0, 0, 1)}], None),
        ([("revolute", X, {})], [{"mass": 1.0, "com": (1, 0, 0)}], "j0"),
        ([("spherical", X, {})], [{"mass": 1.0, "com": (0, 0, 1)}], "j0"),
        ([("spherical", X, {})], [BALL], None),
        # massless links between joints
        ([("revolute", X, {}), ("revolute", Y, {})], [{}, BALL], None),
        ([("revolute", X, {}), ("revolute", X, {})], [{}, BALL], "j0"),
        ([("revolute", X, {}), ("revolute", X, {"pose": Pose((0, 0, 1))})], [{}, BALL], None),
        ([("prismatic", X, {}), ("prismatic", X, {})], [{}, BALL], "j0"),
        ([("revolute", X, {}), ("prismatic", X, {})], [{}, BALL], None),
        # a wrist in line at zero, regular elsewhere
        ([("revolute", Z, {}), ("revolute", Y, {}), ("revolute", Z, {})], [{}, {}, BALL], None),
        ([("revolute", Z, {}), ("spherical", X, {})], [{}, BALL], "j0"),
    ],
)
def test_which_joint_is_singular(joints, links, singular):
    child = serial(joints, links)
    if singular is None:
        assert find_singular_body(tree_from_child(child)) is None
    else:
        with pytest.raises(UrdfError, match=f"joint '{singular}' moves without any inertia"):
            tree_from_child(child)


def test_floating_base_without_its_own_mass():
    hinge = serial([("revolute", X, {})], [BALL], Link("base"))
    with pytest.raises(UrdfError, match="the floating base 'base' moves without any inertia"):
        tree_from_child(hinge)
    assert tree_from_child(hinge, base="fixed").fixed_base


def test_light_parts_are_not_taken_for_massless():
    feather = {"mass": 1e-9, "inertia": np.eye(3) * 1e-15}
    heavy = {"mass": 1e3, "inertia": np.eye(3) * 1e3}
    joints = [("revolute", X, {}), ("revolute", Y, {}), ("revolute", Z, {})]
    assert find_singular_body(tree_from_child(serial(joints, [heavy, heavy, feather]))) is None
    assert find_singular_body(tree_from_child(serial(joints, [feather, feather, heavy]))) is None


@pytest.mark.parametrize("kind", ["spherical", "revolute", "prismatic"])
def test_rounding_does_not_grow_along_a_chain(kind):
    count = 400
    rod = {"mass": 1.0, "com": (0, 0, -0.1), "inertia": np.diag((4e-3, 4e-3, 1e-5))}
    joints = [(kind, (X, Y, Z)[index % 3], {"pose": Pose((0, 0, -0.2))}) for index in range(count)]
    assert find_singular_body(tree_from_child(serial(joints, [rod] * count))) is None
