"""Hours of everything: `make soak HOURS=8`. Memory, open files, threads, topics and shared memory are watched.

Two ways at once: a world in this process (spawn, remove, step, save, load, snapshots), and a node that is asked for the
same through services. At the end a summary; a number that grows without end is a fault.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from victims import shared_memory

from raisim_ros import DepthCameraModel, ImuModel, LidarModel, Recording, SensorSetModel, World
from raisim_ros.description.resources import resource
from raisim_ros.description.world.soft_entries import rectangle

PAGE = os.sysconf("SC_PAGE_SIZE")
IN_FLIGHT = 8  # requests at a time
PATIENCE = 60.0  # with an answer [s]: only reached when something is broken
ROBOT = "package://raisim_ros/rsc/robots/cartpole.urdf"
CLOTH = rectangle(0.5, 0.5, 4, 4)
SENSORS = SensorSetModel(
    name="head",
    sensors=(ImuModel(name="imu"), DepthCameraModel(name="depth", width=8, height=6), LidarModel(name="lidar", yaw_samples=32)),
)


@dataclass
class Watch:
    """What a process holds, at the beginning (after it has warmed up) and since."""

    name: str
    pid: int
    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    cycles: int = 0
    memory: list[tuple[int, float]] = field(default_factory=list)  # after so many cycles [MB]

    def look(self) -> None:
        process = Path(f"/proc/{self.pid}")
        self.last = {
            "memory [MB]": int((process / "statm").read_text().split()[1]) * PAGE / 1e6,
            "open files": len(os.listdir(process / "fd")),
            "threads": len(os.listdir(process / "task")),
            "shared memory [MB]": sum(path.stat().st_size for path in shared_memory(self.pid)) / 1e6,
        }
        self.first = self.first or dict(self.last)
        self.memory.append((self.cycles, self.last["memory [MB]"]))

    def slope(self) -> float:
        """Bytes that a cycle leaves behind: the line through the second half of the looks."""
        late = np.array(self.memory[len(self.memory) // 2 :])
        return float(1e6 * np.polyfit(late[:, 0], late[:, 1], 1)[0]) if len(late) > 2 else 0.0

    def faults(self) -> list[str]:
        limits = {"memory [MB]": 50.0, "open files": 5, "threads": 2, "shared memory [MB]": 1.0}
        return [
            f"{self.name}: {what} grew from {self.first[what]:.1f} to {self.last[what]:.1f} in {self.cycles} cycles"
            for what, most in limits.items()
            if self.last[what] > self.first[what] + most
        ]


class PythonCycle:
    """A world in this process."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = random.Random(seed)
        self._file = folder / "python.xml"
        self._world = World()
        self._world.add_ground()

    def run(self) -> None:
        world, rng = self._world, self._random
        added = [world.add_box(0.2, 0.2, 0.2, 1.0), world.add_sphere(0.1, 1.0)]
        added.append(world.add_articulated_system(resource(f"robots/{rng.choice(('arm', 'cartpole', 'scout'))}.urdf")))
        wire = world.add_stiff_wire(added[0], 0, (0, 0, 0), added[1], 0, (0, 0, 0), 1.0)
        for body in added[:2]:
            body.set_position(rng.uniform(-2, 2), rng.uniform(-2, 2), 1.0)
        added.append(world.add_deformable_cloth(CLOTH["pos"], CLOTH["triangles"], position=(4.0, 0.0, 1.0)))
        added.append(world.add_granular_particles([(6.0, 0.1 * k, 0.5) for k in range(20)], 0.04))
        added[3].pin_vertex(0, body=added[0])
        world.add_sensor_set(added[0], SENSORS)
        world.start_recording(self._file.with_suffix(".raisim"))
        snapshot = world.save_snapshot()
        world.integrate(20)
        world.restore_snapshot(snapshot)
        copy = world.clone_object(added[0], "copy")
        world.integrate(5)
        world.stop_recording()
        Recording(self._file.with_suffix(".raisim")).world(0).integrate()
        world.export_to_xml(self._file)
        World(self._file).integrate()
        world.save(self._file.with_suffix(".stored.raisim"))
        World.from_saved(self._file.with_suffix(".stored.raisim")).integrate()
        world.remove_object(wire)
        for handle in (*added, copy):
            world.remove_object(handle)
        assert len(world.get_obj_list()) == 1


