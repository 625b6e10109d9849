"""The quadruped on the ground, on a height map, on a box and on a moving floor: it stands, walks and falls."""

import numpy as np
import pytest
from robot_scenes import STANCE, STANDING_HEIGHT, add_quadruped, contact_forces, force_on, leg_angles, up_axis

from raisim_ros import BodyType, TerrainProperties, World

DT = 0.005
LEGS = ("LF", "RF", "LH", "RH")


@pytest.fixture
def floor() -> World:
    """The ground at the default time step."""
    world = World()
    world.set_sleeping_enabled(False)
    world.add_ground()
    return world


def on_ground(world):
    world.add_ground()
    return 0.0


def on_height_map(world):
    terrain = TerrainProperties(frequency=0.5, z_scale=0.1, x_size=6.0, y_size=6.0, x_samples=60, y_samples=60, seed=3)
    surface = world.add_height_map(terrain)
    return max(surface.get_height(x, y) for x in (-0.4, 0.0, 0.4) for y in (-0.25, 0.25)) + 0.02


def on_box(world):
    world.add_ground()
    box = world.add_box(1.2, 0.9, 0.3, 200.0)
    box.set_position(0, 0, 0.15)
    return 0.3


@pytest.mark.parametrize("surface", [on_ground, on_height_map, on_box])
def test_stands_for_ten_minutes(surface):
    world = World()
    world.set_sleeping_enabled(False)
    height = surface(world)
    robot = add_quadruped(world, (0, 0, height + STANDING_HEIGHT))
    world.integrate(round(2.0 / DT))
    begin = robot.get_generalized_coordinate()
    assert up_axis(robot)[2] > 0.98
    world.integrate(round(600.0 / DT))
    end = robot.get_generalized_coordinate()
    assert np.linalg.norm(end[:3] - begin[:3]) < 0.01
    assert np.abs(end[3:] - begin[3:]).max() < 0.01
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-3
    weight = robot.get_total_mass() * 9.81
    assert force_on(robot, DT) == pytest.approx([0, 0, weight], abs=1e-3 * weight)


def test_stance_does_not_depend_on_the_step():
    """Standing still is an equilibrium: the same for every time step."""
    heights = []
    for dt in (0.001, 0.002, 0.01):
        world = World()
        world.set_time_step(dt)
        world.set_sleeping_enabled(False)
        world.add_ground()
        robot = add_quadruped(world)
        world.integrate(round(5.0 / dt))
        assert np.abs(robot.get_generalized_velocity()).max() < 1e-6
        heights.append(robot.get_base_position()[2])
    assert STANDING_HEIGHT - 0.01 < heights[0] < STANDING_HEIGHT  # the motors give way a little
    assert heights == pytest.approx([heights[0]] * 3, abs=1e-4)


def test_motors_and_feet_balance_gravity(floor):
    """The centre of pressure lies below the centre of mass, and every coordinate is in equilibrium."""
    robot = add_quadruped(floor)
    robot.set_mass(0, 30.0)
    robot.get_body_com_b()[0] = (0.1, 0.03, 0.0)
    robot.update_mass_info()
    floor.integrate(2000)
    contacts = contact_forces(robot, DT)
    assert {c.get_local_body_index() for c, _ in contacts} == {robot.get_body_idx(f"{leg}_SHANK") for leg in LEGS}
    total = force_on(robot, DT)
    assert total == pytest.approx([0, 0, robot.get_total_mass() * 9.81], abs=1e-3)
    pressure = sum(f[2] * c.get_position() for c, f in contacts) / total[2]
    assert pressure[:2] == pytest.approx(robot.get_com()[:2], abs=1e-6)
    tau = robot.get_generalized_force()
    for contact, force in contacts:
        tau += robot.get_dense_jacobian(contact.get_local_body_index(), contact.get_position()).T @ force
    assert tau == pytest.approx(robot.get_nonlinearities(), abs=1e-3)


