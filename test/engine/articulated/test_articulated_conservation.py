"""What nothing within a robot can change: momentum through impacts, energy in free fall."""

import numpy as np
import pytest
from random_worlds import random_urdf
from robot_scenes import add_quadruped

from raisim_ros import BodyType, IntegrationScheme, World

ENDLESS = np.tile([-np.inf, np.inf], (18, 1))


def struck_quadruped(scheme, dt, held):
    """A quadruped in space, struck at its flank by a ball of 10 kg at 5 m/s; held or limp joints."""
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    world.set_erp(0.0)
    robot = add_quadruped(world, (0, 0, 0), *((200.0, 10.0) if held else (0.0, 0.0)))
    robot.set_integration_scheme(scheme)
    ball = world.add_sphere(0.1, 10.0)
    ball.set_position(0.2, -1.5, 0.03)
    ball.set_linear_velocity((0, 5, 0))
    return world, robot, ball


def momentum_errors(scheme, dt, held, angular_momentum):
    """Largest error of the linear and angular momentum in 10 s over what there is."""
    world, robot, ball = struck_quadruped(scheme, dt, held)

    def momenta():
        return (robot.get_linear_momentum() + ball.get_linear_momentum(),
                robot.get_angular_momentum((0, 0, 0)) + angular_momentum(ball))

    first, worst, energy = momenta(), np.zeros(2), ball.get_kinetic_energy()
    for _ in range(100):
        world.integrate(round(0.1 / dt))
        worst = np.maximum(worst, [np.linalg.norm(now - then) for now, then in zip(momenta(), first, strict=True)])
        assert robot.get_kinetic_energy() + ball.get_kinetic_energy() < energy * (1 + 1e-3)
    assert np.linalg.norm(robot.get_linear_momentum()) > 10.0  # it was struck
    return worst / [np.linalg.norm(part) for part in first]


SECOND_ORDER = [IntegrationScheme.TRAPEZOID, IntegrationScheme.MIDPOINT]


@pytest.mark.parametrize("dt", [0.0005, 0.002])
@pytest.mark.parametrize("held", [True, False], ids=["held", "limp"])
@pytest.mark.parametrize("scheme", SECOND_ORDER, ids=lambda s: s.name)
def test_impact_keeps_momentum(scheme, held, dt, angular_momentum):
    """Through the blow and with whirling legs, which hit their stops."""
    assert np.all(momentum_errors(scheme, dt, held, angular_momentum) < 1e-10)


def test_an_impact_keeps_the_sum_of_the_impulses(weightless):
    """What the ball loses in the step of the blow is what the contact reports, and what the robot gets."""
    robot = add_quadruped(weightless, (0, 0, 0))
    ball = weightless.add_sphere(0.1, 10.0)
    ball.set_position(0.05, -0.3, 0.02)
    ball.set_linear_velocity((0, 5, 0))
    while not any(np.abs(c.get_impulse()).max() > 0 for c in ball.get_contacts()):
        before, robot_before = ball.get_linear_momentum(), robot.get_generalized_momentum()
        weightless.integrate()
        assert weightless.get_world_time() < 0.1
    (contact,) = ball.get_contacts()
    sign = 1.0 if contact.is_object_a() else -1.0
    impulse = sign * contact.get_contact_frame().T @ contact.get_impulse()
    assert ball.get_linear_momentum() - before == pytest.approx(impulse, abs=1e-9)
    assert robot.get_generalized_momentum()[:3] - robot_before[:3] == pytest.approx(-impulse, abs=1e-9)


def tumbling_energy_error(scheme, dt):
    """Largest error over the energy in 4 s of a tumbling fall of the limp robot without stops."""
    world = World()
    world.set_time_step(dt)
    robot = add_quadruped(world, (0, 0, 100.0), 0.0, 0.0)
    robot.set_integration_scheme(scheme)
    robot.set_joint_limits(ENDLESS)
    robot.set_joint_velocity_limits(ENDLESS[:, 1])
    for body in range(13):
        for other in range(body):
            robot.ignore_collision_between(body, other)
    robot.set_generalized_velocity(np.concatenate([[0, 0, 0, 1, 2, 3], np.linspace(-2, 2, 12)]))
    first, worst = robot.get_energy(), 0.0
    for _ in range(100):
        world.integrate(round(0.04 / dt))
        worst = max(worst, abs(robot.get_energy() - first))
    return worst / abs(first)


