"""Driven bases and arms as Nav2 and MoveIt use them: cmd_vel, odom, follow_joint_trajectory, gains, settings."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("control_msgs", reason="needs control_msgs")

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from geometry_msgs.msg import Point, Pose, Twist, Vector3
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from robot_calls import ARM_JOINTS, robot, send_until, spawn, spawn_arm, state, step
from sensor_msgs.msg import JointState
from service_calls import ok
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros.msg import Drive, MaterialPair, ResultCode
from raisim_ros.ros import qos
from raisim_ros.srv import (
    Pause,
    Play,
    RemoveObject,
    SetJointGains,
    SetMaterialPair,
    SetWorldSettings,
    SpawnArticulatedSystem,
)

WHEELS = Drive(
    type="differential",
    left_joints=["left_wheel_joint"],
    right_joints=["right_wheel_joint"],
    wheel_radius=0.1,
    wheel_separation=0.4,
)
RESULT = FollowJointTrajectory.Result


def spawn_base(probe, **fields):
    ok(probe.call(SetMaterialPair, "set_material_pair", material_1="caster", material_2="default", properties=MaterialPair(friction=0.01)))
    place = Pose(position=Point(x=20.0, y=5.0, z=0.1))
    gains = [0.0] * 6 + [2.0] * 2
    return spawn(probe, "base", "wheeled_base", pose=place, drive=WHEELS, p_gains=[0.0], d_gains=gains, **fields)


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def yaw_of(pose):
    return 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize("source", ["truth", "wheels"])
def test_a_base_drives_and_its_odometry_tells_where_it_is(probe, source):
    spawn_base(probe, odometry=source, odom_tf=True)
    begin = state(probe, "base").pose
    with (
        probe.subscribed(Odometry, "base/odom") as odoms,
        probe.subscribed(TFMessage, "/tf", qos.TF) as transforms,
        probe.publisher(Twist, "base/cmd_vel") as commands,
    ):
        step(probe, 20)
        for _ in range(60):
            commands.publish(Twist(linear=Vector3(x=0.4), angular=Vector3(z=0.5)))
            step(probe, 10)
        last = state(probe, "base")
        probe.spin_until(lambda: odoms[-1].header.stamp == last.header.stamp, "the last odometry")
    end, told = last.pose, odoms[-1]
    assert told.header.frame_id == "base/odom"
    assert told.child_frame_id == "base"
    moved = np.array([end.position.x - begin.position.x, end.position.y - begin.position.y])
    assert np.linalg.norm(moved) > 0.3
    assert told.twist.twist.linear.x == pytest.approx(0.4, abs=0.1)
    assert told.twist.twist.angular.z == pytest.approx(0.5, abs=0.15)
    position = told.pose.pose.position
    if source == "truth":
        assert (position.x, position.y) == pytest.approx((end.position.x, end.position.y), abs=1e-9)
    else:
        assert (position.x, position.y) == pytest.approx(tuple(moved), abs=0.15)
        assert yaw_of(told.pose.pose) == pytest.approx(yaw_of(end) - yaw_of(begin), abs=0.2)
    frames = {t.child_frame_id: t for message in transforms for t in message.transforms}
    assert frames["base"].header.frame_id == "base/odom"


@pytest.mark.usefixtures("fresh_world")
def test_a_client_like_that_of_nav2_reaches_a_goal_by_feedback(probe):
    spawn_base(probe, odometry="wheels")
    goal = np.array([1.0, 0.6])
    with probe.subscribed(Odometry, "base/odom") as odoms, probe.publisher(Twist, "base/cmd_vel") as commands:
        distance = math.inf
        for _ in range(150):
            now = step(probe, 20).sim_time
            probe.spin_until(lambda now=now: odoms and seconds(odoms[-1]) > now - 1e-6, "odometry")
            pose = odoms[-1].pose.pose
            way = goal - (pose.position.x, pose.position.y)
            distance = float(np.linalg.norm(way))
            if distance < 0.05:
                break
            error = math.atan2(way[1], way[0]) - yaw_of(pose)
            error = math.atan2(math.sin(error), math.cos(error))
            commands.publish(Twist(linear=Vector3(x=0.5 * max(0.0, math.cos(error))), angular=Vector3(z=1.5 * error)))
    assert distance < 0.05


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"type": "hover"}, "differential, skid, mecanum, holonomic"),
        ({"wheel_radius": 0.0}, "wheel_radius"),
        ({"left_joints": ["no_wheel"]}, "no_wheel"),
        ({"left_joints": []}, "as many on each side"),
        ({"type": "mecanum"}, "two wheels on each side"),
        ({"max_linear_speed": -1.0}, "max_linear_speed"),
    ],
)
def test_a_wrong_drive_is_refused(probe, change, text):
    values = {name: getattr(WHEELS, name) for name in WHEELS.get_fields_and_field_types()} | change
    fields = {"name": "base", "file": robot("wheeled_base"), "drive": Drive(**values)}
    answer = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", **fields)
    assert answer.result == ResultCode.INVALID_VALUE
    assert text in answer.message


# ---- arms ----


class Follower:
    """A client of the action, as MoveIt is one."""

    def __init__(self, probe, name):
        self.probe, self.feedback = probe, []
        self.client = probe.action_client(FollowJointTrajectory, name)
        probe.spin_until(self.client.server_is_ready, name)

    def send(self, positions, seconds, **fields):
        points = [
            JointTrajectoryPoint(positions=positions, time_from_start=Duration(sec=int(seconds), nanosec=int(seconds % 1 * 1e9)))
        ]
        joints = fields.pop("joints", ARM_JOINTS)
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=joints, points=points), **fields)
        future = self.client.send_goal_async(goal, feedback_callback=lambda message: self.feedback.append(message.feedback))
        self.probe.spin_until(future.done, "the goal to be accepted")
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.probe.spin_until(future.done, "the result", timeout=60.0)
        return future.result().result


@pytest.fixture
def follower(fresh_world, probe):
    spawn_arm(probe)
    ok(probe.call(Play, "play"))
    follower = Follower(probe, "arm/follow_joint_trajectory")
    yield follower
    ok(probe.call(Pause, "pause"))


def test_an_arm_follows_a_trajectory_and_tells_on_the_way(probe, follower):
    goal = [0.4, -0.3, 0.5, 0.1, 0.2, 0.3]
    tolerance = [JointTolerance(name=name, position=0.1) for name in ARM_JOINTS]
    handle = follower.send(goal, 1.0, goal_tolerance=tolerance, goal_time_tolerance=Duration(sec=2))
    assert handle.accepted
    result = follower.result(handle)
    assert result.error_code == RESULT.SUCCESSFUL, result.error_string
    assert len(follower.feedback) > 5
    last = follower.feedback[-1]
    assert last.joint_names == ARM_JOINTS
    difference = np.array(last.desired.positions) - np.array(last.actual.positions)
    np.testing.assert_allclose(last.error.positions, difference, atol=1e-12)
    np.testing.assert_allclose(state(probe).joint_positions, goal, atol=0.1)


def test_a_goal_can_be_cancelled_and_the_arm_stays(probe, follower):
    handle = follower.send([1.0] * 6, 30.0)
    probe.spin_until(lambda: len(follower.feedback) > 3, "feedback")
    cancel = handle.cancel_goal_async()
    probe.spin_until(cancel.done, "the cancel answer")
    assert len(cancel.result().goals_canceling) == 1
    follower.result(handle)
    assert handle.status == 5  # canceled
    first = np.array(state(probe).joint_positions)
    assert (np.abs(first) < 0.6).all()


def test_a_path_tolerance_that_is_violated_aborts_the_goal(follower):
    tolerance = [JointTolerance(name="elbow", position=1e-4)]
    result = follower.result(follower.send([0.0, 0.0, 2.5, 0.0, 0.0, 0.0], 0.3, path_tolerance=tolerance))
    assert result.error_code == RESULT.PATH_TOLERANCE_VIOLATED
    assert "elbow" in result.error_string


def test_a_goal_that_is_not_reached_in_time_is_aborted(follower):
    tolerance = [JointTolerance(name="elbow", position=1e-9)]
    fields = {"goal_tolerance": tolerance, "goal_time_tolerance": Duration(nanosec=50_000_000)}
    result = follower.result(follower.send([0.0, 0.0, 1.5, 0.0, 0.0, 0.0], 0.1, **fields))
    assert result.error_code == RESULT.GOAL_TOLERANCE_VIOLATED


def test_wrong_goals_are_told_apart(follower):
    unknown = follower.result(follower.send([0.0], 1.0, joints=["no_joint"]))
    assert unknown.error_code == RESULT.INVALID_JOINTS
    assert "no_joint" in unknown.error_string
    short = follower.result(follower.send([0.0], 1.0))
    assert short.error_code == RESULT.INVALID_GOAL
    again = follower.send([0.1] * 6, 20.0)
    replacing = follower.send([0.2] * 6, 0.2)
    assert "replaced" in follower.result(again).error_string
    assert follower.result(replacing).error_code == RESULT.SUCCESSFUL


def test_a_burst_of_goals_loses_none_and_no_result(probe, follower):
    from rclpy.action import ActionClient

    queues = {f"{kind}_service_qos_profile": qos.SERVICE for kind in ("goal", "result", "cancel")}
    client = ActionClient(probe.node, FollowJointTrajectory, "arm/follow_joint_trajectory", **queues)
    try:
        probe.spin_until(client.server_is_ready, "the action")
        point = JointTrajectoryPoint(positions=[0.1], time_from_start=Duration(sec=30))
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=["elbow"], points=[point]))
        accepted = [client.send_goal_async(goal) for _ in range(60)]
        probe.spin_until(lambda: all(one.done() for one in accepted), "all goals to be accepted", timeout=60.0)
        handles = [one.result() for one in accepted]
        results = [handle.get_result_async() for handle in handles]
        handles[-1].cancel_goal_async()
        probe.spin_until(lambda: all(one.done() for one in results), "all results", timeout=60.0)
        statuses = [one.result().status for one in results]
        assert sorted(statuses) == [GoalStatus.STATUS_CANCELED] + [GoalStatus.STATUS_ABORTED] * 59
    finally:
        client.destroy()


@pytest.mark.usefixtures("fresh_world")
def test_entries_that_are_nan_are_no_commands(probe):
    spawn_arm(probe)
    with probe.publisher(JointState, "arm/joint_cmd") as commands:
        message = JointState(name=ARM_JOINTS, position=[math.nan, math.nan, 0.7, math.nan, math.nan, math.nan])

        def applied():
            step(probe, 5)
            return state(probe).joint_positions[2] > 0.5

        send_until(probe, commands, message, applied)
    assert abs(state(probe).joint_positions[0]) < 0.05


def finger(name, kind, interfaces, more=""):
    commands = "".join(f'<command_interface name="{one}"/>' for one in interfaces)
    return f"""<link name="{name}_link"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="{name}" type="{kind}"><parent link="world"/><child link="{name}_link"/><axis xyz="0 0 1"/>
        <limit lower="-3" upper="3" effort="99" velocity="99"/>{more}</joint>
      <ros2_control name="of_{name}" type="system"><joint name="{name}">{commands}<state_interface name="position"/></joint></ros2_control>"""


MIXED = f"""<robot name="mixed"><link name="world"/>{finger("turret", "revolute", ["position"])}{finger("passive", "revolute", [])}
  {finger("wheel", "continuous", ["velocity"])}{finger("claw", "revolute", ["position", "effort"])}</robot>"""
JOINTS = ["turret", "passive", "wheel", "claw"]


@pytest.mark.usefixtures("fresh_world")
def test_hardware_interfaces_of_ros2_control_speak_of_the_joints_that_they_command(shared_node, probe):
    """They name all joints; position, velocity and effort have numbers for those with such a command interface."""
    spawn(probe, name="mixed", text=MIXED, p_gains=[200.0], d_gains=[30.0], publish_joint_positions=True)
    with probe.publisher(JointState, "mixed/joint_cmd") as commands:
        probe.deliver(commands, JointState(name=JOINTS, position=[0.7, -0.4], velocity=[1.5], effort=[0.0]))
        step(probe, 90)
        there = state(probe, "mixed")
        probe.deliver(commands, JointState(name=JOINTS, position=[0.7, -0.4, 0.0]))
        step(probe, 1)
        shared_node.wait_for_output("mixed/joint_cmd refused: position has 3 numbers for 4 joints")
    assert there.joint_positions[0] == pytest.approx(0.7, abs=0.1)
    assert there.joint_positions[3] == pytest.approx(-0.4, abs=0.1)
    assert there.joint_velocities[2] == pytest.approx(1.5, abs=0.1)
    assert there.joint_positions[1] == pytest.approx(0.0, abs=1e-6)


# ---- settings ----


@pytest.mark.usefixtures("fresh_world")
def test_gains_can_be_changed_while_it_runs(probe):
    spawn(probe)
    weak = probe.call(SetJointGains, "set_joint_gains", name="arm", p_gains=[1.0, 2.0])
    assert weak.result == ResultCode.INVALID_VALUE
    assert probe.call(SetJointGains, "set_joint_gains", name="ground", p_gains=[1.0]).result == ResultCode.UNSUPPORTED
    ok(probe.call(SetJointGains, "set_joint_gains", name="arm", p_gains=[400.0], d_gains=[40.0]))
    step(probe, 200)
    np.testing.assert_allclose(state(probe).joint_positions, 0.0, atol=0.15)


@pytest.mark.usefixtures("fresh_world")
def test_gains_are_parameters_of_the_node_as_long_as_the_robot_is_there(probe):
    def read(*names):
        values = probe.call(GetParameters, "world_node/get_parameters", names=list(names)).values
        return [list(value.double_array_value) for value in values]

    def change(name, gains):
        changes = [Parameter(name, value=gains).to_parameter_msg()]
        return probe.call(SetParametersAtomically, "world_node/set_parameters_atomically", parameters=changes).result

    spawn(probe)
    assert read("arm.p_gains", "arm.d_gains") == [[0.0] * 6] * 2
    assert change("arm.d_gains", [40.0]).successful
    assert read("arm.d_gains") == [[40.0] * 6]
    assert change("arm.p_gains", [400.0, 401.0, 402.0, 403.0, 404.0, 405.0]).successful
    step(probe, 200)
    np.testing.assert_allclose(state(probe).joint_positions, 0.0, atol=0.15)
    for wrong in ([1.0, 2.0], [-1.0], [float("nan")]):
        refused = change("arm.p_gains", wrong)
        assert not refused.successful
        assert "arm.p_gains" in refused.reason
    assert read("arm.p_gains")[0][5] == 405.0
    ok(probe.call(SetJointGains, "set_joint_gains", name="arm", joint_names=["elbow"], p_gains=[7.0]))
    assert read("arm.p_gains")[0][2] == 7.0
    ok(probe.call(RemoveObject, "remove_object", name="arm"))
    assert read("arm.p_gains") == []


@pytest.mark.usefixtures("fresh_world")
def test_settings_change_all_or_none(probe):
    ok(probe.call(SetWorldSettings, "set_world_settings", gravity=[0.0, 0.0, 0.0], time_step=0.002))
    before = state(probe, "ball_0")
    step(probe, 10)
    after = state(probe, "ball_0")
    assert after.sim_time - before.sim_time == pytest.approx(0.02, abs=1e-12)
    assert after.twist.linear.z == before.twist.linear.z
    wrong = probe.call(SetWorldSettings, "set_world_settings", time_step=0.004, gravity=[1.0])
    assert wrong.result == ResultCode.INVALID_VALUE
    assert probe.call(SetWorldSettings, "set_world_settings").result == ResultCode.INVALID_VALUE
    begin = state(probe, "ball_0").sim_time
    step(probe, 1)
    assert state(probe, "ball_0").sim_time - begin == pytest.approx(0.002, abs=1e-12)
    ok(probe.call(SetWorldSettings, "set_world_settings", gravity=[0.0, 0.0, -9.81], time_step=0.005))
