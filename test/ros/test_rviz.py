"""Configurations of rviz2: displays for the robots and sensors that a world has."""

import pytest
import yaml

pytest.importorskip("rclpy", reason="needs rclpy")

from pathlib import Path

from raisim_ros.description.resources import resource
from raisim_ros.ros.rviz_config import write_config

BASE = Path(__file__).parents[2] / "config" / "world.rviz"


def displays(file):
    config = yaml.safe_load(file.read_text())
    file.unlink()
    manager = config["Visualization Manager"]
    return manager["Global Options"]["Fixed Frame"], manager["Displays"]


def test_the_robots_of_a_world_have_displays_with_their_frames():
    fixed, shown = displays(write_config(BASE, resource("worlds/robots.xml"), "lab/", ("extra",)))
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


def test_a_broken_world_leaves_the_plain_configuration(tmp_path):
    file = tmp_path / "broken.xml"
    file.write_text("<raisim>")
    fixed, shown = displays(write_config(BASE, file))
    assert fixed == "world"
    assert {one["Name"] for one in shown} == {"Grid", "Objects", "Frames"}
