"""Meshes with fewer triangles that look the same from where people stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.viewer.scene import Vector

# Triangles that meet at a larger angle have an edge between them (its cosine), as in pictures.
_CREASE = np.cos(np.radians(40.0))
_TRIES = 6
# How strongly a corner is drawn to the middle of what it stands for, where planes do not tell its place.
_PULL = 1e-3

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reduced:
    """Fewer triangles; `sources`: for each corner a vertex of the whole mesh that it took its place from."""

    vertices: Vector
    triangles: Indices
    sources: Indices


def reduced(vertices: Vector, triangles: Indices, labels: Indices | int, most: int) -> Reduced:
    """About `most` triangles or fewer. Corners of different labels never become one; edges stay sharp.

    Vertices in one cell of a grid become one, where it is nearest to the planes of all triangles around them.
    """
    corners = vertices[triangles]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    size = float(np.ptp(vertices, axis=0).max())
    edge = max(float(np.sqrt(2.0 * areas.sum() / most)), 1e-4 * size, 1e-12)
    for _ in range(_TRIES):
        cells = _cells(vertices, edge)
        kept = _kept(cells[triangles])
        if 0.85 * most <= len(kept) <= most:
            break
        edge *= float(np.sqrt(len(kept) / (0.95 * most)))
    places = _places(corners, areas, cells[triangles], edge)
    shape = cells[triangles[kept]]
    _, number = np.unique(np.stack((cells, np.broadcast_to(labels, cells.shape)), axis=1), axis=0, return_inverse=True)
    number = number.reshape(-1)
    return _split_at_edges(places, shape, number[triangles[kept]], _nearest(vertices, places[cells], number))


def sharp(vertices: Vector, triangles: Indices) -> Reduced:
    """The same triangles; edges are sharp for whoever averages normals at corners."""
    return _split_at_edges(vertices, triangles, triangles, np.arange(len(vertices)))


def is_closed(triangles: Indices) -> bool:
    """Whether every edge belongs to two triangles."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    counts = np.unique(edges, axis=0, return_counts=True)[1]
    return bool((counts == 2).all())


def _cells(vertices: Vector, edge: float) -> Indices:
    """The number of the grid's cell that each vertex is in; empty cells do not count."""
    grid = np.floor((vertices - vertices.min(axis=0)) / edge).astype(np.int64)
    across = grid.max(axis=0) + 1
    _, cells = np.unique((grid[:, 0] * across[1] + grid[:, 1]) * across[2] + grid[:, 2], return_inverse=True)
    return np.asarray(cells, np.int64).reshape(-1)


def _kept(shape: Indices) -> Indices:
    """Which triangles stay: those in three cells, each only once."""
    wide = (shape[:, 0] != shape[:, 1]) & (shape[:, 1] != shape[:, 2]) & (shape[:, 2] != shape[:, 0])
    rows = np.flatnonzero(wide)
    first = shape[rows].argmin(axis=1)
    turned = np.take_along_axis(shape[rows], (first[:, None] + np.arange(3)) % 3, axis=1)
    count = int(shape.max(initial=0)) + 1
    if count > 2_000_000:  # their products would not fit
        _, once = np.unique(turned, axis=0, return_index=True)
    else:
        _, once = np.unique((turned[:, 0] * count + turned[:, 1]) * count + turned[:, 2], return_index=True)
    return np.asarray(rows[once], np.int64)


def _places(corners: Vector, areas: Vector, shape: Indices, edge: float) -> Vector:
    """One point for each cell: nearest to the planes of the triangles that touch it, not far from their corners."""
    count = int(shape.max()) + 1
    owner = shape.reshape(-1)
    sums = np.stack([np.bincount(owner, corners[..., axis].reshape(-1), count) for axis in range(3)], axis=1)
    middle = sums / np.maximum(np.bincount(owner, minlength=count), 1)[:, None]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
    # Around the middle of its cell: far from the origin the products would lose their digits.
    heights = np.einsum("tj,tkj->tk", normals, corners - middle[shape])
    weights = np.repeat(areas, 3)
    planes, sides = np.zeros((count, 3, 3)), np.zeros((count, 3))
    repeated = np.repeat(normals, 3, axis=0)
    for i in range(3):
        sides[:, i] = np.bincount(owner, weights * repeated[:, i] * heights.reshape(-1), count)
        for j in range(3):
            planes[:, i, j] = np.bincount(owner, weights * repeated[:, i] * repeated[:, j], count)
    pull = _PULL * np.trace(planes, axis1=1, axis2=2) + 1e-300
    planes += pull[:, None, None] * np.eye(3)
    shift = np.linalg.solve(planes, sides[..., None])[..., 0]
    return np.asarray(middle + np.clip(shift, -0.5 * edge, 0.5 * edge))


def _nearest(vertices: Vector, places: Vector, number: Indices) -> Indices:
    """For each group of vertices the one that is nearest to the group's place."""
    order = np.lexsort((np.linalg.norm(vertices - places, axis=1), number))
    _, first = np.unique(number[order], return_index=True)
    return np.asarray(order[first], np.int64)


def _split_at_edges(places: Vector, shape: Indices, groups: Indices, sources: Indices) -> Reduced:
    """Corners become several where triangles meet at an edge: whoever averages normals gives them different ones."""
    normals = corner_normals(places, shape)
    rounded = np.round(normals.reshape(-1, 3) * 100.0).astype(np.int64)
    keys = np.column_stack((shape.reshape(-1), groups.reshape(-1), rounded))
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    owners = shape.reshape(-1)[first]
    return Reduced(places[owners], number.reshape(-1, 3), sources[groups.reshape(-1)[first]])


def corner_normals(vertices: Vector, triangles: Indices) -> Vector:
    """Normals at the three corners of each triangle: the mean of those around that meet it without an edge."""
    corners = vertices[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    units = across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
    owner = triangles.reshape(-1)
    order = np.argsort(owner, kind="stable")  # corners that share a vertex lie side by side
    counts = np.bincount(owner, minlength=len(vertices))
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    total = np.zeros((len(owner), 3))
    face = np.arange(len(owner)) // 3
    for turn in range(int(counts.max(initial=0))):  # with the first, second, … triangle around the vertex
        mine = np.flatnonzero(counts[owner] > turn)
        other = face[order[first[owner[mine]] + turn]]
        near = np.einsum("ij,ij->i", units[face[mine]], units[other]) > _CREASE
        total[mine[near]] += across[other[near]]
    length = np.linalg.norm(total, axis=1)[:, None]
    chosen: Any = np.where(length > 1e-300, total / np.maximum(length, 1e-300), units[face])
    return np.asarray(chosen).reshape(-1, 3, 3)
