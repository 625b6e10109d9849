"""Counts the instructions that fixed scenes take (callgrind) and compares them with those that are kept in guard.json.

    python bench/guard.py [--keep] [--only NAME ...]

Instructions do not depend on how busy the machine is, so that a change that makes a step dearer is seen on any machine
with the same compiler. Counted is what happens inside the engine's steps, in the build for the base: valgrind does not
know all instructions of newer processors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from raisim_ros import World
from raisim_ros.description.resources import resource

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

import scenes
from engines import RaisimRos

KEPT = Path(__file__).with_name("guard.json")
TOLERANCE = 0.03  # more than this above what is kept is a failure


def quadruped() -> World:
    """A quadruped on PD control comes down on the ground and stands."""
    world = World()
    world.set_time_step(0.002)
    world.set_sleeping_enabled(False)
    world.add_ground()
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    stance = np.array([0, 0, 0.6, 1, 0, 0, 0, *[0.0, 0.6, -1.2] * 4])
    robot.set_generalized_coordinate(stance)
    robot.set_pd_gains(np.r_[np.zeros(6), np.full(12, 200.0)], np.r_[np.zeros(6), np.full(12, 10.0)])
    robot.set_pd_target(stance, np.zeros(18))
    return world


def chain() -> World:
    """Sixty hinges in a row."""
    mass = '<inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = ['<robot name="chain"><link name="world"/>']
    for k in range(60):
        axis = "0 1 0" if k % 2 else "1 0 0"
        parent = f"l{k - 1}" if k else "world"
        parts.append(
            f'<link name="l{k}">{mass}</link><joint name="j{k}" type="continuous"><parent link="{parent}"/>'
            f'<child link="l{k}"/><origin xyz="0.1 0 -0.1"/><axis xyz="{axis}"/></joint>'
        )
    world = World()
    world.set_time_step(0.001)
    world.add_articulated_system("".join(parts) + "</robot>")
    return world


# Name -> (what makes the world, steps)
SCENES = {
    "default world": (lambda: World(resource("worlds/default.xml")), 120),
    "216 balls": (lambda: RaisimRos(scenes.balls(6, 0.01, 1.0)).world, 60),
    "kapla tower": (lambda: RaisimRos(scenes.kapla_tower()).world, 60),
    "quadruped": (quadruped, 400),
    "hinge chain": (chain, 200),
}


def run(name: str) -> None:
    """Take the steps of a scene."""
    make, steps = SCENES[name]
    make().integrate(steps)


def count(name: str) -> int:
    """Instructions of the steps of a scene."""
    with tempfile.TemporaryDirectory() as folder:
        toggles = [f"--toggle-collect={function}" for function in ("rs_world_step", "rs_world_step_within")]
        command = ["valgrind", "--tool=callgrind", *toggles, f"--callgrind-out-file={folder}/out",
                   sys.executable, __file__, "--run", name]
        environment = os.environ | {"RAISIM_ISA": "base", "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr[-2000:]}")
        found = re.search(r"^(?:summary|totals): (\d+)", (Path(folder) / "out").read_text(), re.MULTILINE)
        return int(found[1]) if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="keep what is counted now")
    parser.add_argument("--only", nargs="+", choices=list(SCENES), default=list(SCENES))
    parser.add_argument("--run", choices=list(SCENES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        run(arguments.run)
        return 0
    if shutil.which("valgrind") is None:
        raise SystemExit("bench-guard counts with valgrind, which is not installed")
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    failed = 0
    for name in arguments.only:
        now, before = count(name), kept.get(name)
        change = "" if before is None else f"{100.0 * (now / before - 1.0):+.1f} %"
        worse = before is not None and now > (1.0 + TOLERANCE) * before
        failed += worse and not arguments.keep
        print(f"{name:15} {now / 1e6:10.2f} million instructions  {change}{'  MORE' if worse else ''}", flush=True)
        kept[name] = now
    if arguments.keep:
        KEPT.write_text(json.dumps(kept, indent=2) + "\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
