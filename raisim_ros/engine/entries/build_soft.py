"""Objects made of particles: from their entries to the world and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.world.soft_entries import (
    DeformableEntry,
    GranularEntry,
    PinEntry,
    filled,
    pinned_vertices,
    placed,
    vertices_of,
)
from raisim_ros.description.world.soft_types import MeshBuildOptions
from raisim_ros.description.world.types import ObjectEntry
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.entries.build_wires import describe_end, find_end
from raisim_ros.engine.entries.describe_common import common_fields
from raisim_ros.engine.objects.body_mesh import BodyMesh
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.granular import GranularSystem
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World


def add_granular_entry(world: World, entry: GranularEntry) -> GranularSystem:
    """Adds grains as an entry describes them."""
    first = entry.grains[0]
    grains = world.add_granular_particles(
        np.zeros((0, 3)), 1.0, first, entry.material, entry.collision_group, entry.collision_mask
    )
    if entry.arrays or entry.fills:
        grains._put_arrays(filled(entry) if entry.fills else entry.arrays, entry.grains)
    if entry.boundary is not None:
        grains.set_boundary_material(entry.boundary)
    if entry.ground is not None:
        grains.set_ground_plane(entry.ground)
    if entry.container is not None:
        grains.set_container_box(*entry.container)
    if entry.periodic is not None:
        grains.set_periodic_boundary(*entry.periodic)
    return grains


def deformable_mesh(entry: DeformableEntry) -> tuple[Vector, Any]:
    """Vertices and triangles, before they are placed."""
    if entry.file is not None:
        mesh = load_mesh(entry.file, list(entry.scale))
        return np.asarray(mesh.vertices, np.float64), np.asarray(mesh.triangles, np.int32)
    return entry.arrays["pos"], entry.arrays["triangles"]


def _pinned(entry: DeformableEntry, vertices: Vector) -> list[int]:
    fixed = [pin for pin in entry.pins if pin.body is None or entry.build is not None]
    chosen = pinned_vertices(vertices, fixed)
    if chosen and chosen[-1] >= len(vertices):
        raise InvalidValueError(f"vertex {chosen[-1]} is to be pinned; there are {len(vertices)}")
    return chosen


def body_parts(entry: DeformableEntry) -> tuple[Vector, Any, MeshBuildOptions, Any] | None:
    """What a shell or filled body is made of, for `body_mesh.made_of`; None: it is cloth, or made already."""
    if entry.build is None or "struts" in entry.arrays:
        return None
    vertices, triangles = deformable_mesh(entry)
    pins = np.array(_pinned(entry, vertices), dtype=np.intp)
    x = np.ascontiguousarray(placed(vertices, entry.state), np.float64)
    return x, np.ascontiguousarray(triangles, np.int32), entry.build, pins


def add_deformable_entry(world: World, entry: DeformableEntry) -> DeformableObject:
    """Adds cloth as an entry describes it."""
    vertices, triangles = deformable_mesh(entry)
    chosen = _pinned(entry, vertices)
    if entry.build is not None and "struts" not in entry.arrays:
        return _add_body(world, entry, vertices, triangles, chosen)
    velocities = entry.arrays.get("vel")
    if velocities is None:
        velocities = np.tile(np.asarray(entry.state.linear_velocity, float), (len(vertices), 1))
    handle = world._insert_deformable(
        BodyMesh.hollow(
            np.ascontiguousarray(placed(vertices, entry.state)), np.ascontiguousarray(triangles, np.int32)
        ),
        np.array(chosen, dtype=np.intp),
        entry.substance,
        entry.material,
        entry.collision_group,
        entry.collision_mask,
        velocities,
        entry.arrays.get("mass"),
    )
    if "struts" in entry.arrays:
        handle._set_constraints(entry.arrays)
    handle.set_wind(entry.wind)
    return handle


def _add_body(
    world: World, entry: DeformableEntry, vertices: Vector, triangles: Any, pins: list[int]
) -> DeformableObject:
    """A shell or a filled body that is made of a mesh."""
    handle = world.add_deformable_object(
        (placed(vertices, entry.state), triangles),
        entry.substance,
        entry.build,
        pins,
        entry.material,
        entry.collision_group,
        entry.collision_mask,
    )
    if any(entry.state.linear_velocity):
        handle.set_velocity(entry.state.linear_velocity)
    handle.set_wind(entry.wind)
    return handle


def tie_deformable(world: World, entry: DeformableEntry, handle: DeformableObject, objects: Sequence[Object]) -> None:
    """Pins vertices to bodies, when all objects of the file are there."""
    vertices = deformable_mesh(entry)[0] if any(pin.body is not None for pin in entry.pins) else None
    for pin in entry.pins:
        if pin.body is None or vertices is None:
            continue
        body = find_end(world, pin.body, objects)
        for k, vertex in enumerate(vertices_of(vertices, pin)):
            built = entry.build is not None and "struts" not in entry.arrays
            own = handle.find_vertex(placed(vertices[vertex : vertex + 1], entry.state)[0]) if built else vertex
            handle.pin_vertex(own, pin.points[3 * k : 3 * k + 3] or None, body, pin.body.local_index)


def _describe_pins(handle: DeformableObject, objects: Sequence[Object]) -> list[PinEntry]:
    fixed = handle.get_pinned_vertices()
    pins = [PinEntry(tuple(fixed))] if fixed else []
    by_body: dict[tuple[int, int], PinEntry] = {}
    for tie in handle._ties():
        if tie.body not in objects:
            raise InvalidValueError(f"{handle!r} is pinned to {tie.body!r}, which is not written")
        key = (objects.index(tie.body), tie.local_index)
        end = describe_end(tie.body, tie.local_index, (0.0, 0.0, 0.0), objects)
        pin = by_body.setdefault(key, PinEntry(body=end))
        pin.vertices, pin.points = (*pin.vertices, tie.vertex), (*pin.points, *tie.point)
    return pins + list(by_body.values())


def describe_soft(world: World, handle: SoftObject, objects: Sequence[Object]) -> ObjectEntry:
    """The entry of an object made of particles, as it is now; what it remembers of contacts is left out."""
    common = common_fields(world, handle)
    if isinstance(handle, GranularSystem):
        return GranularEntry(**common, **handle._description())
    assert isinstance(handle, DeformableObject)
    return DeformableEntry(
        **common,
        substance=handle.get_material(),
        arrays=handle._state(),
        pins=_describe_pins(handle, objects),
        wind=tuple(float(value) for value in handle.get_wind()),
    )
