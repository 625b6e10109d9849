"""From requests and commands to what the world takes; wrong values are named by their field."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.world.soft_entries import (
    Arrays,
    DeformableEntry,
    GrainFill,
    GranularEntry,
    PinEntry,
    rectangle,
)
from raisim_ros.description.world.soft_types import DeformableMaterial, GranularMaterial, MeshBuildOptions
from raisim_ros.description.world.types import BodyState
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.granular import GranularSystem
from raisim_ros.ros.conversions import MAX_DISTANCE, finite_vector, pose_from_message, vector_from_xyz
from raisim_ros.ros.file_address import resolve_file
from raisim_ros.ros.objects.request_fields import seen_fields
from raisim_ros.ros.objects.spawning import Naming, NewObject, choice

# Commands are carried out between two steps: more grains than this would hold the world up.
MAX_EMITTED = 5000


def _points(values: Any, field: str) -> Any:
    """Numbers x y z of each, N x 3."""
    if len(values) % 3:
        raise InvalidValueError(f"{field} has {len(values)} numbers; expected a multiple of 3")
    return finite_vector(values, field, MAX_DISTANCE).reshape(-1, 3)


def _xyz(message: Any, field: str) -> tuple[float, ...]:
    return tuple(float(value) for value in vector_from_xyz(message, field))


def grain_fill(message: Any, field: str) -> GrainFill:
    """A GrainBox."""
    low, high = _xyz(message.min, f"{field}.min"), _xyz(message.max, f"{field}.max")
    if not all(a <= b for a, b in zip(low, high, strict=True)):
        raise InvalidValueError(f"{field}.min is {low}, max is {high}; expected the lower corner first")
    most = message.max_radius or message.radius
    if not 0.0 < message.radius <= most < MAX_DISTANCE:
        found = f"radius is {message.radius:g}, max_radius {message.max_radius:g}"
        raise InvalidValueError(f"{field}: {found}; expected more than 0, and the greatest not below the least")
    if not 0.0 <= message.spacing < MAX_DISTANCE:
        raise InvalidValueError(f"{field}.spacing is {message.spacing:g}; expected a number of at least 0")
    velocity = _xyz(message.velocity, f"{field}.velocity")
    if message.count:
        return GrainFill(low, high, (message.radius, most), count=message.count, seed=message.seed, velocity=velocity)
    return GrainFill(low, high, (message.radius,), message.spacing or None, velocity=velocity)


def new_granular(request: Any) -> NewObject:
    """What a SpawnGranular request asks for."""
    positions = _points(request.positions, "positions")
    arrays: Arrays = {}
    if len(positions):
        if len(request.radii) not in (1, len(positions)):
            raise InvalidValueError(f"radii has {len(request.radii)} numbers; expected 1 or {len(positions)}")
        arrays = {"pos": positions, "radius": finite_vector(request.radii, "radii", MAX_DISTANCE)}
    elif len(request.radii) or len(request.velocities):
        raise InvalidValueError("radii or velocities are given without positions")
    if len(request.velocities):
        if len(request.velocities) != len(request.positions):
            found, expected = len(request.velocities), len(request.positions)
            raise InvalidValueError(f"velocities has {found} numbers; expected {expected} or none")
        arrays["vel"] = _points(request.velocities, "velocities")
    container = None
    if request.container:
        container = _xyz(request.container_min, "container_min"), _xyz(request.container_max, "container_max")
    grain = {one.name: getattr(request.grain, one.name) for one in fields(GranularMaterial)}
    entry = GranularEntry(
        **seen_fields(request),
        grains=[GranularMaterial(**grain)],
        arrays=arrays,
        fills=[grain_fill(box, f"boxes[{k}]") for k, box in enumerate(request.boxes)],
        ground=float(finite_vector([request.ground_height], "ground_height")[0]) if request.ground_plane else None,
        container=container,
    )
    return NewObject(Naming(request.name, request.allow_renaming), entry)


def new_deformable(request: Any) -> NewObject:
    """What a SpawnDeformable request asks for."""
    pose = pose_from_message(request.pose, "pose")
    substance = {one.name: getattr(request.substance, one.name) for one in fields(DeformableMaterial)}
    entry = DeformableEntry(
        **seen_fields(request),
        substance=DeformableMaterial(**substance),
        pins=[PinEntry(tuple(int(k) for k in request.pinned))] if len(request.pinned) else [],
        wind=_xyz(request.wind, "wind"),
        state=BodyState(tuple(pose.position), tuple(pose.wxyz), _xyz(request.velocity, "velocity")),
    )
    sources = {"rectangle": _from_rectangle, "mesh": _from_mesh, "vertices": _from_vertices}
    choice("source", request.source, sources)(request, entry)
    if choice("build", request.build, {"cloth": False, "surface": True, "filled": True}):
        struts = {"internal_struts": "pairs_within_radius", "strut_radius": request.strut_radius}
        entry.build = MeshBuildOptions(
            request.build,
            request.spacing,
            request.max_fill_particles,
            strut_compliance=request.strut_compliance,
            **(struts if request.strut_radius else {}),
        )
    return NewObject(Naming(request.name, request.allow_renaming), entry)


def _from_rectangle(request: Any, entry: DeformableEntry) -> None:
    for field in ("x_size", "y_size"):
        if not 0.0 < getattr(request, field) < MAX_DISTANCE:
            raise InvalidValueError(f"{field} is {getattr(request, field):g}; expected a length above 0")
    entry.arrays = rectangle(request.x_size, request.y_size, request.x_cells, request.y_cells)


def _from_mesh(request: Any, entry: DeformableEntry) -> None:
    entry.file = resolve_file(request.file, "file")
    entry.scale = tuple(float(value) for value in finite_vector(request.scale, "scale"))


def _from_vertices(request: Any, entry: DeformableEntry) -> None:
    if len(request.triangles) % 3:
        raise InvalidValueError(f"triangles has {len(request.triangles)} numbers; expected a multiple of 3")
    triangles = np.array(request.triangles, np.int64).reshape(-1, 3)
    points = _points(request.vertices, "vertices")
    if not len(triangles) or triangles.max() >= len(points):
        raise InvalidValueError(f"triangles name vertices that do not exist; expected some, each below {len(points)}")
    entry.arrays = {"pos": points, "triangles": triangles.astype(np.int32)}


# ---- commands ----


def _indices(values: Any, field: str, count: int) -> list[int]:
    chosen = [int(value) for value in values]
    if chosen and max(chosen) >= count:
        raise InvalidValueError(f"{field} has {max(chosen)}; there are {count}, counted from 0")
    if len(set(chosen)) != len(chosen):
        raise InvalidValueError(f"{field} names one twice")
    return chosen


def apply_deformable_command(cloth: DeformableObject, message: Any) -> None:
    """Carries a DeformableCmd out, all of it or nothing. For the stepping thread."""
    count = cloth.get_num_particles()
    pin, unpin = _indices(message.pin, "pin", count), _indices(message.unpin, "unpin", count)
    if both := set(pin) & set(unpin):
        raise InvalidValueError(f"unpin has {min(both)}, which is in pin, too")
    if len(message.pin_positions) not in (0, len(pin)):
        raise InvalidValueError(f"pin_positions has {len(message.pin_positions)} points; expected {len(pin)} or none")
    places = [_xyz(point, f"pin_positions[{k}]") for k, point in enumerate(message.pin_positions)]
    wind = _xyz(message.wind, "wind") if message.set_wind else None
    for k, index in enumerate(pin):
        cloth.pin_vertex(index, places[k] if places else None)
    for index in unpin:
        cloth.unpin_vertex(index)
    if wind is not None:
        cloth.set_wind(wind)


def apply_granular_command(grains: GranularSystem, message: Any) -> None:
    """Carries a GranularCmd out, all of it or nothing. For the stepping thread."""
    count = grains.get_num_particles()
    lists = {name: _indices(getattr(message, name), name, count) for name in ("remove", "fix", "release")}
    fills = [grain_fill(box, f"emit[{k}]") for k, box in enumerate(message.emit)]
    wanted = sum(fill.most_grains() for fill in fills)
    if wanted > MAX_EMITTED:
        raise InvalidValueError(f"all of emit would be {wanted:g} grains; expected at most {MAX_EMITTED} at once")
    for index in lists["fix"]:
        grains.set_particle_fixed(index, True)
    for index in lists["release"]:
        grains.set_particle_fixed(index, False)
    for index in sorted(lists["remove"], reverse=True):
        grains.remove_particle(index)
    for fill in fills:
        if fill.count is None:
            grains.emit_box(fill.low, fill.high, fill.radius[0], fill.spacing, fill.velocity)
        else:
            radius = (fill.radius[0], fill.radius[-1])
            grains.emit_box_random(fill.low, fill.high, fill.count, radius, fill.velocity, seed=fill.seed)
