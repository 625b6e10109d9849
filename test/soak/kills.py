"""Processes ended at random moments, as often as asked: python test/soak/kills.py --count 1000 [--seed N]

Programs that save and record, nodes (also while they start), viewers, clients and workers of long work, by SIGINT, SIGTERM
and SIGKILL. After each: no process is left, files can be read and no temporary one stays, and a node that was not the
victim answers. At the end a table, and 'N passed, M failed'.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import trimesh
from ament_index_python.packages import get_package_prefix

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from victims import PROGRAM, descendants, shared_memory

from raisim_ros import RaisimError, World
from raisim_ros.client import Client
from raisim_ros.viewer.recording import Recording

PROGRAMS = Path(get_package_prefix("raisim_ros")) / "lib" / "raisim_ros"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
ARM = "package://raisim_ros/rsc/robots/arm.urdf"
PATIENCE = 120.0  # [s]: only reached when something is broken, or a busy machine starts nodes for a minute

CLIENT = """
import sys
from raisim_ros.client import Client
with Client(sys.argv[1]) as world:
    print("ready", flush=True)
    while True:
        ball = world.spawn("", "sphere", radius=0.1, mass=1.0, allow_renaming=True)
        ball.push((1.0, 0.0, 0.0))
        world.wait(0.01)
        world.remove(ball)
"""


class Kills:
    """One kind of victim after the other, in one folder and one ROS domain."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.world, self.run = folder / "world.xml", folder / "run.raisim"
        self.seconds: dict[str, list[float]] = defaultdict(list)  # that SIGINT and SIGTERM took
        World().export_to_xml(self.world)
        # A lumpy mesh: its decomposition takes a while, and is another one each time, so that no cache has it.
        self._lumps = trimesh.creation.icosphere(subdivisions=4)
        self._victims = 0

    @contextmanager
    def process(self, *command: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
        with subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL, **options) as started:  # type: ignore[call-overload]
            try:
                yield started
            finally:
                started.kill()

    def node(self, namespace: str) -> tuple[str, ...]:
        parameters = (f"allowed_folders:=default:{self.folder}", "world:=package://raisim_ros/rsc/worlds/shapes.xml")
        return (str(PROGRAMS / "world_node"), "--ros-args", "-r", f"__ns:={namespace}", *(
            part for parameter in parameters for part in ("-p", parameter)))  # fmt: skip

    def end(self, kind: str, process: subprocess.Popen[bytes]) -> None:
        """A signal, and then no process and no broken file."""
        number = self.random.choice(SIGNALS)
        started, segments = descendants(process.pid), shared_memory(process.pid)
        began = time.monotonic()
        process.send_signal(number)
        process.wait(PATIENCE)
        if number != signal.SIGKILL:
            self.seconds[kind].append(time.monotonic() - began)
        while any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in started):
            assert time.monotonic() < began + PATIENCE, f"orphans after signal {number}"
            time.sleep(0.01)
        noted = " ".join(path.read_text() for path in Path("/dev/shm").glob(f"raisim_ros_segments_{process.pid}_*"))
        lost = [path.name for path in segments if path.exists() and path.name not in noted]  # that nobody will remove
        assert not lost, f"shared memory {lost} after signal {number}"
        self.check_files()

    def check_files(self) -> None:
        World(self.world).integrate()
        if self.run.exists():
            len(Recording(self.run))
        World().export_to_xml(self.world)  # removes what a killed process left beside it
        left = {path.suffix for path in self.folder.iterdir()}
        assert left <= {".xml", ".urdf", ".raisim", ".obj"}, left

    def kill_program(self) -> None:
        with self.process("-c", PROGRAM, str(self.world), str(self.run), stdout=subprocess.PIPE) as program:
            assert program.stdout.readline() == b"ready\n"
            time.sleep(self.random.uniform(0.0, 0.3))
            self.end("program", program)

    def kill_starting_node(self) -> None:
        with self.process(*self.node("/starting"), stdout=subprocess.DEVNULL) as node:
            time.sleep(self.random.uniform(0.0, 2.0))
            self.end("starting node", node)

    def kill_node(self) -> None:
        self._victims += 1
        name = f"victim_{self._victims}"
        with self.process(*self.node(f"/{name}"), stdout=subprocess.DEVNULL) as node, Client(name, PATIENCE) as client:
            client.call_async("start_recording", file=str(self.run), overwrite=True)
            end, number = time.monotonic() + self.random.uniform(0.0, 0.4), 0
            while time.monotonic() < end:
                number += 1
                client.call_async("spawn_object", name=f"ball_{number}", shape="sphere", radius=0.1, mass=1.0)
                client.call_async("spawn_articulated_system", name=f"arm_{number}", file=ARM)
                client.call_async("save_world", file=str(self.world), overwrite=True)
                client.call_async("remove_object", name=f"ball_{number - 1}")
                if self.random.random() < 0.2:
                    client.call_async("load_world_file", file="")
                time.sleep(0.01)
            self.end("node", node)

    def kill_client(self, world: Client) -> None:
        with self.process("-c", CLIENT, "lasting", stdout=subprocess.PIPE) as client:
            if self.random.random() < 0.7:
                assert client.stdout.readline() == b"ready\n"
            time.sleep(self.random.uniform(0.0, 0.3))
            self.end("client", client)
        world.reset(spawned=True)

    def kill_viewer(self, world: Client) -> None:
        command = (str(PROGRAMS / "viewer_node"), "--ros-args", "-r", "__ns:=/lasting", "-p", "port:=0")
        with self.process(*command, stdout=subprocess.DEVNULL) as viewer:
            time.sleep(self.random.uniform(0.0, 3.0))
            self.end("viewer", viewer)
        assert world.names()

    def kill_worker(self, world: Client, node: subprocess.Popen[bytes]) -> None:
        lumps = self._lumps.copy()
        lumps.vertices *= 1.0 + 0.3 * self.random.random() * (lumps.vertices[:, :1] * lumps.vertices[:, 1:2] > 0.1)
        lumps.export(self.folder / "lumps.obj")
        before = descendants(node.pid)
        answer = world.call_async("spawn_object", name="lumps", shape="mesh", mesh_file=str(self.folder / "lumps.obj"), mass=1.0,
                                  mesh_mode="convexify")  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not (workers := descendants(node.pid) - before) and not answer.done() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(self.random.uniform(0.0, 0.5))
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, self.random.choice(SIGNALS))
        with suppress(RaisimError):  # the answer tells that the worker has ended, or it was quicker than the signal
            answer.result(PATIENCE)
        if "lumps" in world.names():
            world.remove("lumps")


