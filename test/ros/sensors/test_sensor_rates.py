"""Sensors measure at their rates in simulation time, stepped or free; noise repeats; a pause repeats the last message."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose
from rclpy.qos import qos_profile_sensor_data
from robot_calls import ARM_JOINTS, spawn_arm
from sensor_msgs.msg import Image, Imu, JointState, PointCloud2
from service_calls import ok

from raisim_ros.msg import ContactArray, ObjectState, ObjectStateArray
from raisim_ros.ros import qos
from raisim_ros.srv import SpawnDepthCamera, SpawnImu, SpawnLidar, SpawnObject, Step

WORLD = Path(__file__).parents[1] / "sensor_world.xml"
TIME_STEP, STEPS = 0.005, 100


def furnish(probe):
    """A camera of 10 Hz, a lidar of 20 Hz and an IMU of 100 Hz, all with noise, on a kinematic object."""
    noise = {"noise_type": "gaussian", "noise_stddev": 0.01, "noise_seed": 3}
    camera = {"width": 16, "height": 12, "horizontal_fov": 1.0, "update_rate": 10.0}
    ok(probe.call(SpawnDepthCamera, "spawn_depth_camera", object="eye", name="camera", **camera, **noise))
    lidar = {"yaw_samples": 32, "pitch_samples": 2, "update_rate": 20.0}
    ok(probe.call(SpawnLidar, "spawn_lidar", object="eye", name="lidar", **lidar, **noise))
    ok(probe.call(SpawnImu, "spawn_imu", object="still", name="imu", update_rate=100.0, acc_stddev=0.1, noise_seed=4))
    spawn_arm(probe)
    for number in range(3):
        ok(probe.call(SpawnObject, "spawn_object", name=f"die_{number}", shape="box", size=[0.2] * 3, mass=1.0,
                      pose=Pose(position=Point(x=9.0 + 0.05 * number, z=0.3 + 0.25 * number))))


def sensor_data(probe, message_type, topic):
    return probe.subscribed(message_type, topic, qos_profile_sensor_data)


def by_stamp(messages):
    """Messages by their stamps; those of one stamp must be equal to the bit."""
    found = {}
    for message in messages:
        stamp = (message.header.stamp.sec, message.header.stamp.nanosec)
        assert found.setdefault(stamp, message) == message
    return found


def run(start_node, probe, count):
    """Steps one by one in a fresh node; all messages, by topic and stamp."""
    node = start_node(world=WORLD, paused=True)
    furnish(probe)
    with (
        sensor_data(probe, Image, "eye/camera/depth/image") as images,
        sensor_data(probe, PointCloud2, "eye/lidar/points") as clouds,
        sensor_data(probe, Imu, "still/imu/imu") as imus,
        probe.subscribed(ObjectState, "still/state") as states,
        probe.subscribed(ObjectStateArray, "states", qos.STATE_ARRAY) as all_states,
        probe.subscribed(JointState, "arm/joint_states") as joints,
        probe.subscribed(ContactArray, "contacts", qos.STATE_ARRAY) as contacts,
        probe.publisher(JointState, "arm/joint_cmd") as commands,
    ):
        topics = (images, clouds, imus)
        probe.spin_until(lambda: all(topics), "the messages of a pause")
        goal = [0.1 * number for number in range(len(ARM_JOINTS))]
        probe.deliver(commands, JointState(name=ARM_JOINTS, position=goal))
        for _ in range(count):
            ok(probe.call(Step, "step", steps=1))
        probe.spin_until(lambda: states and states[-1].sim_step == count, "the last state")
        last = count * TIME_STEP
        probe.spin_until(lambda: imus[-1].header.stamp.nanosec == round(last * 1e9) % 10**9, "the last measurement")
        seen = [len(messages) for messages in topics]
        probe.spin_until(lambda: all(len(m) > n + 2 for m, n in zip(topics, seen, strict=True)), "repeated messages")
        result = [by_stamp(messages) for messages in (*topics, joints, contacts)]
        result.append({
            message.states[0].sim_step: [(one.name, one.pose, one.twist, one.wrench) for one in message.states]
            for message in all_states
        })
        result.append({state.sim_step: (state.pose, state.twist) for state in states})
    node.end()
    return result


def test_rates_hold_while_stepped_a_pause_repeats_and_two_nodes_give_the_same_bits(start_node, probe):
    first = run(start_node, probe, STEPS)
    duration = STEPS * TIME_STEP
    expected = [1 + round(rate * duration) for rate in (10.0, 20.0, 100.0)]
    assert [len(messages) for messages in first[:3]] == expected
    second = run(start_node, probe, STEPS)
    assert first == second
    moved = first[3][max(first[3])].position
    assert max(abs(position) for position in moved) > 0.05, "the command was followed"
    assert first[4][max(first[4])].contacts, "the dice lie on each other"
    # The noise of each measurement is its own.
    images = list(first[0].values())
    assert images[1].data != images[2].data


def test_noise_does_not_depend_on_who_listened_before(start_node, probe):
    start_node(world=WORLD, paused=True, namespace="/early")
    start_node(world=WORLD, paused=True, namespace="/late", publish_clock=False)
    images = {}
    fields = {"width": 16, "height": 12, "horizontal_fov": 1.0, "update_rate": 10.0}
    noise = {"noise_type": "gaussian", "noise_stddev": 0.01}
    for name in ("early", "late"):
        ok(probe.call(SpawnDepthCamera, f"/{name}/spawn_depth_camera", object="eye", name="camera", **fields, **noise))
        if name == "late":
            ok(probe.call(Step, "/late/step", steps=60))
        with sensor_data(probe, Image, f"/{name}/eye/camera/depth/image") as seen:
            probe.spin_until(lambda seen=seen: seen, "the first image")
            ok(probe.call(Step, f"/{name}/step", steps=80 if name == "early" else 20))
            probe.spin_until(lambda seen=seen: seen[-1].header.stamp.nanosec == 400_000_000, "the image at 0.4 s")
            images[name] = seen[-1].data
    assert images["early"] == images["late"]
