"""Sensors over ROS, seen from another process: pixels, points, frames, stamps, rates, services."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from pathlib import Path

from geometry_msgs.msg import Point, Quaternion, Vector3
from geometry_msgs.msg import Pose as PoseMessage
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image, Imu, LaserScan, PointCloud2
from service_calls import ok
from tf2_msgs.msg import TFMessage

from raisim_ros.description.resources import resource
from raisim_ros.msg import ResultCode
from raisim_ros.ros import qos
from raisim_ros.srv import (
    RayTest,
    RemoveObject,
    RemoveSensor,
    Reset,
    SpawnDepthCamera,
    SpawnImu,
    SpawnLidar,
    SpawnObject,
    Step,
)

WORLD = Path(__file__).parents[1] / "sensor_world.xml"
EYE, YAW = np.array([1.0, 2.0, 0.5]), math.pi / 4
MOUNT = np.array([0.1, 0.05, 0.2])
WIDTH, HEIGHT, FOV = 96, 64, 1.2
# Centres of the boxes in the camera's frame (x forward, y left, z up): different in every direction.
BOARD = {"left_low": (4.0, 1.2371, -0.8213), "right_high": (4.0, -1.0, 0.9), "middle": (5.0, 0.1, 0.2), "near": (0.2, 0, 0.07)}
SIZE = {"near": 0.03}
# As tf2's listeners subscribe: there are several publishers.
STATIC_FRAMES = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def turn(yaw):
    return np.array([[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])


def to_world(point):
    """From the camera's frame to the world, by hand."""
    return EYE + turn(YAW) @ (MOUNT + np.asarray(point))


def pose(position=(0.0, 0.0, 0.0), yaw=0.0):
    x, y, z = map(float, position)
    orientation = Quaternion(z=math.sin(yaw / 2), w=math.cos(yaw / 2))
    return PoseMessage(position=Point(x=x, y=y, z=z), orientation=orientation)


@pytest.fixture(scope="module")
def shared_node(start_node):
    return start_node(world=WORLD, paused=True)


@pytest.fixture(autouse=True)
def fresh_world(shared_node, probe):
    ok(probe.call(Reset, "reset", state=True, spawned=True, time=True))


@pytest.fixture
def board(probe, fresh_world):
    for name, place in BOARD.items():
        size = [SIZE.get(name, 0.6)] * 3
        where = pose(to_world(place), YAW)
        ok(probe.call(SpawnObject, "spawn_object", name=name, shape="box", size=size, body_type="static", pose=where))


def spawn_camera(probe, **fields):
    request = {"object": "eye", "name": "camera", "pose": pose(MOUNT), "width": WIDTH, "height": HEIGHT}
    request |= {"horizontal_fov": FOV, "near": 0.3, "far": 6.0, "update_rate": 20.0}
    return ok(probe.call(SpawnDepthCamera, "spawn_depth_camera", **(request | fields)))


def next_message(probe, messages, steps=10):
    """The message behind some steps; a step request answers after everything was published."""
    messages.clear()
    ok(probe.call(Step, "step", steps=steps))
    probe.spin_until(lambda: messages, "a message")
    return messages[-1]


def depth_of(message):
    assert (message.encoding, message.step) == ("32FC1", 4 * message.width)
    return np.frombuffer(bytes(message.data), np.float32).reshape(message.height, message.width)


def cloud_of(message):
    count = message.point_step // 4
    values = np.frombuffer(bytes(message.data), np.float32).reshape(message.height, message.width, count)
    assert [field.name for field in message.fields[:3]] == ["x", "y", "z"]
    return values


def rays():
    """Directions of the pixels in the camera's frame, with x = 1, by hand."""
    focal = WIDTH / 2 / math.tan(FOV / 2)
    column, row = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    left, up = (WIDTH - 1) / 2 - column, (HEIGHT - 1) / 2 - row
    return np.stack((np.ones((HEIGHT, WIDTH)), left / focal, up / focal), axis=-1)


