"""The part of World that adds objects made of particles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.soft_types import DeformableMaterial, GranularMaterial, MeshBuildOptions
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.body_mesh import BodyMesh, made_of
from raisim_ros.engine.objects.body_springs import Springs, vertex_areas
from raisim_ros.engine.objects.deformable import DeformableObject, pairs_within
from raisim_ros.engine.objects.granular import GranularSystem, fill_material, grain_tables
from raisim_ros.engine.objects.placed import Placed, place
from raisim_ros.engine.world.core import WorldCore

if TYPE_CHECKING:
    from typing_extensions import Unpack


_SETTINGS = ("damping", "air_drag", "collision_radius", "tear_strain", "iterations", "substeps", "self_collision")


class Soft(WorldCore):
    """Adding grains, cloth and deformable bodies. A failed call leaves the world as it was.

    `name`, `position`, `orientation`, `velocity` and `appearance` are keywords as for other objects: particles are
    given in a frame that is placed by them.
    """

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
        **placed: Unpack[Placed],
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
        definition.positions, definition.radii, definition.velocities = c_array(x), c_array(r), c_array(v)
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
            return place(handle, placed)

    def add_deformable_cloth(
        self,
        mesh: Any,
        triangles_or_scale: Any = None,
        pinned_vertices: Sequence[int] = (),
        material: DeformableMaterial | None = None,
        contact_material: str = "default",
        collision_group: int = 1,
        collision_mask: int = -1,
        **placed: Unpack[Placed],
    ) -> DeformableObject:
        """Add cloth or a shell: ``(vertices N x 3, triangles M x 3)`` or ``(mesh file, scale)`` [m].

        Each edge of a triangle keeps its length as the material says; `pinned_vertices` stay where they are. The cloth
        collides with bodies, robots, terrain and ground by balls at its vertices, and pushes back.
        """
        x, faces = _mesh_arrays(mesh, triangles_or_scale)
        chosen = DeformableMaterial() if material is None else material
        arguments.instance("material", chosen, DeformableMaterial)
        body = BodyMesh.hollow(x, faces)
        pins = _pin_indices(pinned_vertices, len(x))
        made = self._insert_deformable(body, pins, chosen, contact_material, collision_group, collision_mask)
        return place(made, placed)

    def add_deformable_object(
        self,
        mesh: Any,
        material: DeformableMaterial | None = None,
        options: MeshBuildOptions | None = None,
        pinned_vertices: Sequence[int] = (),
        contact_material: str = "default",
        collision_group: int = 1,
        collision_mask: int = -1,
        **placed: Unpack[Placed],
    ) -> DeformableObject:
        """Add a deformable body made of a mesh: a file, or ``(vertices N x 3, triangles M x 3)`` [m].

        `options` say whether it is a shell or filled, and how fine. Vertices of the mesh that are named by
        `pinned_vertices` are particles and stay where they are; of a shell, all vertices keep their numbers.
        """
        chosen = DeformableMaterial() if material is None else material
        arguments.instance("material", chosen, DeformableMaterial)
        build = MeshBuildOptions() if options is None else options
        arguments.instance("options", build, MeshBuildOptions)
        pair = (mesh, build.scale) if isinstance(mesh, (str, Path)) else mesh
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise InvalidValueError("mesh is neither a file nor (vertices, triangles)")
        x, faces = _mesh_arrays(*pair)
        _check_mesh(x, faces)
        pins = _pin_indices(pinned_vertices, len(x))
        body = made_of(x, faces, build, pins)
        inside = build.internal_struts == "pairs_within_radius"
        struts = pairs_within(body.vertices, build.strut_radius) if inside else ()
        with self.locked():
            handle = self._insert_deformable(
                body, body.particle_of[pins], chosen, contact_material, collision_group, collision_mask
            )
            if len(struts):
                handle.add_distance_constraints(
                    struts, None if build.strut_compliance < 0.0 else build.strut_compliance
                )
        return place(handle, placed)

    def _insert_deformable(
        self,
        body: BodyMesh,
        pins: Any,
        material: DeformableMaterial,
        contact_material: str,
        group: int,
        mask: int,
        velocities: Any = None,
        masses: Any = None,
    ) -> DeformableObject:
        _check_mesh(body.vertices, body.triangles)
        springs = Springs.of(body, material)
        masses = _of_each("mass", masses, springs.masses)
        velocities = _of_each("velocities", velocities, np.zeros_like(body.vertices))
        pinned = np.zeros(len(body.vertices), np.uint8)
        pinned[pins] = 1
        definition = ffi.new("rs_deformable_def *")
        definition.object_type, definition.count = int(ObjectType.DEFORMABLE), len(body.vertices)
        definition.positions, definition.masses = c_array(body.vertices), c_array(masses)
        definition.velocities = c_array(velocities)
        definition.pinned = c_array(pinned)
        definition.compliances = c_array(springs.compliances)
        for name, table in (
            ("strut", springs.edges),
            ("hinge", springs.hinges),
            ("triangle", body.triangles),
            ("tetrahedron", springs.tetrahedra),
        ):
            setattr(definition, f"{name}_count", len(table))
            many = "tetrahedra" if name == "tetrahedron" else f"{name}s"
            setattr(definition, many, c_array(table))
        definition.bend_compliance, definition.hinge_weights = springs.bend_compliance, c_array(springs.hinge_weights)
        definition.volume_stiffness, definition.shear_stiffness = springs.volume_stiffness, springs.shear_stiffness
        for name in _SETTINGS:
            setattr(definition.settings, name, getattr(material, name))
        definition.collision_group = arguments.collision_bits("collision_group", group)
        definition.collision_mask = arguments.collision_bits("collision_mask", mask)
        out = ffi.new("rs_object_id *")
        with self.locked():
            definition.contact_material = self._material(contact_material)
            check(lib.rs_deformable_create(self._world, definition, out))
            handle = DeformableObject(self, int(out[0]), body, material)
            self._register(handle)
        return handle


def _mesh_arrays(mesh: Any, triangles_or_scale: Any) -> tuple[Any, Any]:
    """Vertices and triangles of a file and its scale, or as they are given."""
    if isinstance(mesh, (str, Path)):
        scale = 1.0 if triangles_or_scale is None else arguments.number("scale", triangles_or_scale)
        data = load_mesh(str(arguments.path("mesh", mesh)), [scale] * 3)
        return np.ascontiguousarray(data.vertices, np.float64), np.ascontiguousarray(data.triangles, np.int32)
    x = np.ascontiguousarray(arguments.table("vertices", mesh, (-1, 3)))
    faces = np.ascontiguousarray(arguments.table("triangles", triangles_or_scale, (-1, 3), np.int32))
    return x, faces


def _check_mesh(x: Any, faces: Any) -> None:
    if not len(faces) or faces.min() < 0 or faces.max() >= len(x):
        raise InvalidValueError(f"triangles name vertices that do not exist; expected some, each 0 to {len(x) - 1}")
    if not np.isfinite(x).all() or not vertex_areas(x, faces)[0].sum() > 0.0:
        raise InvalidValueError("the vertices are not finite, or all triangles have no area")


def _pin_indices(pinned_vertices: Sequence[int], count: int) -> Any:
    if not isinstance(pinned_vertices, Iterable):
        raise InvalidValueError(f"pinned_vertices: expected a list of indices, got {pinned_vertices!r}")
    return np.array([arguments.index("pinned vertex", index, count) for index in pinned_vertices], dtype=np.intp)


def _of_each(name: str, values: Any, default: Any) -> Any:
    """Numbers of all vertices, as the engine wants them."""
    given = np.ascontiguousarray(default if values is None else values, np.float64)
    if given.shape != default.shape:
        raise InvalidValueError(f"{name} has {given.size} numbers; expected {default.size}")
    return given
