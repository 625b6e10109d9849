"""A node under load: 1000 objects at 30 Hz each, `states` at 100 Hz, lidar, depth, 200 requests/s, bad subscribers.

    python bench/ros_load.py

Everything is subscribed from other processes. One of them is stopped in the middle and never reads again, another one
is killed. Told are the real-time factor, the computing time of the node for a second of simulation, and how evenly
/clock came.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(151 + os.getpid() % 50))

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, PointCloud2

from raisim_ros import srv
from raisim_ros.msg import ObjectState, ObjectStateArray, ResultCode, WorldState
from raisim_ros.ros import qos

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, table

OBJECTS, OBJECT_RATE, STATES_RATE, REQUEST_RATE = 1000, 30.0, 100.0, 200.0
WARM_UP, SECONDS = 5.0, 20.0  # of wall time
SENSORS = """<sensor_set name="head">
  <sensor name="lidar" type="spinning_lidar" update_rate="10"><origin xyz="0 0 1.0"/><yaw samples="1024"/>
    <pitch samples="16" min_angle="-0.4" max_angle="0.2"/><spin rate="10"/><range min="0.1" max="100"/></sensor>
  <sensor name="camera" type="depth" update_rate="10"><origin xyz="0.3 0 1.0"/>
    <camera horizontal_fov="1.5"><image width="320" height="240"/><clip near="0.1" far="100"/></camera></sensor>
