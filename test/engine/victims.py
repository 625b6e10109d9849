"""A program to be ended at a random moment, and what it started."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

# Steps, records and saves: its arguments are the world file and the recording.
PROGRAM = """
import sys
from raisim_ros import World
from raisim_ros.description.resources import resource
world = World()
world.add_ground()
for _ in range(20):
    world.add_sphere(0.1, 1.0)
world.add_articulated_system(resource("robots/arm.urdf"))
print("ready", flush=True)
while True:
    world.start_recording(sys.argv[2])
    world.integrate(50)
    world.export_to_xml(sys.argv[1])
    world.stop_recording()
"""


def descendants(pid: int) -> set[int]:
    """Processes that a process has started, and theirs."""
    found: set[int] = set()
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                found |= {child, *descendants(child)}
    return found


def shared_memory(pid: int) -> set[Path]:
    """Segments of the middleware that a process, not another one, has made. Ports are not among them: they are used again."""
    with suppress(OSError):
        mapped = set(re.findall(r"/dev/shm/fast[a-z]+_[0-9a-f]{8,}", Path(f"/proc/{pid}/maps").read_text()))
        opened = {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()}
        return {Path(name) for name in mapped if f"{name}_el" in opened}
    return set()


def assert_quick(end):
    """`end()` takes less than a second, or as many times that as processes share a processor of this machine."""
    durations = []
    while not durations or durations[-1] >= max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)):
        assert len(durations) < 3, durations
        durations.append(end())
