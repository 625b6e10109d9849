"""Finer surfaces, and tetrahedra inside closed ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import check_particles, get_file_limits
from raisim_ros.description.mesh.memory import Memory
from raisim_ros.description.world.soft_types import MeshBuildOptions
from raisim_ros.engine._library import lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check

Indices = NDArray[np.int32]

_FROM_SURFACE = 0.45  # lattice points stay so far away from the surface, in spacings
_WOBBLE = 1e-5  # moves points off common spheres and planes while they are joined, in spacings
_FLAT = 0.06  # height of a tetrahedron over its longest edge, below which it bears nothing
_SHARP = 0.87  # cosine of the angle between triangles beyond which their edge is sharp


@dataclass(frozen=True)
class BodyMesh:
    """A surface (triangles) and what fills it (tetrahedra; none: hollow); for each given vertex its particle, or -1."""

    vertices: Vector
    triangles: Indices
    tetrahedra: Indices
    particle_of: NDArray[Any]

    @classmethod
    def hollow(cls, vertices: Vector, triangles: Indices) -> BodyMesh:
        """A shell; its vertices are its particles."""
        return cls(vertices, triangles, np.zeros((0, 4), np.int32), np.arange(len(vertices)))


def sorted_edges(triangles: Indices) -> Indices:
    """Each edge once, its smaller vertex first."""
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int32)


def _split(vertices: Vector, triangles: Indices, edges: Indices) -> tuple[Vector, Indices]:
    """Halve some edges: the triangles at them become two, three or four."""
    middles = 0.5 * (vertices[edges[:, 0]] + vertices[edges[:, 1]])
    keys = edges[:, 0].astype(np.int64) * len(vertices) + edges[:, 1]
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).astype(np.int64)
    wanted = sides.min(axis=2) * len(vertices) + sides.max(axis=2)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    new = np.where(keys[place] == wanted, place + len(vertices), -1)
    out: list[NDArray[Any]] = [triangles[(new < 0).all(axis=1)]]
    for count in (1, 2, 3):
        rows = (new >= 0).sum(axis=1) == count
        t, m = triangles[rows], new[rows]
        # turned so that the first edge is halved (of two: the first and the second)
        turn = np.argmax(m >= 0, axis=1) if count == 1 else (np.argmax(m < 0, axis=1) + 1) % 3
        t, m = (np.take_along_axis(a, (np.arange(3) + turn[:, None]) % 3, axis=1) for a in (t, m))
        a, b, c, ab, bc, ca = *t.T, *m.T
        if count == 1:
            out += [np.c_[a, ab, c], np.c_[ab, b, c]]
        elif count == 2:
            out += [np.c_[ab, b, bc], np.c_[a, ab, c], np.c_[ab, bc, c]]
        else:
            out += [np.c_[a, ab, ca], np.c_[ab, b, bc], np.c_[ca, bc, c], np.c_[ab, bc, ca]]
    return np.concatenate([vertices, middles]), np.concatenate(out).astype(np.int32)


def resampled(vertices: Vector, triangles: Indices, spacing: float) -> tuple[Vector, Indices]:
    """The surface with edges halved until none is longer than the spacing [m]. Given vertices keep their numbers."""
    _check_spacing(vertices, triangles, spacing)
    while True:
        edges = sorted_edges(triangles)
        lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        long = edges[lengths > spacing * (1.0 + 1e-9)]
        if not len(long):
            return vertices, triangles
        check_particles(f"a surface with a spacing of {spacing:g} m", len(vertices) + len(long))
        vertices, triangles = _split(vertices, triangles, long)


def _check_spacing(vertices: Vector, triangles: Indices, spacing: float) -> None:
    """What is known before any edge is halved: no triangle is larger than one with three sides of the spacing."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    edges = np.concatenate([a - b, b - c, c - a])
    longest = float(np.linalg.norm(edges, axis=1).max(initial=0.0))
    fewest = max(0.5 * area / (0.433 * spacing) / spacing, longest / spacing)
    check_particles(f"a surface with a spacing of {spacing:g} m", max(fewest, len(vertices)))


def distances(vertices: Vector, triangles: Indices, points: Vector) -> Vector:
    """Distance of points from a closed surface, negative inside [m]."""
    x, p = np.ascontiguousarray(vertices), np.ascontiguousarray(points)
    faces = np.ascontiguousarray(triangles, np.int32)
    out = np.zeros(len(p))
    check(lib.rs_mesh_distances(len(x), c_array(x), len(faces), c_array(faces), len(p), c_array(p), c_array(out)))
    return out


