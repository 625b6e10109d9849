"""Rotation of free bodies: torque-free precession, Dzhanibekov's flips, a top under gravity."""

import numpy as np
import pytest

from raisim_ros import GyroscopicMode, World

WINGNUT = np.diag([1.0, 2.0, 2.8])


def spinning_body(world: World, inertia: np.ndarray, omega):
    body = world.add_box(1.0, 1.0, 1.0, 1.0)
    body.set_inertia(inertia)
    body.set_angular_velocity(omega)
    return body


def spin_momentum(body) -> np.ndarray:
    return body.get_inertia_matrix_w() @ body.get_angular_velocity()


def rotation_about(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def test_energy_conserving_is_the_default(world):
    assert world.add_sphere(1.0, 1.0).get_gyroscopic_mode() == GyroscopicMode.ENERGY_CONSERVING


def test_a_steady_spin_turns_by_exactly_its_angle(weightless):
    body = spinning_body(weightless, WINGNUT, (0.0, 0.0, 7.0))
    weightless.integrate(1000)
    assert body.get_angular_velocity() == pytest.approx([0.0, 0.0, 7.0], abs=1e-12)
    assert body.get_orientation() == pytest.approx(rotation_about(np.array([0.0, 0.0, 1.0]), 7.0), abs=1e-10)


@pytest.mark.parametrize("speed", [3e2, 1e3, 1e4, 1e6, 1e9])
def test_a_spin_of_many_turns_in_a_step_gains_no_energy(weightless, speed):
    """As light bodies under strong torques have it: up to 1e6 radians in a step."""
    rng = np.random.default_rng(int(speed))
    weightless.set_time_step(1e-3)
    for k in range(20):
        axis = rng.normal(size=3)
        inertia = np.diag([1.0, *rng.uniform(0.6, 1.4, 2)])
        spinning_body(weightless, inertia, speed * axis / np.linalg.norm(axis)).set_position(5 * k, 0, 0)
    bodies = weightless.get_obj_list()
    before = [body.get_kinetic_energy() for body in bodies]
    weightless.integrate(200)
    assert [body.get_kinetic_energy() for body in bodies] == pytest.approx(before, rel=1e-9)


def test_torque_free_precession_of_a_symmetric_top(weightless):
    """R(t) = turn about the momentum by L/I1 t, after a turn about the own axis by (1 - I3/I1) w3 t."""
    transverse, axial = 2.0, 0.7
    start = rotation_about(np.array([0.3, -0.5, 0.8]), 1.1)
    omega_body = np.array([0.8, 0.0, 5.0])
    body = spinning_body(weightless, np.diag([transverse, transverse, axial]), start @ omega_body)
    body.set_orientation(start)
    body.set_angular_velocity(start @ omega_body)
    momentum = spin_momentum(body)
    weightless.integrate(2000)
    t = 2.0
    own = rotation_about(np.array([0.0, 0.0, 1.0]), (1 - axial / transverse) * omega_body[2] * t)
    precession = rotation_about(momentum, np.linalg.norm(momentum) / transverse * t)
    assert body.get_orientation() == pytest.approx(precession @ start @ own, abs=2e-5)
    assert spin_momentum(body) == pytest.approx(momentum, abs=1e-11)


def test_dzhanibekov_flips_with_energy_and_momentum_kept(weightless):
    """Spin about the middle axis flips periodically; half a period is 2 K(k) / rate of Euler's elliptic solution."""
    body = spinning_body(weightless, WINGNUT, (1e-3, 5.0, 1e-3))
    body.set_pose((0.0, 0.0, 0.0), (0.8, 0.0, 0.6, 0.0))
    body.set_angular_velocity(body.get_orientation() @ np.array([1e-3, 5.0, 1e-3]))
    energy, momentum = body.get_kinetic_energy(), spin_momentum(body)
    signs, flips = [], []
    for step in range(20000):
        weightless.integrate()
        middle = body.get_orientation()[:, 1] @ body.get_angular_velocity()
        if signs and middle * signs[-1] < 0:
            flips.append(step * 0.001)
        signs.append(middle)
    assert body.get_kinetic_energy() == pytest.approx(energy, rel=1e-10)
    assert spin_momentum(body) == pytest.approx(momentum, rel=1e-9, abs=1e-9)
    assert len(flips) >= 3
    assert np.diff(flips) == pytest.approx(half_period(energy, momentum), rel=2e-3)


def half_period(energy: float, momentum: np.ndarray) -> float:
    """Time between two zero crossings of the middle axis' spin (Landau and Lifshitz, Mechanics, section 37)."""
    i1, i2, i3 = np.diag(WINGNUT)
    m2, e2 = float(momentum @ momentum), 2.0 * energy
    if m2 < e2 * i2:
        i1, i3 = i3, i1
    rate = np.sqrt((i3 - i2) * (m2 - e2 * i1) / (i1 * i2 * i3))
    k2 = (i2 - i1) * (e2 * i3 - m2) / ((i3 - i2) * (m2 - e2 * i1))
    a, b = 1.0, np.sqrt(1.0 - k2)  # complete elliptic integral by the arithmetic-geometric mean
    for _ in range(20):
        a, b = (a + b) / 2.0, np.sqrt(a * b)
    return 2.0 * (np.pi / (2.0 * a)) / rate


def energy_ratio(world: World, mode: GyroscopicMode) -> float:
    body = spinning_body(world, WINGNUT, (0.5, 5.0, 0.5))
    body.set_gyroscopic_mode(mode)
    assert body.get_gyroscopic_mode() == mode
    energy = body.get_kinetic_energy()
    world.integrate(5000)
    return body.get_kinetic_energy() / energy


def test_implicit_body_mode_damps(weightless):
    assert 0.9 < energy_ratio(weightless, GyroscopicMode.IMPLICIT_BODY) < 0.9999


def test_implicit_world_mode_is_stable_and_close(weightless):
    assert energy_ratio(weightless, GyroscopicMode.IMPLICIT_WORLD) == pytest.approx(1.0, abs=0.1)


def test_explicit_mode_gains_energy(weightless):
    assert energy_ratio(weightless, GyroscopicMode.EXPLICIT) > 1.0001


def test_none_keeps_the_angular_velocity_in_the_world(weightless):
    body = spinning_body(weightless, WINGNUT, (0.5, 5.0, 0.5))
    body.set_gyroscopic_mode(GyroscopicMode.NONE)
    weightless.integrate(2000)
    assert body.get_angular_velocity() == pytest.approx([0.5, 5.0, 0.5], abs=1e-12)


@pytest.mark.parametrize("mode", [m for m in GyroscopicMode if m != GyroscopicMode.NONE])
def test_every_gyroscopic_mode_converges_to_the_same_motion(mode):
    """Against a Runge-Kutta solution of Euler's equations in the body frame."""
    end = runge_kutta_euler(WINGNUT, np.array([0.5, 2.0, -1.0]), 1.0)
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_time_step(1e-4)
    body = spinning_body(world, WINGNUT, (0.5, 2.0, -1.0))
    body.set_gyroscopic_mode(mode)
    world.integrate(10000)
    assert body.get_orientation().T @ body.get_angular_velocity() == pytest.approx(end, abs=1e-3)


def runge_kutta_euler(inertia: np.ndarray, omega: np.ndarray, duration: float) -> np.ndarray:
    def derivative(w):
        return np.linalg.solve(inertia, -np.cross(w, inertia @ w))

    h = 1e-3
    for _ in range(round(duration / h)):
        k1 = derivative(omega)
        k2 = derivative(omega + h / 2 * k1)
        k3 = derivative(omega + h / 2 * k2)
        k4 = derivative(omega + h * k3)
        omega = omega + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return omega


def test_a_torque_about_each_axis_turns_the_right_way(weightless):
    for axis in range(3):
        body = spinning_body(weightless, WINGNUT, (0.0, 0.0, 0.0))
        body.set_position(10.0 * axis, 0.0, 0.0)
        torque = np.zeros(3)
        torque[axis] = 2.0
        body.set_command_wrench((0.0, 0.0, 0.0), torque)
    weightless.integrate(500)
    for axis, body in enumerate(weightless.get_obj_list()):
        expected = np.zeros(3)
        expected[axis] = 2.0 / WINGNUT[axis, axis] * 0.5
        assert body.get_angular_velocity() == pytest.approx(expected, abs=1e-10)


def test_a_top_on_its_tip_precesses_at_the_closed_form_rate(world):
    """A cone on its apex, started in steady precession: I1 cos(a) W^2 - I3 w3 W + m g l = 0 about the tip."""
    world.set_time_step(0.0001)
    world.add_ground()
    world.set_default_material(5.0, 0.0, 0.0)
    radius, height, mass, tilt, spin = 0.12, 0.12, 0.5, 0.3, 120.0
    top = world.add_cone(radius, height, mass)
    lever = 0.75 * height
    inertia = top.get_inertia_matrix_b()
    axial, about_tip = inertia[2, 2], inertia[0, 0] + mass * lever**2
    gravity = 9.81
    a, b, c = about_tip * np.cos(tilt), -axial * spin, mass * gravity * lever
    slow = (-b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    # upside down: the body's -z leads from the tip to the centre of mass
    up = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    top.set_pose(lever * up, np.column_stack([[0.0, 1.0, 0.0], np.cross(-up, [0.0, 1.0, 0.0]), -up]))
    vertical = np.array([0.0, 0.0, 1.0])
    omega = slow * vertical + (spin - slow * np.cos(tilt)) * up
    top.set_velocity(np.cross(omega, lever * up), omega)
    duration = 0.25 * 2 * np.pi / slow
    world.integrate(round(duration / 0.0001))
    t = world.get_world_time()
    axis = -top.get_orientation()[:, 2]
    assert np.arctan2(axis[1], axis[0]) == pytest.approx(slow * t, abs=2e-3)
    assert np.arccos(axis[2]) == pytest.approx(tilt, abs=3e-3)
    assert top.get_com_position() - lever * axis == pytest.approx([0.0, 0.0, 0.0], abs=3e-4)