class NodeCycle:
    """A node of its own, asked through services."""

    def __init__(self, folder: Path, *options: str) -> None:
        from raisim_ros.client import Client

        self._file = folder / "node.xml"
        self.faults: list[str] = []  # that are known at its end
        command = [sys.executable, "-m", "raisim_ros.ros.world_node", "--ros-args", "-r", "__ns:=/soak"]
        for option in (f"allowed_folders:=default:{folder}", *(options or ("real_time_factor:=0.0",))):
            command += ["-p", option]
        environment = {**os.environ, "RAISIM_ROS_LAUNCHER_PID": str(os.getpid())}  # it does not outlive this process
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._client = Client("soak", PATIENCE)
        except BaseException:
            self.process.kill()
            raise

    def _call_all(self, service: str, requests: list[dict[str, object]]) -> None:
        """Requests to one service, all under way at once."""
        for future in [self._client.call_async(service, **fields) for fields in requests]:
            future.result(PATIENCE)

    def run(self) -> None:
        call = self._client.call
        call("spawn_object", name="ball", shape="sphere", radius=0.1, mass=1.0)
        call("spawn_articulated_system", name="cart", file=ROBOT)
        call("spawn_deformable", name="cloth")
        call("spawn_granular", name="grains", positions=[2.0, 0.0, 1.0, 2.0, 0.2, 1.0], radii=[0.05])
        call("start_recording", file=str(self._file.with_suffix(".raisim")), overwrite=True)
        call("save_snapshot", name="moment")
        call("save_world", file=str(self._file), overwrite=True)
        call("restore_snapshot", name="moment")
        call("stop_recording")
        for name in ("ball", "cart", "cloth", "grains"):
            call("remove_object", name=name)

    def spawn_and_remove(self, first: int, count: int) -> None:
        """Objects that come and go, every tenth a robot; all are asked for before the first answer is waited for."""
        names = [f"guest_{number}" for number in range(count)]
        spheres = [k for k in range(count) if (first + k) % 10]
        robots = [k for k in range(count) if not (first + k) % 10]
        ball = {"shape": "sphere", "radius": 0.1, "mass": 1.0}
        self._call_all("spawn_object", [{"name": names[k], **ball} for k in spheres])
        carts = [{"name": names[k], "file": ROBOT, "publish_links": True} for k in robots]
        self._call_all("spawn_articulated_system", carts)
        self._call_all("remove_object", [{"name": name} for name in names])

    def topics(self) -> int:
        return len([name for name, _ in self._client.node.get_topic_names_and_types() if name.startswith("/soak")])

    def close(self) -> None:
        segments = shared_memory(self.process.pid)
        self._client.close()
        self.process.terminate()
        self.process.wait(10.0)
        self.faults = [f"the node left {path} behind" for path in segments if path.exists()]


def spawn(count: int) -> int:
    """Spawns and removes through services, so often; the exit code."""
    with tempfile.TemporaryDirectory() as name:
        node = NodeCycle(Path(name), "world:=package://raisim_ros/rsc/worlds/empty.xml")
        watch = Watch("node", node.process.pid)
        began, topics = time.monotonic(), 0
        try:
            for number in range(0, count, IN_FLIGHT):
                node.spawn_and_remove(number, min(IN_FLIGHT, count - number))
                watch.cycles += min(IN_FLIGHT, count - number)
                settled = watch.cycles >= min(500, count // 2)  # caches and the allocator
                if settled and (not watch.first or watch.cycles % max(1, count // 50) < IN_FLIGHT):
                    topics = topics or node.topics()
                    watch.look()
                    print(f"{watch.cycles} cycles in {time.monotonic() - began:.0f} s: {watch.last}", flush=True)
            watch.look()
            grown = node.topics() - topics
        finally:
            node.close()
    faults = watch.faults() + node.faults + ([f"topics grew by {grown}"] if grown > 0 else [])
    print(f"{watch.cycles} cycles; first {watch.first}; last {watch.last}; {watch.slope():.1f} bytes a cycle in the second half")
    print("\n".join(faults) or "nothing grew")
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Hours of spawning, stepping, saving and loading.")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python-only", action="store_true", help="without the node")
    parser.add_argument("--spawns", type=int, default=0, help="instead: spawn and remove so often through services")
    options = parser.parse_args()
    if options.spawns:
        return spawn(options.spawns)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cycles: list[tuple[object, Watch]] = [(PythonCycle(folder, options.seed), Watch("python", os.getpid()))]
        node = None
        if not options.python_only:
            node = NodeCycle(folder)
            cycles.append((node, Watch("node", node.process.pid)))
        end, told, topics = time.monotonic() + 3600.0 * options.hours, time.monotonic(), 0
        try:
            while time.monotonic() < end:
                for cycle, watch in cycles:
                    cycle.run()  # type: ignore[attr-defined]
                    watch.cycles += 1
                    if watch.cycles == 200 or (watch.first and watch.cycles % 50 == 0):
                        watch.look()
                        topics = topics or (node.topics() if node else 0)
                if time.monotonic() - told > 60.0:
                    told = time.monotonic()
                    print("  ".join(f"{watch.name}: {watch.cycles} cycles {watch.last}" for _, watch in cycles), flush=True)
            grown = node.topics() - topics if node and topics else 0
        finally:
            if node:
                node.close()
    faults = [text for _, watch in cycles if watch.first for text in watch.faults()]
    faults += [f"topics grew by {grown}"] if grown > 0 else []
    faults += node.faults if node else []
    for _, watch in cycles:
        print(f"{watch.name}: {watch.cycles} cycles; first {watch.first}; last {watch.last}")
    print("\n".join(faults) or "nothing grew")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
