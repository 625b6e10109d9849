"""Sensors over ROS: motion in sweeps, rates, names, links, wrenches, quality of service, life of topics."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from types import SimpleNamespace

from geometry_msgs.msg import Point, WrenchStamped
from geometry_msgs.msg import Pose as PoseMessage
from rclpy.qos import ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import Image, Imu, LaserScan, PointCloud2
from service_calls import ok
from tf2_msgs.msg import TFMessage

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.msg import ResultCode
from raisim_ros.ros import qos
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.sensors.topics import SensorTopics
from raisim_ros.srv import RemoveSensor, SpawnDepthCamera, SpawnImu, SpawnLidar, SpawnSensorSet, Step

SPEED, WALL, COLUMNS, SPIN = 2.0, 9.0, 360, 10.0
STEP = 0.003
ROBOT = """<robot name="arm">
  <link name="world"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 0.4"/></geometry></collision></link>
  <link name="tip"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="world"/><child link="upper"/><axis xyz="1 0 0"/>
    <dynamics damping="100"/><limit lower="-3" upper="3" effort="10" velocity="10"/></joint>
  <joint name="weld" type="fixed"><parent link="upper"/><child link="tip"/><origin xyz="0 0.4 1" rpy="0 0 1.5707963267948966"/></joint>
</robot>"""
WORLD = f"""<raisim version="1.0"><time_step value="{STEP}"/><objects>
  <ground name="floor" height="-3"/>
  <box name="wall" mass="1" body_type="static"><dim x="2" y="400" z="20"/><state pos="{WALL + 1} 0 0"/></box>
  <sphere name="cart" mass="1" body_type="kinematic"><dim radius="0.1"/><state lin_vel="{SPEED} 0 0"/>
    <sensor_set name="top"><sensor name="lidar" type="spinning_lidar" update_rate="{SPIN}">
      <yaw samples="{COLUMNS}"/><pitch samples="1" min_angle="0" max_angle="0"/><spin rate="{SPIN}"/>
      <range min="0.2" max="30"/></sensor></sensor_set></sphere>
  <box name="left" mass="2"><dim x="1" y="1" z="1"/><state pos="-9 3 -2.5"/>
    <sensor_set name="feet"><sensor name="touch" type="contact" update_rate="100"/>
      <sensor name="imu" type="imu" update_rate="30"/></sensor_set>
    <sensor_set name="more"><sensor name="imu" type="imu" update_rate="100"/></sensor_set></box>
  <box name="right" mass="1" body_type="kinematic"><dim x="1" y="1" z="1"/><state pos="-9 -3 0" ang_vel="0 0 1.5"/>
    <sensor_set name="feet"><sensor name="imu" type="imu" update_rate="30"/></sensor_set></box>
  <articulated_system name="robot" urdf_path="ROBOT"><state qpos="0" base_pos="-20 0 0"/>
    <sensor_set name="eye" link="tip"><origin xyz="0.3 0 0"/>
      <sensor name="imu" type="imu" update_rate="50"/></sensor_set></articulated_system>
