"""URDF written from a tree reads back to the same tree."""

import numpy as np
import pytest
import trimesh

from raisim_ros.description.resources import resource
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.robot.model import (
    Child,
    Collision,
    Geometry,
    Joint,
    Link,
    Pin,
    Pose,
    Visual,
)
from raisim_ros.description.rotation import matrix_from_rpy
from raisim_ros.description.urdf.export import urdf_text
from raisim_ros.description.urdf.file import load_urdf, tree_from_child

ROBOTS = ["quadruped", "arm", "wheeled_base", "cartpole", "chain", "four_bar"]
SHAPES = [("sphere", 1), ("box", 3), ("cylinder", 2), ("capsule", 2)]


def random_pose(rng):
    return Pose(rng.normal(size=3), matrix_from_rpy(rng.uniform(-3, 3, 3)))


def random_link(rng, name):
    parts = []
    for _ in range(rng.integers(3)):
        shape, count = SHAPES[rng.integers(len(SHAPES))]
        parts.append((Geometry(shape, tuple(rng.uniform(0.1, 1, count))), random_pose(rng)))
    root = rng.normal(size=(3, 3))
    return Link(
        name,
        float(rng.uniform(0.5, 2)),
        rng.normal(size=3),
        root @ root.T + np.eye(3),
        [Collision(geometry, pose, str(rng.choice(["default", "ice"]))) for geometry, pose in parts],
        [Visual(geometry, pose, tuple(rng.uniform(size=4)) if rng.random() < 0.5 else None) for geometry, pose in parts],
    )


def random_joint(rng, name):
    kind = str(rng.choice(["fixed", "revolute", "continuous", "prismatic", "spherical"]))
    joint = Joint(name, kind, random_pose(rng), rng.normal(size=3))
    for field in ("damping", "friction", "rotor_inertia", "stiffness", "effort_limit", "velocity_limit"):
        if rng.random() < 0.5:
            setattr(joint, field, float(rng.uniform(0.1, 5)))
    if rng.random() < 0.5:
        joint.upper = float(rng.uniform(0.1, 2))
    if rng.random() < 0.5 and kind != "spherical":
        joint.lower = float(rng.uniform(-2, 0))
    if rng.random() < 0.5 and kind != "fixed":
        joint.spring_mount = rng.normal(size=4) if kind == "spherical" else float(rng.normal())
    return joint


def random_robot(seed):
    rng = np.random.default_rng(seed)
    children = [Child(random_link(rng, "world" if seed % 2 else "base"), children=[], name=f"robot{seed}")]
    for index in range(rng.integers(1, 15)):
        child = Child(random_link(rng, f"l{index}"), random_joint(rng, f"j{index}"), [])
        children[rng.integers(len(children))].children.append(child)
        children.append(child)
    return children[0]


@pytest.mark.parametrize("seed", range(40))
def test_random_robots(seed, same_tree):
    tree = tree_from_child(random_robot(seed))
    one_dof = [body.joint_name for body in tree.bodies if body.joint_type in (JointType.REVOLUTE, JointType.PRISMATIC)]
    if len(one_dof) > 1:
        next(body for body in tree.bodies if body.joint_name == one_dof[1]).mimic = (one_dof[0], -0.5, 0.25)
    again = load_urdf(urdf_text(tree))
    same_tree(again, tree, 1e-13)
    # What was written once is written and read the same from then on, except for rounding of rotations.
    same_tree(load_urdf(urdf_text(again)), again, 1e-13)


@pytest.mark.parametrize("name", ROBOTS)
def test_own_robots(name, same_tree):
    tree = load_urdf(resource(f"robots/{name}.urdf"))
    same_tree(load_urdf(urdf_text(tree)), tree, 1e-14)


def test_another_joint_order_is_kept(same_tree):
    tree = load_urdf(resource("robots/four_bar.urdf"), joint_order=["rocker_joint", "crank_joint", "coupler_joint"])
    again = load_urdf(urdf_text(tree))
    assert [body.joint_name for body in again.bodies] == ["", "rocker_joint", "crank_joint", "coupler_joint"]
    same_tree(again, tree, 1e-14)


def test_meshes_pins_and_base(tmp_path, same_tree):
    trimesh.creation.box().export(tmp_path / "a & b.stl")
    mesh = Geometry("mesh", (), "a & b.stl", (1, -2, 0.1))
    ball = {"mass": 1.0, "inertia": np.eye(3)}
    robot = Child(
        Link("base", **ball, collisions=[Collision(mesh)], visuals=[Visual(mesh, Pose((1, 0, 0)))]),
        children=[
            Child(Link("l", **ball), Joint("j", "spherical")),
            Child(Link("m", **ball), Joint("k", "revolute")),
        ],
        pins=[Pin("l", "m", (0.1, 0.2, 0.3), (0.6, 0.8, 0, 0, 0.25)), Pin("m", "l", (0, 0, 1))],
    )
    tree = tree_from_child(robot, tmp_path, base="fixed")
    again = load_urdf(urdf_text(tree), base="fixed")
    same_tree(again, tree, 1e-15)
    assert again.bodies[0].collisions[0].mesh_file == str(tmp_path / "a & b.stl")


def test_sensor_links_do_not_weigh_twice(tmp_path, same_tree):
    (tmp_path / "imu.xml").write_text(
        """<sensor_set name="imu"><link><inertial><origin xyz="0.2 0.1 0"/><mass value="0.5"/>
        <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1"/></inertial>
        <collision><geometry><box size="1 1 1"/></geometry></collision></link></sensor_set>"""
    )
    (tmp_path / "r.urdf").write_text(
        """<robot><link name="a"><inertial><origin xyz="1 2 3"/><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/>
        </inertial></link><link name="s" sensor="imu.xml" serial_number="7" model="m"/>
        <link name="t" sensor="imu.xml"/>
        <joint name="j" type="fixed"><parent link="a"/><child link="s"/><origin xyz="1 0 0" rpy="1 2 3"/></joint>
        <joint name="k" type="fixed"><parent link="a"/><child link="t"/></joint></robot>"""
    )
    tree = load_urdf(tmp_path / "r.urdf")
    assert tree.bodies[0].mass == 4.0
    same_tree(load_urdf(urdf_text(tree)), tree, 1e-13)
