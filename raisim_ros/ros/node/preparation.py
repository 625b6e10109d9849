"""What is done for a request before the world changes: reading, generating, decomposing.

The functions here run in a worker process or, where a look tells that it will be quick, in the node's own. They know
neither the world nor the node; `tell` takes a line about how far they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.errors import ParseError, RaisimError
from raisim_ros.description.file_access import temporary_folder
from raisim_ros.description.mesh.convex_decomposition import decompose, is_decomposed
from raisim_ros.description.mesh.file import convex_hull, has_hull, is_read, load_mesh
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeCollision
from raisim_ros.description.world.soft_entries import DeformableEntry, GranularEntry, filled
from raisim_ros.description.world.types import (
    ArticulatedEntry,
    HeightMapEntry,
    MeshEntry,
    ObjectEntry,
    WorldDescription,
)
from raisim_ros.description.world_file import load_world_file
from raisim_ros.engine.assets import has_asset
from raisim_ros.engine.entries.assets_ahead import assets_of_entry, assets_of_robot, mesh_mode, mesh_shapes
from raisim_ros.engine.entries.build import height_map_data
from raisim_ros.engine.entries.build_articulated import entry_tree
from raisim_ros.engine.entries.build_soft import body_parts
from raisim_ros.engine.link_mesh import is_known, link_mesh
from raisim_ros.engine.objects import body_mesh
from raisim_ros.ros.file_address import resolve_file
from raisim_ros.ros.node import requests
from raisim_ros.ros.objects.spawning import NewObject, RobotSpec
from raisim_ros.ros.soft.requests import new_deformable, new_granular

Tell = Callable[[str], object]

# Beyond these it is long: bytes of files, points of a hull, samples of terrain, grains at random places, particles of
# deformable bodies, passes of loops in a file.
_LARGE_FILE = 4_000_000
_LARGE_MESH = 200_000
_MANY_POINTS = 2_000
_LARGE_TEXT = 400_000
_LARGE_WORLD = 40_000
_MANY_SAMPLES = 250_000
_MANY_GRAINS = 500
_MANY_PARTICLES = 1_000
_MANY_PASSES = 300
_SAMPLES = re.compile(rb'[xy]_?[sS]amples\s*=\s*"\s*([^"]*)"')
# Where loops end, directly or by a parameter.
_LOOP_ENDS = re.compile(rb'(?:end|value)\s*=\s*"\s*([^"]*)"')
_SLOW_WORDS = (b"<mesh", b"convexif", b"<include", b"<mujoco", b".png", b"<emit_box", b"<build")


def _quiet(line: str) -> None:
    """Nobody wants to know."""


def _size(file: str | Path | None) -> int:
    """Bytes of a file; none if it is not there, which whoever reads it will tell."""
    try:
        return 0 if file is None else Path(file).stat().st_size
    except OSError:
        return 0


def _large(file: str | Path | None, limit: int = _LARGE_FILE) -> bool:
    return _size(file) > limit


# ---- bodies ----


def body(request: Any, tell: Tell = _quiet) -> NewObject:
    """The object of a SpawnObject request, what collides in the place of its mesh made."""
    new = requests.new_body(request)
    if isinstance(new.entry, MeshEntry):
        _make_body_mesh(new.entry, tell)
    return new


def _make_body_mesh(entry: MeshEntry, tell: Tell = _quiet) -> None:
    mesh = load_mesh(entry.file, list(entry.scale))
    if entry.collision_mode == "convexify":
        tell(f"decomposing {entry.file.name} into convex parts")
        decompose(mesh)
    elif entry.collision_mode == "convex_hull":
        convex_hull(mesh)


def body_is_long(request: Any) -> bool:
    """Whether that may take more than a moment."""
    if request.shape != "mesh":
        return False
    try:
        file, scale = resolve_file(request.mesh_file, "mesh_file"), [float(value) for value in request.scale]
        if _large(file, _LARGE_MESH) and not is_read(file, scale):
            return True
        mesh = load_mesh(file, scale)
    except RaisimError:
        return False  # it is refused at once
    if request.mesh_mode == "convexify":
        return not is_decomposed(mesh)
    if len(mesh.vertices) <= _MANY_POINTS:
        return False
    if request.mesh_mode == "convex_hull":
        return not has_hull(mesh) or not has_asset(convex_hull(mesh).vertices)
    return not has_asset(mesh)


# ---- robots ----


def _make_link_meshes(tree: KinematicTree, mode: str, tell: Tell = _quiet) -> None:
    """What collides in the place of meshes, kept in the caches: adding the robot is then quick."""
    shapes = mesh_shapes(tree)
    for number, shape in enumerate(shapes, start=1):
        assert shape.mesh_file is not None
        if mode == "convexify" and not shape.convex:
            tell(f"decomposing mesh {number} of {len(shapes)} into convex parts: {Path(shape.mesh_file).name}")
        link_mesh(shape.mesh_file, list(shape.scale), "hull" if shape.convex else mode)


def robot(request: Any, tell: Tell = _quiet) -> RobotSpec:
    """The robot of a SpawnArticulatedSystem request, what collides in the place of its meshes made."""
    spec = requests.robot_spec(request)
    _make_link_meshes(spec.tree, spec.construction.mesh_mode, tell)
    return spec


def robot_is_long(request: Any) -> bool:
    """Whether that may take more than a moment: a look at its meshes."""
    if request.collision_meshes == "convexify" or _large(request.file, _LARGE_TEXT):
        return True
    try:
        if requests.is_mjcf_request(request):
            return True
        spec = requests.robot_spec(request)
        new = {(shape.mesh_file, tuple(shape.scale)) for shape in mesh_shapes(spec.tree) if not _is_known(spec, shape)}
    except RaisimError:
        return False  # it is refused at once
    return sum(_size(file) for file, _ in new) > _LARGE_MESH


def _is_known(spec: RobotSpec, shape: TreeCollision) -> bool:
    assert shape.mesh_file is not None
    asked = shape.mesh_file, list(shape.scale), "hull" if shape.convex else spec.construction.mesh_mode
    if not is_known(*asked):
        return False
    made = link_mesh(*asked)
    return all(map(has_asset, made if isinstance(made, list) else [made]))


# ---- terrain ----


def terrain(request: Any, tell: Tell = _quiet) -> NewObject:
    """The terrain of a SpawnHeightMap request."""
    return requests.new_height_map(request)


def terrain_is_long(request: Any) -> bool:
    """Whether that may take more than a moment."""
    samples = {
        "generator": request.terrain.x_samples * request.terrain.y_samples,
        "values": len(request.heights),
    }
    return samples.get(request.source, 0) > _MANY_SAMPLES or _large(request.file, _LARGE_TEXT)


# ---- objects made of particles ----


def granular(request: Any, tell: Tell = _quiet) -> NewObject:
    """The grains of a SpawnGranular request, all of them placed."""
    new = new_granular(request)
    assert isinstance(new.entry, GranularEntry)
    return replace(new, entry=_with_grains(new.entry))


def granular_is_long(request: Any) -> bool:
    """Whether that may take more than a moment: many are placed at random."""
    return any(box.count > _MANY_GRAINS for box in request.boxes)


def deformable(request: Any, tell: Tell = _quiet) -> NewObject:
    """The cloth or body of a SpawnDeformable request, filled with tetrahedra if that is wanted."""
    new = new_deformable(request)
    assert isinstance(new.entry, DeformableEntry)
    _make_soft_body(new.entry, tell)
    return new


def deformable_is_long(request: Any) -> bool:
    """Whether that may take more than a moment: how many particles there will be, roughly."""
    try:
        if request.source == "mesh" and _large(resolve_file(request.file, "file")):
            return True
        entry = new_deformable(request).entry
        assert isinstance(entry, DeformableEntry)
        parts = body_parts(entry)
    except RaisimError:
        return False  # it is refused at once
    if parts is None or body_mesh.is_made(*parts):
        return False
    sides = sorted(np.maximum(1.0, np.ptp(parts[0], axis=0) / parts[2].spacing).tolist())
    return bool(sides[1] * sides[2] * (sides[0] if parts[2].mode == "filled" else 1.0) > _MANY_PARTICLES)


def _make_soft_body(entry: DeformableEntry, tell: Tell = _quiet) -> None:
    parts = body_parts(entry)
    if parts is not None:
        tell(f"making a body of {len(parts[1])} triangles, {parts[2].mode}, spacing {parts[2].spacing:g} m")
        body_mesh.made_of(*parts)


def _with_grains(entry: GranularEntry) -> GranularEntry:
    return replace(entry, arrays=filled(entry), fills=[]) if entry.fills else entry


# ---- worlds ----


def world(file_and_parameters: tuple[Path, dict[str, str]], tell: Tell = _quiet) -> WorldDescription:
    """A world file with everything that adding its objects would otherwise have to compute."""
    description = load_world_file(*file_and_parameters)
    count = len(description.objects)
    tell(f"{count} objects read")
    description.objects = [
        _prepared(entry, lambda line, number=number: tell(f"object {number} of {count}: {line}"))  # type: ignore[misc]
        for number, entry in enumerate(description.objects, start=1)
    ]
    return description


def world_is_long(file_and_parameters: tuple[Path, dict[str, str]]) -> bool:
    """Whether that may take more than a moment: a look at its text."""
    file, _ = file_and_parameters
    if _large(file, _LARGE_WORLD):
        return True
    try:
        text = file.read_bytes()
    except OSError:
        return False  # whoever reads it will tell
    return _text_is_long(text, file_and_parameters[1])


def _text_is_long(text: bytes, parameters: dict[str, str] | None = None) -> bool:
    if len(text) > _LARGE_WORLD or any(word in text for word in _SLOW_WORDS):
        return True
    samples = max((_as_number(match) for match in _SAMPLES.findall(text)), default=0.0)
    if samples**2 > _MANY_SAMPLES:
        return True
    values = [*_LOOP_ENDS.findall(text), *(value.encode() for value in (parameters or {}).values())]
    *_, second, first = sorted([1.0, 1.0, *map(_as_number, values)])
    return b"<array" in text and first * second > _MANY_PASSES


@contextmanager
def _as_file(file: Path | None, text: str) -> Iterator[Path]:
    """The file, or one with that text as long as it is needed."""
    if file is not None:
        yield file
        return
    with temporary_folder() as folder:
        path = folder / "text.xml"
        write_file(path, text.encode(), is_lasting=False)
        try:
            yield path
        except RaisimError as error:  # nobody but us knows that file
            error.args = (str(error).replace(str(path), "text"),)
            raise


def world_text(text: str, tell: Tell = _quiet) -> WorldDescription:
    """A world that came as text."""
    with _as_file(None, text) as file:
        return replace(world((file, {}), tell), source="text")


def world_text_is_long(text: str) -> bool:
    """Whether that may take more than a moment."""
    return _text_is_long(text.encode())


def entry(file_and_text: tuple[Path | None, str], tell: Tell = _quiet) -> ObjectEntry:
    """The one object of a world file or MJCF file, or an object's element alone."""
    file, text = file_and_text
    if file is None and not text.lstrip().startswith(("<?", "<raisim", "<mujoco")):
        text = f"<raisim><objects>{text}</objects></raisim>"
    with _as_file(file, text) as source:
        objects = world((source, {}), tell).objects
    robots = [one for one in objects if isinstance(one, ArticulatedEntry)]
    chosen = robots if len(objects) > 1 else objects
    if len(chosen) != 1:
        count = f"{len(objects)} objects, {len(robots)} of them robots"
        raise ParseError(file or "text", None, f"it has {count}; an entity is one object, or one robot among others")
    return chosen[0]