def expected_depth():
    """Slab test of every pixel against every box of the board, by hand; the ground is out of sight."""
    depth, ids = np.full((HEIGHT, WIDTH), np.inf), np.full((HEIGHT, WIDTH), "", object)
    for name, centre in BOARD.items():
        half = SIZE.get(name, 0.6) / 2
        with np.errstate(divide="ignore"):
            t = np.sort([(np.array(centre) + side * half) / rays() for side in (-1, 1)], axis=0)
        enter, leave = t[0].max(axis=-1), t[1].min(axis=-1)
        hit = (enter <= leave) & (enter > 0) & (enter < depth)
        depth[hit], ids[hit] = enter[hit], name
    return depth, ids


def transforms(probe, needed=("eye", "eye/camera_optical_frame"), service="step"):
    """Parent and matrix of every frame, from /tf and /tf_static."""
    frames = {}
    with (
        probe.subscribed(TFMessage, "/tf", qos.TF) as moving,
        probe.subscribed(TFMessage, "/tf_static", STATIC_FRAMES) as static,
    ):
        ok(probe.call(Step, service, steps=20))
        found = lambda: {t.child_frame_id for message in [*moving, *static] for t in message.transforms}  # noqa: E731
        probe.spin_until(lambda: set(needed) <= found(), f"frames {needed}")
        for message in [*moving, *static]:
            for one in message.transforms:
                q, p = one.transform.rotation, one.transform.translation
                x, y, z, w = q.x, q.y, q.z, q.w
                matrix = np.eye(4)
                matrix[:3, :3] = [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
                matrix[:3, 3] = p.x, p.y, p.z
                frames[one.child_frame_id] = (one.header.frame_id, matrix)
    return frames


def in_world(frames, frame):
    matrix = np.eye(4)
    while frame != "world":
        frame, step = frames[frame][0], frames[frame][1]
        matrix = step @ matrix
    return matrix


# ---- cameras ----


def test_depth_image_is_what_the_camera_must_see(probe, board):
    spawn_camera(probe)
    with probe.subscribed(Image, "eye/camera/depth/image", qos_profile_sensor_data) as messages:
        message = next_message(probe, messages)
    depth = depth_of(message)
    expected, ids = expected_depth()
    far, near = expected > 6.0, ids == "near"
    assert near.sum() > 5
    assert (~far & ~near).sum() > 200
    np.testing.assert_array_equal(np.isposinf(depth), far)  # no return: +inf, REP 117
    np.testing.assert_array_equal(np.isneginf(depth), near)  # too near: -inf
    seen = ~far & ~near
    np.testing.assert_allclose(depth[seen], expected[seen], rtol=1e-6)
    assert message.header.frame_id == "eye/camera_optical_frame"
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 50_000_000)


def test_segmentation_tells_the_objects(probe, board):
    spawn_camera(probe)
    with probe.subscribed(Image, "eye/camera/segmentation", qos_profile_sensor_data) as messages:
        message = next_message(probe, messages)
    assert message.encoding == "32SC1"
    index = np.frombuffer(bytes(message.data), np.int32).reshape(HEIGHT, WIDTH)
    expected, ids = expected_depth()
    seen = (expected <= 6.0) & (ids != "near")
    np.testing.assert_array_equal(index >= 0, seen)
    assert len({(name, value) for name, value in zip(ids[seen], index[seen], strict=True)}) == 3


def test_cloud_lands_on_the_boxes_through_tf(probe, board):
    spawn_camera(probe)
    with probe.subscribed(PointCloud2, "eye/camera/depth/points", qos_profile_sensor_data) as messages:
        message = next_message(probe, messages)
    cloud = cloud_of(message)
    assert (message.height, message.width, message.is_dense) == (HEIGHT, WIDTH, False)
    expected, ids = expected_depth()
    seen = (expected <= 6.0) & (ids != "near")
    np.testing.assert_array_equal(np.isfinite(cloud).all(axis=-1), seen)
    matrix = in_world(transforms(probe), message.header.frame_id)
    points = cloud[seen] @ matrix[:3, :3].T + matrix[:3, 3]
    wanted = np.array([to_world(point) for point in (rays() * expected[..., None])[seen]])
    np.testing.assert_allclose(points, wanted, atol=1e-5)


