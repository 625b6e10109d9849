"""Robots that were put into each other, into bodies or into the ground come apart without being thrown."""

import numpy as np
import pytest
from example_robots import example_robots
from robot_scenes import ROBOTS, STANDING_HEIGHT, add_quadruped

from raisim_ros import ArticulatedSystemOption, World
from raisim_ros.engine.articulated.self_collision import overlap_depths, reference_configuration

HELD, LIMP = (200.0, 10.0), (0.0, 0.0)  # gains


def quadrupeds(*positions):
    return lambda world, gains: [add_quadruped(world, position, *gains) for position in positions]


def with_box(size, mass, position):
    """A standing quadruped and a box that overlap."""

    def place(world, gains):
        robot = add_quadruped(world, (0, 0, STANDING_HEIGHT), *gains)
        world.add_box(*size, mass).set_position(*position)
        return [robot]

    return place


def arms(world, gains):
    """Two arms whose bases are the same: they can never come apart altogether."""
    pair = [world.add_articulated_system(ROBOTS / "arm.urdf") for _ in range(2)]
    for arm in pair:
        arm.set_pd_gains(np.full(6, 500.0), np.full(6, 50.0))
        arm.set_generalized_coordinate([0, 0.5, -0.5, 0, 0, 0])
        arm.set_p_target([0, 0.5, -0.5, 0, 0, 0])
    return pair


PLACEMENTS = {
    "in the same place": quadrupeds((0, 0, STANDING_HEIGHT), (0, 0, STANDING_HEIGHT)),
    "nearly in the same place": quadrupeds((0, 0, STANDING_HEIGHT), (0.05, 0, STANDING_HEIGHT)),
    "half": quadrupeds((0, 0, STANDING_HEIGHT), (0.3, 0.1, STANDING_HEIGHT)),
    "above each other": quadrupeds((0, 0, STANDING_HEIGHT), (0, 0, STANDING_HEIGHT + 0.1)),
    "three of them": quadrupeds(*[(0, 0, STANDING_HEIGHT)] * 3),
    "legs in the ground": quadrupeds((0, 0, 0.3)),
    "below the ground": quadrupeds((0, 0, -1.0)),
    "box in the trunk": with_box((0.4, 0.3, 0.2), 5.0, (0, 0, STANDING_HEIGHT)),
    "heavy box over trunk and leg": with_box((0.4, 0.4, 0.4), 20.0, (0.3, 0.1, STANDING_HEIGHT)),
    "arms on one base": arms,
}


def link_speeds(robot):
    """Linear speeds of all links [m/s]."""
    return [np.linalg.norm(robot.get_velocity(body)) for body in range(len(robot.get_body_names()))]


@pytest.mark.parametrize("gains", [HELD, LIMP], ids=["held", "limp"])
@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_overlapping_robots_come_apart_gently(placement, dt, gains):
    world = World()
    world.set_time_step(dt)
    world.add_ground()
    robots = PLACEMENTS[placement](world, gains)
    fastest = 0.0
    for _ in range(200):
        world.integrate(round(0.01 / dt))
        speeds = [speed for robot in robots for speed in link_speeds(robot)]
        assert np.isfinite(speeds).all()
        fastest = max(fastest, *speeds)
    assert fastest < 8.0  # legs snap straight; a fall from 1 m gives 4.4
    assert max(speeds) < 1.0
    for robot in robots:
        assert robot.get_base_position()[2] < 1.2
        assert np.abs(robot.get_base_position()[:2]).max() < 2.0


def test_a_robot_below_the_ground_rises_and_stands():
    world = World()
    world.add_ground()
    robot = add_quadruped(world, (0, 0, -0.5), *HELD)
    world.integrate(1000)
    assert robot.get_base_position()[2] == pytest.approx(STANDING_HEIGHT, abs=0.02)
    assert all(contact.get_depth() > -1e-3 for contact in robot.get_contacts())


