"""Bodies and robots that follow commanded poses and velocities."""

import math

import numpy as np
import pytest

from raisim_ros import BodyType, InterfaceSettings, InvalidValueError, World, WrongTypeError
from raisim_ros.description.resources import resource

OMEGA = 2 * math.pi * 2  # of the controller of bodies without gains
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@pytest.fixture
def world():
    world = World()
    world.set_time_step(0.001)
    return world


def turned(axis, angle):
    return (math.cos(angle / 2), *(math.sin(angle / 2) * np.asarray(axis)))


def critically_damped(time):
    """Share of a step that is left."""
    return (1 + OMEGA * time) * math.exp(-OMEGA * time)


def test_without_gains_the_answer_is_critically_damped_at_two_hertz_and_the_weight_is_carried(world):
    box = world.add_box(0.3, 0.2, 0.1, 3.0)
    box.set_com((0.05, -0.02, 0.01))
    box.set_position(0.0, 0.0, 5.0)
    box.set_command_pose((1.0, -0.5, 5.2), UPRIGHT)
    for k in range(1, 6):
        world.integrate(50)
        left = critically_damped(0.05 * k)
        assert box.get_position() == pytest.approx((1 - left, -0.5 * (1 - left), 5.2 - 0.2 * left), abs=2e-5)
    world.integrate(2000)
    assert box.get_position() == pytest.approx((1.0, -0.5, 5.2), abs=1e-8)
    assert world.read_states().wrenches[0] == pytest.approx((0, 0, 3 * 9.81, 0, 0, 0), abs=1e-6)


@pytest.mark.parametrize("axis", np.eye(3))
def test_it_turns_alike_about_every_axis_whatever_the_inertia(world, axis):
    box = world.add_box(1.0, 0.2, 0.05, 3.0)
    box.set_command_pose((0, 0, 0), turned(axis, 1.0))
    world.integrate(100)
    assert box.get_quaternion() == pytest.approx(turned(axis, 1 - critically_damped(0.1)), abs=2e-5)


def test_given_gains_are_a_plain_pid(world):
    """Underdamped, and it sags: nothing carries the weight but the spring."""
    ball = world.add_sphere(0.1, 2.0)
    ball.set_interface(InterfaceSettings((300.0, 0.0, 20.0)))
    ball.set_command_pose((0.0, 0.4, 0.0), UPRIGHT)
    world.integrate(130)
    damping = 20.0 / 4.0
    ringing = math.sqrt(300.0 / 2.0 - damping**2)
    left = math.exp(-damping * 0.13) * (math.cos(ringing * 0.13) + damping / ringing * math.sin(ringing * 0.13))
    assert ball.get_position()[1] == pytest.approx(0.4 * (1 - left), abs=2e-5)
    world.integrate(5000)
    assert ball.get_position() == pytest.approx((0.0, 0.4, -2 * 9.81 / 300.0), abs=1e-8)


def test_the_integral_takes_the_rest_of_the_error_away(world):
    ball = world.add_sphere(0.1, 2.0)
    ball.set_interface(InterfaceSettings((300.0, 600.0, 50.0)))
    ball.set_command_pose((0.0, 0.4, 0.0), UPRIGHT)
    world.integrate(10000)
    assert ball.get_position() == pytest.approx((0.0, 0.4, 0.0), abs=1e-6)


def test_a_body_that_was_held_for_long_does_not_shoot_off(world):
    """The integral has a limit: ten times the weight."""
    world.set_gravity((0, 0, 0))
    ball = world.add_sphere(0.1, 2.0)
    ball.set_interface(InterfaceSettings((300.0, 3000.0, 60.0)))
    wall = world.add_box(1.0, 5.0, 5.0, 1.0)
    wall.set_body_type(BodyType.STATIC)
    wall.set_position(0.61, 0.0, 0.0)
    ball.set_command_pose((1.0, 0.0, 0.0), UPRIGHT)
    world.integrate(20)
    early = world.read_states().wrenches[0][0]
    world.integrate(20000)
    assert early < world.read_states().wrenches[0][0] <= 300.0 * 1.0 + 2.0 * 98.1 + 10.0
    world.remove_object(wall)
    furthest = 0.0
    for _ in range(100):
        world.integrate(50)
        furthest = max(furthest, ball.get_position()[0])
    assert furthest < 2.5
    assert ball.get_position() == pytest.approx((1.0, 0.0, 0.0), abs=0.02)