def entry_is_long(file_and_text: tuple[Path | None, str]) -> bool:
    """Whether that may take more than a moment."""
    file, text = file_and_text
    return world_is_long((file, {})) if file is not None else _text_is_long(text.encode())


def assets(prepared: NewObject | RobotSpec | ObjectEntry | WorldDescription) -> list[Any]:
    """What the engine makes of the meshes and terrain in it: as long as that is held, adding takes it as it is."""
    if isinstance(prepared, RobotSpec):
        return assets_of_robot(prepared.tree, prepared.construction.mesh_mode)
    if isinstance(prepared, WorldDescription):
        return [assets_of_entry(one) for one in prepared.objects]
    return assets_of_entry(prepared.entry if isinstance(prepared, NewObject) else prepared)


def _as_number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0  # an expression: its parameters are counted where they stand


def _prepared(entry: ObjectEntry, tell: Tell) -> ObjectEntry:
    """The entry with its files read; where something is wrong, as it is: adding it tells what, and where."""
    try:
        if isinstance(entry, HeightMapEntry):
            tell("terrain")
            data = height_map_data(entry)
            return replace(entry, data=data, heights=None, terrain=None, png=None, text=None)
        if isinstance(entry, GranularEntry):
            return _with_grains(entry)
        if isinstance(entry, DeformableEntry):
            _make_soft_body(entry, tell)
        if isinstance(entry, ArticulatedEntry):
            tree = entry_tree(entry)
            _make_link_meshes(tree, mesh_mode(entry), tell)
            return replace(entry, tree=tree)
        if isinstance(entry, MeshEntry):
            _make_body_mesh(entry, tell)
    except RaisimError:
        pass
    return entry
