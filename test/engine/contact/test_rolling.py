"""Rolling without slipping, and the passage from sliding to rolling, against closed forms."""

import numpy as np
import pytest

from raisim_ros import World

GRAVITY = 9.81


def slope(world: World, angle: float, azimuth: float) -> np.ndarray:
    downhill = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    world.set_gravity(GRAVITY * (np.sin(angle) * downhill - np.cos(angle) * np.array([0.0, 0.0, 1.0])))
    world.add_ground()
    return downhill


@pytest.mark.parametrize("azimuth", [0.0, 1.1, -2.0])
def test_a_sphere_rolls_down_at_five_sevenths(world, azimuth):
    downhill = slope(world, 0.3, azimuth)
    ball = world.add_sphere(0.2, 3.0)
    ball.set_position(0.0, 0.0, 0.2)
    world.integrate(1000)
    speed = 5.0 / 7.0 * GRAVITY * np.sin(0.3)
    assert ball.get_linear_velocity() == pytest.approx(speed * downhill, abs=1e-6)
    assert ball.get_angular_velocity() == pytest.approx(speed / 0.2 * np.cross([0, 0, 1], downhill), abs=1e-5)
    assert ball.get_position() == pytest.approx([0, 0, 0.2] + 0.5 * speed * downhill, abs=1e-5)


def test_a_sphere_slips_on_a_slope_too_steep_for_its_friction(world):
    """tan(angle) > 3.5 mu: friction is at its limit, the spin lags behind."""
    downhill = slope(world, 0.6, 0.4)
    world.set_default_material(0.1, 0.0, 0.0)
    ball = world.add_sphere(0.2, 3.0)
    ball.set_position(0.0, 0.0, 0.2)
    world.integrate(500)
    acceleration = GRAVITY * (np.sin(0.6) - 0.1 * np.cos(0.6))
    spin = 2.5 * 0.1 * GRAVITY * np.cos(0.6) / 0.2
    assert ball.get_linear_velocity() == pytest.approx(0.5 * acceleration * downhill, abs=1e-6)
    assert ball.get_angular_velocity() == pytest.approx(0.5 * spin * np.cross([0, 0, 1], downhill), abs=1e-5)


@pytest.mark.parametrize("shape", ["cylinder", "capsule"])
def test_a_lying_cylinder_rolls_down(world, quaternion_about, shape):
    """2/3 g sin for the cylinder, 1/(1 + I/(m r^2)) g sin for the capsule."""
    slope(world, 0.25, 0.0)
    body = getattr(world, f"add_{shape}")(0.2, 0.5, 4.0)
    body.set_pose((0.0, 0.0, 0.2), quaternion_about((1.0, 0.0, 0.0), np.pi / 2))
    ratio = body.get_inertia_matrix_b()[2, 2] / (4.0 * 0.2**2)
    if shape == "cylinder":
        assert ratio == pytest.approx(0.5, rel=1e-12)
    world.integrate(1000)
    speed = GRAVITY * np.sin(0.25) / (1.0 + ratio)
    assert body.get_linear_velocity() == pytest.approx([speed, 0.0, 0.0], abs=1e-5)
    assert body.get_angular_velocity() == pytest.approx([0.0, speed / 0.2, 0.0], abs=1e-4)


def test_a_sliding_ball_ends_rolling_at_five_sevenths_of_its_speed(world):
    world.add_ground()
    world.set_default_material(0.3, 0.0, 0.0)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.1)
    ball.set_linear_velocity((3.0, 4.0, 0.0))
    world.integrate(600)  # rolls after 2 v / (7 mu g) = 0.485 s
    assert ball.get_linear_velocity() == pytest.approx([15.0 / 7.0, 20.0 / 7.0, 0.0], abs=1e-5)
    assert ball.get_angular_velocity() == pytest.approx([-200.0 / 7.0, 150.0 / 7.0, 0.0], abs=1e-4)


def test_side_spin_does_not_bend_the_path(world):
    """A point contact has no torsional friction."""
    world.add_ground()
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.1)
    ball.set_velocity((1.0, 0.0, 0.0), (0.0, 10.0, 5.0))
    world.integrate(1000)
    assert ball.get_linear_velocity() == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert ball.get_angular_velocity() == pytest.approx([0.0, 10.0, 5.0], abs=1e-8)


@pytest.mark.parametrize("mu", [0.1, 0.8])
def test_pulled_balls_and_box_of_the_rolling_benchmark(world, mu):
    """A box resting on 25 balls would need a closed form of its own; here each is pulled along the plane.

    The oblique pull probes the round friction cone: a pyramid would err by up to 40 %.
    """
    world.set_erp(0.0)
    world.add_ground()
    world.set_default_material(mu, 0.0, 0.0)
    pull = np.array([150.0, 90.0, 0.0])
    box = world.add_box(0.5, 0.5, 0.2, 10.0)
    box.set_position(0.0, 0.0, 0.1)
    ball = world.add_sphere(0.5, 10.0)
    ball.set_position(10.0, 0.0, 0.5)
    for _ in range(1000):
        box.set_external_force(0, (0.0, 0.0, -0.1), pull)
        ball.set_external_force(0, pull)
        world.integrate()
    size = np.linalg.norm(pull)
    heading = pull / size
    slip = size / 10.0 - mu * GRAVITY
    friction = min(mu * 10.0 * GRAVITY, size * 2.0 / 7.0)
    for body, speed in [(box, max(slip, 0.0)), (ball, (size - friction) / 10.0)]:
        assert np.linalg.norm(body.get_linear_velocity() - speed * heading) < 1e-4 * speed
