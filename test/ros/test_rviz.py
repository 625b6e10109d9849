"""Configurations of rviz2: displays for the robots and sensors that a world has."""

import pytest
import yaml

pytest.importorskip("rclpy", reason="needs rclpy")

from pathlib import Path

from robot_calls import state, step
from service_calls import ok
from visualization_msgs.msg import MarkerArray

from raisim_ros.description.resources import resource
from raisim_ros.msg import ContactArray
from raisim_ros.ros import qos
from raisim_ros.ros.rviz_config import write_config
from raisim_ros.srv import SpawnArticulatedSystem

BASE = Path(__file__).parents[2] / "config" / "world.rviz"


def displays(file):
    config = yaml.safe_load(file.read_text())
    file.unlink()
    manager = config["Visualization Manager"]
    return manager["Global Options"]["Fixed Frame"], manager["Displays"]


def test_the_robots_of_a_world_have_displays_with_their_frames():
    fixed, shown = displays(write_config(BASE, resource("worlds/robots.xml"), "lab/", {"extra": "gone.urdf"}))
    assert fixed == "lab/world"
    models = {one["Name"]: one for one in shown if one["Class"].endswith("/RobotModel")}
    assert "extra" in models
    assert len(models) > 1
    for name, model in models.items():
        assert model["TF Prefix"] == f"lab/{name}"
        assert model["Description Topic"]["Value"] == f"{name}/robot_description"
        assert model["Description Topic"]["Durability Policy"] == "Transient Local"


def test_the_sensors_of_a_world_have_displays_of_their_kind(tmp_path):
    file = tmp_path / "world.xml"
    file.write_text(
        '<raisim><objects><box name="eye" mass="1"><dim x="1" y="1" z="1"/><sensor_set name="s">'
        '<sensor name="flat" type="spinning_lidar" update_rate="10"><yaw samples="8"/>'
        '<pitch samples="1" min_angle="0" max_angle="0"/><spin rate="10"/><range min="0.2" max="30"/></sensor>'
        "</sensor_set></box></objects></raisim>"
    )
    _, shown = displays(write_config(BASE, file))
    topics = {(one["Class"].split("/")[1], one["Topic"]["Value"]) for one in shown if "Topic" in one}
    assert {("PointCloud2", "eye/flat/points"), ("LaserScan", "eye/flat/scan")} <= topics


def test_sensors_of_robot_files_have_displays_as_the_node_names_them(start_node, probe):
    """They come with the robot, of the world or spawned into it, and are the most common ones."""
    scout = str(resource("robots/scout.urdf"))
    _, shown = displays(write_config(BASE, resource("worlds/sensor_room.xml"), robots={"lab/second": scout}))
    topics = {one["Topic"]["Value"] for one in shown if one["Class"].split("/")[1] in ("PointCloud2", "LaserScan", "Image")}
    assert {topic.replace("scout/", "lab/second/") for topic in topics} == {topic for topic in topics if topic.startswith("lab")}
    start_node("/room", world="sensor_room.xml", paused=True)
    ok(probe.call(SpawnArticulatedSystem, "/room/spawn_articulated_system", name="lab/second", file=scout))
    kinds = ("/points", "/scan", "/depth/image", "/color/image")
    probe.spin_until(lambda: {f"/room/{topic}" for topic in topics} == {topic for topic in probe.topics() if topic.startswith("/room/") and topic.endswith(kinds)}, "the topics of the displays")
    assert len(topics) >= 6


@pytest.mark.usefixtures("fresh_world")
def test_contact_forces_are_drawn_where_they_act(probe):
    with (
        probe.subscribed(MarkerArray, "contact_markers") as markers,
        probe.subscribed(ContactArray, "contacts", qos.STATE_ARRAY) as contacts,
    ):
        step(probe, 200)
        last = state(probe, "box_0").header.stamp
        probe.spin_until(lambda: contacts and contacts[-1].header.stamp == last, "the contacts")
        probe.spin_until(lambda: markers and markers[-1].markers[0].header.stamp == last, "the markers")
    (marker,) = markers[-1].markers
    assert (marker.ns, marker.id, marker.header.frame_id) == ("contacts", 0, "world")
    assert len(marker.points) == 2 * len(contacts[-1].contacts) > 0
    for number, contact in enumerate(contacts[-1].contacts):
        begin, end = marker.points[2 * number : 2 * number + 2]
        assert (begin.x, begin.y, begin.z) == (contact.position.x, contact.position.y, contact.position.z)
        force = contact.impulse.z / contacts[-1].time_step
        if abs(force) < 50.0:
            assert end.z - begin.z == pytest.approx(0.01 * force, abs=1e-9)


def test_a_broken_world_leaves_the_plain_configuration(tmp_path):
    file = tmp_path / "broken.xml"
    file.write_text("<raisim>")
    fixed, shown = displays(write_config(BASE, file))
    assert fixed == "world"
    assert {one["Name"] for one in shown} == {"Grid", "Objects", "Contact forces", "Frames"}