def _lattice(vertices: Vector, triangles: Indices, spacing: float, most: int) -> Vector:
    """Points inside, on a body-centred lattice: its tetrahedra are all alike and nearly regular."""
    most = min(most, get_file_limits().max_particles)
    low, extent = vertices.min(axis=0), np.ptp(vertices, axis=0)
    step = spacing * 2.0 / np.sqrt(3.0)  # neighbours along the diagonals of cells are a spacing apart
    if 2.0 * np.prod(extent / step + 1.0) > 200.0 * most + 1e6:
        raise InvalidValueError(f"spacing is {spacing}; filling the mesh would take more than {most} particles")
    counts = np.maximum(1, np.round(extent / step)).astype(int)
    cells = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), -1).reshape(-1, 3)
    size = extent / counts  # the lattice is centred and stretched a little to fit
    corners = np.stack(np.meshgrid(*(np.arange(n + 1) for n in counts), indexing="ij"), -1).reshape(-1, 3)
    points = low + np.concatenate([corners, cells + 0.5]) * size
    inside: Vector = points[distances(vertices, triangles, points) < -_FROM_SURFACE * spacing]
    if len(inside) > most:
        raise InvalidValueError(
            f"filling the mesh takes {len(inside)} particles at a spacing of {spacing} m; expected at most {most} "
            "(max_fill_particles)"
        )
    return inside


_FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))  # of a positive tetrahedron, seen from outside


def _volumes(x: Vector, tetrahedra: NDArray[Any]) -> Vector:
    a, b, c, d = (x[tetrahedra[:, k]] for k in range(4))
    volumes: Vector = np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)) / 6.0
    return volumes


def _heights(x: Vector, tetrahedra: NDArray[Any]) -> Vector:
    """Smallest height of each tetrahedron over its longest edge."""
    corners = [x[tetrahedra[:, k]] for k in range(4)]
    areas = [
        0.5 * np.linalg.norm(np.cross(corners[b] - corners[a], corners[c] - corners[a]), axis=1) for a, b, c in _FACES
    ]
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    longest = np.max([np.linalg.norm(corners[a] - corners[b], axis=1) for a, b in pairs], axis=0)
    heights: Vector = 3.0 * np.abs(_volumes(x, tetrahedra)) / np.maximum(np.max(areas, axis=0), 1e-300) / longest
    return heights