def centre_of(robot):
    return np.asarray(robot.get_composite_com()).reshape(-1, 3)[0].copy()


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_correction_moves_no_centre_of_mass(dt):
    """A chain whose first and third link overlap, in space: they come apart, the whole stays where it is."""
    body = '<inertial><origin xyz="{0} 0 0"/><mass value="{1}"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0"' \
           ' iyz="0"/></inertial><collision><origin xyz="{0} 0 0"/><geometry><sphere radius="0.1"/></geometry></collision>'
    links = "".join(f'<link name="l{k}">{body.format(0.05 * k, 1 + k)}</link>' for k in range(3))
    joints = "".join(f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
                     f'<origin xyz="0.1 0 0.05"/><axis xyz="0 {k % 2} {1 - k % 2}"/></joint>' for k in (1, 2))
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = world.add_articulated_system(f'<robot name="r">{links}{joints}</robot>')
    robot.set_generalized_coordinate([0, 0, 0, 1, 0, 0, 0, 0.3, 2.5])
    start, first = np.array(robot.get_generalized_coordinate()), centre_of(robot)
    for _ in range(200):
        world.integrate()
        assert centre_of(robot) == pytest.approx(first, abs=1e-12)
    assert np.abs(robot.get_generalized_coordinate() - start).max() > 1e-3
    assert np.abs(robot.get_linear_momentum()).max() < 1e-12


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("file", [one for one in example_robots() if one.id in (None, "pr2.urdf")])
def test_overlap_that_joints_cannot_remove_turns_nothing_for_ever(file, dt):
    """PR2 with all its links colliding: those of its forearms overlap however they turn about their own axes."""
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = world.add_articulated_system(file, options=ArticulatedSystemOption(self_collision="all"))
    before = np.array(robot.get_generalized_coordinate())
    world.integrate(round(1.0 / dt))
    early = np.array(robot.get_generalized_coordinate())
    world.integrate(round(2.0 / dt))
    after = np.array(robot.get_generalized_coordinate())
    assert np.abs(after - before)[7:].max() < 1.0
    assert np.abs(after - early)[7:].max() < 0.6
    assert (robot.get_generalized_velocity() == 0).all()


@pytest.mark.parametrize("dt", [0.002, 0.005])
@pytest.mark.parametrize("file", [one for one in example_robots() if one.id is None or ("anymal_b_simple" in str(one.values[0])
                                  and one.id == "anymal.urdf")])
def test_links_that_joints_hold_together_do_not_brake_each_other(file, dt):
    """ANYmal B with all its links colliding: the thighs overlap the trunk along the axes of their joints."""
    world = World()
    world.add_ground()
    world.set_time_step(dt)
    world.set_sleeping_enabled(False)
    robot = world.add_articulated_system(file, options=ArticulatedSystemOption(self_collision="all"))
    target = np.array(robot.get_generalized_coordinate())
    target[2] = 1.2
    robot.set_state(target, np.zeros(robot.get_dof()))
    inertia = np.diag(robot.get_mass_matrix()) * (np.arange(robot.get_dof()) >= 6)
    robot.set_pd_gains(400 * inertia, 40 * inertia)
    robot.set_pd_target(target, np.zeros(robot.get_dof()))
    world.integrate(round(6.0 / dt))
    for _ in range(100):
        world.integrate()
        assert np.abs(robot.get_generalized_velocity()[6:]).max() < 1e-6


@pytest.mark.parametrize("file", [one for one in example_robots() if one.id in (None, "solo12.urdf")])
def test_equal_legs_overlap_the_trunk_alike(file):
    """A corner that a flat side of the hull had kept hid the overlap of one leg of four."""
    robot = World().add_articulated_system(file)
    depth = overlap_depths(robot, reference_configuration(robot.get_kinematic_tree()))
    thighs = [index for index, name in enumerate(robot.get_body_names()) if name.endswith("UPPER_LEG")]
    assert len(thighs) == 4
    assert depth[0, thighs] == pytest.approx(np.full(4, 3.5285e-3), abs=1e-6)