def main() -> int:
    parser = argparse.ArgumentParser(description="Processes ended at random moments.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would the victims
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(101 + seed % 100))
    os.environ["RAISIM_ROS_LAUNCHER_PID"] = str(os.getpid())  # no node outlives this
    faults: list[str] = []
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        kills = Kills(Path(name), seed)
        with kills.process(*kills.node("/lasting"), stdout=subprocess.DEVNULL) as node, Client("lasting", PATIENCE) as world:
            kinds: list[tuple[str, Callable[[], None]]] = [
                ("program", kills.kill_program),
                ("starting node", kills.kill_starting_node),
                ("node", kills.kill_node),
                ("client", lambda: kills.kill_client(world)),
                ("viewer", lambda: kills.kill_viewer(world)),
                ("worker", lambda: kills.kill_worker(world, node)),
            ]
            for number in range(options.count):
                kind, kill = kills.random.choice(kinds)
                try:
                    kill()
                    world.names()  # the lasting node answers
                except Exception as error:
                    faults.append(f"kill {number} ({kind}): {type(error).__name__}: {error}")
                    print(faults[-1], flush=True)
                count[kind] += 1
                if (number + 1) % 50 == 0:
                    print(f"{number + 1} kills, {len(faults)} faults", flush=True)
    for kind, number in sorted(count.items()):
        took = kills.seconds.get(kind, [])
        ended = f", SIGINT and SIGTERM at most {max(took):.2f} s" if took else ""
        print(f"{kind}: {number} kills{ended}")
    print(f"seed {seed}\n{options.count - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
