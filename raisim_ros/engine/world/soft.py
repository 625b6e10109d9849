"""The part of World that adds objects made of particles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.world.soft_types import DeformableMaterial, GranularMaterial
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.deformable import (
    DeformableObject,
    bend_compliance,
    edge_compliances,
    edges_of,
    vertex_areas,
)
from raisim_ros.engine.objects.granular import GranularSystem, fill_material, grain_tables
from raisim_ros.engine.objects.soft_handles import doubles
from raisim_ros.engine.types import ObjectType
from raisim_ros.engine.world.core import WorldCore


class Soft(WorldCore):
    """Adding grains and cloth. A failed call leaves the world as it was."""

    def add_granular_particles(
        self,
        positions: Any,
        radii: Any,
        material: GranularMaterial | None = None,
        contact_material: str = "default",
        collision_group: int = 1,
        collision_mask: int = -1,
        *,
        velocities: Any = None,
    ) -> GranularSystem:
        """Add grains as one object: places N x 3 [m], a radius for each or one for all [m].

        They collide with each other and, both ways, with bodies, robots, terrain and ground. Friction with bodies is
        the geometric mean of that of the grains and that of `contact_material` with the body's material.
        """
        x, r, v = grain_tables(positions, radii, velocities)
        chosen = GranularMaterial() if material is None else arguments.instance("material", material, GranularMaterial)
        definition = ffi.new("rs_grains_def *")
        lib.rs_default_grains_def(definition)
        definition.object_type = int(ObjectType.GRANULAR)
        definition.count = len(x)
        definition.positions, definition.radii, definition.velocities = doubles(x), doubles(r), doubles(v)
        fill_material(definition.material, chosen)
        definition.substeps = chosen.substeps
        definition.collision_group = arguments.collision_bits("collision_group", collision_group)
        definition.collision_mask = arguments.collision_bits("collision_mask", collision_mask)
        out = ffi.new("rs_object_id *")
        with self.locked():
            definition.contact_material = self._material(contact_material)
            check(lib.rs_grains_create(self._world, definition, out))
            handle = GranularSystem(self, int(out[0]), ObjectType.GRANULAR)
            self._register(handle)
        return handle

    def add_deformable_cloth(
        self,
        mesh: Any,
        triangles_or_scale: Any = None,
        pinned_vertices: Sequence[int] = (),
        material: DeformableMaterial | None = None,
        contact_material: str = "default",
        collision_group: int = 1,
        collision_mask: int = -1,
    ) -> DeformableObject:
        """Add cloth or a shell: ``(vertices N x 3, triangles M x 3)`` or ``(mesh file, scale)`` [m].

        Each edge of a triangle keeps its length as the material says; `pinned_vertices` stay where they are. The cloth
        collides with bodies, robots, terrain and ground by balls at its vertices, and pushes back.
        """
        if isinstance(mesh, (str, Path)):
            scale = 1.0 if triangles_or_scale is None else arguments.number("scale", triangles_or_scale)
            data = load_mesh(str(arguments.path("mesh", mesh)), [scale] * 3)
            x, faces = np.ascontiguousarray(data.vertices, np.float64), np.ascontiguousarray(data.triangles, np.int32)
        else:
            x = np.ascontiguousarray(arguments.table("vertices", mesh, (-1, 3)))
            faces = np.ascontiguousarray(arguments.table("triangles", triangles_or_scale, (-1, 3), np.int32))
        chosen = DeformableMaterial() if material is None else material
        arguments.instance("material", chosen, DeformableMaterial)
        if not len(faces) or faces.min() < 0 or faces.max() >= len(x):
            raise InvalidValueError(f"triangles name vertices that do not exist; expected some, each 0 to {len(x) - 1}")
        pins = np.zeros(len(x), np.uint8)
        for index in pinned_vertices:
            pins[arguments.index("pinned vertex", index, len(x))] = 1
        return self._insert_deformable(x, faces, pins, chosen, contact_material, collision_group, collision_mask)

    def _insert_deformable(
        self, x: Any, faces: Any, pins: Any, material: DeformableMaterial, contact_material: str, group: int, mask: int
    ) -> DeformableObject:
        edges, hinges = edges_of(faces)
        _, shares = vertex_areas(x, faces)
        if not np.isfinite(x).all() or not shares.sum() > 0.0:
            raise InvalidValueError("the vertices are not finite, or all triangles have no area")
        lone = shares == 0.0  # of no triangle: they weigh as little as the lightest
        shares[lone] = shares[~lone].min()
        masses = material.total_mass * shares / shares.sum()
        compliances, bending = edge_compliances(x, faces, edges, material), bend_compliance(material)
        definition = ffi.new("rs_deformable_def *")
        definition.object_type, definition.count = int(ObjectType.DEFORMABLE), len(x)
        definition.positions, definition.masses = doubles(x), doubles(masses)
        definition.pinned = ffi.cast("uint8_t *", pins.ctypes.data)
        definition.strut_count, definition.struts = len(edges), ffi.cast("int32_t *", edges.ctypes.data)
        definition.compliances = doubles(compliances)
        if bending >= 0.0:
            definition.hinge_count, definition.hinges = len(hinges), ffi.cast("int32_t *", hinges.ctypes.data)
            definition.bend_compliance = bending
        definition.triangle_count, definition.triangles = len(faces), ffi.cast("int32_t *", faces.ctypes.data)
        for name in ("damping", "air_drag", "collision_radius", "iterations", "substeps"):
            setattr(definition.settings, name, getattr(material, name))
        definition.collision_group = arguments.collision_bits("collision_group", group)
        definition.collision_mask = arguments.collision_bits("collision_mask", mask)
        out = ffi.new("rs_object_id *")
        with self.locked():
            definition.contact_material = self._material(contact_material)
            check(lib.rs_deformable_create(self._world, definition, out))
            handle = DeformableObject(self, int(out[0]), faces, material)
            self._register(handle)
        return handle