def test_tumbling_fall_keeps_energy():
    assert tumbling_energy_error(IntegrationScheme.TRAPEZOID, 0.001) < 2e-6
    assert tumbling_energy_error(IntegrationScheme.MIDPOINT, 0.001) < 2e-6
    assert tumbling_energy_error(IntegrationScheme.RUNGE_KUTTA_4, 0.001) < 1e-9


@pytest.mark.parametrize(("scheme", "order", "dt"), [(IntegrationScheme.TRAPEZOID, 2, 0.001),
                                                     (IntegrationScheme.MIDPOINT, 2, 0.001),
                                                     (IntegrationScheme.RUNGE_KUTTA_4, 4, 0.004)])
def test_energy_error_shrinks_with_the_order_of_the_scheme(scheme, order, dt):
    coarse, fine = tumbling_energy_error(scheme, dt), tumbling_energy_error(scheme, dt / 2)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_the_centre_of_mass_falls_along_a_parabola(dt):
    """Whatever the legs do on the way."""
    world = World()
    world.set_time_step(dt)
    robot = add_quadruped(world, (0, 0, 100.0), 50.0, 0.1)
    robot.set_generalized_velocity(np.concatenate([[2, -1, 3, 3, 2, -4], np.linspace(-8, 8, 12)]))
    start = np.asarray(robot.get_composite_com()).reshape(-1, 3)[0].copy()
    velocity = robot.get_linear_momentum() / robot.get_total_mass()
    for k in range(1, round(1.0 / dt)):
        world.integrate()
        t = k * dt
        expected = start + t * velocity + np.array([0, 0, -0.5 * 9.81 * t * t])
        assert np.asarray(robot.get_composite_com()).reshape(-1, 3)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", [99, 1327, 1391, *range(12)])
def test_coarse_steps_between_walls_give_no_energy(seed):
    """Trees that spin by up to half a radian per step: momentum after a blow may need more energy than there is."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_time_step(0.007)
    world.set_gravity((0, 0, 0))
    world.set_default_material(0.8, 0.0, 0.0)
    for height in (-0.5, 1.7):
        wall = world.add_box(5, 5, 1, 1.0)
        wall.set_body_type(BodyType.STATIC)
        wall.set_position(0, 0, height)
    robot = world.add_articulated_system(random_urdf(rng, int(rng.integers(2, 9))))
    turn = rng.normal(size=4)
    q = np.array(robot.get_generalized_coordinate())
    q[:7] = [0, 0, 0.6, *(turn / np.linalg.norm(turn))]
    robot.set_generalized_coordinate(q)
    robot.set_generalized_velocity([*rng.normal(size=3), *15 * rng.normal(size=3), *np.zeros(robot.get_dof() - 6)])
    first = robot.get_kinetic_energy()
    for _ in range(100):
        kinetic, energy = robot.get_kinetic_energy(), robot.get_energy()
        world.integrate()
        assert robot.get_energy() - energy < 0.02 * max(kinetic, 0.01 * first)


@pytest.mark.parametrize("seed", range(12))
def test_stops_of_joints_alone_keep_momentum_in_coarse_steps(seed):
    rng = np.random.default_rng(seed)
    world = World()
    world.set_time_step(0.007)
    world.set_gravity((0, 0, 0))
    robot = world.add_articulated_system(random_urdf(rng, int(rng.integers(2, 9))))
    robot.set_generalized_velocity([0, 0, 0, *8 * rng.normal(size=3), *np.zeros(robot.get_dof() - 6)])
    first = np.array(robot.get_angular_momentum((0, 0, 0)))
    world.integrate(100)
    assert np.array(robot.get_angular_momentum((0, 0, 0))) == pytest.approx(first, abs=1e-9 * np.linalg.norm(first))
