"""Spherical joints in messages: three entries, rotation vectors in the joint frame fixed to the parent; both ways."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from builtin_interfaces.msg import Duration
from robot_calls import ok, send_until, spawn, state, step
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.world.world import World
from raisim_ros.msg import ObjectCmd, ResultCode
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.robots.joint_commands import targets_of_joint_state, targets_of_object_command
from raisim_ros.ros.robots.trajectories import trajectory_of
from raisim_ros.srv import SetObjectState

INERTIA = 0.5  # the same about every axis: angular velocity = torque * time / inertia, in any fixed frame
TEXT = f"""<robot name="flail"><link name="world"/>
  <joint name="slide" type="prismatic"><parent link="world"/><child link="sled"/><axis xyz="0 1 0"/>
    <limit effort="1e9" velocity="1e9" lower="-9" upper="9"/></joint>
  <link name="sled"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="ball" type="spherical"><parent link="sled"/><child link="top"/><origin xyz="0 0 1" rpy="0.3 -0.5 0.9"/></joint>
  <link name="top"><inertial><mass value="2"/>
    <inertia ixx="{INERTIA}" iyy="{INERTIA}" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""
NAMES = ["slide", "ball_x", "ball_y", "ball_z"]
BALL = NAMES[1:]
TURN = np.array([0.4, -0.7, 1.1])


def quaternion(vector):
    x, y, z, w = Rotation.from_rotvec(vector).as_quat()
    return np.array([w, x, y, z])


def difference(one, other):
    """The angle between two rotation vectors."""
    return (Rotation.from_rotvec(one) * Rotation.from_rotvec(other).inv()).magnitude()


@pytest.fixture
def flail():
    """The robot in a table, without a node."""
    world = World()
    handle = world.add_articulated_system(TEXT)
    handle.set_pd_gains([100.0] * 4, [10.0] * 4)
    return ObjectTable(world).add(handle, "flail", spawned=True)


# ---- without a node ----


def test_entries_are_the_rotation_vector_and_back(flail):
    joints = flail.joints
    assert joints.names == NAMES
    q = np.concatenate(([0.3], quaternion(TURN)))
    assert joints.positions(q) == pytest.approx([0.3, *TURN], abs=1e-14)
    target = np.array([9.0, 1.0, 0.0, 0.0, 0.0])
    joints.put_positions(target, joints.places(["ball_z", "ball_x", "ball_y"], "name"), TURN[[2, 0, 1]])
    assert target == pytest.approx([9.0, *quaternion(TURN)], abs=1e-14)
    joints.put_positions(target, joints.places(["slide"], "name"), np.array([0.7]))
    assert target == pytest.approx([0.7, *quaternion(TURN)], abs=1e-14)


@pytest.mark.parametrize("names", [["ball_x"], ["slide", "ball_z", "ball_x"]])
def test_parts_of_a_spherical_joint_are_refused(flail, names):
    with pytest.raises(InvalidValueError, match="all its entries; ball_y"):
        targets_of_joint_state(flail.joints, JointState(name=names, position=[0.1] * len(names)))


def test_entries_of_one_joint_have_one_type(flail):
    command = ObjectCmd(joint_names=BALL, joint_cmds=[0.1, 0.2, 0.3], joint_cmds_types=[1, 1, 0])
    with pytest.raises(InvalidValueError, match="ball_x, ball_y, ball_z belong to one joint"):
        targets_of_object_command(flail.joints, command)
    command.joint_cmds_types = [1, 1, 1]
    assert targets_of_object_command(flail.joints, command).positions.tolist() == [0.1, 0.2, 0.3]


def trajectory(flail, *points, names=BALL):
    messages = [
        JointTrajectoryPoint(
            positions=list(positions),
            velocities=list(velocities),
            time_from_start=Duration(sec=int(time), nanosec=round((time % 1) * 1e9)),
        )
        for time, positions, velocities in points
    ]
    return trajectory_of(flail, JointTrajectory(joint_names=names, points=messages), now=0.0)


def test_a_trajectory_turns_about_one_axis_at_a_constant_rate(flail):
    """From one rotation to another, also where their vectors point away from each other: the shorter way round."""
    first, last = np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.2, 3.0])
    flail.handle.set_generalized_coordinate([0.0, *quaternion(first)])
    path = trajectory(flail, (2.0, last, ()))
    start, end = Rotation.from_rotvec(first), Rotation.from_rotvec(last)
    way = (end * start.inv()).as_rotvec()
    for time in (0.5, 1.0, 1.9):
        sample = path.sample(time)
        expected = Rotation.from_rotvec(0.5 * time * way) * start
        assert difference(sample.positions, expected.as_rotvec()) < 1e-12
        assert sample.velocities == pytest.approx(0.5 * way, abs=1e-12)


