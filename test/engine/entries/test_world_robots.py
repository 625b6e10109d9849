"""Robots in world files: what the file says becomes a robot, and what is written reads back to the same bits."""

from pathlib import Path

import numpy as np
import pytest
import trimesh
from equal_robots import assert_equal_robots
from random_tree import random_tree

from raisim_ros import (
    ArticulatedSystem,
    ArticulatedSystemOption,
    BodyType,
    ControlMode,
    FileMissingError,
    IntegrationScheme,
    InterfaceSettings,
    ParseError,
    ShapeType,
    World,
)

ROBOTS = sorted((Path(__file__).resolve().parents[3] / "rsc" / "robots").glob("*.urdf"))

ARM = """<robot name="arm"><link name="base"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" effort="5" velocity="7"/></joint>
  <link name="a"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="j2" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0.5 0 0"/><axis xyz="1 0 0"/></joint>
  <link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
    <collision><origin xyz="1 0 0"/><geometry><mesh filename="part.obj"/></geometry></collision></link>
</robot>"""


@pytest.fixture
def load(tmp_path):
    """Loads a world with one <articulated_system> of the arm above."""
    (tmp_path / "parts").mkdir()
    trimesh.creation.icosahedron().export(tmp_path / "parts" / "part.obj")
    (tmp_path / "arm.urdf").write_text(ARM)

    def loader(attributes="", inside=""):
        file = tmp_path / "world.xml"
        file.write_text(
            "<raisim><objects>\n"
            f'<articulated_system name="arm" urdf_path="arm.urdf" res_dir="parts" {attributes}>{inside}</articulated_system>'
            "</objects></raisim>"
        )
        return World(file)

    return loader


def test_a_robot_with_its_state(load):
    world = load('base="fixed"', '<state qpos="0.5 -0.2" qvel="1 2" base_pos="1 2 3" base_quat="0.8 0 0 0.6"/>')
    (robot,) = world.get_obj_list()
    assert world.get_object("arm") is robot
    assert robot.get_body_type() == BodyType.STATIC
    np.testing.assert_array_equal(robot.get_generalized_coordinate(), (0.5, -0.2))
    np.testing.assert_array_equal(robot.get_generalized_velocity(), (1, 2))
    np.testing.assert_array_equal(robot.get_base_position(), (1, 2, 3))
    np.testing.assert_array_equal(robot.get_base_quaternion(), (0.8, 0, 0, 0.6))


def test_settings_of_a_robot(load):
    (robot,) = load(
        'base="floating" collide_parent="true" joint_order="j1 j2" collision_group="2" collision_mask="5" '
        'integration_scheme="semi_implicit" control_mode="pd_plus_feedforward_torque"',
        """<joints p_gain="0 0 0 0 0 0 3 4" damping="0 0 0 0 0 0 0.1 0.2"
             upper="inf inf inf inf inf inf 1.5 inf"/>
           <collision_shape name="b/0" collision_group="8" material="ice"/><collision_shape name="b/1" convex="true"/>
           <ignore_collision link1="base" link2="b"/><actuator joint="j2" gear="3" name="motor" control_range="-1 1"/>""",
    ).get_obj_list()
    assert robot.get_dof() == 8
    assert robot.get_integration_scheme() == IntegrationScheme.SEMI_IMPLICIT
    assert robot.get_control_mode() == ControlMode.PD_PLUS_FEEDFORWARD_TORQUE
    np.testing.assert_array_equal(robot.get_pd_gains()[0][6:], (3, 4))
    np.testing.assert_array_equal(robot.get_joint_damping()[6:], (0.1, 0.2))
    np.testing.assert_array_equal(robot.get_joint_limits()[6:], [(-1, 1.5), (-np.inf, np.inf)])
    assert robot.may_collide(1, 2)
    assert not robot.may_collide(0, 2)
    assert [shape.shape for shape in robot.get_collision_bodies()] == [ShapeType.SPHERE, ShapeType.BOX, ShapeType.CONVEX]
    assert [shape.material for shape in robot.get_collision_bodies()] == ["default", "ice", "default"]
    robot.set_actuation([7.0])
    assert robot.get_feed_forward_generalized_force()[7] == 3


@pytest.mark.parametrize(
    ("attributes", "inside", "message"),
    [
        ("", '<state qpos="1 2 3"/>', "generalized coordinate has 3 numbers; expected 9"),
        ("", '<joints damping="1 2"/>', "<joints>: damping has 2 numbers; expected 8"),
        ("", '<joints damping="-1 0 0 0 0 0 0 0"/>', "damping"),
        ("", '<collision_shape name="b/7"/>', "the robot has no 'b/7'; there are a/0, b/0, b/1"),
        ("", '<ignore_collision link1="a" link2="x"/>', "the robot has no link 'x'"),
        ("", '<actuator joint="x"/>', "'x' is no revolute or prismatic joint of the robot"),
        ('joint_order="j1"', "", "joint_order lacks 'j2'"),
        ('modules="none.urdf"', "", r"none\.urdf' does not exist"),
    ],
)
def test_mistakes_are_told_with_file_and_line(load, attributes, inside, message):
    with pytest.raises((ParseError, FileMissingError), match=message) as caught:
        load(attributes, inside)
    assert "world.xml:2" in str(caught.value)


