"""What is fuzzed: how inputs are made, and what must hold for each of them."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from api_machine import ApiMachine
from binary_inputs import MESH_SUFFIXES, HeightInputs, ImageInputs, MeshInputs
from rich_world import digest
from stored_inputs import ArrayInputs, RecordingInputs, StoredInputs, small_world
from xml_inputs import XmlInputs

from raisim_ros import (
    DivergedError,
    MeshCollisionMode,
    RaisimError,
    Recording,
    World,
    WorldSnapshot,
    load_mesh,
    load_sensor_set,
)
from raisim_ros.description.array_file import read_arrays
from raisim_ros.description.resources import resource_dir
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.world import stored
from raisim_ros.viewer.recording import RecordingFeed
from raisim_ros.viewer.scene import Wanted


class FaultError(Exception):
    """Something that must never happen did."""


def refused(check: Callable[[Path], None], path: Path) -> bool:
    """Whether a file was refused; everything but an error of ours goes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            check(path)
        except RaisimError:
            return True
    return False


def check_sound(world: World) -> None:
    if lib.rs_world_validate(world._world) != lib.RS_OK:
        raise FaultError(ffi.string(lib.rs_error_text()).decode())
    states = world.read_states()
    if not (np.isfinite(states.poses).all() and np.isfinite(states.twists).all()):
        raise FaultError("a state is not finite")


def step(world: World) -> None:
    for _ in range(3):
        try:
            world.integrate()
        except DivergedError:
            continue
        finally:
            check_sound(world)


def check_world(path: Path) -> None:
    """A world that cannot be loaded leaves the one that is there alone; one that can be steps and is saved."""
    world = World()
    world.add_box(1, 1, 1, 1).set_name("there before")
    before = world.get_state_hash(), world.get_obj_list(), world.get_time_step(), len(world.get_wires())
    try:
        world.load(path)
    except RaisimError:
        if before != (world.get_state_hash(), world.get_obj_list(), world.get_time_step(), len(world.get_wires())):
            raise FaultError("half of the world was loaded") from None
        raise
    if len(world.get_obj_list()) < 300:
        step(world)
        world.export_to_xml(path.with_name("again") / "world.xml")
        World(path.with_name("again") / "world.xml")


def check_robot(path: Path) -> None:
    world = World()
    robot = world.add_articulated_system(path)
    if robot.get_dof() < 200:
        step(world)
        robot.export_robot_description_to_urdf(path.with_name("again.urdf"))


def check_sensors(path: Path) -> None:
    load_sensor_set(path)


def check_mesh(path: Path) -> None:
    mesh = load_mesh(path)
    if len(mesh.triangles) < 5000:
        world = World()
        for mode in (MeshCollisionMode.ORIGINAL_MESH, MeshCollisionMode.CONVEX_HULL):
            refused(lambda _, mode=mode: world.add_mesh(mesh, 1.0, collision_mode=mode) and None, path)
        world.add_ground(float(mesh.vertices[:, 2].min()))
        step(world)


def check_heights(path: Path) -> None:
    world = World()
    sizes = {"x_size": 2.0, "y_size": 2.0, "height_scale": 0.01} if path.suffix == ".png" else {}
    world.add_height_map(path, **sizes)
    world.add_sphere(0.2, 1.0).set_position(0.0, 0.0, 0.5)
    step(world)


def check_stored_world(path: Path) -> None:
    """What was read steps, can be described and saved again."""
    world = World.from_saved(path)
    step(world)
    digest(world)
    world.save(path.with_name("again.raisim"))
    world.export_to_xml(path.with_name("again") / "world.xml")


@cache
def _taker() -> tuple[World, WorldSnapshot, object]:
    """A world, and what it is before each input."""
    world = small_world()
    snapshot = world.save_snapshot()
    world.restore_snapshot(snapshot)
    return world, snapshot, digest(world)


def check_snapshot(path: Path) -> None:
    """A snapshot that a world does not take leaves it as it was; its own brings it back from one that it took."""
    world, own, before = _taker()
    try:
        world.restore_snapshot(WorldSnapshot.from_saved(path))
    except RaisimError:
        if digest(world) != before:
            raise FaultError("half of the snapshot was restored") from None
        raise
    try:
        step(world)
        digest(world)
    finally:
        world.restore_snapshot(own)
    if digest(world) != before:
        raise FaultError("a snapshot of its own did not bring the world back")


def check_recording(path: Path) -> None:
    """Looked at, stepped and gone on from, as far as it says that it can be; nothing is written elsewhere."""
    recording = Recording(path)
    feed = RecordingFeed(recording)
    frame = len(recording) // 2
    feed.moment(Wanted())
    for item in feed.model().items:
        feed.describe(item.name)
        feed.quantities(item.name)
    step(recording.world(frame))
    if recording.can_branch():
        step(recording.branch(frame=frame))


def check_arrays(path: Path) -> None:
    read_arrays(path)


@dataclass(frozen=True)
class Target:
    """Files of one suffix, how they are made and what is done with them."""

    suffix: str
    inputs: Callable[[], object]
    check: Callable[[Path], None]


FILES: dict[str, Target] = {
    "world": Target("xml", lambda: XmlInputs("world"), check_world),
    "robot": Target("urdf", lambda: XmlInputs("robot"), check_robot),
    "mujoco": Target("xml", lambda: XmlInputs("mujoco"), check_world),
    "junk_world": Target("xml", lambda: XmlInputs("junk"), check_world),
    "junk_robot": Target("urdf", lambda: XmlInputs("junk"), check_robot),
    "sensor": Target("xml", lambda: XmlInputs("sensor"), check_sensors),
    "image": Target("png", ImageInputs, check_heights),
    "heights": Target("txt", HeightInputs, check_heights),
    "stored_world": Target("raisim", lambda: StoredInputs(stored.WORLD), check_stored_world),
    "snapshot": Target("raisim", lambda: StoredInputs(stored.SNAPSHOT), check_snapshot),
    "recording": Target("raisim", RecordingInputs, check_recording),
    "arrays": Target("npz", ArrayInputs, check_arrays),
    **{f"mesh_{suffix}": Target(suffix, lambda suffix=suffix: MeshInputs(suffix), check_mesh) for suffix in MESH_SUFFIXES},
}
API = "api"
KINDS = (*FILES, API)

_inputs = cache(lambda kind: FILES[kind].inputs())


def make_file(kind: str, seed: int, folder: Path) -> Path:
    """The input of that number; the same number makes the same file."""
    path = folder / f"input.{FILES[kind].suffix}"
    path.write_bytes(_inputs(kind).make(random.Random(f"{kind} {seed}")))
    for name in ("meshes/unit_sphere.obj",):
        beside = folder / Path(name).name
        if not beside.exists():
            beside.write_bytes((resource_dir() / name).read_bytes())
    return path


API_CALLS = 300  # of one world


def run_one(kind: str, seed: int, folder: Path, begin: Callable[[], object]) -> tuple[int, bool]:
    """Make and check inputs; how many, and whether the last was refused. Raises what must not happen.

    `begin` is called before every further one: each has its own time.
    """
    if kind != API:
        return 1, refused(FILES[kind].check, make_file(kind, seed, folder))
    for fault in ApiMachine(seed, folder).run(API_CALLS):
        if fault:
            raise FaultError(fault)
        begin()
    return API_CALLS, False