def test_a_velocity_is_followed_under_gravity_without_drifting(world):
    box = world.add_box(0.3, 0.2, 0.1, 3.0)
    box.set_com((0.05, 0.0, 0.0))
    for _ in range(100):  # repeated commands do not begin anew
        box.set_command_velocity((0.5, -0.25, 0.1), (0.0, 0.0, 0.8))
        world.integrate(20)
    assert box.get_velocity(0, (0, 0, 0)) == pytest.approx((0.5, -0.25, 0.1), abs=2e-3)
    assert box.get_angular_velocity() == pytest.approx((0.0, 0.0, 0.8), abs=1e-6)
    assert box.get_position() == pytest.approx((1.0, -0.5, 0.2), abs=0.01)
    assert box.get_quaternion() == pytest.approx(turned((0, 0, 1), 1.6), abs=0.01)


def test_a_velocity_against_a_wall_pushes_with_a_limited_force(world):
    world.set_gravity((0, 0, 0))
    ball = world.add_sphere(0.1, 2.0)
    wall = world.add_box(1.0, 5.0, 5.0, 1.0)
    wall.set_body_type(BodyType.STATIC)
    wall.set_position(0.61, 0.0, 0.0)
    ball.set_command_velocity((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    world.integrate(20000)
    d_share = 2.0 * 2 * OMEGA * 1.0
    assert world.read_states().wrenches[0][0] <= 2.0 * 98.1 + d_share + 1.0
    ball.set_command_velocity((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    world.remove_object(wall)
    world.integrate(2000)
    assert ball.get_position()[0] < 0.7
    assert ball.get_velocity() == pytest.approx((0, 0, 0), abs=1e-3)


def test_a_pose_moves_on_with_its_velocity(world):
    ball = world.add_sphere(0.1, 2.0)
    ball.set_command_pose((0.0, 0.0, 1.0), UPRIGHT, (0.3, 0.0, 0.0), (0.0, 0.5, 0.0))
    world.integrate(3000)
    assert ball.get_position() == pytest.approx((0.9, 0.0, 1.0), abs=1e-4)
    assert ball.get_quaternion() == pytest.approx(turned((0, 1, 0), 1.5), abs=1e-4)


def test_force_and_pose_never_mix(world):
    world.set_gravity((0, 0, 0))
    ball = world.add_sphere(0.1, 2.0)
    ball.set_command_wrench((10.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    ball.set_command_pose((0.0, 1.0, 0.0), UPRIGHT)
    world.integrate(3000)
    assert ball.get_position() == pytest.approx((0.0, 1.0, 0.0), abs=1e-6)
    ball.set_command_wrench((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
    world.integrate(100)
    assert world.read_states().wrenches[0] == pytest.approx((0, 0, 4, 0, 0, 0))
    assert ball.get_linear_velocity() == pytest.approx((0.0, 0.0, 0.2), abs=1e-6)
    ball.set_command_pose((0.0, 1.0, 0.0), UPRIGHT)
    ball.clear_command()
    world.integrate(100)
    assert world.read_states().wrenches[0] == pytest.approx(np.zeros(6))
    assert ball.get_linear_velocity() == pytest.approx((0.0, 0.0, 0.2), abs=1e-6)


def test_controlled_bodies_of_a_stack_stay_awake_and_released_ones_sleep(world):
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 0.1)
    box.set_command_pose((0.0, 0.0, 0.1), UPRIGHT)
    world.integrate(1000)
    assert not world.is_object_sleeping(box)
    box.set_command_pose((0.0, 0.0, 0.4), UPRIGHT)
    world.integrate(2000)
    assert box.get_position() == pytest.approx((0.0, 0.0, 0.4), abs=1e-6)
    box.clear_command()
    world.integrate(3000)
    assert box.get_position()[2] == pytest.approx(0.1, abs=1e-4)
    assert world.is_object_sleeping(box)


def test_stiff_gains_in_contact_stay_calm(world):
    world.set_time_step(0.005)
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_interface(InterfaceSettings((1e6, 0.0, 2e3), (1e4, 0.0, 1e2)))
    box.set_position(0.0, 0.0, 0.3)
    box.set_command_pose((0.3, 0.1, 0.05), turned((1, 0, 0), 0.1))
    world.integrate(1000)
    assert np.linalg.norm(box.get_linear_velocity()) < 1e-3
    assert 0.0 < box.get_position()[2] < 0.2
    box.set_command_pose((0.3, 0.1, 1.0), UPRIGHT)
    world.integrate(400)
    assert box.get_position() == pytest.approx((0.3, 0.1, 1.0), abs=1e-3)


def test_a_snapshot_keeps_commands_to_the_bit(world):
    ball = world.add_sphere(0.1, 2.0)
    other = world.add_box(0.1, 0.2, 0.3, 1.0)
    ball.set_interface(InterfaceSettings((300.0, 600.0, 50.0)))
    ball.set_command_pose((0.0, 0.4, 1.0), turned((1, 0, 0), 0.4), (0.1, 0.0, 0.0))
    other.set_command_velocity((0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    world.integrate(100)
    snapshot = world.save_snapshot()
    world.integrate(300)
    expected = world.get_state_hash()
    ball.clear_command()
    world.integrate(50)
    world.restore_snapshot(snapshot)
    world.integrate(300)
    assert world.get_state_hash() == expected


def test_removing_controlled_bodies_leaves_the_others_to_theirs(world):
    world.set_gravity((0, 0, 0))
    balls = [world.add_sphere(0.1, 1.0) for _ in range(5)]
    for k, ball in enumerate(balls):
        ball.set_position(k, 0, 0)
        ball.set_command_pose((k, 1.0 + k, 0.0), UPRIGHT)
    for k in (0, 2):
        world.remove_object(balls[k])
    new = world.add_sphere(0.1, 1.0)  # takes the place of a removed one
    new.set_position(0.0, 0.0, 9.0)
    balls[4].set_body_type(BodyType.KINEMATIC)
    world.integrate(3000)
    for k in (1, 3):
        assert balls[k].get_position() == pytest.approx((k, 1.0 + k, 0.0), abs=1e-6)
    assert balls[4].get_position() == pytest.approx((4, 0, 0))
    assert new.get_position() == pytest.approx((0, 0, 9))


def test_a_floating_robot_follows_a_pose_and_its_joints_stay_free(world):
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    coordinates = robot.get_generalized_coordinate()
    coordinates[:3] = (0.0, 0.0, 2.0)
    robot.set_generalized_coordinate(coordinates)
    robot.set_pd_gains(np.r_[np.zeros(6), np.full(12, 200.0)], np.r_[np.zeros(6), np.full(12, 10.0)])
    robot.set_pd_target(coordinates, np.zeros(18))
    robot.set_command_pose((0.5, -0.3, 2.5), turned((0, 0, 1), 0.7))
    world.integrate(6000)
    assert robot.get_base_position() == pytest.approx((0.5, -0.3, 2.5), abs=0.02)
    assert robot.get_base_quaternion() == pytest.approx(turned((0, 0, 1), 0.7), abs=0.02)
    assert world.read_states().wrenches[0][2] == pytest.approx(9.81 * robot.get_total_mass(), rel=0.02)
    robot.set_command_velocity((0.0, 0.4, 0.0), (0.0, 0.0, 0.0))
    world.integrate(2000)
    assert robot.get_generalized_velocity()[:3] == pytest.approx((0.0, 0.4, 0.0), abs=0.02)
    robot.clear_command()
    world.integrate(300)
    assert robot.get_generalized_velocity()[2] == pytest.approx(-9.81 * 0.3, abs=0.1)
    assert world.read_states().wrenches[0] == pytest.approx(np.zeros(6))


def test_what_cannot_follow_is_refused_and_left_alone(world):
    still = world.add_box(1, 1, 1, 1)
    still.set_body_type(BodyType.STATIC)
    led = world.add_box(1, 1, 1, 1)
    led.set_body_type(BodyType.KINEMATIC)
    led.set_position(0.0, 5.0, 1.0)
    arm = world.add_articulated_system(resource("robots/arm.urdf"))
    arm.set_base_pos((5.0, 0.0, 1.0))
    for handle in (still, led, arm, world.add_ground()):
        with pytest.raises(WrongTypeError, match="follow"):
            handle.set_command_pose((0, 0, 1), UPRIGHT)
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 5.0)
    for bad in (
        lambda: ball.set_command_pose((0, 0, math.nan), UPRIGHT),
        lambda: ball.set_command_pose((0, 0, 1), (0, 0, 0, 0)),
        lambda: ball.set_command_pose((0, 0, 1), UPRIGHT, (math.inf, 0, 0)),
        lambda: ball.set_command_velocity((0, 0, 1), (0, math.nan, 0)),
    ):
        with pytest.raises(InvalidValueError):
            bad()
    world.integrate(10)
    assert ball.get_linear_velocity() == pytest.approx((0, 0, -0.0981))
