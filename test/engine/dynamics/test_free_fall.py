"""Bodies in free flight against the parabola: Moreau's midpoint rule is exact for it."""

import numpy as np
import pytest

from raisim_ros import CompoundChild, ShapeType, World

GRAVITY = 9.81


def test_a_ball_falls_along_the_parabola(world):
    ball = world.add_sphere(0.1, 2.0)
    ball.set_position(0.5, -0.3, 100.0)
    for step in range(1, 1001):
        world.integrate()
        t = step * 0.001
        assert ball.get_position() == pytest.approx([0.5, -0.3, 100.0 - 0.5 * GRAVITY * t * t], abs=1e-9)
        assert ball.get_linear_velocity() == pytest.approx([0.0, 0.0, -GRAVITY * t], abs=1e-9)


@pytest.mark.parametrize("dt", [0.0005, 0.005, 0.02])
def test_a_projectile_is_exact_at_every_time_step(dt):
    world = World()
    world.set_time_step(dt)
    ball = world.add_sphere(0.1, 0.7)
    ball.set_position(0.0, 0.0, 50.0)
    start = np.array([3.0, -4.0, 5.0])
    ball.set_linear_velocity(start)
    steps = round(2.0 / dt)
    world.integrate(steps)
    t = steps * dt
    acceleration = np.array([0.0, 0.0, -GRAVITY])
    assert world.get_world_time() == pytest.approx(t, rel=1e-12)
    assert ball.get_position() == pytest.approx([0, 0, 50] + start * t + 0.5 * acceleration * t * t, abs=1e-9)
    assert ball.get_linear_velocity() == pytest.approx(start + acceleration * t, abs=1e-9)


def test_gravity_may_point_anywhere(world):
    world.set_gravity((1.0, -2.0, 0.5))
    box = world.add_box(0.1, 0.2, 0.3, 5.0)
    world.integrate(1000)
    assert box.get_position() == pytest.approx([0.5, -1.0, 0.25], abs=1e-9)


def test_the_centre_of_mass_falls_while_the_body_tumbles_around_it(world):
    """A lopsided compound: origin, centre of mass and principal axes all differ."""
    children = [
        CompoundChild(ShapeType.BOX, (0.4, 0.1, 0.2), (0.3, 0.0, 0.1)),
        CompoundChild(ShapeType.SPHERE, (0.15,), (-0.2, 0.1, 0.0)),
    ]
    inertia = [[0.4, 0.05, -0.02], [0.05, 0.5, 0.03], [-0.02, 0.03, 0.6]]
    body = world.add_compound(children, 3.0, com=(0.2, -0.1, 0.3), inertia=inertia)
    body.set_pose((0.0, 0.0, 20.0), (0.8, 0.36, -0.48, 0.0))
    velocity = np.array([1.0, 2.0, 3.0])
    body.set_velocity(velocity, (4.0, -5.0, 6.0))
    start = body.get_com_position()
    momentum = body.get_inertia_matrix_w() @ body.get_angular_velocity()
    energy = body.get_energy()
    world.integrate(1000)
    fallen = np.array([0.0, 0.0, -GRAVITY])
    assert body.get_com_position() == pytest.approx(start + velocity + 0.5 * fallen, abs=1e-9)
    assert body.get_linear_velocity() == pytest.approx(velocity + fallen, abs=1e-9)
    assert body.get_inertia_matrix_w() @ body.get_angular_velocity() == pytest.approx(momentum, rel=1e-9)
    assert body.get_energy() == pytest.approx(energy, rel=1e-9)
    lever = np.linalg.norm(body.get_position() - body.get_com_position())
    assert lever == pytest.approx(np.linalg.norm([0.2, -0.1, 0.3]), rel=1e-12)


def test_a_step_in_two_halves_is_the_same_step():
    worlds = [World(), World()]
    for world in worlds:
        world.add_ground()
        ball = world.add_sphere(0.1, 1.0)
        ball.set_position(0.0, 0.0, 0.3)
    for _ in range(200):
        worlds[0].integrate()
        worlds[1].integrate1()
        worlds[1].integrate2()
    assert worlds[0].get_state_hash() == worlds[1].get_state_hash()


def test_without_contact_detection_bodies_pass_through_the_ground(world):
    world.add_ground()
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.2)
    for _ in range(500):
        world.integrate_no_contact_detection()
        world.integrate2()
    assert ball.get_position()[2] == pytest.approx(0.2 - 0.5 * GRAVITY * 0.25, abs=1e-9)
    assert world.read_contacts().size == 0


def test_velocity_of_a_point_and_state_reads_agree_with_the_rigid_motion(weightless):
    """Getters speak of the centre of mass, bulk reads of the body origin."""
    body = weightless.add_box(0.2, 0.4, 0.6, 2.0)
    body.set_com((0.1, -0.2, 0.05))
    body.set_pose((1.0, 2.0, 3.0), (0.5, 0.5, -0.5, 0.5))
    linear, angular = np.array([0.3, -0.4, 0.5]), np.array([1.0, 2.0, -3.0])
    body.set_velocity(linear, angular)
    rotation = body.get_orientation()
    point = np.array([0.3, 0.1, -0.2])
    arm = rotation @ (point - body.get_com())
    assert body.get_velocity(0, point) == pytest.approx(linear + np.cross(angular, arm), abs=1e-14)
    states = weightless.read_states()
    origin_velocity = linear + np.cross(angular, -rotation @ body.get_com())
    assert states.twists[0] == pytest.approx([*origin_velocity, *angular], abs=1e-14)
    assert states.poses[0] == pytest.approx([1.0, 2.0, 3.0, *body.get_quaternion()], abs=0)
