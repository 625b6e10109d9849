"""Coulomb friction against closed forms: sticking, sliding, direction, static friction."""

import numpy as np
import pytest

from raisim_ros import World

GRAVITY = 9.81


def tilted(world: World, angle: float, azimuth: float = 0.0) -> np.ndarray:
    """Tilt gravity instead of the plane; returns the downhill unit vector."""
    downhill = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    world.set_gravity(GRAVITY * (np.sin(angle) * downhill - np.cos(angle) * np.array([0.0, 0.0, 1.0])))
    return downhill


def resting_box(world: World, friction: float):
    world.add_ground()
    world.set_default_material(friction, 0.0, 0.0)
    box = world.add_box(0.4, 0.3, 0.1, 2.0)
    box.set_position(0.0, 0.0, 0.05)
    return box


@pytest.mark.parametrize("azimuth", [0.0, 0.7, 2.5])
def test_below_the_friction_angle_a_box_does_not_move(world, azimuth):
    box = resting_box(world, 0.5)
    tilted(world, np.arctan(0.5) - 1e-3, azimuth)
    world.integrate(2000)
    assert np.linalg.norm(box.get_position() - [0.0, 0.0, 0.05]) < 1e-7
    assert np.linalg.norm(box.get_linear_velocity()) < 1e-7


@pytest.mark.parametrize("azimuth", [0.0, 0.7, 2.5])
def test_above_the_friction_angle_it_slides_at_the_closed_form(world, azimuth):
    box = resting_box(world, 0.5)
    angle = np.arctan(0.5) + 1e-3
    downhill = tilted(world, angle, azimuth)
    world.integrate(2000)
    acceleration = GRAVITY * (np.sin(angle) - 0.5 * np.cos(angle))
    assert box.get_linear_velocity() == pytest.approx(acceleration * 2.0 * downhill, abs=5e-6)
    assert np.linalg.norm(box.get_angular_velocity()) < 1e-6


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.6, -0.8), (-0.28, 0.96)])
def test_a_sliding_box_decelerates_at_mu_g_along_its_path(world, direction):
    box = resting_box(world, 0.4)
    heading = np.array([*direction, 0.0])
    box.set_linear_velocity(3.0 * heading)
    world.integrate(500)
    assert box.get_linear_velocity() == pytest.approx((3.0 - 0.4 * GRAVITY * 0.5) * heading, abs=1e-6)
    distance = 3.0 * 0.5 - 0.5 * 0.4 * GRAVITY * 0.25
    assert box.get_position() == pytest.approx([0, 0, 0.05] + distance * heading, abs=1e-5)
    assert box.get_quaternion() == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-6)


def test_a_sliding_box_stops_and_stays(world):
    box = resting_box(world, 0.4)
    box.set_linear_velocity((2.0, 0.0, 0.0))
    world.integrate(1500)
    assert box.get_position()[0] == pytest.approx(2.0**2 / (2 * 0.4 * GRAVITY), rel=1e-3)
    assert np.linalg.norm(box.get_linear_velocity()) < 1e-7


def test_without_friction_nothing_slows_the_box(world):
    box = resting_box(world, 0.0)
    box.set_linear_velocity((1.0, -2.0, 0.0))
    world.integrate(1000)
    assert box.get_linear_velocity() == pytest.approx([1.0, -2.0, 0.0], abs=1e-12)
    assert box.get_position() == pytest.approx([1.0, -2.0, 0.05], abs=1e-9)


def test_friction_brakes_a_spinning_disc_evenly_about_its_axis(world):
    """All contact points of a regular manifold slip at one speed: the spin falls linearly, nothing drifts."""
    world.add_ground()
    world.set_default_material(0.3, 0.0, 0.0)
    box = world.add_box(0.4, 0.4, 0.1, 2.0)
    box.set_position(0.0, 0.0, 0.05)
    box.set_angular_velocity((0.0, 0.0, 8.0))
    world.integrate(100)
    arm = 0.2 * np.sqrt(2.0)
    deceleration = 0.3 * 2.0 * GRAVITY * arm / box.get_inertia_matrix_b()[2, 2]
    assert box.get_angular_velocity() == pytest.approx([0.0, 0.0, 8.0 - 0.1 * deceleration], abs=1e-5)
    assert box.get_position() == pytest.approx([0.0, 0.0, 0.05], abs=1e-6)


