"""Five ways that data go through the package: hops to the engine, all functions that ran, calls of the engine.

A hop is a function of the package that waits while the engine is given, or asked for, what the way is about.

    python tools/trace_walks.py

prints the rows of the table in docs/architecture.md. Ways that end in messages need ROS 2.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from traceback import walk_stack
from types import FrameType
from typing import Any

import raisim_ros
from raisim_ros import World
from raisim_ros.engine.sensors.vision import SpinningLidar
from raisim_ros.msg import ObjectCmd
from raisim_ros.ros.conversions import stamp
from raisim_ros.ros.objects.commands import Commands, StaleAction, Watchdog
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.sensors.messages import SensorOptions, make_channel
from raisim_ros.ros.sensors.table import SensorTable

PACKAGE = Path(raisim_ros.__file__).parent

WORLD = """<raisim version="1.0"><objects><box name="b" mass="2" collision_group="3"
  linear_damping="0.1" angular_damping="0.1 0.1 0.1" gyroscopic_mode="energy_conserving" appearance="red">
  <dim x="0.2" y="0.3" z="0.4"/><state pos="0 0 1" lin_vel="0 0 1" ang_vel="0 1 0"/></box></objects></raisim>"""
LINK = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
ROBOT = f"""<robot name="r"><link name="a">{LINK}</link><link name="b">{LINK}</link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="10" velocity="10"/></joint></robot>"""
SENSORS = """<sensor_set name="s"><sensor name="lidar" type="spinning_lidar" update_rate="10"><yaw samples="64"/>
  <pitch samples="4" min_angle="-0.2" max_angle="0.2"/><range min="0.1" max="10"/></sensor></sensor_set>"""


class Walk:
    """Notes what runs while it is entered, and prints a row of the table; `goal`: the engine's function at its end."""

    def __init__(self, name: str, goal: str) -> None:
        self._name, self._goal = name, goal
        self._hops: list[str] = []  # their files
        self._functions: set[tuple[str, int]] = set()
        self._calls = 0

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        name = getattr(argument, "__name__", "") if event == "c_call" else ""
        if event == "call" and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            self._functions.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
        elif name.startswith("rs_"):
            self._calls += 1
        if name == self._goal and not self._hops:
            files = [waiting.f_code.co_filename for waiting, _ in walk_stack(frame)]
            self._hops = [file for file in files if Path(file).is_relative_to(PACKAGE)]

    def __enter__(self) -> None:
        sys.setprofile(self._note)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        assert self._hops, f"{self._goal} was not called"
        files = len({file for file, _ in self._functions})
        hops = f"{len(self._hops)} in {len(set(self._hops))}"
        print(f"| {self._name} | {hops} | {len(self._functions)} in {files} | {self._calls} |")


class Sink:
    """A publisher that drops what it is given."""

    def publish(self, message: Any) -> None:
        """Nothing."""

    def get_subscription_count(self) -> int:
        """As if one listened."""
        return 1


def main() -> None:
    """Print all rows."""
    folder = Path(tempfile.mkdtemp())
    for name, text in (("world.xml", WORLD), ("robot.urdf", ROBOT), ("sensors.xml", SENSORS)):
        (folder / name).write_text(text)
    with Walk("file → object", "rs_body_create"):
        world = World(folder / "world.xml")
    world.read_states(True)
    with Walk("states of all objects", "rs_world_read_states"):
        world.read_states(True)
    box = world.get_obj_list()[0]
    objects = ObjectTable(world)
    row = objects.add(box, "b", spawned=False)
    commands = Commands(Watchdog(0.5, StaleAction.RELEASE), lambda *_: None, lambda *_: None)
    world.integrate()
    with Walk("command → velocity", "rs_object_set_command_pose"):
        commands.accept(row, ObjectCmd(enable_position_controller=True), 0)
        world.integrate()
    made = world.add_sensor_set(box, folder / "sensors.xml")
    assert isinstance(made.get_sensors()[0], SpinningLidar)
    channel = make_channel(SensorTable(world, objects, FrameNames("world")).entries()[0], SensorOptions())
    with Walk("lidar → bytes (one measurement)", "rs_world_scan_cloud"):
        channel.publish(dict.fromkeys(channel.topics, Sink()), stamp(0.0))
    with Walk("URDF → dynamics", "rs_articulation_create"):
        world.add_articulated_system(folder / "robot.urdf")
    with Walk("snapshot saved", "rs_snapshot_save"):
        snapshot = world.save_snapshot()
    with Walk("snapshot restored", "rs_snapshot_restore"):
        world.restore_snapshot(snapshot)


if __name__ == "__main__":
    main()