def _outer_faces(tetrahedra: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Faces that belong to one tetrahedron only, and that tetrahedron."""
    faces = np.concatenate([tetrahedra[:, f] for f in _FACES])
    owner = np.tile(np.arange(len(tetrahedra)), 4)
    keys = np.sort(faces, axis=1)
    order = np.lexsort((keys[:, 2], keys[:, 1], keys[:, 0]))
    same = (keys[order][1:] == keys[order][:-1]).all(axis=1)
    single = ~(np.r_[same, False] | np.r_[False, same])
    return faces[order][single], owner[order][single]


def _join(x: Vector, surface: tuple[Vector, Indices], spacing: float) -> NDArray[Any]:
    """Delaunay's tetrahedra inside the surface, without flat ones at it; all are positive."""
    from scipy.spatial import Delaunay, QhullError

    shaken = x + _WOBBLE * spacing * np.random.default_rng(1).uniform(-1.0, 1.0, x.shape)
    try:
        tetrahedra: NDArray[Any] = Delaunay(shaken).simplices.astype(np.int64)
    except QhullError as error:
        raise InvalidValueError(f"the mesh cannot be filled: {str(error).splitlines()[0]}") from error
    negative = _volumes(x, tetrahedra) < 0.0
    tetrahedra[negative] = tetrahedra[negative][:, [0, 1, 3, 2]]
    tetrahedra = tetrahedra[distances(*surface, x[tetrahedra].mean(axis=1)) < 0.0]
    while len(tetrahedra):
        _, owner = _outer_faces(tetrahedra)
        flat = np.zeros(len(tetrahedra), bool)
        flat[owner] = True
        flat &= _heights(x, tetrahedra) < _FLAT
        if not flat.any():
            break
        tetrahedra = tetrahedra[~flat]
    return tetrahedra


def _sharp_edges(vertices: Vector, triangles: Indices) -> NDArray[np.intp]:
    """At how many edges where the surface turns sharply each vertex lies."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    pairs = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(triangles)), 3)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, owner = pairs[order], owner[order]
    twins = np.flatnonzero((pairs[1:] == pairs[:-1]).all(axis=1))
    sharp = np.einsum("ij,ij->i", normals[owner[twins]], normals[owner[twins + 1]]) < _SHARP
    counts: NDArray[np.intp] = np.bincount(pairs[twins[sharp]].ravel(), minlength=len(vertices))
    return counts


def _thinned(points: Vector, rank: NDArray[Any], near: NDArray[Any], reach: float) -> NDArray[np.intp]:
    """Points, the lowest rank first, each of which is farther than `near` of its rank from those taken before.

    Rank 0 is always taken; `reach` is the largest of `near` [m].
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    free = np.ones(len(points), bool)
    taken = []
    for i in np.argsort(rank, kind="stable"):
        if not free[i]:
            continue
        taken.append(i)
        around = np.array(tree.query_ball_point(points[i], reach))
        gap = np.linalg.norm(points[around] - points[i], axis=1)
        free[around[(gap < near[rank[i], rank[around]]) & (rank[around] > 0)]] = False
    return np.sort(np.array(taken, dtype=np.intp))


def _sampled(vertices: Vector, triangles: Indices, spacing: float, keep: NDArray[Any]) -> tuple[Vector, NDArray[Any]]:
    """Points on the surface about a spacing apart, sharp edges first; and which given vertex each is, or -1."""
    coarse, faces = resampled(vertices, triangles, spacing)
    fine, _ = resampled(coarse, faces, 0.5 * spacing)
    rank = np.full(len(fine), 3)
    sharp = _sharp_edges(coarse, faces)
    rank[: len(coarse)] = np.where(sharp == 0, 2, np.where(sharp == 2, 1, 0))  # beside, on edges, corners
    rank[keep] = 0
    apart = spacing * np.array([[0.0, 0.4, 0.5, 0.7], [0.4, 0.4, 0.7, 0.7], [0.5, 0.7, 0.5, 0.7], [0.7, 0.7, 0.7, 0.7]])
    taken = _thinned(fine, rank, apart, 0.7 * spacing)
    return fine[taken], np.where(taken < len(vertices), taken, -1)


def filled(vertices: Vector, triangles: Indices, spacing: float, most: int, keep: NDArray[Any]) -> BodyMesh:
    """Fill a closed surface with tetrahedra about as long as the spacing [m], with at most so many points inside.

    The surface is that of the tetrahedra: its points lie on the given one, about a spacing apart. The vertices named by
    `keep` are among them. Raises InvalidValueError when the surface is open, or too thin for the spacing.
    """
    given = vertices, triangles
    distances(*given, vertices[:1])  # closed?
    inner = _lattice(*given, spacing, most)
    outer, origin = _sampled(*given, spacing, keep)
    x = np.concatenate([outer, inner])
    tetrahedra = _join(x, given, spacing)
    volume, kept = float(_volumes(*_fan(given)).sum()), float(_volumes(x, tetrahedra).sum())
    if not abs(kept - volume) <= 0.05 * volume:
        raise InvalidValueError(
            f"spacing is {spacing}; tetrahedra of that size fill {kept:.4g} of {volume:.4g} m^3: choose a smaller one"
        )
    faces, _ = _outer_faces(tetrahedra)
    tetrahedra = tetrahedra[_heights(x, tetrahedra) >= _FLAT]
    used = np.zeros(len(x), bool)
    used[tetrahedra.ravel()] = True
    number = np.cumsum(used) - 1
    particle = np.full(len(vertices), -1)
    own = np.flatnonzero(used[: len(outer)] & (origin >= 0))
    particle[origin[own]] = number[own]
    if (particle[keep] < 0).any():
        raise InvalidValueError(
            f"vertex {keep[particle[keep] < 0][0]} lies in no tetrahedron: choose a smaller spacing"
        )
    return BodyMesh(
        np.ascontiguousarray(x[used]),
        np.ascontiguousarray(number[faces[used[faces].all(axis=1)]], np.int32),
        np.ascontiguousarray(number[tetrahedra], np.int32),
        particle,
    )


def _fan(surface: tuple[Vector, Indices]) -> tuple[Vector, NDArray[Any]]:
    """Tetrahedra from one point to all triangles: their volumes add up to that of a closed surface."""
    vertices, triangles = surface
    apex = np.full(len(triangles), len(vertices))
    return np.concatenate([vertices, [vertices.mean(axis=0)]]), np.c_[apex, triangles]


_made: Memory[BodyMesh] = Memory("deformable bodies", 16)


def _key(vertices: Vector, triangles: Indices, options: MeshBuildOptions, keep: NDArray[Any]) -> tuple[Any, ...]:
    tables = hashlib.blake2b(vertices.tobytes() + triangles.tobytes(), digest_size=16).digest()
    return tables, options.mode, options.spacing, options.max_fill_particles, tuple(int(k) for k in keep)


def is_made(vertices: Vector, triangles: Indices, options: MeshBuildOptions, keep: NDArray[Any]) -> bool:
    """Whether `made_of` would only remember."""
    return _made.get(_key(vertices, triangles, options, keep)) is not None


def made_of(vertices: Vector, triangles: Indices, options: MeshBuildOptions, keep: NDArray[Any]) -> BodyMesh:
    """The shell or filled body that the options make of a surface; the last ones are remembered."""
    key = _key(vertices, triangles, options, keep)
    body = _made.get(key)
    if body is None:
        if options.mode == "filled":
            body = filled(vertices, triangles, options.spacing, options.max_fill_particles, keep)
        else:
            x, faces = resampled(vertices, triangles, options.spacing)
            body = BodyMesh.hollow(x.copy(), faces.copy())  # they may be those of the caller
        _made.put(key, body)
    return body
