"""Programs ended while they write, as often as asked: python test/soak/writers.py --count 1000 [--seed N]

Children of one process, which start in milliseconds, write world files, stored worlds, snapshots, recordings, MuJoCo models,
robots, meshes and grains to the same names, and are ended by SIGKILL, SIGTERM or SIGINT at any moment. After each, every file
can be read; at the end no temporary file is left. For nodes, viewers and clients see kills.py.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from raisim_ros import Recording, World, WorldSnapshot, load_mesh
from raisim_ros.description.resources import resource

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def make_world() -> World:
    world = World()
    world.add_ground()
    for k in range(5):
        world.add_sphere(0.1, 1.0).set_position(0.3 * k, 0.0, 0.5)
    world.add_articulated_system(resource("robots/arm.urdf")).set_name("arm")
    world.add_mesh(resource("meshes/unit_sphere.obj"), 1.0).set_position(0.0, 2.0, 2.0)
    world.add_granular_particles(np.array([(3.0, 0.1 * k, 0.2) for k in range(20)]), 0.04).set_name("grains")
    return world


def write_for_ever(folder: Path, ready: int) -> None:
    """What the child does."""
    world = make_world()
    robot, grains = world.get_object("arm"), world.get_object("grains")
    while True:
        world.start_recording(folder / "run.raisim", 200.0)
        world.integrate(20)
        world.export_to_xml(folder / "world.xml")
        world.save(folder / "world.stored")
        world.save_snapshot().save(folder / "snapshot.stored")
        world.stop_recording()
        world.export_to_mjcf(folder / "model" / "model.xml")
        robot.export_robot_description_to_urdf(folder / "arm.urdf")
        world.export_mesh_assets_to_obj(folder / "meshes")
        grains.save_granular_state(folder / "grains.npz")
        os.write(ready, b".")


READERS: dict[str, Callable[[Path, World], object]] = {
    "world.xml": lambda path, _: World(path).integrate(),
    "world.stored": lambda path, _: World.from_saved(path).integrate(),
    "snapshot.stored": lambda path, world: world.restore_snapshot(WorldSnapshot.from_saved(path)),
    "run.raisim": lambda path, _: len(Recording(path)),
    "arm.urdf": lambda path, _: World().add_articulated_system(path),
    "meshes/mesh_0.obj": lambda path, _: load_mesh(path),
    "grains.npz": lambda path, world: world.get_object("grains").load_granular_state(path),
}


def kill_one(folder: Path, rng: random.Random) -> int:
    """A child, ended at a random moment; the signal."""
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            write_for_ever(folder, told)
        finally:
            os._exit(1)
    os.read(ready, 1)
    os.close(ready)
    os.close(told)
    time.sleep(rng.uniform(0.0, 0.25))
    number = rng.choice(SIGNALS)
    os.kill(child, number)
    os.waitpid(child, 0)
    return int(number)


def main() -> int:
    parser = argparse.ArgumentParser(description="Programs ended while they write.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    seed = int(time.time()) if options.seed is None else options.seed
    rng, faults, looks = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(options.count):
            ended = kill_one(folder, rng)
            world = make_world()
            for file, read in READERS.items():
                try:
                    if (folder / file).exists():
                        read(folder / file, world)
                        looks += 1
                except Exception as error:
                    faults.append(f"kill {number} (signal {ended}), {file}: {type(error).__name__}: {error}")
                    print(faults[-1], flush=True)
            if (number + 1) % 50 == 0:
                print(f"{number + 1} kills, {looks} files read, {len(faults)} faults", flush=True)
        make_world().export_to_xml(folder / "world.xml")  # removes what killed processes left beside it
        faults += [f"left: {path.name}" for path in folder.iterdir() if "raisim_ros_tmp" in path.name]
    print(f"seed {seed}: {options.count} kills, {looks} files read, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
