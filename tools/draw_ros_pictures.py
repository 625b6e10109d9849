"""Draw the pictures of the examples over ROS: each runs on a node that records, and a moment of the recording is drawn.

    python tools/draw_ros_pictures.py [NAME ...]
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from raisim_ros import Recording, View

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "images" / "gallery"
SIZE = (560, 315)


@dataclass
class Shot:
    """How an example is run and where it is seen from."""

    view: View | None = None  # none: all that there is
    world: str = "empty.xml"
    share: float = 1.0  # of the simulated time that was recorded
    seconds: float = 90.0  # of wall time after which it is ended; some go on for ever
    namespaces: tuple[str, ...] = ("",)


SHOTS = {
    "ros_hover": Shot(View((2.6, -5.2, 3.0), (0.3, 0.0, 1.3)), "default.xml", seconds=12.0),
    "ros_spawn_and_watch": Shot(View((4.0, -4.4, 3.0), (0.0, 0.0, 1.2)), "default.xml", seconds=12.0),
    "ros/balance_cartpole": Shot(),
    "ros/walk_quadruped": Shot(),
    "ros/walk_with_policy": Shot(),
    "ros/drive_and_map": Shot(View((2.4, -4.6, 4.0), (0.6, 0.6, 0.0))),
    "ros/pick_and_place": Shot(View((1.9, -1.1, 1.1), (0.35, 0.2, 0.3)), share=0.55),
    "ros/knock_over_tower": Shot(View((2.2, -3.0, 1.5), (0.1, 0.0, 0.6)), share=0.35),
    "ros/two_worlds": Shot(View((1.6, -2.2, 4.9), (0.0, 0.0, 4.3)), namespaces=("earth", "moon")),
    "ros/repeat_steps": Shot(View((1.5, -2.1, 1.2), (0.1, 0.0, 0.45)), share=0.45),
}


def start_node(namespace: str, world: str, recording: Path) -> subprocess.Popen[bytes]:
    """A node that waits for its example, and writes everything to the recording."""
    allowed = f"allowed_folders:=default:{recording.parent}"
    parameters = [f"world:={world}", f"record:={recording}", "record_sensors:=false", allowed]
    arguments = [part for one in parameters for part in ("-p", one)]
    remap = ["-r", f"__ns:=/{namespace}"] if namespace else []
    return subprocess.Popen([sys.executable, "-m", "raisim_ros.ros.world_node", "--ros-args", *remap, *arguments])


def end(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(20.0)
    except subprocess.TimeoutExpired:
        process.kill()


def run_example(path: Path, seconds: float) -> None:
    """To its end, or for so long."""
    example = subprocess.Popen([sys.executable, str(path)])
    try:
        if example.wait(seconds) != 0:
            raise SystemExit(f"{path.name} failed")
    except subprocess.TimeoutExpired:
        end(example)


def draw(name: str, shot: Shot) -> None:
    """Pictures of several worlds stand side by side."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.raisim" for number in range(len(shot.namespaces))]
        spaces = zip(shot.namespaces, files, strict=True)
        nodes = [start_node(namespace, shot.world, file) for namespace, file in spaces]
        try:
            run_example(ROOT / "examples" / f"{name}.py", shot.seconds)
        finally:
            for node in nodes:
                end(node)
        pictures = []
        for file in files:
            recording = Recording(file)
            first, last = (float(recording.times[k]) for k in (0, -1))
            world = recording.world(recording.frame_at(first + shot.share * (last - first)))
            pictures.append(world.render(shot.view, SIZE[0] // len(files), SIZE[1], "best"))
    out = OUT / f"{name.replace('/', '_')}.jpg"
    Image.fromarray(np.hstack(pictures)).save(out, quality=86, optimize=True, progressive=True)


def main(names: list[str]) -> None:
    """Draw all, or those that are named, in a ROS domain that nobody else is likely to use."""
    os.environ.update(ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST", ROS_DOMAIN_ID="93")
    for name, shot in SHOTS.items():
        if not names or Path(name).name in names:
            print(name, flush=True)
            draw(name, shot)


if __name__ == "__main__":
    main(sys.argv[1:])