def test_camera_info_projects_points_to_their_pixels(probe, board):
    spawn_camera(probe)
    with (
        probe.subscribed(PointCloud2, "eye/camera/depth/points", qos_profile_sensor_data) as clouds,
        probe.subscribed(CameraInfo, "eye/camera/depth/camera_info", qos_profile_sensor_data) as infos,
    ):
        ok(probe.call(Step, "step", steps=10))
        probe.spin_until(lambda: clouds and infos, "cloud and camera_info")
    info, cloud = infos[-1], cloud_of(clouds[-1])
    assert info.header == clouds[-1].header
    assert (info.width, info.height) == (WIDTH, HEIGHT)
    row, column = np.nonzero(np.isfinite(cloud[..., 0]))
    projected = cloud[row, column] @ np.array(info.p).reshape(3, 4)[:, :3].T
    np.testing.assert_allclose(projected[:, 0] / projected[:, 2], column, atol=1e-3)
    np.testing.assert_allclose(projected[:, 1] / projected[:, 2], row, atol=1e-3)


def test_color_image_shows_the_colors_of_the_objects(probe, board):
    red = {"name": "sign", "shape": "box", "size": [0.6] * 3, "appearance": "red", "body_type": "static"}
    ok(probe.call(SpawnObject, "spawn_object", **red, pose=pose(to_world((3.0, 0.5, 0.4)), YAW)))
    spawn_camera(probe, kind="rgb")
    with probe.subscribed(Image, "eye/camera/color/image", qos_profile_sensor_data) as messages:
        message = next_message(probe, messages)
    assert (message.encoding, message.step) == ("rgb8", 3 * WIDTH)
    image = np.frombuffer(bytes(message.data), np.uint8).reshape(HEIGHT, WIDTH, 3).astype(float)
    focal = WIDTH / 2 / math.tan(FOV / 2)
    row, column = int(HEIGHT / 2 - focal * 0.4 / 2.7), int(WIDTH / 2 - focal * 0.5 / 2.7)
    assert image[row, column, 0] > 2 * image[row, column, 1:].max()


# ---- lidar ----


def spawn_lidar(probe, **fields):
    request = {"object": "eye", "name": "lidar", "pose": pose(MOUNT), "yaw_samples": 360, "update_rate": 20.0}
    return ok(probe.call(SpawnLidar, "spawn_lidar", **(request | fields)))


def test_lidar_cloud(probe, board):
    spawn_lidar(probe, pitch_samples=5, pitch_min=-0.9, pitch_max=0.3, range_min=0.3)
    with probe.subscribed(PointCloud2, "eye/lidar/points", qos_profile_sensor_data) as messages:
        message = next_message(probe, messages)
    assert (message.height, message.width, message.header.frame_id) == (5, 360, "eye/lidar")
    assert [field.name for field in message.fields] == ["x", "y", "z", "intensity"]
    cloud = cloud_of(message)
    returned = np.isfinite(cloud[..., 0])
    assert message.is_dense == bool(returned.all())
    assert not returned[4].all()  # above the horizon there is sky
    points = cloud[..., :3]
    yaw, pitch = np.arange(360) * 2 * np.pi / 360, np.linspace(-0.9, 0.3, 5)
    direction = np.stack(
        (np.outer(np.cos(pitch), np.cos(yaw)), np.outer(np.cos(pitch), np.sin(yaw)), np.outer(np.sin(pitch), yaw**0)), -1
    )
    length = np.linalg.norm(points, axis=-1)
    np.testing.assert_allclose(points[returned], (length[..., None] * direction)[returned], atol=1e-5)
    ground = returned[0] & (length[0] > 3)  # the lowest row ends on the ground, 3.7 m below the sensor
    np.testing.assert_allclose(points[0, ground, 2], -3.7, atol=1e-5)
    np.testing.assert_allclose(cloud[0, ground, 3], math.sin(0.9), atol=1e-6)  # cosine of incidence


