"""External forces and torques, command wrenches, damping: against Newton, Euler and exponentials."""

import numpy as np
import pytest

from raisim_ros import BodyType

INERTIA = np.array([[0.4, 0.05, -0.02], [0.05, 0.5, 0.03], [-0.02, 0.03, 0.6]])


def lopsided(world):
    """Shifted centre of mass, full inertia, turned."""
    body = world.add_box(0.2, 0.3, 0.4, 2.0)
    body.set_com((0.1, -0.05, 0.02))
    body.set_inertia(INERTIA)
    body.set_pose((1.0, 2.0, 3.0), (0.5, 0.5, -0.5, 0.5))
    return body


def test_a_force_at_the_centre_of_mass_only_pushes(weightless):
    body = lopsided(weightless)
    body.set_external_force(0, (3.0, -1.0, 2.0))
    weightless.integrate()
    assert body.get_linear_velocity() == pytest.approx(np.array([3.0, -1.0, 2.0]) / 2.0 * 0.001, rel=1e-12)
    assert body.get_angular_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


def test_a_force_at_a_point_also_turns(weightless):
    """pos is in the body frame, the force in the world's."""
    body = lopsided(weightless)
    force, point = np.array([3.0, -1.0, 2.0]), np.array([0.1, 0.15, -0.2])
    body.set_external_force(0, point, force)
    weightless.integrate()
    rotation = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    assert lopsided(weightless).get_orientation() == pytest.approx(rotation, abs=1e-15)
    torque = np.cross(rotation @ (point - [0.1, -0.05, 0.02]), force)
    expected = np.linalg.solve(rotation @ INERTIA @ rotation.T, torque) * 0.001
    assert body.get_angular_velocity() == pytest.approx(expected, rel=1e-6)
    assert body.get_linear_velocity() == pytest.approx(force / 2.0 * 0.001, rel=1e-12)


def test_a_torque_is_in_world_axes(weightless):
    body = lopsided(weightless)
    torque = np.array([0.3, 0.2, -0.1])
    body.set_external_torque(0, torque)
    weightless.integrate()
    expected = np.linalg.solve(body.get_inertia_matrix_w(), torque) * 0.001
    assert body.get_angular_velocity() == pytest.approx(expected, rel=1e-6)
    assert body.get_linear_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


def test_loads_add_up_and_last_one_step(weightless):
    body = weightless.add_sphere(0.1, 2.0)
    body.set_external_force(0, (1.0, 0.0, 0.0))
    body.set_external_force(0, (0.0, 0.0, 0.1), (0.0, 4.0, 0.0))
    body.set_external_torque(0, (0.0, 0.0, 0.2))
    assert [list(force) for force in body.get_external_force()] == [[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
    assert [list(at) for at in body.get_external_force_position()] == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]
    assert [list(torque) for torque in body.get_external_torque()] == [[0.0, 0.0, 0.2]]
    assert [list(at) for at in body.get_external_torque_position()] == [[0.0, 0.0, 0.0]]
    weightless.integrate()
    speed = body.get_linear_velocity()
    assert speed == pytest.approx([0.0005, 0.002, 0.0], rel=1e-12)
    assert body.get_external_force() == []
    weightless.integrate(5)
    assert body.get_linear_velocity() == pytest.approx(speed, abs=1e-15)


def test_cleared_loads_do_not_act(weightless):
    body = weightless.add_sphere(0.1, 2.0)
    body.set_external_force(0, (1.0, 2.0, 3.0))
    body.set_external_torque(0, (1.0, 2.0, 3.0))
    body.clear_external_forces_and_torques()
    assert body.get_external_force() == []
    weightless.integrate()
    assert body.get_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert body.get_angular_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)


def test_a_command_wrench_acts_until_it_is_cleared(weightless):
    body = weightless.add_sphere(0.1, 2.0)
    body.set_command_wrench((4.0, 0.0, -2.0), (0.0, 0.01, 0.0))
    weightless.integrate(100)
    spin = 0.01 / (0.4 * 2.0 * 0.1**2) * 0.1
    assert body.get_linear_velocity() == pytest.approx([0.2, 0.0, -0.1], rel=1e-9)
    assert body.get_angular_velocity() == pytest.approx([0.0, spin, 0.0], rel=1e-9)
    assert weightless.read_states().wrenches[0] == pytest.approx([4.0, 0.0, -2.0, 0.0, 0.01, 0.0], abs=0)
    body.clear_command()
    weightless.integrate(100)
    assert body.get_linear_velocity() == pytest.approx([0.2, 0.0, -0.1], rel=1e-9)
    assert weightless.read_states().wrenches[0] == pytest.approx(np.zeros(6), abs=0)


