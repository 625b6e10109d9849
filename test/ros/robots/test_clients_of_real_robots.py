"""Clients like those of MoveIt and Nav2 on robots that people have: a UR5, a Panda and TIAGo's base."""

import importlib.metadata
import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("control_msgs", reason="needs control_msgs")

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from geometry_msgs.msg import Point, Pose, Twist, Vector3
from nav_msgs.msg import Odometry
from robot_calls import state, step
from service_calls import ok
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros.msg import Drive
from raisim_ros.srv import Pause, Play, SetJointGains, SpawnArticulatedSystem

RESULT = FollowJointTrajectory.Result
ARMS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", 6, [0.3, -1.2, 1.0, -0.4, 0.5, 0.2]),
    "panda": ("panda_description/urdf/panda.urdf", 7, [0.3, -0.4, 0.2, -1.6, 0.1, 1.4, 0.3]),
}


def example_robot(file):
    try:
        data = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package 'example-robot-data' is not installed")
    return str(data.locate_file(f"cmeel.prefix/share/example-robot-data/robots/{file}"))


@pytest.fixture(scope="module")
def shared_node(start_node):
    return start_node(paused=True, allowed_folders="default:/")


def spawn_robot(probe, **fields):
    return ok(probe.call(SpawnArticulatedSystem, "spawn_articulated_system", **fields))


def follow(probe, client, joints, positions, seconds, **fields):
    """Sends a goal; its handle."""
    whole = int(seconds)
    point = JointTrajectoryPoint(positions=positions, time_from_start=Duration(sec=whole, nanosec=int(1e9 * (seconds - whole))))
    trajectory = JointTrajectory(joint_names=joints, points=[point])
    sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory, **fields))
    probe.spin_until(sent.done, "the goal to be accepted")
    return sent.result()


def result_of(probe, handle):
    future = handle.get_result_async()
    probe.spin_until(future.done, "the result", timeout=90.0)
    return future.result()


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize("name", ARMS)
def test_an_arm_is_moved_stopped_and_aborted(probe, name):
    file, count, target = ARMS[name]
    made = spawn_robot(probe, name=name, file=example_robot(file), base="fixed", p_gains=[2000.0], d_gains=[200.0])
    joints = list(made.joint_names)[:count]
    client = probe.action_client(FollowJointTrajectory, f"{name}/follow_joint_trajectory")
    probe.spin_until(client.server_is_ready, "the action")
    ok(probe.call(Play, "play"))
    try:
        tolerance = [JointTolerance(name=joint, position=0.05) for joint in joints]
        fields = {"goal_tolerance": tolerance, "goal_time_tolerance": Duration(sec=2)}
        reached = result_of(probe, follow(probe, client, joints, target, 1.5, **fields)).result
        assert reached.error_code == RESULT.SUCCESSFUL, reached.error_string
        there = state(probe, name)
        np.testing.assert_allclose(there.joint_positions[:count], target, atol=0.05)

        handle = follow(probe, client, joints, [0.0] * count, 60.0)
        cancel = handle.cancel_goal_async()
        probe.spin_until(cancel.done, "the cancel answer")
        assert len(cancel.result().goals_canceling) == 1
        assert result_of(probe, handle).status == 5  # canceled

        strict = [JointTolerance(name=joints[1], position=1e-5)]
        violated = result_of(probe, follow(probe, client, joints, [0.0] * count, 0.2, path_tolerance=strict)).result
        assert violated.error_code == RESULT.PATH_TOLERANCE_VIOLATED, violated.error_string
    finally:
        ok(probe.call(Pause, "pause"))


@pytest.mark.usefixtures("fresh_world")
def test_a_mobile_base_is_driven_to_a_goal_by_its_odometry(probe):
    drive = Drive(type="differential", left_joints=["wheel_left_joint"], right_joints=["wheel_right_joint"],
                  wheel_radius=0.0985, wheel_separation=0.4044)  # fmt: skip
    file = example_robot("tiago_description/robots/tiago_no_hand.urdf")
    made = spawn_robot(probe, name="tiago", file=file, base="floating", pose=Pose(position=Point(x=20.0, z=0.02)),
                       p_gains=[2000.0], d_gains=[200.0], drive=drive, odometry="wheels")  # fmt: skip
    rolling = [joint for joint in made.joint_names if "wheel" in joint or "caster" in joint]
    damping = [20.0 if joint.startswith("wheel") else 0.0 for joint in rolling]
    gains = {"joint_names": rolling, "p_gains": [0.0] * len(rolling), "d_gains": damping}
    ok(probe.call(SetJointGains, "set_joint_gains", name="tiago", **gains))
    goal, distance = np.array([0.8, 0.4]), math.inf
    with probe.subscribed(Odometry, "tiago/odom") as odoms, probe.publisher(Twist, "tiago/cmd_vel") as commands:
        for _ in range(120):
            now = step(probe, 20).sim_time
            probe.spin_until(
                lambda now=now: odoms and odoms[-1].header.stamp.sec + 1e-9 * odoms[-1].header.stamp.nanosec > now - 1e-6,
                "odometry",
            )
            pose = odoms[-1].pose.pose
            way = goal - (pose.position.x, pose.position.y)
            distance = float(np.linalg.norm(way))
            if distance < 0.05:
                break
            error = math.atan2(way[1], way[0]) - 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
            error = math.atan2(math.sin(error), math.cos(error))
            commands.publish(Twist(linear=Vector3(x=0.4 * max(0.0, math.cos(error))), angular=Vector3(z=1.2 * error)))
    assert distance < 0.05
    end = state(probe, "tiago").pose.position
    assert math.hypot(end.x - 20.0 - goal[0], end.y - goal[1]) < 0.3, "the wheels tell nearly where it is"