</objects></raisim>"""
OVERRIDES = {
    "qos_overrides./fleet/left/imu/imu.publisher.reliability": "reliable",
    "qos_overrides./fleet/left/imu/imu.publisher.depth": 9,
    "qos_overrides./fleet/right/imu/imu.publisher.reliability": "sometimes",
}


@pytest.fixture(scope="module")
def fleet(start_node, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "robot.urdf").write_text(ROBOT)
    (folder / "world.xml").write_text(WORLD.replace("ROBOT", str(folder / "robot.urdf")))
    options = {"paused": True, "lidar_sweep": True, "lidar_ring_and_time": True}
    return start_node("/fleet", world=folder / "world.xml", **options, **OVERRIDES)


def step(probe, steps):
    ok(probe.call(Step, "/fleet/step", steps=steps))


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def sensor_data(probe, kind, topic):
    return probe.subscribed(kind, f"/fleet/{topic}", qos_profile_sensor_data)


# ---- sweeps ----


def check_skew(times, angles, ranges):
    """The lidar goes straight at the wall: range (WALL - v t) / cos(angle). Returns how many rays were checked."""
    expected = (WALL - SPEED * times) / np.cos(angles)
    ahead = (np.cos(angles) > 0.35) & (expected < 29)
    np.testing.assert_allclose(ranges[ahead], expected[ahead], atol=2e-5)
    return ahead.sum()


def test_sweeps_show_the_motion_with_the_time_of_every_column(fleet, probe):
    with sensor_data(probe, PointCloud2, "cart/lidar/points") as clouds, sensor_data(probe, LaserScan, "cart/lidar/scan") as scans:
        probe.spin_until(lambda: probe.node.count_publishers("/fleet/cart/lidar/scan"), "the lidar")
        for _ in range(16):
            step(probe, 17)  # 51 ms: a sweep comes with every second, at the rate of the lidar
        probe.spin_until(lambda: len(clouds) >= 7 and len(scans) >= 7, "sweeps")
    begins, behind, checked = [], [], 0
    for cloud in clouds:
        floats = np.frombuffer(bytes(cloud.data), np.float32).reshape(cloud.width, cloud.point_step // 4)
        offset = floats[:, next(field.offset for field in cloud.fields if field.name == "time") // 4]
        np.testing.assert_allclose(offset, np.arange(cloud.width) / (COLUMNS * SPIN), atol=1e-7)
        times = seconds(cloud) + offset.astype(float)
        angles = 2 * np.pi * SPIN * times  # it looks ahead at time 0
        checked += check_skew(times, angles, np.linalg.norm(floats[:, :3], axis=1))
        begins.append(round(seconds(cloud) * COLUMNS * SPIN, 3))
        behind.append(begins[-1] + cloud.width)
    assert begins[1:] == behind[:-1]  # no column is lost, none comes twice
    for scan in scans:
        assert scan.time_increment == pytest.approx(1 / (COLUMNS * SPIN))
        times = seconds(scan) + np.arange(len(scan.ranges)) * scan.time_increment
        angles = scan.angle_min + np.arange(len(scan.ranges)) * scan.angle_increment
        np.testing.assert_allclose(np.cos(angles), np.cos(2 * np.pi * SPIN * times), atol=1e-4)
        checked += check_skew(times, angles, np.array(scan.ranges))
    assert checked > 500


# ---- rates and names ----


def test_a_rate_that_is_no_multiple_of_the_step_is_kept_on_average(fleet, probe):
    """30 Hz with steps of 3 ms: 11 or 12 steps apart, never 11.11."""
    with probe.subscribed(Imu, "/fleet/left/imu/imu", 1000) as messages:  # reliable: none gets lost
        step(probe, 1)
        for _ in range(40):  # 40 x 26 steps = 3.12 s
            step(probe, 26)
        probe.spin_until(lambda: len(messages) > 100, "messages")
    stamps = np.unique([round(seconds(message) / STEP) for message in messages])
    asked = np.arange(0, 1041, 26) + stamps[0]  # a step request shows its last state, whatever the rates
    on_time = np.array([stamp for stamp in stamps if np.floor(stamp * STEP * 30 + 1e-6) > np.floor((stamp - 1) * STEP * 30 + 1e-6)])
    assert set(stamps) <= set(on_time) | set(asked) | set(asked + 1)
    assert len(on_time) == pytest.approx(3.12 * 30, abs=1.5)
    assert set(np.diff(on_time)) == {11, 12}


def test_equal_names_on_two_objects_and_on_one(fleet, probe):
    topics = {"/fleet/left/imu/imu", "/fleet/left/imu_1/imu", "/fleet/right/imu/imu"}
    probe.spin_until(lambda: topics <= probe.topics(), "topics of all three")
    with sensor_data(probe, Imu, "left/imu/imu") as left, sensor_data(probe, Imu, "right/imu/imu") as right:
        step(probe, 400)
        probe.spin_until(lambda: left and right and left[-1].angular_velocity.z == pytest.approx(0, abs=1e-6), "both")
    assert left[-1].header.frame_id == "left/imu"
    assert right[-1].header.frame_id == "right/imu"
    assert right[-1].angular_velocity.z == pytest.approx(1.5, abs=1e-9)


def test_a_sensor_on_a_welded_link_has_its_frame_there(fleet, probe):
    """The tip is merged into the upper arm: (0, 0.4, 1) from the base, turned by a quarter; the set 0.3 along its x."""
    found = {}
    with probe.subscribed(TFMessage, "/tf_static", qos.LATCHED) as messages:
        probe.spin_until(
            lambda: any(t.child_frame_id == "robot/imu" for message in messages for t in message.transforms), "frames"
        )
        found = {t.child_frame_id: t for message in messages for t in message.transforms}
    transform = found["robot/imu"]
    assert transform.header.frame_id == "robot/upper"
    shift, turn = transform.transform.translation, transform.transform.rotation
    assert (shift.x, shift.y, shift.z) == pytest.approx((0, 0.7, 1.0), abs=1e-12)
    assert (turn.z, turn.w) == pytest.approx((np.sqrt(0.5), np.sqrt(0.5)), abs=1e-12)


def test_segmentation_by_link(fleet, probe):
    place = PoseMessage(position=Point(x=-5.0, y=-3.0, z=3.0))  # 6 m before the robot, carried by the box on the left
    place.orientation.z, place.orientation.w = 1.0, 0.0  # looks along -x
    camera = {"object": "left", "name": "eye", "pose": place, "width": 64, "height": 48, "horizontal_fov": 0.6, "far": 60.0}
    ok(probe.call(SpawnDepthCamera, "/fleet/spawn_depth_camera", **camera))
    with (
        sensor_data(probe, Image, "left/eye/segmentation") as objects,
        sensor_data(probe, Image, "left/eye/segmentation/links") as links,
    ):
        step(probe, 40)
        probe.spin_until(lambda: objects and links, "both images")
    assert (links[-1].encoding, links[-1].step) == ("32SC1", 256)
    index = [np.frombuffer(bytes(image.data), np.int32).reshape(48, 64) for image in (objects[-1], links[-1])]
    robot = index[0] == index[0][np.nonzero(index[1] == 1)][0]
    assert set(np.unique(index[1][robot])) == {0, 1}  # base, and upper arm with the tip
    np.testing.assert_array_equal(index[1] == -1, index[0] == -1)
    rows = {link: np.nonzero((index[1] == link) & robot)[0].mean() for link in (0, 1)}
    assert rows[1] < rows[0]  # the arm stands above the base
    ok(probe.call(RemoveSensor, "/fleet/remove_sensor", object="left", name="eye"))


def test_contacts_carry_the_weight(fleet, probe):
    with sensor_data(probe, WrenchStamped, "left/touch/wrench") as messages:
        step(probe, 400)
        probe.spin_until(lambda: messages, "a wrench")
    force = messages[-1].wrench.force
    assert (force.x, force.y, force.z) == pytest.approx((0, 0, 2 * 9.81), abs=1e-3)
    assert messages[-1].header.frame_id == "left/touch"


# ---- sensor files ----

SET = """<sensor_set name="extra"><origin xyz="0 0 0.5"/>
  <sensor name="gyro" type="imu" update_rate="50"><origin xyz="0.1 0 0"/></sensor>
  <sensor name="feel" type="force_torque" update_rate="50"/></sensor_set>"""


@pytest.mark.parametrize("source", ["file", "text"])
def test_sensor_files_are_spawned_by_service(fleet, probe, tmp_path, source):
    file = tmp_path / "set.xml"
    file.write_text(SET)
    request = {"object": "robot", "link": "tip", "pose": PoseMessage(position=Point(y=1.0))}
    request |= {"file": str(file)} if source == "file" else {"text": SET}
    made = ok(probe.call(SpawnSensorSet, "/fleet/spawn_sensor_set", **request))
    assert made.names == ["gyro", "feel"]
    topics = {"/fleet/robot/gyro/imu", "/fleet/robot/feel/wrench"}
    probe.spin_until(lambda: topics <= probe.topics(), "the topics")
    with probe.subscribed(TFMessage, "/tf_static", qos.LATCHED) as messages:
        found = lambda: {t.child_frame_id: t for m in messages for t in m.transforms}  # noqa: E731
        probe.spin_until(lambda: "robot/gyro" in found(), "the frame")
        shift = found()["robot/gyro"].transform.translation
    # the tip is turned by a quarter: its x is y of the arm, its y is -x
    assert (shift.x, shift.y, shift.z) == pytest.approx((-1.0, 0.4 + 0.1, 1.5), abs=1e-12)
    again = probe.call(SpawnSensorSet, "/fleet/spawn_sensor_set", **request)
    assert (again.result, "already" in again.message) == (ResultCode.INVALID_VALUE, True)
    with sensor_data(probe, WrenchStamped, "robot/feel/wrench") as wrenches:
        step(probe, 20)
        probe.spin_until(lambda: wrenches, "a wrench")
    assert wrenches[-1].header.frame_id == "robot/feel"
    ok(probe.call(RemoveSensor, "/fleet/remove_sensor", object="robot", name="feel"))
    probe.wait_for_topics_to_go(lambda topic: topic in topics)


@pytest.mark.parametrize(
    ("fields", "code", "named"),
    [
        ({}, ResultCode.INVALID_VALUE, "exactly one"),
        ({"text": SET, "file": "a.xml"}, ResultCode.INVALID_VALUE, "exactly one"),
        ({"file": "/nowhere/a.xml"}, ResultCode.MISSING_FILE, "/nowhere/a.xml"),
        ({"text": "<sensor_set"}, ResultCode.PARSE_ERROR, "text"),
        ({"text": SET.replace('"50"', '"0"', 1)}, ResultCode.PARSE_ERROR, "update_rate"),
        ({"text": SET, "link": "tail"}, ResultCode.INVALID_VALUE, "tail"),
        ({"text": SET, "object": "nobody"}, ResultCode.UNKNOWN_OBJECT, "nobody"),
    ],
)
def test_wrong_sensor_files_are_refused(fleet, probe, fields, code, named):
    response = probe.call(SpawnSensorSet, "/fleet/spawn_sensor_set", **({"object": "robot"} | fields))
    assert response.result == code, response.message
    assert named in response.message
    assert "/fleet/robot/gyro/imu" not in probe.topics()


# ---- quality of service, life ----


def test_quality_of_service_can_be_chosen_for_every_sensor(fleet, probe):
    ends = {}
    for topic in ("left/imu/imu", "left/imu_1/imu", "right/imu/imu"):
        probe.spin_until(lambda topic=topic: probe.node.get_publishers_info_by_topic(f"/fleet/{topic}"), topic)
        (end,) = probe.node.get_publishers_info_by_topic(f"/fleet/{topic}")
        ends[topic] = end.qos_profile.reliability
    assert ends["left/imu/imu"] == ReliabilityPolicy.RELIABLE
    assert ends["left/imu_1/imu"] == ReliabilityPolicy.BEST_EFFORT
    assert ends["right/imu/imu"] == ReliabilityPolicy.BEST_EFFORT  # the override has no such value
    assert "'sometimes'; expected one of" in fleet.output


def test_a_sensor_can_be_removed_and_come_back_while_somebody_listens(fleet, probe):
    lidar = {"object": "left", "name": "lidar", "yaw_samples": 90, "pitch_samples": 2, "update_rate": 50.0}
    publishers = lambda: probe.node.count_publishers("/fleet/left/lidar/points")  # noqa: E731
    ok(probe.call(SpawnLidar, "/fleet/spawn_lidar", **lidar))
    with sensor_data(probe, PointCloud2, "left/lidar/points") as messages:
        for _ in range(3):
            probe.spin_until(lambda: publishers() == 1, "the topic")
            messages.clear()
            for _ in range(100):
                step(probe, 20)
                if messages:
                    break
            assert messages
            ok(probe.call(RemoveSensor, "/fleet/remove_sensor", object="left", name="lidar"))
            step(probe, 20)
            probe.spin_until(lambda: publishers() == 0, "the end of it")
            ok(probe.call(SpawnLidar, "/fleet/spawn_lidar", **lidar))
    ok(probe.call(RemoveSensor, "/fleet/remove_sensor", object="left", name="lidar"))
    ok(probe.call(SpawnImu, "/fleet/spawn_imu", object="left", name="lidar"))  # the name is free
    ok(probe.call(RemoveSensor, "/fleet/remove_sensor", object="left", name="lidar"))
    fleet.assert_alive()


# ---- without a node ----


class FakePublisher:
    def __init__(self):
        self.subscribers = 0

    def get_subscription_count(self):
        return self.subscribers


class FakeSensor:
    def get_update_rate(self):
        return 10.0

    def number_next(self, number):
        self.number = number

    def get_name(self):
        return "fake"


def test_nothing_is_measured_for_nobody():
    sensor = FakeSensor()
    measured = []
    channel = SimpleNamespace(sensor=sensor, publish=lambda publishers, stamp, keep: measured.append(sorted(publishers)))
    entries = [SimpleNamespace(sensor=sensor)]
    table = SimpleNamespace(entries=lambda: entries, sim_time=lambda: 0.0, is_recorded=lambda: False)
    topics = SensorTopics(table, warn=lambda kind, text: pytest.fail(text))
    topics.rebuild([], 0.01)
    publishers = {"imu": FakePublisher(), "other": FakePublisher()}
    topics.attach(channel, publishers)
    due = Moment.now(10, 0.1, everything=False)
    assert not topics.due(due)
    topics.publish(due, None)
    assert measured == []
    publishers["imu"].subscribers = 1
    assert topics.due(due)
    topics.publish(due, None)
    assert measured == [["imu"]]
    early = Moment.now(11, 0.11, everything=False)
    assert not topics.due(early)
    topics.publish(early, None)
    assert measured == [["imu"]]


def test_a_sensor_that_cannot_measure_is_told_and_holds_up_nobody():
    def fail(publishers, stamp, keep):
        raise InvalidValueError("a vertex is too far away")

    sensors, measured, told = [FakeSensor(), FakeSensor()], [], []
    table = SimpleNamespace(
        entries=lambda: [SimpleNamespace(sensor=sensor) for sensor in sensors], sim_time=lambda: 0.0, is_recorded=lambda: False
    )
    topics = SensorTopics(table, warn=lambda kind, text: told.append(text))
    topics.rebuild([], 0.01)
    for sensor, publish in zip(sensors, (fail, lambda publishers, stamp, keep: measured.append(publishers)), strict=True):
        publisher = FakePublisher()
        publisher.subscribers = 1
        topics.attach(SimpleNamespace(sensor=sensor, publish=publish), {"imu": publisher})
    topics.publish(Moment.now(10, 0.1, everything=False), None)
    assert told == ["sensor 'fake' could not measure: a vertex is too far away"]
    assert len(measured) == 1
