"""From the sensors of a world to entries of a world file."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

from raisim_ros.description.atomic_file import write_beside, write_file
from raisim_ros.description.errors import FileWriteError
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeSensor
from raisim_ros.description.sensor.export import sensor_set_text
from raisim_ros.description.urdf.export import MountedFile, foreign_parts, urdf_text
from raisim_ros.description.world.types import SensorSetEntry
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.sensors.sensor import SensorSet


def describe_sensor_sets(handle: Object) -> list[SensorSetEntry]:
    """The sensor sets of an object, but for those that its robot file brings back."""
    kept = kept_sensors(handle) if isinstance(handle, ArticulatedSystem) else {}
    return [
        SensorSetEntry(one.describe(), one.link, one.get_serial_number())
        for one in handle.get_sensor_sets()
        if one not in kept
    ]


def kept_sensors(robot: ArticulatedSystem) -> dict[SensorSet, TreeSensor]:
    """The sets that are still as the robot file says."""
    files = {sensor.link: sensor for sensor in robot.get_kinematic_tree().sensors}
    return {
        one: files[one.link]
        for one in robot.get_sensor_sets()
        if one.link in files
        and one.get_name() == one.link
        and one.model.source == files[one.link].file
        and all(sensor.get_update_rate() == sensor.model.update_rate for sensor in one)
        and one.get_serial_number() == files[one.link].serial_number
    }


def tree_with_kept_sensors(robot: ArticulatedSystem) -> KinematicTree:
    """The robot's tree; links whose sensors changed or were taken off are links like all others."""
    tree = robot.get_kinematic_tree()
    kept = list(kept_sensors(robot).values())
    return tree if len(kept) == len(tree.sensors) else replace(tree, sensors=kept)


def export_urdf(robot: ArticulatedSystem, path: Path) -> None:
    """Write a robot as a URDF file; sensors that its own files do not have go to files beside it."""
    if path.is_dir():  # before files are written beside it
        raise FileWriteError(path, "it is a folder")
    tree = tree_with_kept_sensors(robot)
    taken = {name for body in tree.bodies for name in body.links}
    mounted = []
    for number, entry in enumerate(describe_sensor_sets(robot)):
        name = _free_name(entry.model.name, taken)
        text = sensor_set_text(entry.model).encode()
        file = write_beside(path.with_name(f"{path.stem}_sensors_{number}.xml"), text)
        link = entry.link or tree.bodies[0].links[0]
        mounted.append(MountedFile(name, link, file.name, entry.serial_number))
    write_file(path, urdf_text(tree, mounted).encode())
    foreign = foreign_parts(tree)
    if foreign:
        warnings.warn(f"{path}: not part of URDF and {foreign}", RuntimeWarning, stacklevel=4)


def _free_name(wanted: str, taken: set[str]) -> str:
    """The name, with a number behind it when a link has it already; it is then taken."""
    name, number = wanted, 1
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    taken.add(name)
    return name