def test_scan_follows_rep_117(probe, board):
    ok(probe.call(SpawnObject, "spawn_object", name="close", shape="sphere", radius=0.05, body_type="static",
                  pose=pose(to_world((-0.2, 0, 0)))))  # fmt: skip
    spawn_lidar(probe, pitch_samples=1, pitch_min=0.0, pitch_max=0.0, range_min=0.3, range_max=50.0)
    with probe.subscribed(LaserScan, "eye/lidar/scan", qos_profile_sensor_data) as messages:
        scan = next_message(probe, messages)
    ranges = np.array(scan.ranges)
    angles = scan.angle_min + np.arange(len(ranges)) * scan.angle_increment
    assert len(ranges) == len(scan.intensities) == 360
    assert scan.angle_max == pytest.approx(angles[-1], abs=1e-5)
    assert (scan.range_min, scan.range_max) == pytest.approx((0.3, 50.0))
    behind = np.abs(np.abs(angles - np.pi)) < math.asin(0.05 / 0.2) - 0.01
    assert np.isneginf(ranges[behind]).all()
    # the box in the middle, seen from its front: x = 4.7
    front = np.abs(np.tan(angles) * 4.7 - 0.1) < 0.29
    front &= np.cos(angles) > 0
    np.testing.assert_allclose((ranges * np.cos(angles))[front], 4.7, atol=1e-5)
    assert np.isposinf(ranges[np.abs(angles - np.pi / 2) < 0.3]).all()


# ---- inertial ----


def test_imu_at_rest(probe):
    ok(probe.call(SpawnImu, "spawn_imu", object="still", name="imu", pose=pose((0, 0, 0.1), 0.7), acc_stddev=0.0))
    with probe.subscribed(Imu, "still/imu/imu", qos_profile_sensor_data) as messages:
        message = next_message(probe, messages, steps=200)
    force, rate, q = message.linear_acceleration, message.angular_velocity, message.orientation
    assert (force.x, force.y, force.z) == pytest.approx((0, 0, 9.81), abs=1e-6)
    assert (rate.x, rate.y, rate.z) == pytest.approx((0, 0, 0), abs=1e-6)
    assert (q.x, q.y, q.z, q.w) == pytest.approx((0, 0, math.sin(0.35), math.cos(0.35)), abs=1e-6)
    assert message.header.frame_id == "still/imu"


def test_messages_come_at_the_rate_of_the_sensor_with_exact_stamps(probe):
    def stamps():  # a paused world shows its last measurement again from time to time
        times = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec for message in messages]
        return sorted(set(times))

    ok(probe.call(SpawnImu, "spawn_imu", object="still", name="imu", update_rate=40.0))
    with probe.subscribed(Imu, "still/imu/imu", qos_profile_sensor_data) as messages:
        ok(probe.call(Step, "step", steps=5))
        probe.spin_until(stamps, "the first message")
        for number in range(1, 20):  # 15 steps: three messages
            ok(probe.call(Step, "step", steps=15))
            probe.spin_until(lambda: len(stamps()) >= 1 + 3 * number, f"{1 + 3 * number} messages")  # noqa: B023
    first = stamps()[0]
    assert first % 25_000_000 == 0
    times = stamps()
    assert len(times) in (58, 59)  # with the measurement before the first step, if the world has shown it
    assert times == [first + 25_000_000 * number for number in range(len(times))]


# ---- other ways to publish ----


