"""The same script in two fresh nodes: all states and all noisy measurements are the same to the bit, in different worlds."""

import contextlib
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose
from rclpy.qos import qos_profile_sensor_data
from robot_calls import ARM_JOINTS, spawn_arm, step
from sensor_msgs.msg import Image, Imu, JointState, PointCloud2
from service_calls import ok

from raisim_ros.msg import DeformableState, GranularState, ObjectStateArray, WireState
from raisim_ros.ros import qos
from raisim_ros.srv import SetObjectState, SpawnDepthCamera, SpawnImu, SpawnLidar, SpawnObject

HERE = Path(__file__).parents[1]
NOISE = {"noise_type": "gaussian", "noise_stddev": 0.01, "noise_seed": 5}
MEASURED = {"eye/camera/depth/image": Image, "eye/lidar/points": PointCloud2, "die/imu/imu": Imu}
# File, and what it has beside objects.
WORLDS = {
    "soft": ("soft_world.xml", {"flag/deformable_state": DeformableState, "sand/granular_state": GranularState}),
    "wires": ("wire_world.xml", {"rope/state": WireState, "spring/state": WireState, "pull/state": WireState}),
    "robot": ("node_world.xml", {"arm/joint_states": JointState}),
}
ROUNDS, STEPS = 20, 5


def furnish(probe, robot):
    ok(probe.call(SpawnObject, "spawn_object", name="eye", shape="box", size=[0.1] * 3, body_type="kinematic",
                  pose=Pose(position=Point(x=-2.0, z=2.0))))
    ok(probe.call(SpawnObject, "spawn_object", name="die", shape="box", size=[0.2] * 3, mass=1.0,
                  pose=Pose(position=Point(x=0.3, y=0.1, z=4.0))))
    camera = {"width": 24, "height": 16, "horizontal_fov": 1.2, "update_rate": 20.0}
    ok(probe.call(SpawnDepthCamera, "spawn_depth_camera", object="eye", name="camera", **camera, **NOISE))
    lidar = {"yaw_samples": 48, "pitch_samples": 3, "update_rate": 20.0}
    ok(probe.call(SpawnLidar, "spawn_lidar", object="eye", name="lidar", **lidar, **NOISE))
    ok(probe.call(SpawnImu, "spawn_imu", object="die", name="imu", update_rate=100.0, acc_stddev=0.1, noise_seed=4))
    if robot:
        spawn_arm(probe)


def without_wall_time(message):
    for one in getattr(message, "states", ()):
        one.wall_time = 0.0
    return message


def by_stamp(topic, messages):
    """The first message of each stamp; a pause repeats measurements to the bit, and shows what it changed in states."""
    found = {}
    for message in map(without_wall_time, messages):
        stamp = (message.header.stamp.sec, message.header.stamp.nanosec)
        first = found.setdefault(stamp, message)
        assert first == message or topic not in MEASURED
    return found


def run(start_node, probe, file, own):
    """All messages of a fresh node that follows the script, by topic and stamp."""
    node = start_node(world=HERE / file, paused=True)
    furnish(probe, "arm/joint_states" in own)
    with contextlib.ExitStack() as stack:
        received = {
            topic: stack.enter_context(probe.subscribed(kind, topic, qos_profile_sensor_data))
            for topic, kind in MEASURED.items()
        }
        received |= {topic: stack.enter_context(probe.subscribed(kind, topic)) for topic, kind in own.items()}
        states = stack.enter_context(probe.subscribed(ObjectStateArray, "states", qos.STATE_ARRAY))
        received["states"] = states
        probe.spin_until(lambda: all(received.values()), "the messages of a pause")
        for turn in range(ROUNDS):
            if turn == 5:
                ok(probe.call(SetObjectState, "set_object_state", name="die", pose=Pose(position=Point(x=0.2, z=2.5))))
            if turn == 8 and "arm/joint_states" in own:
                command = stack.enter_context(probe.publisher(JointState, "arm/joint_cmd"))
                probe.deliver(command, JointState(name=ARM_JOINTS, position=[0.2] * len(ARM_JOINTS)))
            sim_step = step(probe, STEPS).sim_step
            probe.spin_until(lambda: states[-1].states[0].sim_step == sim_step, "the states of this step")  # noqa: B023
        last = states[-1].header.stamp
        probe.spin_until(lambda: received["die/imu/imu"][-1].header.stamp == last, "the last measurement")
        counts = {topic: len(messages) for topic, messages in received.items()}
        probe.spin_until(lambda: all(len(received[topic]) > count for topic, count in counts.items()), "what a pause repeats")
        result = {topic: by_stamp(topic, messages) for topic, messages in received.items()}
    node.end()
    return result


@pytest.mark.parametrize("world", WORLDS)
def test_two_fresh_nodes_give_the_same_bits(start_node, probe, world):
    first, second = (run(start_node, probe, *WORLDS[world]) for _ in range(2))
    for topic, messages in first.items():
        assert len(messages) > 1, topic
        assert messages == second[topic], topic
    images = list(first["eye/camera/depth/image"].values())
    assert images[0].data != images[-1].data
