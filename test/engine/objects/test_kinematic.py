"""Kinematic and static bodies: exact own motion, felt by what they touch, moved by nothing."""

import numpy as np
import pytest

from raisim_ros import BodyType, InvalidValueError, WrongTypeError


def test_a_kinematic_body_moves_exactly_as_told(world, quaternion_about):
    body = world.add_box(0.2, 0.3, 0.4, 1.0)
    body.set_com((0.1, 0.0, -0.05))
    body.set_body_type(BodyType.KINEMATIC)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    body.set_velocity((0.5, -0.25, 1.0), 2.0 * axis)
    start = body.get_com_position()
    world.integrate(1000)
    assert body.get_com_position() == pytest.approx(start + np.array([0.5, -0.25, 1.0]), abs=1e-10)
    assert body.get_quaternion() == pytest.approx(quaternion_about(axis, 2.0), abs=1e-12)
    assert body.get_linear_velocity() == pytest.approx([0.5, -0.25, 1.0], abs=0)


def test_a_kinematic_body_feels_neither_gravity_nor_blows(world):
    wall = world.add_box(1.0, 1.0, 1.0, 1.0)
    wall.set_body_type(BodyType.KINEMATIC)
    ball = world.add_sphere(0.1, 1000.0)
    ball.set_position(0.0, 0.0, 1.0)
    world.integrate(500)
    assert wall.get_position() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    assert ball.get_position()[2] == pytest.approx(0.6, abs=2e-5)


def test_a_conveyor_carries_a_box_at_its_speed(world):
    belt = world.add_box(10.0, 1.0, 0.2, 1.0)
    belt.set_position(0.0, 0.0, -0.1)
    belt.set_body_type(BodyType.KINEMATIC)
    belt.set_linear_velocity((0.8, -0.6, 0.0))
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 0.1)
    slipping = 1.0 / (0.8 * 9.81)  # mu g until it rides along
    world.integrate(500)
    assert box.get_linear_velocity() == pytest.approx([0.8, -0.6, 0.0], abs=1e-6)
    travel = 0.5 - slipping / 2.0
    assert box.get_position() == pytest.approx([0.8 * travel, -0.6 * travel, 0.1], abs=1e-3)
    assert box.get_angular_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=1e-5)


def test_a_belt_that_is_put_back_every_step_is_a_treadmill(world):
    """Placed at the same spot and moving: what stands on it is carried, the belt stays."""
    belt = world.add_box(2.0, 1.0, 0.2, 1.0)
    belt.set_body_type(BodyType.KINEMATIC)
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(-0.8, 0.0, 0.2)
    for _ in range(1000):
        belt.set_position(0.0, 0.0, 0.0)
        belt.set_linear_velocity((1.0, 0.0, 0.0))
        world.integrate()
    assert box.get_linear_velocity()[0] == pytest.approx(1.0, abs=1e-6)
    assert belt.get_position()[0] == pytest.approx(0.001, abs=1e-12)


def test_a_turntable_carries_a_box_around(world):
    table = world.add_cylinder(1.0, 0.2, 1.0)
    table.set_position(0.0, 0.0, -0.1)
    table.set_body_type(BodyType.KINEMATIC)
    table.set_angular_velocity((0.0, 0.0, 1.5))
    box = world.add_box(0.1, 0.1, 0.1, 1.0)
    box.set_position(0.5, 0.0, 0.05)
    box.set_velocity((0.0, 0.75, 0.0), (0.0, 0.0, 1.5))
    world.integrate(2000)
    angle = np.arctan2(box.get_position()[1], box.get_position()[0])
    assert angle % (2 * np.pi) == pytest.approx(3.0, abs=5e-3)
    assert np.hypot(*box.get_position()[:2]) == pytest.approx(0.5, abs=5e-3)
    assert box.get_angular_velocity()[2] == pytest.approx(1.5, abs=1e-3)


def test_a_rising_lift_lifts(world):
    lift = world.add_box(1.0, 1.0, 0.2, 1.0)
    lift.set_body_type(BodyType.KINEMATIC)
    lift.set_linear_velocity((0.0, 0.0, 0.5))
    ball = world.add_sphere(0.1, 5.0)
    ball.set_position(0.0, 0.0, 0.2)
    world.integrate(1000)
    assert ball.get_position()[2] == pytest.approx(0.7, abs=1e-4)
    assert ball.get_linear_velocity()[2] == pytest.approx(0.5, abs=1e-9)


def test_an_elastic_ball_leaves_a_moving_bat_with_twice_its_speed(weightless):
    weightless.set_default_material(0.0, 1.0, 0.0)
    bat = weightless.add_box(0.2, 1.0, 1.0, 1.0)
    bat.set_body_type(BodyType.KINEMATIC)
    bat.set_linear_velocity((3.0, 0.0, 0.0))
    ball = weightless.add_sphere(0.1, 1.0)
    ball.set_position(0.5, 0.0, 0.0)
    ball.set_linear_velocity((-1.0, 0.0, 0.0))
    weightless.integrate(300)
    assert ball.get_linear_velocity() == pytest.approx([7.0, 0.0, 0.0], abs=1e-9)


def test_static_bodies_have_no_velocity(world):
    wall = world.add_box(1.0, 1.0, 1.0, 1.0)
    wall.set_linear_velocity((1.0, 0.0, 0.0))
    wall.set_body_type(BodyType.STATIC)
    assert wall.get_linear_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=0)
    with pytest.raises(InvalidValueError, match="velocity"):
        wall.set_linear_velocity((1.0, 0.0, 0.0))
    world.integrate(10)
    assert wall.get_position() == pytest.approx([0.0, 0.0, 0.0], abs=0)


def test_a_static_body_that_becomes_dynamic_falls(world):
    body = world.add_box(1.0, 1.0, 1.0, 1.0)
    body.set_body_type(BodyType.STATIC)
    world.integrate(100)
    body.set_body_type(BodyType.DYNAMIC)
    world.integrate(100)
    assert body.get_linear_velocity()[2] == pytest.approx(-0.981, rel=1e-12)


def test_bodies_that_do_not_answer_to_forces_do_not_touch_each_other(world):
    a, b = world.add_box(1.0, 1.0, 1.0, 1.0), world.add_box(1.0, 1.0, 1.0, 1.0)
    a.set_body_type(BodyType.KINEMATIC)
    b.set_body_type(BodyType.STATIC)
    a.set_linear_velocity((0.1, 0.0, 0.0))
    world.add_ground()
    world.integrate(10)
    assert world.read_contacts().size == 0


def test_the_ground_stays_static(world):
    ground = world.add_ground(0.5)
    assert ground.get_body_type() == BodyType.STATIC
    assert ground.get_height() == 0.5
    with pytest.raises(WrongTypeError, match="static"):
        ground.set_body_type(BodyType.DYNAMIC)
    with pytest.raises(WrongTypeError, match="static"):
        ground.set_body_type(BodyType.KINEMATIC)
    assert ground.get_body_type() == BodyType.STATIC