@pytest.mark.parametrize(("push", "moves"), [(0.98, False), (1.02, True)])
def test_a_push_below_the_limit_is_held(world, push, moves):
    box = resting_box(world, 0.5)
    limit = 0.5 * 2.0 * GRAVITY
    for _ in range(500):
        box.set_external_force(0, (0.0, 0.0, -0.05), (0.6 * push * limit, 0.8 * push * limit, 0.0))
        world.integrate()
    expected = (push - 1.0) * limit / 2.0 * 0.5 if moves else 0.0
    assert box.get_linear_velocity() == pytest.approx([0.6 * expected, 0.8 * expected, 0.0], abs=1e-6)


def test_static_friction_fades_linearly_with_speed(world):
    """mu_s + (mu - mu_s) v / v_s below v_s, mu above: read from the contact and felt in the deceleration."""
    world.add_ground()
    world.set_default_material(0.4, 0.0, 0.0, 0.8, 1.0)
    box = world.add_box(0.4, 0.4, 0.02, 1.0)
    for speed, mu in [(2.0, 0.4), (1.0, 0.4), (0.75, 0.5), (0.25, 0.7)]:
        box.set_pose((0.0, 0.0, 0.01), (1.0, 0.0, 0.0, 0.0))
        box.set_velocity((0.6 * speed, 0.8 * speed, 0.0), (0.0, 0.0, 0.0))
        world.integrate()
        assert world.read_contacts()["friction"] == pytest.approx(mu, abs=1e-9)
        slowed = speed - mu * GRAVITY * 0.001
        assert box.get_linear_velocity() == pytest.approx([0.6 * slowed, 0.8 * slowed, 0.0], abs=1e-6)


def test_static_friction_holds_what_kinetic_friction_would_not(world):
    world.add_ground()
    world.set_default_material(0.4, 0.0, 0.0, 0.8, 0.1)
    box = world.add_box(0.4, 0.4, 0.02, 1.0)
    box.set_position(0.0, 0.0, 0.01)
    tilted(world, np.arctan(0.6))
    world.integrate(1000)
    assert np.linalg.norm(box.get_linear_velocity()) < 1e-6
    box.set_linear_velocity((0.2, 0.0, 0.0))  # past the threshold it runs away
    world.integrate(1000)
    acceleration = GRAVITY * np.cos(np.arctan(0.6)) * (0.6 - 0.4)
    assert box.get_linear_velocity()[0] == pytest.approx(0.2 + acceleration, rel=1e-3)


def test_friction_of_the_pair_not_of_the_objects(world):
    world.add_ground(0.0, "steel")
    world.set_material_pair_prop("steel", "rubber", 0.9, 0.0, 0.0)
    world.set_material_pair_prop("ice", "steel", 0.05, 0.0, 0.0)
    speeds = {}
    for offset, material in enumerate(["rubber", "ice", "wood"]):  # wood has no pair: default 0.8
        box = world.add_box(0.4, 0.4, 0.1, 1.0, material)
        box.set_position(0.0, 2.0 * offset, 0.05)
        box.set_linear_velocity((3.0, 0.0, 0.0))
        speeds[material] = box
    world.integrate(200)
    for material, mu in [("rubber", 0.9), ("ice", 0.05), ("wood", 0.8)]:
        assert speeds[material].get_linear_velocity()[0] == pytest.approx(3.0 - mu * GRAVITY * 0.2, abs=1e-6)


def test_contact_forces_carry_the_weight_and_oppose_the_slip(world):
    box = resting_box(world, 0.4)
    box.set_linear_velocity((1.2, -0.9, 0.0))
    world.integrate(10)
    force = np.zeros(3)
    for contact in box.get_contacts():
        on_a = contact.get_contact_frame().T @ contact.get_impulse() / 0.001
        force += on_a if contact.is_object_a() else -on_a
    weight = 2.0 * GRAVITY
    assert force == pytest.approx([-0.4 * weight * 0.8, 0.4 * weight * 0.6, weight], rel=1e-5)
