"""Robots fall asleep when motors, springs and contacts have brought them to rest, and wake for every reason to move."""

import numpy as np
import pytest
from robot_scenes import ROBOTS, add_quadruped, force_on

from raisim_ros import BodyType, ControlMode, World

ARM_POSE = np.array([0.3, 0.8, -1.0, 0.2, 0.6, 0.0])
FRICTION = 0.1  # of the arm's joints [N m]


@pytest.fixture
def room() -> World:
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    return world


def add_arm(world: World):
    """The arm on its fixed base, held in a pose by strong motors."""
    arm = world.add_articulated_system(ROBOTS / "arm.urdf")
    arm.set_generalized_coordinate(ARM_POSE)
    arm.set_pd_gains(np.full(6, 2000.0), np.full(6, 200.0))
    arm.set_p_target(ARM_POSE)
    return arm


def put_to_sleep(world: World, *objects, seconds=5.0) -> None:
    world.integrate(round(seconds / world.get_time_step()))
    assert all(world.is_object_sleeping(thing) for thing in objects)


def test_a_standing_robot_sleeps_and_stops_completely(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    before = np.concatenate(robot.get_state())
    room.integrate(500)
    assert np.array_equal(np.concatenate(robot.get_state()), before)
    assert np.abs(robot.get_generalized_velocity()).max() == 0.0
    assert np.abs(robot.get_generalized_acceleration()).max() == 0.0
    assert robot.get_kinetic_energy() == 0.0
    assert room.read_states().sleeping.tolist() == [0, 1]
    assert room.get_collision_counters().awake_bodies == 0


def test_readings_of_a_sleeping_robot_are_those_of_rest(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    weight = robot.get_total_mass() * 9.81
    assert force_on(robot, 0.002) == pytest.approx([0, 0, weight], abs=1e-4 * weight)
    room.set_sleeping_enabled(False)
    room.integrate()
    awake = robot.get_generalized_force()
    room.set_sleeping_enabled(True)
    put_to_sleep(room, robot, seconds=0.1)
    assert robot.get_generalized_force() == pytest.approx(awake, abs=1e-3)
    assert np.abs(robot.get_generalized_force()).max() > 1.0


def test_joint_wrenches_and_place_of_a_sleeping_arm_are_those_of_statics(room):
    arm = add_arm(room)
    arm.set_compute_inverse_dynamics(True)
    put_to_sleep(room, arm)
    assert arm.get_force_at_joint_in_world_frame(1)[2] == pytest.approx(arm.get_composite_mass()[1] * 9.81, rel=1e-4)
    sag = arm.get_generalized_coordinate() - ARM_POSE
    assert 2000.0 * sag == pytest.approx(-arm.get_nonlinearities(), abs=FRICTION + 0.05)  # 2.5e-5 rad


def test_a_motor_on_its_way_keeps_awake(room):
    """Slower than every threshold, but commanded. The motor lags by what it needs against friction."""
    arm = add_arm(room)
    arm.set_pd_gains(np.r_[0.0, np.full(5, 2000.0)], np.full(6, 200.0))
    arm.set_d_target(np.r_[1e-3, np.zeros(5)])
    room.integrate(5000)
    assert not room.is_object_sleeping(arm)
    speed = 1e-3 - FRICTION / 200.0
    assert arm.get_generalized_coordinate()[0] == pytest.approx(ARM_POSE[0] + 10.0 * speed, abs=1e-4)


def test_a_swinging_pole_never_sleeps():
    world = World()
    pole = world.add_articulated_system(ROBOTS / "cartpole.urdf")
    pole.set_joint_damping(np.zeros(2))
    pole.set_generalized_coordinate([0.0, np.pi - 0.05])
    for _ in range(1000):
        world.integrate()
        assert not world.is_object_sleeping(pole)


def test_a_limp_robot_comes_to_rest_and_sleeps(room):
    robot = add_quadruped(room, p_gain=0.0, d_gain=0.0)
    robot.set_joint_damping(np.r_[np.zeros(6), np.full(12, 0.5)])
    put_to_sleep(room, robot, seconds=20.0)
    assert robot.get_base_position()[2] < 0.3


SETTERS = {
    "p target": lambda world, robot: robot.set_p_target(robot.get_generalized_coordinate()),
    "d target": lambda world, robot: robot.set_d_target(np.zeros(18)),
    "gains": lambda world, robot: robot.set_pd_gains(np.full(18, 150.0), np.full(18, 10.0)),
    "force": lambda world, robot: robot.set_generalized_force(np.zeros(18)),
    "state": lambda world, robot: robot.set_state(*robot.get_state()),
    "coordinate": lambda world, robot: robot.set_generalized_coordinate(robot.get_generalized_coordinate()),
    "velocity": lambda world, robot: robot.set_generalized_velocity(np.zeros(18)),
    "external force": lambda world, robot: robot.set_external_force(3, (0.0, 0.0, 1.0)),
    "external torque": lambda world, robot: robot.set_external_torque(3, (0.0, 0.0, 1.0)),
    "command wrench": lambda world, robot: robot.set_command_wrench((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    "damping": lambda world, robot: robot.set_joint_damping(np.full(18, 0.1)),
    "joint limits": lambda world, robot: robot.set_joint_limits(np.tile([-3.0, 3.0], (18, 1))),
    "effort limits": lambda world, robot: robot.set_actuation_limits(np.full(18, 50.0), np.full(18, -50.0)),
    "control mode": lambda world, robot: robot.set_control_mode(ControlMode.FORCE_AND_TORQUE),
    "self-collision": lambda world, robot: robot.ignore_collision_between(2, 5),
    "base position": lambda world, robot: robot.set_base_pos((0.0, 0.0, 0.6)),
    "filter": lambda world, robot: world.set_object_collision_filter(robot, 2, -1),
    "material": lambda world, robot: world.set_object_material(robot, "ice"),
    "wake": lambda world, robot: world.wake_object(robot),
    "wake all": lambda world, robot: world.wake_all(),
    "gravity": lambda world, robot: world.set_gravity((0.0, 0.0, -1.0)),
    "default material": lambda world, robot: world.set_default_material(0.1, 0.0, 0.0),
}


@pytest.mark.parametrize("setter", SETTERS)
def test_every_setter_wakes(room, setter):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    SETTERS[setter](room, robot)
    assert not room.is_object_sleeping(robot)


def test_getters_do_not_wake(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    for read in (robot.get_state, robot.get_mass_matrix, robot.get_energy, robot.get_contacts, robot.get_generalized_force,
                 room.read_states, room.get_state_hash):
        read()
    assert room.is_object_sleeping(robot)


def test_a_new_target_is_followed(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    height = robot.get_base_position()[2]
    target = robot.get_generalized_coordinate()
    target[7:] *= 1.3
    robot.set_p_target(target)
    put_to_sleep(room, robot)
    assert robot.get_base_position()[2] < height - 0.02


def test_a_woken_robot_stays_where_it_is(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    before = robot.get_generalized_coordinate()
    room.wake_object(robot)
    put_to_sleep(room, robot)
    assert robot.get_generalized_coordinate() == pytest.approx(before, abs=2e-5)


def test_a_blow_is_felt_when_it_lands(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    ball = room.add_sphere(0.1, 5.0)
    ball.set_position(0.1, -1.5, 0.7)
    ball.set_linear_velocity((0.0, 5.0, 0.5))
    speed = 5.0
    while room.is_object_sleeping(robot):
        speed = ball.get_linear_velocity()[1]
        room.integrate()
        assert room.get_world_time() < 7.0
    assert speed - ball.get_linear_velocity()[1] > 0.5
    assert robot.get_linear_momentum()[1] > 2.0


def test_robot_and_load_sleep_and_wake_together(room):
    robot = add_quadruped(room, p_gain=500.0, d_gain=30.0)
    box = room.add_box(0.2, 0.2, 0.1, 2.0)
    box.set_position(0.0, 0.0, 0.75)
    put_to_sleep(room, robot, box, seconds=10.0)
    height = robot.get_base_position()[2]
    room.remove_object(box)
    room.integrate(2)
    assert not room.is_object_sleeping(robot)
    put_to_sleep(room, robot)
    assert robot.get_base_position()[2] > height + 5e-5


def test_a_wire_to_a_moving_body_wakes_the_arm(room):
    arm = add_arm(room)
    tip = arm.get_position(6, (0.0, 0.0, 0.0))
    hook = room.add_sphere(0.02, 1.0)
    hook.set_body_type(BodyType.KINEMATIC)
    hook.set_position(tip[0], tip[1], tip[2] + 0.5)
    room.add_stiff_wire(arm, 6, (0, 0, 0), hook, 0, (0, 0, 0), 0.55)
    put_to_sleep(room, arm)
    hook.set_linear_velocity((0.0, 0.0, 0.2))
    room.integrate(250)
    assert not room.is_object_sleeping(arm)
    raised = arm.get_position(6, (0.0, 0.0, 0.0))
    assert raised[2] > tip[2] + 0.04
    assert np.linalg.norm(hook.get_position() - raised) == pytest.approx(0.55, abs=1e-4)


def test_a_snapshot_keeps_the_sleep(room):
    robot = add_quadruped(room)
    put_to_sleep(room, robot)
    snapshot = room.save_snapshot()
    before = np.concatenate(robot.get_state())
    robot.set_generalized_velocity(np.full(18, 0.5))
    room.integrate(50)
    room.restore_snapshot(snapshot)
    assert room.is_object_sleeping(robot)
    room.integrate(10)
    assert np.array_equal(np.concatenate(robot.get_state()), before)
    robot.set_external_force(0, (0.0, 0.0, 200.0))
    room.integrate(1)
    first = np.concatenate(robot.get_state())
    room.restore_snapshot(snapshot)
    robot.set_external_force(0, (0.0, 0.0, 200.0))
    room.integrate(1)
    assert np.array_equal(np.concatenate(robot.get_state()), first)
    assert not np.array_equal(first, before)