def test_a_trajectory_with_velocities_has_them_at_its_points_and_between(flail):
    """The velocity of each sample is the rate of its own positions: angular velocity in the joint frame."""
    velocities = np.array([0.3, -0.4, 0.8]), np.array([-0.5, 0.2, 0.6])
    path = trajectory(flail, (0.0, TURN, velocities[0]), (1.5, [-0.3, 0.5, 0.2], velocities[1]))
    assert path.sample(0.0).velocities == pytest.approx(velocities[0], abs=1e-12)
    assert path.sample(1.5 - 1e-9).velocities == pytest.approx(velocities[1], abs=1e-6)
    for time in (0.2, 0.8, 1.3):
        before, after = (Rotation.from_rotvec(path.sample(time + dt).positions) for dt in (-1e-6, 1e-6))
        rate = (after * before.inv()).as_rotvec() / 2e-6
        assert path.sample(time).velocities == pytest.approx(rate, abs=1e-7)


def test_a_trajectory_may_name_the_entries_in_any_order(flail):
    shuffled = ["ball_z", "slide", "ball_x", "ball_y"]
    path = trajectory(flail, (1.0, [TURN[2], 0.8, TURN[0], TURN[1]], ()), names=shuffled)
    sample = path.sample(0.5)
    assert sample.positions == pytest.approx([TURN[2] / 2, 0.4, TURN[0] / 2, TURN[1] / 2], abs=1e-12)


# ---- over ROS ----


@pytest.fixture
def node_flail(fresh_world, probe):
    answer = spawn(probe, "flail", text=TEXT, p_gains=[200.0], d_gains=[20.0])
    assert answer.joint_names == NAMES
    return answer


def ball(probe, field="joint_positions"):
    return np.array(getattr(state(probe, "flail"), field)[1:])


def test_torques_turn_it_in_the_joint_frame(node_flail, probe):
    torque = np.array([0.5, -1.0, 0.25])
    with probe.publisher(JointState, "flail/joint_cmd") as publisher:
        message = JointState(name=BALL, effort=list(torque))
        time_step = step(probe).sim_time
        send_until(probe, publisher, message, lambda: step(probe) and np.abs(ball(probe, "joint_velocities")).max() > 1e-6)
        before, turned = ball(probe, "joint_velocities"), ball(probe)
        step(probe, 40)
    time = 40 * time_step
    assert ball(probe, "joint_velocities") == pytest.approx(before + torque * time / INERTIA, rel=1e-6)
    assert ball(probe, "joint_efforts") == pytest.approx(torque, abs=1e-12)
    way = before * time + 0.5 * torque / INERTIA * time**2  # about one axis all the time
    assert ball(probe) == pytest.approx(turned + way, rel=1e-6)


def test_positions_are_reached_by_every_command_and_published(node_flail, probe):
    def reached(vector):
        return lambda: step(probe, 50) and difference(ball(probe), vector) < 1e-3

    with probe.publisher(JointState, "flail/joint_cmd") as publisher:
        send_until(probe, publisher, JointState(name=BALL, position=list(TURN)), reached(TURN))
    with probe.subscribed(JointState, "flail/joint_states") as messages:
        step(probe, 4)
        probe.spin_until(lambda: messages, "joint states")
    assert messages[-1].name == NAMES
    assert difference(messages[-1].position[1:], TURN) < 1e-3
    other = -0.5 * TURN[[1, 2, 0]]
    with probe.publisher(ObjectCmd, "flail/cmd") as publisher:
        command = ObjectCmd(joint_names=["slide", *BALL], joint_cmds=[0.0, *other], joint_cmds_types=[0, 1, 1, 1])
        send_until(probe, publisher, command, reached(other))
    with probe.publisher(JointTrajectory, "flail/joint_trajectory") as publisher:
        point = JointTrajectoryPoint(positions=list(TURN), time_from_start=Duration(nanosec=200_000_000))
        send_until(probe, publisher, JointTrajectory(joint_names=BALL, points=[point]), reached(TURN))


def test_it_can_be_put_into_a_place(node_flail, probe):
    fields = {"name": "flail", "set_pose": False, "set_twist": False, "joint_names": BALL}
    ok(probe.call(SetObjectState, "set_object_state", joint_positions=list(TURN), joint_velocities=[1.0, 2.0, 3.0], **fields))
    assert ball(probe) == pytest.approx(TURN, abs=1e-12)
    assert ball(probe, "joint_velocities").tolist() == [1.0, 2.0, 3.0]
    fields["joint_names"] = ["ball_x"]
    answer = probe.call(SetObjectState, "set_object_state", joint_positions=[0.5], **fields)
    assert (answer.result, "ball_y" in answer.message) == (ResultCode.INVALID_VALUE, True)
    assert ball(probe) == pytest.approx(TURN, abs=1e-12)