def test_sweeps_rings_and_millimetres(probe, start_node):
    options = {"lidar_ring_and_time": True, "lidar_sweep": True, "depth_encoding": "16UC1"}
    start_node("/other", world=WORLD, paused=True, **options)
    lidar = {"object": "eye", "pose": pose(MOUNT), "yaw_samples": 90, "pitch_samples": 3, "pitch_min": -1.0}
    ok(probe.call(SpawnLidar, "/other/spawn_lidar", **lidar, update_rate=40.0, spin_rate=10.0))
    down = PoseMessage(orientation=Quaternion(y=math.sqrt(0.5), w=math.sqrt(0.5)))  # looks at the ground, 3.5 m below
    camera = {"object": "eye", "pose": down, "width": 40, "height": 30, "horizontal_fov": 0.5, "update_rate": 20.0}
    ok(probe.call(SpawnDepthCamera, "/other/spawn_depth_camera", **camera))
    clouds, image = [], None
    with (
        probe.subscribed(PointCloud2, "/other/eye/lidar/points", qos_profile_sensor_data) as sweeps,
        probe.subscribed(Image, "/other/eye/camera/depth/image", qos_profile_sensor_data) as images,
    ):
        ok(probe.call(Step, "/other/step", steps=5))
        probe.spin_until(lambda: sweeps, "a sweep")
        for _ in range(4):
            before = len(sweeps)
            ok(probe.call(Step, "/other/step", steps=5))
            probe.spin_until(lambda: len(sweeps) > before, "the next sweep")  # noqa: B023
        clouds = sweeps[-4:]
        probe.spin_until(lambda: images, "an image")
        image = images[-1]
    assert sum(cloud.width for cloud in clouds) == 90  # four quarters of a revolution
    names = {field.name: field for field in clouds[0].fields}
    assert list(names) == ["x", "y", "z", "intensity", "ring", "time"]
    for cloud in clouds:
        data = np.frombuffer(bytes(cloud.data), np.uint8).reshape(3, cloud.width, cloud.point_step)
        ring = data[..., names["ring"].offset :][..., :2].copy().view(np.uint16)[..., 0]
        times = data[..., names["time"].offset :][..., :4].copy().view(np.float32)[..., 0]
        np.testing.assert_array_equal(ring, np.arange(3)[:, None].repeat(cloud.width, 1))
        np.testing.assert_allclose(times, np.arange(cloud.width)[None, :].repeat(3, 0) / 900, atol=1e-7)
    assert (image.encoding, image.step) == ("16UC1", 80)
    np.testing.assert_array_equal(np.frombuffer(bytes(image.data), np.uint16), 3500)


# ---- a robot ----


def test_sensors_of_a_robot_see_the_room_through_its_frames(probe, start_node):
    start_node("/room", world=resource("worlds/sensor_room.xml"), paused=True, frame_prefix="room/")
    ok(probe.call(Step, "/room/step", steps=500))
    with probe.subscribed(PointCloud2, "/room/scout/lidar/points", qos_profile_sensor_data) as messages:
        messages.clear()
        ok(probe.call(Step, "/room/step", steps=50))
        probe.spin_until(lambda: messages, "a cloud")
    cloud = cloud_of(messages[-1])[..., :3]
    links = ("room/scout", "room/scout/base_link", "room/scout/mast", "room/scout/lidar")
    frames = transforms(probe, links, "/room/step")
    matrix, frame = np.eye(4), messages[-1].header.frame_id
    assert frames[frame][0] == "room/scout/mast"
    while frame != "room/world":
        frame, step = frames[frame][0], frames[frame][1]
        matrix = step @ matrix
    points = cloud[np.isfinite(cloud[..., 0])] @ matrix[:3, :3].T + matrix[:3, 3]
    assert len(points) > 20_000
    assert np.abs(points[:, :2]).max() < 4.0 + 1e-3  # nothing behind the walls
    assert points[:, 2].min() > -1e-3  # or below the floor
    on_walls = np.abs(np.abs(points[:, :2]).max(axis=1) - 4.0) < 1e-3
    assert on_walls.mean() > 0.3


# ---- life ----


