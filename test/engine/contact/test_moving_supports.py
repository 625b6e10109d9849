"""What is carried by kinematic bodies: forces and places are those of the motion, to second order in the step."""

import numpy as np
import pytest

from raisim_ros import BodyType, Box, World

ONE_LINK = """<robot name="b"><link name="base"><inertial><mass value="1"/>
<inertia ixx="0.00667" iyy="0.00667" izz="0.00667" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>"""


def carried_world(dt: float) -> World:
    world = World()
    world.set_time_step(dt)
    world.set_sleeping_enabled(False)
    world.set_default_material(2.0, 0.0, 0.0)
    return world


def box_on_a_slab(dt: float, x_length: float, y_length: float) -> tuple[World, Box, Box]:
    """The slab is kinematic."""
    world = carried_world(dt)
    slab = world.add_box(x_length, y_length, 0.1, 1.0, position=(0.0, 0.0, -0.05), body_type=BodyType.KINEMATIC)
    return world, slab, world.add_box(0.2, 0.2, 0.2, 1.0, position=(0.0, 0.0, 0.1))


def force_on(body, dt: float) -> np.ndarray:
    """Sum of the contact forces on a body, world frame [N]."""
    total = np.zeros(3)
    for contact in body.get_contacts():
        impulse = contact.get_contact_frame().T @ contact.get_impulse()
        total += impulse if contact.is_object_a() else -impulse
    return total / dt


def ride_a_turntable(dt: float, omega: float, radius: float, seconds: float, robot: bool) -> tuple[float, float, float]:
    """Errors of the place [m], of the radius [m], and of the force [N] after a ride."""
    world = carried_world(dt)
    table = world.add_cylinder(2.0 * radius, 0.1, 1.0)
    table.set_body_type(BodyType.KINEMATIC)
    table.set_position(0.0, 0.0, -0.05)
    table.set_angular_velocity((0.0, 0.0, omega))
    if robot:
        load = world.add_articulated_system(ONE_LINK)
        load.set_state([radius, 0, 0.1, 1, 0, 0, 0], [0, omega * radius, 0, 0, 0, omega])
    else:
        load = world.add_box(0.2, 0.2, 0.2, 1.0)
        load.set_position(radius, 0.0, 0.1)
        load.set_velocity((0.0, omega * radius, 0.0), (0.0, 0.0, omega))
    worst = 0.0
    steps = round(seconds / dt)
    for step in range(steps):
        world.integrate()
        if step > 3:
            pull = np.linalg.norm(force_on(load, dt)[:2])
            worst = max(worst, abs(float(pull) - omega**2 * radius))
    place = load.get_position()
    end = radius * np.array([np.cos(omega * steps * dt), np.sin(omega * steps * dt)])
    return float(np.linalg.norm(place[:2] - end)), abs(float(np.hypot(*place[:2])) - radius), worst


@pytest.mark.parametrize("robot", [False, True])
def test_a_turntable_keeps_its_load(robot):
    """Everything that is off shrinks with the square of the step."""
    rng = np.random.default_rng(11)
    for _ in range(3):
        omega, radius = float(rng.uniform(0.5, 3.0)), float(rng.uniform(0.3, 1.2))
        place, apart, force = ride_a_turntable(0.01, omega, radius, 2.0, robot)
        angle = 0.01 * omega
        assert apart < angle**2 * radius
        assert place < angle**2 * radius * (2.0 * omega)
        assert force < angle * omega**2 * radius
        fine = ride_a_turntable(0.0025, omega, radius, 2.0, robot)
        assert fine[0] < place / 10.0
        assert fine[1] < max(apart / 10.0, 1e-9)


@pytest.mark.parametrize("dt", [0.0005, 0.001, 0.002, 0.005])
@pytest.mark.parametrize("acceleration", [-8.0, -3.0, 2.0, 20.0])
def test_a_lift_carries_with_a_steady_force(dt, acceleration):
    world, lift, load = box_on_a_slab(dt, 2.0, 2.0)
    for step in range(300):
        lift.set_linear_velocity((0.0, 0.0, acceleration * (step + 0.5) * dt))
        world.integrate()
        if step > 10:
            assert force_on(load, dt)[2] == pytest.approx(9.81 + acceleration, abs=1e-4)
    above = load.get_position()[2] - lift.get_position()[2] - 0.15
    assert abs(above) < 10.0 * abs(acceleration) * dt**2 + 2e-6


def test_a_shaking_lift_is_followed_to_second_order():
    errors = []
    for dt in (0.004, 0.002, 0.001):
        world, lift, load = box_on_a_slab(dt, 2.0, 2.0)
        off = []
        for step in range(round(1.5 / dt)):
            time = (step + 0.5) * dt
            lift.set_linear_velocity((0.2 * np.sin(5.0 * time), 0.0, 0.5 * np.sin(7.0 * time)))
            world.integrate()
            off.append(abs(force_on(load, dt)[2] - 9.81 - 3.5 * np.cos(7.0 * time)))
        errors.append(float(np.median(off[10:])))
    assert errors[0] < 1e-3
    assert errors[2] < 0.1 * errors[0]


def test_a_suddenly_started_support_does_not_throw():
    """A jump of the velocity is not taken for an acceleration that goes on."""
    world, lift, load = box_on_a_slab(0.005, 2.0, 2.0)
    world.integrate(20)
    for speed in (0.3, 0.0, 0.4, 0.4, 0.8):
        lift.set_linear_velocity((0.0, 0.0, speed))
        for _ in range(5):
            world.integrate()
            assert load.get_linear_velocity()[2] <= 0.8 + 1e-9
        if speed >= 0.3:
            assert load.get_linear_velocity()[2] == pytest.approx(speed, abs=0.31)


def test_a_belt_brings_its_load_to_its_speed():
    world, belt, load = box_on_a_slab(0.005, 20.0, 1.0)
    for step in range(400):
        belt.set_linear_velocity((min(1.0, 0.005 * step), 0.0, 0.0))
        world.integrate()
    assert load.get_linear_velocity() == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert load.get_position()[0] - belt.get_position()[0] == pytest.approx(0.0, abs=1e-3)
