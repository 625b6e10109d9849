"""What sensors of a node measure is in its recordings, whoever listens, and is what topics say."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image, Imu, PointCloud2
from service_calls import ok

from raisim_ros import Recording
from raisim_ros.description.resources import resource
from raisim_ros.srv import SpawnDepthCamera, SpawnImu, SpawnLidar, SpawnSensorSet, StartRecording, Step, StopRecording

WORLD = Path(__file__).parents[1] / "sensor_world.xml"
TIME_STEP, STEPS = 0.005, 100


def furnish(probe):
    """A camera of 10 Hz, a lidar of 20 Hz and an IMU of 100 Hz, all with noise."""
    noise = {"noise_type": "gaussian", "noise_stddev": 0.01, "noise_seed": 3}
    camera = {"width": 64, "height": 48, "horizontal_fov": 1.0, "update_rate": 10.0}
    ok(probe.call(SpawnDepthCamera, "spawn_depth_camera", object="eye", name="camera", **camera, **noise))
    lidar = {"yaw_samples": 256, "pitch_samples": 4, "update_rate": 20.0}
    ok(probe.call(SpawnLidar, "spawn_lidar", object="eye", name="lidar", **lidar, **noise))
    ok(probe.call(SpawnImu, "spawn_imu", object="still", name="imu", update_rate=100.0, acc_stddev=0.1, noise_seed=4))


def record(probe, file):
    """Steps a paused node; the recording."""
    ok(probe.call(StartRecording, "start_recording", file=str(file), rate_hz=100.0))
    for _ in range(STEPS):
        ok(probe.call(Step, "step", steps=1))
    ok(probe.call(StopRecording, "stop_recording"))
    return Recording(file)


def sensor(world, name):
    return next(one for several in world.get_sensor_sets() for one in several if one.get_name() == name)


def stamp_of(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def frame_of(recording, message):
    return int(np.argmin(np.abs(recording.times - stamp_of(message))))


def test_nobody_listens_and_the_recording_has_what_topics_say_elsewhere(start_node, probe, tmp_path):
    recordings, heard = [], []
    for listened in (False, True):
        node = start_node(world=WORLD, paused=True)
        furnish(probe)
        if not listened:
            recordings.append(record(probe, tmp_path / "alone.raisim"))
            node.end()
            continue
        data = qos_profile_sensor_data
        with (
            probe.subscribed(Image, "eye/camera/depth/image", data) as images,
            probe.subscribed(PointCloud2, "eye/lidar/points", data) as clouds,
            probe.subscribed(Imu, "still/imu/imu", data) as imus,
        ):
            probe.spin_until(lambda: images and clouds and imus, "the messages of a pause")
            recordings.append(record(probe, tmp_path / "heard.raisim"))
            heard = [[one for one in several if stamp_of(one) > 0.0] for several in (images, clouds, imus)]  # none of the pause
        node.end()
    assert [len({stamp_of(one) for one in messages}) for messages in heard] == [5, 10, 50]
    for recording in recordings:
        for image in heard[0]:
            depth = sensor(recording.world(frame_of(recording, image)), "camera").get_depth_array()
            sent = np.frombuffer(bytes(image.data), np.float32).reshape(48, 64)
            near = np.isfinite(sent)
            assert near.any()
            assert np.array_equal(np.where(near, sent, np.nan), depth, equal_nan=True)
        for cloud in heard[1]:
            scan = sensor(recording.world(frame_of(recording, cloud)), "lidar").get_scan()
            sent = np.frombuffer(bytes(cloud.data), np.float32).reshape(-1, cloud.point_step // 4)[:, :3]
            sent = sent[np.isfinite(sent[:, 0])]
            assert len(sent) > 50
            assert np.array_equal(scan, sent)
        for imu in heard[2]:
            measured = sensor(recording.world(frame_of(recording, imu)), "imu").get_linear_acceleration()
            assert measured.tolist() == [getattr(imu.linear_acceleration, axis) for axis in "xyz"]


def test_any_moment_can_be_gone_on_from_although_sensors_measure(start_node, probe, tmp_path):
    node = start_node(world=WORLD, paused=True)
    furnish(probe)
    ok(probe.call(SpawnSensorSet, "spawn_sensor_set", object="still", file=str(resource("sensors/head.xml"))))
    recording = record(probe, tmp_path / "run.raisim")
    node.end()
    assert all(recording.array("exact", frame) for frame in range(len(recording)))
    for frame in (7, 48, len(recording) - 1):
        shown, branch = recording.world(frame), recording.branch(frame=frame)
        assert branch.get_world_time() == recording.times[frame]
        assert np.allclose(sensor(shown, "lidar").get_scan(), sensor(branch, "lidar").get_scan(), rtol=0.0, atol=1e-5)
        assert np.array_equal(sensor(shown, "color").get_image_buffer(), sensor(branch, "color").get_image_buffer())
        assert sensor(branch, "camera").get_update_time_stamp() == sensor(shown, "camera").get_update_time_stamp()


def test_a_parameter_leaves_measurements_out(start_node, probe, tmp_path):
    node = start_node(world=WORLD, paused=True, record_sensors=False)
    furnish(probe)
    recording = record(probe, tmp_path / "run.raisim")
    node.end()
    assert sensor(recording.world(len(recording) - 1), "imu").get_update_time_stamp() < 0.0