def test_a_missing_robot_file(tmp_path):
    file = tmp_path / "world.xml"
    file.write_text('<raisim><objects>\n<articulated_system urdf_path="none.urdf"/></objects></raisim>')
    with pytest.raises(FileMissingError, match=r"world\.xml:2: file .*none\.urdf' does not exist"):
        World(file)


# ---- export ----


def check_round_trip(world, folder, exactly=True):
    """Export, load twice, compare, step both; the second export is the same text."""
    (folder / "out").mkdir(exist_ok=True)
    file = folder / "out" / "world.xml"
    world.export_to_xml(file)
    first, second = World(file), World(file)
    for one, other in zip(world.get_obj_list(), first.get_obj_list(), strict=True):
        assert type(one) is type(other)
        if isinstance(one, ArticulatedSystem):
            assert_equal_robots(one, other, exactly)
    first.integrate(300)
    second.integrate(300)
    assert first.get_state_hash() == second.get_state_hash()
    text, robots = file.read_text(), {path.name: path.read_text() for path in file.parent.glob("*.urdf")}
    World(file).export_to_xml(file)
    assert file.read_text() == text
    assert {path.name: path.read_text() for path in file.parent.glob("*.urdf")} == robots
    return first


@pytest.mark.parametrize("file", ROBOTS, ids=lambda file: file.stem)
def test_robots_that_come_with_the_package(file, tmp_path):
    world = World()
    world.add_ground()
    robot = world.add_articulated_system(file)
    robot.set_name("robot")
    if not robot._tree.fixed_base:
        robot.set_base_pos((0.1, 0.2, 1.0))
    world.integrate(50)
    check_round_trip(world, tmp_path)


def test_everything_that_was_set_from_code(load, tmp_path):
    world = World()
    (tmp_path / "module.urdf").write_text('<joint name="m" type="fixed"><parent link="b"/><child link="m"/></joint><link name="m"/>')
    robot = world.add_articulated_system(
        tmp_path / "arm.urdf",
        tmp_path / "parts",
        ("j1", "j2"),
        6,
        9,
        ArticulatedSystemOption("fixed", do_not_collide_with_parent=False),
        modules=["module.urdf"],
    )
    robot.set_base_pos((1, 2, 3))
    robot.set_base_orientation((0.6, 0.8, 0, 0))
    robot.set_state((0.3, -0.1), (1, -2))
    robot.set_pd_gains((10, 20), (1, 2))
    robot.set_pd_target((0.1, 0.2), (0.3, 0.4))
    robot.set_generalized_force((0.5, -0.5))
    robot.set_joint_damping((0.01, 0.02))
    robot.set_rotor_inertia((0.1, 0.2))
    robot.set_joint_limits([(-0.5, 0.6), (-np.inf, 0.7)])
    robot.set_joint_velocity_limits((4, np.inf))
    robot.set_actuation_limits((3, np.inf), (-2, -np.inf))
    robot.set_integration_scheme(IntegrationScheme.EULER)
    robot.set_interface(InterfaceSettings((1, 2, 3), (4, 5, 6), publish_links=True))
    robot.ignore_collision_between(1, 2)
    loaded = check_round_trip(world, tmp_path)
    (twin,) = loaded.get_obj_list()
    assert (tmp_path / "out" / "world_robot_0.urdf").is_file()
    assert twin.get_frame_idx_by_name("m") >= 0


def test_edited_masses_are_kept(load, tmp_path):
    world = load('base="fixed"')
    (robot,) = world.get_obj_list()
    robot.set_mass(1, 5.0)
    robot.get_body_com_b()[2] = (0.1, 0.2, 0.3)
    robot.get_joint_pos_p()[2] = (0.7, 0, 0)
    robot.update_mass_info()
    (twin,) = check_round_trip(world, tmp_path).get_obj_list()
    assert twin.get_mass(1) == 5
    np.testing.assert_array_equal(twin.get_body_com_b()[2], (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(twin.get_joint_pos_p()[2], (0.7, 0, 0))


@pytest.mark.parametrize("seed", range(20))
def test_random_trees(seed, tmp_path):
    """Trees made in code: their URDF holds rotations as angles, so the last bits may differ once, never again."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_gravity((0, 0, -1))
    for _ in range(2):
        tree = random_tree(rng, int(rng.integers(2, 8)), bool(rng.integers(2)))
        if tree.fixed_base:
            tree.bodies[0].joint_name = ""
        robot = world.add_articulated_system(tree)
        robot.set_generalized_velocity(0.1 * rng.normal(size=robot.get_dof()))
    world.integrate(10)
    check_round_trip(world, tmp_path, exactly=False)
