"""Merged bodies, joints and frames of many robots against Pinocchio's own reading of the same files."""

import re
from pathlib import Path

import numpy as np
import pytest
from example_robots import example_robots

from raisim_ros.description.errors import UrdfError
from raisim_ros.description.resources import resource
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.urdf.export import urdf_text
from raisim_ros.description.urdf.file import load_urdf
from raisim_ros.description.world.types import ArticulatedEntry
from raisim_ros.description.world_file import load_world_file

pinocchio = pytest.importorskip("pinocchio", reason="the package 'pin' is not installed")

OWN = ["quadruped", "arm", "wheeled_base", "cartpole", "four_bar"]

# Files of example-robot-data that do not describe a robot we can simulate, and what is wrong with them.
BROKEN = {
    "romeo_laas_small.urdf": r"link 'torso': mesh 'file:///usr/Romeo/.*Torso\.mesh' not found",
    "ur3.urdf": "the robot has no link",
}


def pinocchio_model(tree, text):
    if tree.fixed_base:
        return pinocchio.buildModelFromXML(text)
    return pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())


def pinocchio_joint(tree, model, index):
    name = tree.bodies[index].joint_name
    return model.getJointId("root_joint" if name == "ROOT" else name)


def pinocchio_q(tree, model, q):
    """Our q in Pinocchio's order: quaternions x, y, z, w; continuous joints as cosine and sine."""
    result = pinocchio.neutral(model)
    at = 0
    for index, body in enumerate(tree.bodies):
        part = q[at : at + body.joint_type.coordinate_dim]
        at += len(part)
        if body.joint_type is JointType.FIXED:
            continue
        joint = model.joints[pinocchio_joint(tree, model, index)]
        if body.joint_type is JointType.FLOATING:
            part = np.concatenate([part[:3], part[4:], part[3:4]])
        elif joint.nq == 2:
            part = np.array([np.cos(part[0]), np.sin(part[0])])
        result[joint.idx_q : joint.idx_q + joint.nq] = part
    return result


def compare(tree, text, forward_kinematics, random_q):
    """Our tree against what Pinocchio makes of `text`."""
    model = pinocchio_model(tree, text)
    movable = [body for body in tree.bodies if body.joint_type is not JointType.FIXED]
    assert model.njoints - 1 == len(movable)
    assert model.nv == tree.velocity_dim
    compare_inertias(tree, model)
    rng = np.random.default_rng(0)
    for _ in range(3):
        compare_places(tree, model, random_q(tree, rng), forward_kinematics)


def compare_inertias(tree, model):
    for index, body in enumerate(tree.bodies):
        if body.joint_type is JointType.FIXED:
            continue
        inertia = model.inertias[pinocchio_joint(tree, model, index)]
        assert body.mass == pytest.approx(inertia.mass, rel=1e-12), body.name
        if body.mass:
            np.testing.assert_allclose(body.com, inertia.lever, rtol=1e-11, atol=1e-12, err_msg=body.name)
        scale = max(float(np.abs(inertia.inertia).max()), 1e-9)
        np.testing.assert_allclose(body.inertia, inertia.inertia, atol=1e-10 * scale, rtol=0, err_msg=body.name)


def compare_places(tree, model, q, forward_kinematics):
    data = model.createData()
    reordered = pinocchio_q(tree, model, q)
    pinocchio.framesForwardKinematics(model, data, reordered)
    poses = forward_kinematics(tree, q)
    for frame in tree.frames:
        place = data.oMf[model.getFrameId(frame.link, pinocchio.FrameType.BODY)]
        position, rotation = poses[frame.body]
        np.testing.assert_allclose(position + rotation @ frame.position, place.translation, atol=1e-11)
        np.testing.assert_allclose(rotation @ frame.rotation, place.rotation, atol=1e-11)
    moving = slice(1, None) if tree.fixed_base else slice(None)
    mass = sum(body.mass for body in tree.bodies[moving])
    moments = [body.mass * (p + r @ body.com) for body, (p, r) in zip(tree.bodies, poses, strict=True)]
    com = sum(moments[moving]) / mass
    np.testing.assert_allclose(com, pinocchio.centerOfMass(model, data, reordered), atol=1e-10)


@pytest.mark.parametrize("path", example_robots())
@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_example_robots(path, base, forward_kinematics, random_q):
    if path.name in BROKEN:
        with pytest.raises(UrdfError, match=BROKEN[path.name]) as caught:
            load_urdf(path, base=base)
        assert re.match(rf"{re.escape(str(path))}:\d+: ", str(caught.value))
        return
    tree = load_urdf(path, base=base)
    if len(tree.bodies) == 1 and base == "fixed":
        return  # nothing moves
    compare(tree, tree.robot_description, forward_kinematics, random_q)


@pytest.mark.parametrize("name", OWN)
def test_own_robots(name, forward_kinematics, random_q):
    tree = load_urdf(resource(f"robots/{name}.urdf"))
    compare(tree, tree.robot_description, forward_kinematics, random_q)


@pytest.mark.parametrize("name", OWN)
def test_exported_robots(name, forward_kinematics, random_q):
    tree = load_urdf(resource(f"robots/{name}.urdf"))
    for body in tree.bodies:
        body.velocity_limit = np.inf  # what URDF cannot say must still be readable for others
    compare(tree, urdf_text(tree), forward_kinematics, random_q)


@pytest.mark.parametrize("name", ["ant", "half_cheetah", "humanoid", "pusher", "swimmer"])
def test_robots_of_mujoco_as_urdf(name, forward_kinematics, random_q):
    pytest.importorskip("mujoco")
    gymnasium = pytest.importorskip("gymnasium")
    file = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"
    trees = [entry.tree for entry in load_world_file(file).objects if isinstance(entry, ArticulatedEntry)]
    assert trees
    for tree in trees:
        compare(tree, urdf_text(tree), forward_kinematics, random_q)
