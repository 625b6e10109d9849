"""Bounces: height ladder, threshold, energy of perfectly elastic balls."""

import numpy as np
import pytest
from random_worlds import random_urdf
from robot_scenes import ROBOTS

from raisim_ros import BodyType, World

GRAVITY = 9.81


def apexes(world: World, ball, count: int) -> list[float]:
    """Greatest heights of the ball's lowest point between bounces."""
    found, rising = [], False
    while len(found) < count:
        world.integrate()
        speed = ball.get_linear_velocity()[2]
        if rising and speed <= 0.0:
            # between two steps: the parabola's top
            found.append(ball.get_position()[2] - ball.get_radius() + speed**2 / (2.0 * GRAVITY))
        rising = speed > 0.0
    return found


@pytest.mark.parametrize("e", [0.9, 0.7, 0.5])
def test_each_bounce_reaches_e_squared_of_the_height_before(world, e):
    world.set_time_step(0.0002)
    world.add_ground()
    world.set_default_material(0.5, e, 0.0)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 1.1)
    heights = apexes(world, ball, 4)
    # A bounce happens up to a step early: abs is half the way of a step at the first impact.
    assert heights == pytest.approx([e ** (2 * n) for n in (1, 2, 3, 4)], rel=5e-3, abs=4.5e-4)


def test_restitution_zero_stops_at_once_and_stays(world):
    world.add_ground()
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 1.1)
    heights = []
    for _ in range(1000):
        world.integrate()
        heights.append(ball.get_position()[2])
    landed = np.array(heights[500:])
    assert np.ptp(landed) < 1e-7
    assert landed == pytest.approx(0.1, abs=2e-5)


@pytest.mark.parametrize(("speed", "expected"), [(0.49, 0.0), (0.8, 0.5 * 0.3), (2.0, 0.5 * 1.5)])
def test_the_threshold_is_taken_off_the_approach_speed(weightless, speed, expected):
    """Target speed = e max(0, v - threshold): slow impacts do not bounce, and there is no jump at the threshold."""
    weightless.add_ground()
    weightless.set_default_material(0.0, 0.5, 0.5)
    ball = weightless.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.15)
    ball.set_linear_velocity((0.0, 0.0, -speed))
    weightless.integrate(300)
    assert ball.get_linear_velocity()[2] == pytest.approx(expected, abs=1e-9)


def test_an_oblique_bounce_keeps_the_tangential_speed_without_friction(weightless):
    weightless.add_ground()
    weightless.set_default_material(0.0, 0.6, 0.0)
    ball = weightless.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.5)
    ball.set_velocity((2.0, -1.0, -3.0), (4.0, 5.0, 6.0))
    weightless.integrate(400)
    assert ball.get_linear_velocity() == pytest.approx([2.0, -1.0, 1.8], abs=1e-9)
    assert ball.get_angular_velocity() == pytest.approx([4.0, 5.0, 6.0], abs=1e-12)


def test_friction_spins_a_ball_that_bounces_obliquely(weightless):
    """Slipping throughout: tangential impulse mu times the normal one, torque r times that.

    The blow lands up to a step early, so its arm is longer by up to half the way of a step.
    """
    weightless.add_ground()
    weightless.set_default_material(0.1, 1.0, 0.0)
    ball = weightless.add_sphere(0.2, 2.0)
    ball.set_position(0.0, 0.0, 0.6)
    ball.set_linear_velocity((3.0, 4.0, -2.0))
    weightless.integrate(500)
    lost = 0.1 * 2.0 * 2.0
    assert ball.get_linear_velocity() == pytest.approx([3.0 - 0.6 * lost, 4.0 - 0.8 * lost, 2.0], abs=1e-6)
    spin = lost * 2.0 * 0.2 / (0.4 * 2.0 * 0.2**2)
    assert ball.get_angular_velocity() == pytest.approx([-0.8 * spin, 0.6 * spin, 0.0], rel=5e-3)


def test_a_box_falling_flat_bounces_flat(world):
    world.add_ground()
    world.set_default_material(0.5, 0.8, 0.0)
    box = world.add_box(0.4, 0.3, 0.2, 3.0)
    box.set_position(0.0, 0.0, 1.1)
    top = 0.0
    for _ in range(1000):
        world.integrate()
        if box.get_linear_velocity()[2] > 0.0:
            top = max(top, box.get_position()[2])
    assert top - 0.1 == pytest.approx(0.64, rel=0.01)
    assert box.get_quaternion() == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-5)


def test_elastic_balls_keep_their_energy_for_twenty_seconds():
    """SimBenchmark's bouncing: 49 balls, 5 m, restitution 1."""
    world = World()
    world.set_time_step(0.001)
    world.set_erp(0.0)
    world.add_ground()
    world.set_default_material(0.8, 1.0, 0.0)
    balls = []
    for i in range(7):
        for j in range(7):
            ball = world.add_sphere(0.5, 10.0)
            ball.set_position(2.0 * i, 2.0 * j, 5.0 + 0.01 * (7 * i + j))
            balls.append(ball)
    start = np.array([ball.get_energy() for ball in balls])
    world.integrate(20000)
    end = np.array([ball.get_energy() for ball in balls])
    assert np.abs(end / start - 1.0).max() < 1e-6


def robots_in_a_box(seed):
    """Two that spin down between four walls, with friction and bounces that ask for more energy than there is."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_time_step(0.002)
    world.set_default_material(float(rng.choice([0.5, 1, 2])), float(rng.uniform(0.5, 1)), 0.01)
    world.set_sleeping_enabled(False)
    world.add_ground()
    for k in range(2):
        robot = world.add_articulated_system(ROBOTS / "quadruped.urdf" if k == 0 else random_urdf(rng, 8))
        q = np.array(robot.get_generalized_coordinate())
        q[:3], q[3:7] = (*rng.uniform(-0.2, 0.2, 2), 0.8 + 0.8 * k), rng.normal(size=4)
        u = np.zeros(robot.get_dof())
        u[2], u[3:6] = -4 - k, 5 * rng.normal(size=3)
        robot.set_state(q, u)
    for x, y, wide, deep in ((0.8, 0, 0.2, 3), (-0.8, 0, 0.2, 3), (0, 0.8, 3, 0.2), (0, -0.8, 3, 0.2)):
        wall = world.add_box(wide, deep, 3, 1.0)
        wall.set_body_type(BodyType.STATIC)
        wall.set_position(x, y, 1.5)
    return world


@pytest.mark.parametrize(("seed", "steps"), [(12, 20), (120, 15)])
def test_bounces_that_are_reduced_end_with_a_solution(seed, steps):
    """Friction can have several: what was found without a gain of energy was solved once more, gained, and then nothing pushed at all."""
    world = robots_in_a_box(seed)
    reduced = 0
    for _ in range(steps):
        world.integrate()
        counters = world.get_collision_counters()
        reduced += counters.restrained_islands
        if counters.restrained_islands:
            assert counters.solver_relative_error < 1e-2
    assert reduced > 0
