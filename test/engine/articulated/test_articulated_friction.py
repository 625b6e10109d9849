"""Dry friction in joints: holds up to its limit, brakes with it beyond, passes on no more."""

import numpy as np
import pytest
from random_tree import make_body, tree_of
from robot_scenes import ROBOTS

from raisim_ros import World
from raisim_ros.description.robot.kinematic_tree import JointType

FRICTION = 1.5  # [N m, N]
ABOUT_Y = {"joint_position": np.zeros(3), "joint_rotation": np.eye(3), "axis": np.array([0.0, 1.0, 0.0])}


def rubbing_joint(world, kind=JointType.REVOLUTE, friction=FRICTION):
    """A body of 2 kg and 0.3 kg m^2 whose centre lies on the axis."""
    rng = np.random.default_rng(0)
    body = make_body(1, 0, kind, rng, mass=2.0, com=np.zeros(3), inertia=0.3 * np.eye(3), friction=friction, **ABOUT_Y)
    return world.add_articulated_system(tree_of([make_body(0, -1, JointType.FIXED, rng), body]))


@pytest.mark.parametrize(("kind", "inertia"), [(JointType.REVOLUTE, 0.3), (JointType.PRISMATIC, 2.0)])
def test_holds_below_its_limit_and_slips_above(weightless, kind, inertia):
    robot = rubbing_joint(weightless, kind)
    robot.set_generalized_force([0.999 * FRICTION])
    weightless.integrate(2000)
    assert robot.get_generalized_coordinate() == pytest.approx([0.0], abs=1e-12)
    robot.set_generalized_force([FRICTION + 0.5])
    weightless.integrate(1000)
    assert robot.get_generalized_velocity() == pytest.approx([0.5 / inertia], rel=1e-9)


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_brakes_with_constant_deceleration_and_stays(dt, speed):
    world = World()
    world.set_time_step(dt)
    robot = rubbing_joint(world)
    robot.set_generalized_velocity([speed])
    stop = abs(speed) * 0.3 / FRICTION
    world.integrate(round(0.5 * stop / dt))
    assert robot.get_generalized_velocity() == pytest.approx([0.5 * speed], rel=1e-9)
    world.integrate(round(stop / dt))
    assert robot.get_generalized_velocity() == pytest.approx([0.0], abs=1e-12)
    assert robot.get_generalized_coordinate() == pytest.approx([speed * stop / 2], rel=1e-3)


def test_a_pendulum_comes_to_rest_within_the_friction(world):
    """Amplitudes shrink by 2 * friction / stiffness each half swing; it stops where friction holds the weight."""
    rng = np.random.default_rng(0)
    arm, weight = 0.5, 2.0 * 9.81
    body = make_body(1, 0, JointType.REVOLUTE, rng, mass=2.0, com=np.array([0, 0, -arm]), inertia=0.01 * np.eye(3),
                     friction=0.1, **ABOUT_Y)
    robot = world.add_articulated_system(tree_of([make_body(0, -1, JointType.FIXED, rng), body]))
    robot.set_generalized_coordinate([0.2])
    turns, before = [], 0.0
    for _ in range(15000):
        world.integrate()
        speed = robot.get_generalized_velocity()[0]
        if before * speed < 0:
            turns.append(abs(robot.get_generalized_coordinate()[0]))
        before = speed
    shrink = 2 * 0.1 / (weight * arm)
    assert turns[:4] == pytest.approx([0.2 - (k + 1) * shrink for k in range(4)], abs=6e-4)
    (angle,), (speed,) = robot.get_state()
    assert speed == 0.0 or abs(speed) < 1e-12
    assert weight * arm * abs(np.sin(angle)) <= 0.1 + 1e-9


def test_friction_drags_the_parent_along(weightless):
    """Two discs on one axle: the inner one turns, friction brings both to the common speed, momentum is kept."""
    rng = np.random.default_rng(0)
    disc = {"com": np.zeros(3), "mass": 1.0, **ABOUT_Y}
    bodies = [
        make_body(0, -1, JointType.FIXED, rng),
        make_body(1, 0, JointType.REVOLUTE, rng, inertia=0.4 * np.eye(3), **disc),
        make_body(2, 1, JointType.REVOLUTE, rng, inertia=0.1 * np.eye(3), friction=0.2, **disc),
    ]
    robot = weightless.add_articulated_system(tree_of(bodies))
    robot.set_generalized_velocity([0.0, 5.0])
    weightless.integrate(1000)
    # relative speed 5 decays with 0.2 * (1/0.1 + 1/0.4)
    assert robot.get_generalized_velocity() == pytest.approx([0.5, 5.0 - 2.5], rel=1e-9)
    weightless.integrate(3000)
    assert robot.get_generalized_velocity() == pytest.approx([1.0, 0.0], abs=1e-9)


def test_friction_of_a_spherical_joint_brakes_each_axis(weightless):
    robot = rubbing_joint(weightless, JointType.SPHERICAL, 0.3)
    robot.set_generalized_velocity([1.0, -2.0, 0.0])
    weightless.integrate(500)
    assert robot.get_generalized_velocity() == pytest.approx([0.5, -1.5, 0.0], abs=1e-3)
    weightless.integrate(3000)
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-12


def test_a_motor_with_friction_stops_short_of_its_target(weightless):
    """Stiction holds the joint where the motor's pull has become weaker than it."""
    robot = rubbing_joint(weightless)
    robot.set_pd_gains([10.0], [6.0])
    robot.set_p_target([1.0])
    weightless.integrate(10000)
    (q,), (u,) = robot.get_state()
    assert abs(u) < 1e-6
    assert q == pytest.approx(1.0 - FRICTION / 10.0, abs=1e-3)


def test_friction_holds_an_arm_up(world):
    """A chain of stiff joints keeps its shape against gravity when each holds more than its load."""
    rng = np.random.default_rng(0)
    bar = {"joint_rotation": np.eye(3), "axis": np.array([0.0, 1.0, 0.0]), "mass": 0.5,
           "com": np.array([0.1, 0, 0]), "inertia": 1e-3 * np.eye(3), "friction": 14.0}
    bodies = [make_body(0, -1, JointType.FIXED, rng)]
    for k in range(1, 6):
        bodies.append(make_body(k, k - 1, JointType.REVOLUTE, rng, joint_position=np.array([0.2 * (k > 1), 0, 0]), **bar))
    robot = world.add_articulated_system(tree_of(bodies))
    world.integrate(2000)
    assert np.abs(robot.get_generalized_coordinate()).max() < 1e-9
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-10


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_friction_alone_stops_a_moving_arm(world, dt):
    """Six coupled joints, each with more friction than its load."""
    world.set_time_step(dt)
    text = (ROBOTS / "arm.urdf").read_text().replace('friction="0.1"', 'friction="60"').replace('damping="0.5"', "")
    arm = world.add_articulated_system(text)
    arm.set_state([0.3, 0.8, -1.0, 0.2, 0.6, 0.0], [1.0, -2.0, 1.0, 2.0, -1.0, 3.0])
    world.integrate(round(1.0 / dt))
    assert np.abs(arm.get_nonlinearities()).max() > 10.0
    assert np.abs(arm.get_generalized_velocity()).max() < 1e-8
    before = arm.get_generalized_coordinate()
    world.integrate(round(5.0 / dt))
    assert arm.get_generalized_coordinate() == pytest.approx(before, abs=1e-9)