def trot(world, robot, seconds, stride=0.12, lift=0.06, period=0.5):
    """Diagonal legs in turn: swing forwards lifted, then push back on the ground."""
    dt = world.get_time_step()
    target = np.concatenate([[0, 0, 0, 1, 0, 0, 0], STANCE])
    for step in range(round(seconds / dt)):
        amount = min(1.0, step * dt / period)
        for leg, (delay, rest, knee) in enumerate([(0, 1, -1), (0.5, 1, -1), (0.5, -1, 1), (0, -1, 1)]):
            phase = (step * dt / period + delay) % 1.0
            swinging = phase < 0.5
            forward = -0.5 * stride * np.cos(2 * np.pi * phase) if swinging else 0.5 * stride * (3.0 - 4.0 * phase)
            up = lift * np.sin(2 * np.pi * phase) if swinging else 0.0
            angles = leg_angles(0.0277 * rest + amount * forward, 0.525 - amount * up, knee)
            target[8 + 3 * leg : 10 + 3 * leg] = angles
        robot.set_p_target(target)
        world.integrate()


@pytest.mark.parametrize("dt", [0.001, 0.0025, 0.005])
def test_walks(dt):
    world = World()
    world.set_time_step(dt)
    world.add_ground()
    robot = add_quadruped(world)
    trot(world, robot, 6.0)
    x, y, z = robot.get_base_position()
    assert x > 1.0
    assert abs(y) < 0.1 * x
    assert z == pytest.approx(0.55, abs=0.03)
    assert up_axis(robot)[2] > 0.99


def test_walks_over_rough_ground():
    world = World()
    world.set_time_step(0.0025)
    terrain = TerrainProperties(frequency=0.8, z_scale=0.12, x_size=8.0, y_size=8.0, x_samples=80, y_samples=80, seed=7)
    surface = world.add_height_map(terrain)
    highest = max(surface.get_height(x, y) for x in (-0.4, 0.0, 0.4) for y in (-0.25, 0.25))
    robot = add_quadruped(world, (0, 0, highest + STANDING_HEIGHT))
    trot(world, robot, 6.0)
    x, y, z = robot.get_base_position()
    assert x > 0.8
    assert z - surface.get_height(x, y) == pytest.approx(0.55, abs=0.08)
    assert up_axis(robot)[2] > 0.95


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_falls_and_comes_to_rest(dt):
    world = World()
    world.set_time_step(dt)
    world.set_sleeping_enabled(False)
    world.add_ground()
    robot = add_quadruped(world, (0, 0, 1.0), p_gain=0.0, d_gain=0.0)
    energy = robot.get_energy()
    for _ in range(100):
        world.integrate(round(0.1 / dt))
        assert robot.get_energy() < energy + 1e-3 * abs(energy)
        energy = robot.get_energy()
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-6
    assert robot.get_base_position()[2] < 0.3
    weight = robot.get_total_mass() * 9.81
    assert force_on(robot, dt) == pytest.approx([0, 0, weight], abs=0.02 * weight)
    assert min(c.get_depth() for c in robot.get_contacts()) > -2e-3


def test_rides_a_moving_floor(floor):
    """A kinematic slab carries the robot along at its own speed."""
    slab = floor.add_box(8.0, 2.0, 0.2, 1.0)
    slab.set_body_type(BodyType.KINEMATIC)
    slab.set_position(0, 0, 0.3)
    robot = add_quadruped(floor, (0, 0, 0.4 + STANDING_HEIGHT))
    floor.integrate(200)
    before = robot.get_base_position()
    for step in range(200):  # gently up to speed
        slab.set_linear_velocity((0.3 * (step + 1) / 200, 0, 0.1 * (step + 1) / 200))
        floor.integrate()
    floor.integrate(400)  # the trunk swings back over its feet
    start = slab.get_position()
    middle = robot.get_base_position()
    floor.integrate(400)
    assert robot.get_base_position() - middle == pytest.approx(slab.get_position() - start, abs=2e-3)
    assert middle[0] > before[0] + 0.1
    assert robot.get_generalized_velocity()[:3] == pytest.approx([0.3, 0, 0.1], abs=2e-3)
