"""Springs of deformable objects: what a mesh and a material come to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from raisim_ros.description.world.soft_types import DeformableMaterial
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.objects.bending import POINTS, bending_rows
from raisim_ros.engine.objects.body_mesh import BodyMesh, Indices


def edge_compliance(material: DeformableMaterial) -> float:
    """Compliance of an edge without Young's modulus [m/N]."""
    if material.solver_mode == "PBD":
        return 0.0
    given = material.distance_compliance
    return given if given >= 0.0 else 1.0 / material.distance_stiffness


def edges_of(triangles: Indices) -> Indices:
    """Edges, each once."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.ascontiguousarray(np.unique(np.sort(sides, axis=1), axis=0), np.int32)


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


def lame_stiffness(material: DeformableMaterial) -> tuple[float, float]:
    """Stiffness of tetrahedra against change of volume and against shear [N/m^2]; (0, 0): they have none."""
    modulus, ratio = material.youngs_modulus, material.poisson_ratio
    if modulus > 0.0:
        return modulus / (2.0 * (1.0 + ratio) * (1.0 - 2.0 * ratio)), modulus / (2.0 * (1.0 + ratio))
    return (1.0 / material.volume_compliance if material.volume_compliance > 0.0 else 0.0), 0.0


def tetrahedron_edges(tetrahedra: Indices) -> Indices:
    """Each edge of tetrahedra once."""
    pairs = np.concatenate([tetrahedra[:, [a, b]] for a in range(4) for b in range(a + 1, 4)])
    return np.ascontiguousarray(np.unique(np.sort(pairs, axis=1), axis=0), np.int32)


def vertex_volumes(vertices: Vector, tetrahedra: Indices) -> Vector:
    """The share of the volume of the tetrahedra that each vertex has [m^3]."""
    a, b, c, d = (vertices[tetrahedra[:, k]] for k in range(4))
    volumes = np.abs(np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a))) / 6.0
    shares = np.zeros(len(vertices))
    for k in range(4):
        np.add.at(shares, tetrahedra[:, k], volumes / 4.0)
    return shares


def bend_compliance(material: DeformableMaterial) -> float:
    """1 / flexural rigidity [1/(N m)]; negative: nothing resists bending."""
    if material.youngs_modulus < 0.0 or material.bend_compliance >= 0.0:
        return material.bend_compliance
    return 12.0 * (1.0 - material.poisson_ratio**2) / (material.youngs_modulus * material.thickness**3)


@dataclass(frozen=True)
class Springs:
    """What holds the particles of a mesh together, and what they weigh."""

    masses: Vector
    edges: Indices
    compliances: Vector  # of the edges [m/N]
    hinges: Indices
    hinge_weights: Vector
    bend_compliance: float
    tetrahedra: Indices
    volume_stiffness: float
    shear_stiffness: float

    @classmethod
    def of(cls, mesh: BodyMesh, material: DeformableMaterial) -> Springs:
        """Of a shell edges and hinges; of a filled body tetrahedra, or edges of tetrahedra."""
        volume, shear = lame_stiffness(material)
        if len(mesh.tetrahedra):
            shares = vertex_volumes(mesh.vertices, mesh.tetrahedra)
            edges = tetrahedron_edges(mesh.tetrahedra) if shear == 0.0 else np.zeros((0, 2), np.int32)
            compliances = np.full(len(edges), edge_compliance(material))
            bending = -1.0
        else:
            _, shares = vertex_areas(mesh.vertices, mesh.triangles)
            edges = edges_of(mesh.triangles)
            compliances = edge_compliances(mesh.vertices, mesh.triangles, edges, material)
            bending = bend_compliance(material)
        hinges, weights = (
            bending_rows(mesh.vertices, mesh.triangles)
            if bending >= 0.0
            else (np.zeros((0, POINTS), np.int32), np.zeros((0, POINTS)))
        )
        lone = shares == 0.0  # of no triangle: they weigh as little as the lightest
        shares[lone] = shares[~lone].min()
        return cls(
            material.total_mass * shares / shares.sum(), edges, compliances,
            hinges, weights, max(0.0, bending),
            mesh.tetrahedra if volume > 0.0 else mesh.tetrahedra[:0], volume, shear,
        )  # fmt: skip
