"""Robots from URDF: every file of rsc/robots in the engine, with names, frames and shapes."""

import time
from pathlib import Path

import numpy as np
import pytest
from pinocchio_model import PinocchioRobot
from random_tree import random_state

from raisim_ros import ArticulatedSystemOption, InvalidValueError, World

ROBOTS = sorted((Path(__file__).parents[3] / "rsc" / "robots").glob("*.urdf"))

ARM = """<robot name="arm">
  <link name="world"/>
  <joint name="mount" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 1"/></joint>
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.1"/><limit lower="-1" upper="1" effort="7" velocity="3"/><dynamics damping="0.5"/></joint>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision></link>
  <joint name="tip" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 0.4" rpy="0 0 1"/></joint>
  <link name="tool"/>
</robot>"""


@pytest.fixture
def arm(world):
    """A fixed arm with one joint and a tool frame."""
    return world.add_articulated_system(ARM)


@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.stem)
def test_robot_agrees_with_pinocchio(path):
    robot = World().add_articulated_system(path)
    peer = PinocchioRobot(robot._tree)
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, u = random_state(rng, robot._tree)
        robot.set_state(q, u)
        peer.set_state(q, u)
        inertia, forces = peer.mass_matrix(), peer.nonlinearities()
        assert np.abs(robot.get_mass_matrix() - inertia).max() <= 1e-11 * np.abs(inertia).max()
        assert np.abs(robot.get_nonlinearities() - forces).max() <= 1e-10 * max(1.0, np.abs(forces).max())


def test_names_and_indices(arm):
    assert arm.get_movable_joint_names() == ["shoulder"]
    assert arm.get_body_names() == ["world", "upper"]
    assert arm.get_body_idx("tool") == 1
    assert arm.get_body_idx("nothing") == -1
    assert arm.get_parent_vector() == [-1, 0]
    assert arm.get_generalized_velocity_index("shoulder") == 0
    assert arm.get_frame_idx_by_name("nothing") == -1
    with pytest.raises(InvalidValueError, match="nothing"):
        arm.get_frame_by_name("nothing")


def test_parameters_come_from_the_file(arm):
    assert arm.get_joint_limits() == pytest.approx(np.array([[-1.0, 1.0]]))
    assert arm.get_joint_velocity_limits() == pytest.approx([3.0])
    assert arm.get_actuation_upper_limits() == pytest.approx([7.0])
    assert arm.get_actuation_lower_limits() == pytest.approx([-7.0])
    assert arm.get_joint_damping() == pytest.approx([0.5])


def test_frames_move_with_their_bodies(arm):
    arm.set_state([0.3], [2.0])
    reach = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    assert arm.get_frame_position("tip") == pytest.approx([0, 0, 1.1] + 0.4 * reach)
    assert arm.get_frame_velocity("tip") == pytest.approx(0.4 * 2.0 * np.array([np.cos(0.3), 0.0, -np.sin(0.3)]))
    assert arm.get_frame_angular_velocity("tip") == pytest.approx([0, 2.0, 0])
    assert arm.get_frame_orientation("tip")[:, 2] == pytest.approx(reach)
    assert arm.get_dense_frame_jacobian("tip") @ [2.0] == pytest.approx(arm.get_frame_velocity("tip"))
    tip = arm.get_frame_by_link_name("tool")
    assert arm.get_position_in_frame(tip, (0, 0, 0.1)) == pytest.approx([0, 0, 1.1] + 0.5 * reach)
    assert arm.get_joint_axis(1) == pytest.approx([0, 1, 0])


def test_frame_acceleration_is_the_derivative_of_its_velocity(world, arm):
    world.set_time_step(1e-6)
    arm.set_state([0.3], [2.0])
    before = arm.get_frame_velocity("tip")
    world.integrate()
    rate = (arm.get_frame_velocity("tip") - before) / 1e-6
    assert arm.get_frame_acceleration("tip") == pytest.approx(rate, rel=1e-4)


def test_collision_bodies_have_names_and_rules(world, arm):
    assert [shape.name for shape in arm.get_collision_bodies()] == ["base/0", "upper/0"]
    assert arm.get_collision_body("upper/0").body_index == 1
    assert not arm.may_collide(0, 1)
    both = world.add_articulated_system(ARM, options=ArticulatedSystemOption(do_not_collide_with_parent=False))
    assert both.may_collide(0, 1)
    both.ignore_collision_between(0, 1)
    assert not both.may_collide(1, 0)


def test_base_option_frees_a_robot():
    world = World()
    free = world.add_articulated_system(ARM, options=ArticulatedSystemOption(base="floating"))
    assert free.get_movable_joint_names()[0] == "ROOT"
    assert free.get_dof() == 7


def test_shapes_are_drawn_where_their_bodies_are(arm):
    arm.set_generalized_coordinate([0.3])
    reach = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    assert [shape.name for shape in arm.get_vis_col_ob()] == ["base/0", "upper/0"]
    rotation, position = arm.get_vis_col_ob_pose(1)
    assert position == pytest.approx([0, 0, 1.1] + 0.2 * reach)
    assert rotation[:, 2] == pytest.approx(reach)
    assert arm.get_vis_ob() == []
    with pytest.raises(InvalidValueError, match="shape index"):
        arm.get_vis_ob_pose(0)


def test_robots_of_thousands_of_links_are_made_in_seconds():
    """The order of the links took the third power of their number: 25 s for these, and minutes for more."""
    joint = '<joint name="j{0}" type="continuous"><parent link="l{1}"/><child link="l{0}"/><axis xyz="0 1 0"/></joint>'
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    links = "".join(f'<link name="l{k}">{link}' for k in range(3000))
    joints = "".join(joint.format(k, k - 1) for k in range(1, 3000))
    begin = time.process_time()
    robot = World().add_articulated_system(f'<robot name="r">{links}{joints}</robot>')
    assert time.process_time() - begin < 12.0
    assert robot.get_dof() == 6 + 2999
