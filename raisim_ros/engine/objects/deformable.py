"""The handle of cloth and other deformable objects, and how they are made of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.world.soft_types import DeformableMaterial
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.soft_handles import SoftObject, doubles
from raisim_ros.engine.types import ObjectType

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

Indices = NDArray[np.int32]


class DeformableObject(SoftObject):
    """Vertices held together by edges with compliance: cloth, shells, bodies with struts inside."""

    Material: ClassVar[type[DeformableMaterial]] = DeformableMaterial

    def __init__(self, world: Home, engine_id: int, triangles: Indices, material: DeformableMaterial) -> None:
        super().__init__(world, engine_id, ObjectType.DEFORMABLE)
        self._triangles = triangles
        self._material = material

    def get_material(self) -> DeformableMaterial:
        """What it was made of."""
        return self._material

    def get_triangles(self) -> Indices:
        """Corners of the surface, N x 3, as indices of vertices."""
        return self._triangles.copy()

    def get_visual_position(self, index: int) -> Vector:
        """Where a vertex is drawn [m]."""
        positions = self.get_positions()
        place: Vector = positions[arguments.index("index", index, len(positions))].copy()
        return place

    def _counts(self) -> tuple[int, int]:
        out = [ffi.new("int64_t *") for _ in range(3)]
        check(lib.rs_deformable_counts(self._c, self._engine_id, *out))
        return int(out[0][0]), int(out[1][0])

    def get_distance_constraint_count(self) -> int:
        """Edges and struts."""
        return self._counts()[0]

    def get_bending_constraint_count(self) -> int:
        """Pairs of triangles that resist bending."""
        return self._counts()[1]

    def set_position_offset(self, offset: VectorLike) -> None:
        """Move all vertices [m], the pinned ones too."""
        self.set_positions(self.get_positions() + arguments.vector("offset", offset, 3))

    def add_distance_constraint(self, first: int, second: int, compliance: float | None = None) -> None:
        """Keep two vertices at their present distance, with a compliance [m/N]; None: that of the material."""
        self.add_distance_constraints([(first, second)], compliance)

    def add_distance_constraints(
        self, pairs: Sequence[Sequence[int]] | NDArray[Any], compliance: float | None = None
    ) -> None:
        """Keep pairs of vertices at their present distances, with a compliance [m/N]; None: that of the material."""
        table = np.ascontiguousarray(arguments.table("pairs", pairs, (-1, 2), np.int32))
        each = edge_compliance(self._material) if compliance is None else arguments.number("compliance", compliance)
        values = np.full(len(table), each)
        pointer = ffi.cast("int32_t *", table.ctypes.data)
        check(lib.rs_deformable_add_struts(self._c, self._engine_id, len(table), pointer, doubles(values)))

    def add_internal_struts(self, radius: float, compliance: float | None = None) -> int:
        """Keep all pairs of vertices within a distance [m] of each other apart; returns how many were added."""
        from scipy.spatial import cKDTree

        reach = arguments.number("radius", radius)
        if not reach > 0.0:
            raise InvalidValueError(f"radius is {radius}; expected a number greater than 0")
        pairs = cKDTree(self.get_positions()).query_pairs(reach, output_type="ndarray")
        if len(pairs):
            self.add_distance_constraints(pairs, compliance)
        return len(pairs)

    def pin_vertex(self, index: int, position: VectorLike | None = None) -> None:
        """Hold a vertex where it is, or at a position [m]."""
        at = ffi.NULL if position is None else ffi.new("double[3]", list(arguments.vector("position", position, 3)))
        check(lib.rs_deformable_pin(self._c, self._engine_id, arguments.count("index", index), 1, at))

    def unpin_vertex(self, index: int) -> None:
        """Let a pinned vertex go."""
        check(lib.rs_deformable_pin(self._c, self._engine_id, arguments.count("index", index), 0, ffi.NULL))

    def get_pinned_vertices(self) -> list[int]:
        """Indices of the pinned vertices."""
        with self._world.locked():
            count = self.get_num_particles()
            pinned, masses = np.zeros(count, np.uint8), np.zeros(count)
            pointer = ffi.cast("uint8_t *", pinned.ctypes.data)
            check(lib.rs_deformable_read(self._c, self._engine_id, pointer, doubles(masses)))
        return [int(k) for k in np.flatnonzero(pinned)]

    def set_wind(self, velocity: VectorLike) -> None:
        """Velocity of the air around the object [m/s]; it presses where the material has air_drag."""
        with self._world.locked():
            settings = ffi.new("rs_deformable_settings *")
            check(lib.rs_deformable_settings_get(self._c, self._engine_id, settings))
            settings.wind = list(arguments.vector("velocity", velocity, 3))
            check(lib.rs_deformable_settings_set(self._c, self._engine_id, settings))

    def get_wind(self) -> Vector:
        """Velocity of the air [m/s]."""
        settings = ffi.new("rs_deformable_settings *")
        check(lib.rs_deformable_settings_get(self._c, self._engine_id, settings))
        return np.array(list(settings.wind))


def edge_compliance(material: DeformableMaterial) -> float:
    """Compliance of an edge without Young's modulus [m/N]."""
    if material.solver_mode == "PBD":
        return 0.0
    given = material.distance_compliance
    return given if given >= 0.0 else 1.0 / material.distance_stiffness


def edges_of(triangles: Indices) -> tuple[Indices, Indices]:
    """Edges (each once), and four vertices of each pair of triangles that share one: the edge, then the others."""
    sides = np.concatenate([triangles[:, [0, 1, 2]], triangles[:, [1, 2, 0]], triangles[:, [2, 0, 1]]])
    keys = np.sort(sides[:, :2], axis=1)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, others = keys[order], sides[order, 2]
    same = (keys[1:] == keys[:-1]).all(axis=1)
    first = np.concatenate([[True], ~same])
    hinges = np.column_stack([keys[1:][same], others[:-1][same], others[1:][same]])
    return np.ascontiguousarray(keys[first], np.int32), np.ascontiguousarray(hinges, np.int32)


def vertex_areas(vertices: Vector, triangles: Indices) -> tuple[Vector, Vector]:
    """Area of each triangle, and the share of it that each vertex has."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    shares = np.zeros(len(vertices))
    for k in range(3):
        np.add.at(shares, triangles[:, k], areas / 3.0)
    return areas, shares


def edge_compliances(vertices: Vector, triangles: Indices, edges: Indices, material: DeformableMaterial) -> Vector:
    """By the material, or by Young's modulus: stiffness = modulus * thickness * area of the triangles / length^2."""
    if material.youngs_modulus < 0.0 or material.solver_mode == "PBD":
        return np.full(len(edges), edge_compliance(material))
    areas, _ = vertex_areas(vertices, triangles)
    around: dict[tuple[int, int], float] = {}
    for triangle, area in zip(triangles.tolist(), areas.tolist(), strict=True):
        for k in range(3):
            key = tuple(sorted((triangle[k], triangle[(k + 1) % 3])))
            around[key[0], key[1]] = around.get((key[0], key[1]), 0.0) + area
    lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
    area = np.array([around[a, b] for a, b in edges.tolist()])
    compliances: Vector = lengths**2 / np.maximum(material.youngs_modulus * material.thickness * area, 1e-300)
    return compliances


def bend_compliance(material: DeformableMaterial) -> float:
    """1 / flexural rigidity [1/(N m)]; negative: nothing resists bending."""
    if material.youngs_modulus < 0.0 or material.bend_compliance >= 0.0:
        return material.bend_compliance
    return 12.0 * (1.0 - material.poisson_ratio**2) / (material.youngs_modulus * material.thickness**3)