def test_sensors_go_with_their_topics_and_frames(probe, shared_node):
    spawn_camera(probe)
    spawn_lidar(probe)
    topics = {"/eye/camera/depth/image", "/eye/lidar/points"}
    probe.spin_until(lambda: topics <= probe.topics(), "topics of the sensors")
    ok(probe.call(RemoveSensor, "remove_sensor", object="eye", name="lidar"))
    probe.wait_for_topics_to_go(lambda topic: topic == "/eye/lidar/points")
    assert "/eye/camera/depth/image" in probe.topics()
    ok(probe.call(RemoveObject, "remove_object", name="eye"))
    probe.wait_for_topics_to_go(lambda topic: topic == "/eye/camera/depth/image")
    ok(probe.call(Step, "step", steps=10))


@pytest.mark.parametrize(
    ("service", "kind", "fields", "code", "named"),
    [
        ("spawn_lidar", SpawnLidar, {"object": "nobody"}, ResultCode.UNKNOWN_OBJECT, "nobody"),
        ("spawn_lidar", SpawnLidar, {"update_rate": 1e200}, ResultCode.INVALID_VALUE, "update_rate"),
        ("spawn_lidar", SpawnLidar, {"name": ""}, ResultCode.NAME_TAKEN, "empty"),
        ("spawn_lidar", SpawnLidar, {"update_rate": 0.0}, ResultCode.INVALID_VALUE, "update_rate"),
        ("spawn_lidar", SpawnLidar, {"yaw_samples": 10**6, "pitch_samples": 1000}, ResultCode.INVALID_VALUE, "rays"),
        ("spawn_lidar", SpawnLidar, {"link": "arm"}, ResultCode.INVALID_VALUE, "arm"),
        ("spawn_lidar", SpawnLidar, {"noise_type": "pink"}, ResultCode.INVALID_VALUE, "pink"),
        ("spawn_depth_camera", SpawnDepthCamera, {"horizontal_fov": 0.0}, ResultCode.INVALID_VALUE, "fov"),
        ("spawn_depth_camera", SpawnDepthCamera, {"kind": "smell"}, ResultCode.INVALID_VALUE, "smell"),
        ("spawn_depth_camera", SpawnDepthCamera, {"pose": pose((math.nan, 0, 0))}, ResultCode.INVALID_VALUE, "pose"),
        ("spawn_imu", SpawnImu, {"update_rate": math.inf}, ResultCode.INVALID_VALUE, "update_rate"),
        ("remove_sensor", RemoveSensor, {"name": "nothing"}, ResultCode.UNKNOWN_OBJECT, "nothing"),
        ("ray_test", RayTest, {"length": -1.0, "direction": Vector3(x=1.0)}, ResultCode.INVALID_VALUE, "length"),
        ("ray_test", RayTest, {"direction": Vector3()}, ResultCode.INVALID_VALUE, "direction"),
    ],
)
def test_wrong_requests_are_refused_and_change_nothing(probe, service, kind, fields, code, named):
    owner = {"object": "eye"} if service != "ray_test" else {}
    response = probe.call(kind, service, **(owner | fields))
    assert response.result == code, response.message
    assert named in response.message
    assert not any(topic.startswith("/eye/") and topic.count("/") > 2 for topic in probe.topics())


def test_ray_test(probe, board):
    middle = to_world(BOARD["middle"])
    direction = turn(YAW) @ (1.0, 0.0, 0.0)
    start = middle - 2.0 * direction
    fields = {"start": Point(**dict(zip("xyz", start, strict=True))), "length": 5.0}
    fields["direction"] = Vector3(**dict(zip("xyz", 3 * direction, strict=True)))
    hit = ok(probe.call(RayTest, "ray_test", **fields))
    assert (hit.hit, hit.object) == (True, "middle")
    assert hit.distance == pytest.approx(1.7, abs=1e-9)
    assert (hit.normal.x, hit.normal.y, hit.normal.z) == pytest.approx(tuple(-direction), abs=1e-9)
    missed = ok(probe.call(RayTest, "ray_test", **fields, ignored_object="middle"))
    assert not missed.hit
