"""Motors: stable at any gain and step, within their effort limits, without chatter."""

import numpy as np
import pytest
from random_tree import make_body, random_state, random_tree, tree_of

from raisim_ros import IntegrationScheme, World
from raisim_ros.description.robot.kinematic_tree import JointType

GAINS = [(1e2, 1.0), (1e4, 0.0), (1e6, 0.0), (1e6, 1e2), (1e9, 0.0), (1e9, 1e4), (0.0, 1e7), (1e7, 1e6)]


@pytest.mark.parametrize("dt", [0.0005, 0.002, 0.01])
@pytest.mark.parametrize(("p_gain", "d_gain"), GAINS)
def test_any_gains_are_stable(p_gain, d_gain, dt):
    """Trees thrown at random, held where they were: nothing gets faster than it could by falling."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        world = World()
        world.set_time_step(dt)
        world.set_sleeping_enabled(False)
        tree = random_tree(rng, 8, seed % 2 == 1, rotor=seed < 2)
        robot = world.add_articulated_system(tree)
        q, u = random_state(rng, tree)
        robot.set_state(q, u)
        robot.set_pd_gains(np.full(u.size, p_gain), np.full(u.size, d_gain))
        robot.set_p_target(q)
        for _ in range(200):
            world.integrate()
            assert np.abs(robot.get_generalized_velocity()[6 if seed % 2 else 0:]).max() < 40.0
        if dt**2 * p_gain > 10.0 or d_gain > 1e5:  # stiff for the step: it holds
            assert np.abs(robot.get_generalized_velocity()[6 if seed % 2 else 0:]).max() < 0.1


def one_joint(world, **changes):
    """A body of 2 kg, 0.6 kg m^2 about its joint along y."""
    rng = np.random.default_rng(0)
    values = {"joint_position": np.zeros(3), "joint_rotation": np.eye(3), "axis": np.array([0.0, 1.0, 0.0]), "mass": 2.0,
              "com": np.array([0.0, 0.0, -0.5]), "inertia": np.diag([0.1, 0.1, 0.05]), **changes}
    return world.add_articulated_system(
        tree_of([make_body(0, -1, JointType.FIXED, rng), make_body(1, 0, JointType.REVOLUTE, rng, **values)]))


def test_soft_gains_are_second_order(weightless):
    """An undamped oscillation of 1 Hz against the cosine."""
    errors = []
    for dt in (0.01, 0.005):
        world = World()
        world.set_time_step(dt)
        world.set_gravity((0, 0, 0))
        robot = one_joint(world)
        robot.set_pd_gains([0.6 * (2 * np.pi) ** 2], [0.0])
        robot.set_p_target([0.0])
        robot.set_generalized_coordinate([0.3])
        worst = 0.0
        for k in range(round(2.0 / dt)):
            world.integrate()
            worst = max(worst, abs(robot.get_generalized_coordinate()[0] - 0.3 * np.cos(2 * np.pi * (k + 1) * dt)))
        errors.append(worst)
    assert errors[1] < 2e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("scheme", [IntegrationScheme.TRAPEZOID, IntegrationScheme.MIDPOINT,
                                    IntegrationScheme.SEMI_IMPLICIT], ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("p_gain", [1e3, 1e6])
@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
def test_a_motor_at_its_limit_gives_the_limit_and_arrives(scheme, p_gain, dt):
    """Bang, then hold: it accelerates with its limit, and ends at the target without chatter."""
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = one_joint(world)
    robot.set_integration_scheme(scheme)
    robot.set_actuation_limits([3.0], [-3.0])
    robot.set_pd_gains([p_gain], [p_gain])
    robot.set_p_target([3.0])
    steps = round(0.2 / dt)
    for k in range(steps):
        world.integrate()
        assert robot.get_generalized_velocity()[0] == pytest.approx(3.0 / 0.6 * (k + 1) * dt, rel=1e-6)
    for _ in range(round(12.0 / dt)):
        before = robot.get_generalized_velocity()[0]
        world.integrate()
        now = robot.get_generalized_velocity()[0]
        assert abs(now - before) <= 3.0 / 0.6 * dt * (1 + 1e-6)  # never more than the limit
    assert robot.get_generalized_coordinate() == pytest.approx([3.0], abs=1e-4)
    assert abs(robot.get_generalized_velocity()[0]) < 1e-4


def test_a_motor_that_is_too_weak_holds_with_its_limit(world):
    """The weight pulls with 9.81 N m at a right angle; the motor has 5."""
    robot = one_joint(world, damping=2.0)
    robot.set_actuation_limits([5.0], [-5.0])
    robot.set_pd_gains([1e5], [1e2])
    robot.set_p_target([np.pi / 2])
    robot.set_generalized_coordinate([np.pi / 2])
    world.integrate(8000)
    assert np.sin(robot.get_generalized_coordinate()[0]) == pytest.approx(5.0 / 9.81, abs=1e-4)
    assert robot.get_generalized_force() == pytest.approx([5.0])
    assert abs(robot.get_generalized_velocity()[0]) < 1e-4


@pytest.mark.parametrize("dt", [0.002, 0.01])
def test_saturated_trees_do_not_chatter(dt):
    """Weak motors with stiff gains in random trees under gravity: speeds change as the forces allow, in one direction."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        world = World()
        world.set_time_step(dt)
        world.set_sleeping_enabled(False)
        tree = random_tree(rng, 6, False)
        for body in tree.bodies:
            body.damping = 0.5
        robot = world.add_articulated_system(tree)
        q, u = random_state(rng, tree)
        robot.set_generalized_coordinate(q)
        robot.set_actuation_limits(np.full(u.size, 2.0), np.full(u.size, -2.0))
        robot.set_pd_gains(np.full(u.size, 2e3), np.full(u.size, 20.0))
        robot.set_p_target(q)
        world.integrate(round(4.0 / dt))
        speeds = []
        for _ in range(50):
            world.integrate()
            speeds.append(np.array(robot.get_generalized_velocity()))
        turns = np.array(speeds[1:]) * np.array(speeds[:-1]) < 0.0
        fast = np.abs(speeds[1:]) > 0.05
        assert (turns & fast).mean() < 0.05