def test_bodies_that_are_not_dynamic_ignore_loads_for_good(weightless):
    """A force given to a kinematic body must not be stored up for the day it becomes dynamic."""
    body = weightless.add_sphere(0.1, 2.0)
    body.set_body_type(BodyType.KINEMATIC)
    for _ in range(10):
        body.set_external_force(0, (100.0, 0.0, 0.0))
        body.set_external_torque(0, (0.0, 1.0, 0.0))
        weightless.integrate()
    assert body.get_position() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert weightless.read_states().wrenches[0] == pytest.approx(np.zeros(6), abs=0)
    body.set_body_type(BodyType.DYNAMIC)
    weightless.integrate()
    assert body.get_linear_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert body.get_angular_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)


def test_linear_damping_is_an_exponential(weightless):
    body = weightless.add_sphere(0.1, 2.0)
    body.set_linear_damping(3.0)
    body.set_linear_velocity((1.0, -2.0, 0.5))
    weightless.integrate(1000)
    assert body.get_linear_velocity() == pytest.approx(np.exp(-1.5) * np.array([1.0, -2.0, 0.5]), rel=2e-3)


def test_a_damped_fall_ends_at_the_terminal_speed(world):
    body = world.add_sphere(0.1, 2.0)
    body.set_linear_damping(10.0)
    world.integrate(5000)
    assert body.get_linear_velocity() == pytest.approx([0.0, 0.0, -2.0 * 9.81 / 10.0], abs=1e-9)


def test_angular_damping_is_per_body_axis(weightless, quaternion_about):
    """Turned by 90 degrees about z, the body's x axis is the world's y axis."""
    body = weightless.add_sphere(0.5, 2.0)
    inertia = 0.4 * 2.0 * 0.25
    body.set_orientation(quaternion_about((0.0, 0.0, 1.0), np.pi / 2))
    body.set_angular_damping((0.4, 0.0, 0.0))
    body.set_angular_velocity((0.0, 1.0, 0.0))
    weightless.integrate(500)
    assert body.get_angular_velocity() == pytest.approx([0.0, np.exp(-0.4 / inertia * 0.5), 0.0], rel=2e-3, abs=1e-9)
    body.set_orientation(1.0, 0.0, 0.0, 0.0)
    body.set_angular_velocity((0.0, 1.0, 0.0))
    weightless.integrate(500)
    assert body.get_angular_velocity() == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)


def test_enormous_damping_stops_and_never_reverses(weightless):
    body = weightless.add_box(0.1, 0.2, 0.3, 1.0)
    body.set_linear_damping(1e9)
    body.set_angular_damping((1e9, 1e9, 1e9))
    body.set_velocity((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    weightless.integrate()
    assert 0.0 <= body.get_linear_velocity()[0] < 1e-5
    assert 0.0 <= body.get_angular_velocity()[1] < 1e-5


def test_an_inertia_that_was_not_given_follows_the_mass(weightless):
    for make in (lambda m: weightless.add_box(0.2, 0.3, 0.4, m), lambda m: weightless.add_capsule(0.1, 0.3, m)):
        body, heavy = make(1.0), make(100.0)
        snapshot = weightless.save_snapshot()
        body.set_mass(100.0)
        assert body.get_mass() == 100.0
        assert body.get_inertia_matrix_b() == pytest.approx(heavy.get_inertia_matrix_b(), rel=1e-12)
        body.set_inertia(INERTIA)
        body.set_mass(3.0)
        assert body.get_inertia_matrix_b() == pytest.approx(INERTIA, abs=0)
        weightless.restore_snapshot(snapshot)
        body.set_mass(2.0)
        assert body.get_inertia_matrix_b() == pytest.approx(heavy.get_inertia_matrix_b() / 50.0, rel=1e-12)
