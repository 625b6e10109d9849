"""Displays of rviz2 for the robots and sensors that a world file has, added to a configuration."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.sensor.file import load_sensor_set
from raisim_ros.description.sensor.types import DepthCameraModel, LidarModel, RGBCameraModel, SensorSetModel
from raisim_ros.description.urdf.file import load_urdf
from raisim_ros.description.world.types import ArticulatedEntry, BodyEntry, ObjectEntry, WorldDescription
from raisim_ros.description.world_file import load_world_file
from raisim_ros.engine.entries.build_articulated import entry_tree
from raisim_ros.ros import names
from raisim_ros.ros.file_address import resolve_file

_LATCHED = {"Durability Policy": "Transient Local", "Reliability Policy": "Reliable"}
_SENSOR = {"Durability Policy": "Volatile", "Reliability Policy": "Best Effort"}


def _topic(value: str, policies: dict[str, str]) -> dict[str, Any]:
    return {"Depth": 5, "History Policy": "Keep Last", "Value": value, **policies}


def robot_display(name: str, prefix: str = "") -> dict[str, Any]:
    """A RobotModel that reads the robot's own description; `prefix`: of frames."""
    return {
        "Class": "rviz_default_plugins/RobotModel",
        "Name": name,
        "Enabled": True,
        "Value": True,
        "Description Source": "Topic",
        "Description Topic": _topic(f"{name}/robot_description", _LATCHED),
        "TF Prefix": f"{prefix}{name}",
        "Visual Enabled": True,
        "Collision Enabled": False,
    }


def _robot_sensors(tree: KinematicTree) -> list[SensorSetModel]:
    return [load_sensor_set(sensor.file) for sensor in tree.sensors]


def _entry_sensors(entry: ObjectEntry) -> list[SensorSetModel]:
    """The sensor sets of an object in the order in which they are mounted: those of its robot file first."""
    sets = _robot_sensors(entry_tree(entry)) if isinstance(entry, ArticulatedEntry) else []
    if isinstance(entry, BodyEntry) and entry.sensor is not None:
        sets.append(load_sensor_set(entry.sensor))
    return sets + [one.model for one in entry.sensor_sets]


def _displays_of_sets(owner: str, sets: Iterable[SensorSetModel]) -> list[dict[str, Any]]:
    taken = {"state", "cmd"}
    displays: list[dict[str, Any]] = []
    for sensor in (sensor for one in sets for sensor in one.sensors):
        name = names.unique(names.sanitise(sensor.name).replace("/", "_") or "sensor", taken)
        taken.add(name)
        displays += _sensor_displays(f"{owner}/{name}", sensor)
    return displays


def _sensor_displays(topic: str, sensor: Any) -> list[dict[str, Any]]:
    kinds: list[tuple[str, str]] = []
    if isinstance(sensor, LidarModel):
        kinds = [("PointCloud2", f"{topic}/points")]
        if sensor.pitch_samples == 1:
            kinds.append(("LaserScan", f"{topic}/scan"))
    elif isinstance(sensor, DepthCameraModel):
        kinds = [("Image", f"{topic}/depth/image"), ("PointCloud2", f"{topic}/depth/points")]
    elif isinstance(sensor, RGBCameraModel):
        kinds = [("Image", f"{topic}/color/image")]
    return [
        {
            "Class": f"rviz_default_plugins/{kind}",
            "Name": address,
            "Enabled": kind != "Image",
            "Value": kind != "Image",
            "Topic": _topic(address, _SENSOR),
        }
        for kind, address in kinds
    ]


def world_displays(description: WorldDescription, prefix: str = "") -> list[dict[str, Any]]:
    """A display for each robot and for each sensor of the world; names are those that the node gives."""
    taken: set[str] = set()
    displays: list[dict[str, Any]] = []
    for entry in description.objects:
        name = names.sanitise(entry.name)
        if not name:
            continue  # it is named by its id, which is not known yet
        name = names.unique(name, taken)
        taken.add(name)
        if isinstance(entry, ArticulatedEntry):
            displays.append(robot_display(name, prefix))
        with contextlib.suppress(RaisimError):  # the node tells what is wrong with it
            displays += _displays_of_sets(name, _entry_sensors(entry))
    return displays


def _spawned_displays(name: str, address: str, prefix: str) -> list[dict[str, Any]]:
    displays = [robot_display(name, prefix)]
    with contextlib.suppress(RaisimError):
        displays += _displays_of_sets(name, _robot_sensors(load_urdf(resolve_file(address, "robot"))))
    return displays


def write_config(base: Path, world: Path | None, prefix: str = "", robots: Mapping[str, str] | None = None) -> Path:
    """A copy of a configuration with displays for what a world has, and for robots that are spawned into it: the
    addresses of their files, by name."""
    config = yaml.safe_load(base.read_text(encoding="utf-8"))
    displays = config["Visualization Manager"]["Displays"]
    config["Visualization Manager"]["Global Options"]["Fixed Frame"] = f"{prefix}world"
    for name, address in (robots or {}).items():
        displays += _spawned_displays(name, address, prefix)
    if world is not None:
        with contextlib.suppress(RaisimError):  # the node tells what is wrong with it
            displays += world_displays(load_world_file(world), prefix)
    with tempfile.NamedTemporaryFile("w", suffix=".rviz", prefix="raisim_ros_", delete=False) as stream:
        yaml.safe_dump(config, stream, sort_keys=False)
    return Path(stream.name)