</sensor_set>"""
WORLD = f"""<raisim version="1.0"><time_step value="0.002"/><objects><ground name="ground"/>
  <box name="watcher" mass="1" body_type="static" sensor="[THIS_DIR]/head.xml"><dim x="0.4" y="0.4" z="0.4"/>
    <state pos="0 0 0.2"/></box>
  <array idx="@@i" start="0" end="{OBJECTS - 1}" increment="1"><box name="box_@@i" mass="1">
    <dim x="0.3" y="0.3" z="0.3"/>
    <state pos="{{(2 + 0.02 * @@i) * cos(2.4 * @@i)}} {{(2 + 0.02 * @@i) * sin(2.4 * @@i)}} 0.4"/>
  </box></array></objects></raisim>"""


def receiver() -> None:
    """A process that subscribes to every object and lets the middleware take what comes."""
    rclpy.init()
    node = Node("receiver")
    for number in range(OBJECTS):
        node.create_subscription(ObjectState, f"box_{number}/state", lambda _: None, QoSProfile(depth=1), raw=True)
    print("ready", flush=True)
    time.sleep(3600.0)


def slow_subscriber() -> None:
    """A process that wants every `states` and image, reliably where it can."""
    rclpy.init()
    node = Node(f"slow_{os.getpid()}")
    node.create_subscription(ObjectStateArray, "states", lambda _: None, qos.STATE_ARRAY, raw=True)
    node.create_subscription(Image, "watcher/camera/depth/image", lambda _: None, qos_profile_sensor_data, raw=True)
    print("ready", flush=True)
    rclpy.spin(node)


@dataclass
class Counts:
    """What this process has received, and when."""

    states: int = 0
    lidar: int = 0
    depth: int = 0
    sim_time: float = 0.0
    overruns: int = 0
    clock: list[tuple[float, float]] = field(default_factory=list)  # wall time, simulation time
    asked: int = 0
    answered: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)  # of requests [s]


class Client:
    """Receives the large topics, and asks."""

    def __init__(self) -> None:
        self.node = Node("client")
        self.counts = Counts()
        subscribe = self.node.create_subscription
        subscribe(ObjectStateArray, "states", self._count("states"), qos.STATE_ARRAY, raw=True)
        subscribe(PointCloud2, "watcher/lidar/points", self._count("lidar"), qos_profile_sensor_data, raw=True)
        subscribe(Image, "watcher/camera/depth/image", self._count("depth"), qos_profile_sensor_data, raw=True)
        subscribe(WorldState, "world/state", self._note_state, qos.STATE)
        subscribe(Clock, "/clock", self._note_clock, qos.CLOCK)
        self._deep = QoSProfile(depth=1000)
        self._clients = deque(
            (self.node.create_client(kind, name, qos_profile=self._deep), kind, fields)
            for kind, name, fields in (
                (srv.GetObjectInfo, "get_object_info", {"name": "box_7"}),
                (srv.SetObjectMaterial, "set_object_material", {"name": "box_8", "material": "steel"}),
                (srv.ListObjects, "list_objects", {"type": "ground"}),
                (srv.SetCollisionFilter, "set_collision_filter", {"name": "box_9"}),
            )
        )
        for client, _, _ in self._clients:
            assert client.wait_for_service(60.0), client.srv_name

    def _count(self, name: str):
        def count(_: bytes) -> None:
            setattr(self.counts, name, getattr(self.counts, name) + 1)

        return count

    def _note_state(self, message: WorldState) -> None:
        self.counts.sim_time, self.counts.overruns = message.sim_time, message.overruns

    def _note_clock(self, message: Clock) -> None:
        self.counts.clock.append((time.monotonic(), message.clock.sec + 1e-9 * message.clock.nanosec))

    def _ask(self) -> None:
        client, kind, fields = self._clients[0]
        self._clients.rotate()
        began, counts = time.monotonic(), self.counts
        counts.asked += 1

        def answered(future) -> None:
            counts.answered += 1
            counts.refused += future.result().result != ResultCode.OK
            counts.waits.append(time.monotonic() - began)

        client.call_async(kind.Request(**fields)).add_done_callback(answered)

    def spin(self, seconds: float, rate: float) -> None:
        """Receives for a while, and asks so often."""
        began = time.monotonic()
        asked = 0
        while (now := time.monotonic() - began) < seconds:
            while asked < rate * now:
                self._ask()
                asked += 1
            rclpy.spin_once(self.node, timeout_sec=0.002)


def cpu_seconds(process_id: int) -> float:
    """Computing time of a process so far, all threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(role: str) -> subprocess.Popen[bytes]:
    """Another process of this program, when it is ready."""
    process = subprocess.Popen([sys.executable, __file__, role], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def run(folder: Path, seconds: float) -> list[list[str]]:
    """The rows of the table."""
    (folder / "head.xml").write_text(SENSORS, encoding="utf-8")
    world = folder / "world.xml"
    world.write_text(WORLD, encoding="utf-8")
    command = [sys.executable, "-m", "raisim_ros.ros.world_node", "--ros-args", "-p", f"world:={world}"]
    command += ["-p", f"state_min_rate_hz:={OBJECT_RATE}", "-p", f"states_rate_hz:={STATES_RATE}"]
    node = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    others: list[subprocess.Popen[bytes]] = []
    try:
        rclpy.init()
        client = Client()
        others = [start(role) for role in ("receiver", "slow", "slow")]
        client.spin(WARM_UP, REQUEST_RATE)
        client.counts = counts = Counts(sim_time=client.counts.sim_time, overruns=client.counts.overruns)
        began, computed, at = time.monotonic(), cpu_seconds(node.pid), counts.sim_time
        overruns = counts.overruns
        client.spin(0.25 * seconds, REQUEST_RATE)
        others[1].send_signal(signal.SIGSTOP)
        client.spin(0.25 * seconds, REQUEST_RATE)
        others[2].kill()
        client.spin(0.5 * seconds, REQUEST_RATE)
        wall, simulated = time.monotonic() - began, counts.sim_time - at
        computed = cpu_seconds(node.pid) - computed
        streams = Counts(counts.states, counts.lidar, counts.depth, clock=list(counts.clock))
        client.spin(2.0, 0.0)  # the last answers
        assert node.poll() is None, "the node has ended"
    finally:
        for process in others:
            process.kill()
            process.wait()
        node.send_signal(signal.SIGINT)
        node.wait(10.0)
        rclpy.try_shutdown()
    arrived = np.array(streams.clock)
    lateness = (arrived[:, 0] - arrived[0, 0]) - (arrived[:, 1] - arrived[0, 1])
    jitter = lateness - np.median(lateness)
    per_second = 1.0 / wall
    return [
        ["real-time factor", f"{simulated / wall:.2f}", "≥ 1"],
        ["computing time of the node for a second of simulation", f"{computed / simulated:.2f} s", "≤ 2 (cores)"],
        ["overruns", str(counts.overruns - overruns), ""],
        ["/clock: messages a second", f"{len(arrived) * per_second:.0f}", "100"],
        ["/clock: standard deviation, 99 %, largest delay", " / ".join(f"{1e3 * value:.1f} ms" for value in (
            jitter.std(), np.quantile(jitter, 0.99), jitter.max())), ""],
        ["states, lidar, depth a second", " / ".join(f"{count * per_second:.1f}" for count in (
            streams.states, streams.lidar, streams.depth)), f"{STATES_RATE:.0f} / 10 / 10"],
        ["requests a second, answered", f"{counts.asked * per_second:.0f}, {counts.answered} of {counts.asked}", "all"],
        ["requests refused", str(counts.refused), "0"],
        ["answer of a request: median, 99 %", " / ".join(
            f"{1e3 * value:.1f} ms" for value in np.quantile(counts.waits or [0.0], (0.5, 0.99))), ""],
    ]


def measure(effort: Effort) -> str:
    """Run it; the section as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = run(Path(folder), max(2.0, effort.share * SECONDS))
    return f"""### A node under load

{OBJECTS} boxes published at {OBJECT_RATE:.0f} Hz each and together at {STATES_RATE:.0f} Hz, a lidar (16 x 1024) and
a depth camera (320 x 240) at 10 Hz, all subscribed from other processes; {REQUEST_RATE:.0f} requests a second; one
subscriber is stopped, another one killed in the middle. Numbers are per second of wall time, unless they say otherwise.

{table(["", "measured", "wanted"], rows)}
"""


if __name__ == "__main__":
    roles = {"receiver": receiver, "slow": slow_subscriber}
    if len(sys.argv) > 1 and sys.argv[1] in roles:
        roles[sys.argv[1]]()
    else:
        print(measure(Effort()))
