"""Real-time factor of a robot with lidar, depth camera and 1 kHz state, all subscribed from another process.

    python bench/sensors_ros.py

The node runs as fast as it can; a quadruped stands among boxes, its lidar (64 x 1024) and depth camera (640 x 480)
measure ten times a second of simulation time. This process receives everything and counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(151 + os.getpid() % 50))

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image, PointCloud2

from raisim_ros.description.resources import resource
from raisim_ros.msg import ObjectState, WorldState
from raisim_ros.ros import qos

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, table

TARGET = 1.0
SECONDS = 10.0  # of wall time
SENSORS = """<sensor_set name="head">
  <sensor name="lidar" type="spinning_lidar" update_rate="10"><origin xyz="0 0 0.3"/><yaw samples="1024"/>
    <pitch samples="64" min_angle="-0.4" max_angle="0.2"/><spin rate="10"/><range min="0.1" max="100"/></sensor>
  <sensor name="camera" type="depth" update_rate="10"><origin xyz="0.3 0 0.2"/>
    <camera horizontal_fov="1.5"><image width="640" height="480"/><clip near="0.1" far="100"/></camera></sensor>
</sensor_set>"""
JOINT = """<joint name="head_mount" type="fixed"><parent link="base"/><child link="head_of_sensors"/></joint>
  <link name="head_of_sensors" sensor="SENSORS"/>
</robot>"""


def write_world(folder: Path) -> Path:
    """The quadruped with sensors on its trunk, and boxes around it."""
    robot = Path(resource("robots/quadruped.urdf")).read_text(encoding="utf-8")
    base = robot.split('<link name="')[1].split('"')[0]
    (folder / "head.xml").write_text(SENSORS, encoding="utf-8")
    joint = JOINT.replace("SENSORS", "head.xml").replace('"base"', f'"{base}"')
    (folder / "robot.urdf").write_text(robot.replace("</robot>", joint), encoding="utf-8")
    world = folder / "world.xml"
    world.write_text(
        """<raisim version="1.0"><time_step value="0.001"/><objects><ground name="ground"/>
        <array idx="@@i" start="0" end="199" increment="1"><box name="box_@@i" mass="1" body_type="static">
          <dim x="0.8" y="0.6" z="0.7"/>
          <state pos="{(3 + 0.08 * @@i) * cos(2.4 * @@i)} {(3 + 0.08 * @@i) * sin(2.4 * @@i)} 0.35"/>
        </box></array>
        <articulated_system name="robot" urdf_path="[THIS_DIR]/robot.urdf"/></objects></raisim>""",
        encoding="utf-8",
    )
    return world


class Counter:
    """Receives everything, as bytes, and counts."""

    def __init__(self) -> None:
        self.node = Node("counter")
        self.received = dict.fromkeys(("lidar", "depth", "state"), 0)
        self.sim_time = 0.0
        for name, (kind, topic, profile) in {
            "lidar": (PointCloud2, "robot/lidar/points", qos_profile_sensor_data),
            "depth": (Image, "robot/camera/depth/image", qos_profile_sensor_data),
            "state": (ObjectState, "robot/state", qos.STATE),
        }.items():
            self.node.create_subscription(kind, topic, self._counting(name), profile, raw=True)
        self.node.create_subscription(WorldState, "world/state", self._note_time, qos.STATE)

    def _counting(self, name: str):
        def count(_: bytes) -> None:
            self.received[name] += 1

        return count

    def _note_time(self, message: WorldState) -> None:
        self.sim_time = message.sim_time

    def spin(self, seconds: float) -> None:
        """Receives for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.05)


def cpu_seconds(process_id: int) -> float:
    """Computing time of a process so far, all threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Result:
    """What came out of a run."""

    wall: float
    simulated: float
    computing: float
    received: dict[str, int]


def watch(process_id: int, seconds: float) -> Result:
    """Receives from the running node, from when everything arrives."""
    counter = Counter()
    end = time.monotonic() + 60.0
    while not all(counter.received.values()):
        counter.spin(0.2)
        if time.monotonic() > end:
            raise TimeoutError(f"not everything arrives: {counter.received}")
    begin, before, counts = time.monotonic(), counter.sim_time, dict(counter.received)
    computing = cpu_seconds(process_id)
    counter.spin(seconds)
    result = Result(
        time.monotonic() - begin,
        counter.sim_time - before,
        cpu_seconds(process_id) - computing,
        {name: count - counts[name] for name, count in counter.received.items()},
    )
    counter.node.destroy_node()
    return result


def run(seconds: float) -> Result:
    """Starts the node as fast as it can, and watches it."""
    with tempfile.TemporaryDirectory() as folder:
        world = write_world(Path(folder))
        settings = {"world": world, "real_time_factor": 0.0, "state_min_rate_hz": 1000.0}
        options = [word for name, value in settings.items() for word in ("-p", f"{name}:={value}")]
        command = [sys.executable, "-m", "raisim_ros.ros.world_node", "--ros-args", *options]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        rclpy.init()
        try:
            return watch(process.pid, seconds)
        finally:
            rclpy.shutdown()
            process.terminate()
            process.wait(10.0)


def measure(effort: Effort) -> str:
    """Run it; the section as Markdown."""
    result = run(max(0.5, effort.share * SECONDS))
    rates = [f"{count / result.simulated:.1f}" for count in result.received.values()]
    factor = f"**{result.simulated / result.wall:.2f}**"
    head = ["real-time factor", "target", "computing per simulated second, all threads [s]",
            *(f"{name} messages per simulated second" for name in result.received)]
    line = [factor, f"≥ {TARGET:g}", f"{result.computing / result.simulated:.2f}", *rates]
    return f"""### A robot with sensors over ROS

A standing quadruped among 200 boxes with a lidar of 64 x 1024 rays and a depth camera of 640 x 480 pixels at 10 Hz each
and its state at 1 kHz of simulation time, step 1 ms, all subscribed by another process; the node runs as fast as it
can.

{table(head, [line])}
"""


if __name__ == "__main__":
    print(measure(Effort()))
