"""How much a shell is bent at each of its triangles, as weights of vertices.

A quadratic is laid through a triangle and the vertices beside it, unfolded into its plane: its three second derivatives
are the curvature. The energy is that of a plate whose Poisson's ratio is 0, the same in every direction and for every
pattern of triangles; hinges along the edges alone are up to three times too stiff across the diagonals of a grid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.objects.body_mesh import Indices

POINTS = 6  # of a quadratic
# Curvatures that the vertices beside a triangle tell this much worse than others are left out.
LEAST_SHARE = 0.02
# Slivers among other triangles would be stiffer than any substep can follow: greatest weight relative to the median.
MOST_WEIGHT = 8.0
# Points further away than so many times the size of a triangle cannot be told from infinitely far ones.
FAR = 1e9


def _neighbours(triangles: Indices) -> tuple[Indices, Indices]:
    """Per triangle and edge (opposite to each corner): the triangle beyond it and its third vertex; -1: a border."""
    count = len(triangles)
    sides = np.concatenate([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]])
    keys = np.sort(sides, axis=1)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    same = np.flatnonzero((keys[order][1:] == keys[order][:-1]).all(axis=1))
    beyond, vertex = np.full((count, 3), -1, np.int32), np.full((count, 3), -1, np.int32)
    for one, other in ((order[same], order[same + 1]), (order[same + 1], order[same])):
        beyond[one % count, one // count] = other % count
        vertex[one % count, one // count] = triangles[other % count, other // count]
    return beyond, vertex


def _unfolded(a: Vector, b: Vector, inner: Vector, flat_a: Vector, flat_b: Vector, flat_in: Vector) -> Vector:
    """Where a vertex `inner` (world) beyond the edge a b comes to lie in a plane where `flat_in` is on this side."""
    edge, way = b - a, inner - a
    length = np.linalg.norm(edge, axis=-1, keepdims=True)
    along = (way * edge).sum(-1, keepdims=True) / np.maximum(length, 1e-300)
    across = np.sqrt(np.maximum(0.0, (way * way).sum(-1, keepdims=True) - along * along))
    unit = (flat_b - flat_a) / np.maximum(length, 1e-300)
    normal = np.stack([-unit[..., 1], unit[..., 0]], -1)
    side = np.where(((flat_in - flat_a) * normal).sum(-1, keepdims=True) > 0.0, -1.0, 1.0)
    place: Vector = flat_a + along * unit + side * across * normal
    return place


def _flat_corners(x: Vector, triangles: Indices) -> Vector:
    """Corners of each triangle in its own plane."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    length = np.linalg.norm(b - a, axis=1)
    along = ((c - a) * (b - a)).sum(1) / np.maximum(length, 1e-300)
    height = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(length, 1e-300)
    zero = np.zeros_like(length)
    return np.stack([np.stack([zero, zero], -1), np.stack([length, zero], -1), np.stack([along, height], -1)], 1)


def _curvature_weights(flat: Vector, given: Vector) -> tuple[Vector, Vector]:
    """Weights by which values at points give (xx, sqrt(2) xy, yy) of a quadratic, and how well the points tell them."""
    u, v = flat[..., 0], flat[..., 1]
    affine = np.stack([np.ones_like(u), u, v], -1) * given[..., None]
    curved = np.stack([0.5 * u * u, np.sqrt(0.5) * u * v, 0.5 * v * v], -1) * given[..., None]
    curved = curved - affine @ (np.linalg.pinv(affine, rcond=1e-9) @ curved)
    values = np.linalg.svd(curved, compute_uv=False)
    weights = np.asarray(np.linalg.pinv(curved, rcond=LEAST_SHARE), np.float64)
    return weights, values[..., -1] / np.maximum(values[..., 0], 1e-300)


def _beyond_neighbours(
    x: Vector, triangles: Indices, links: tuple[Indices, Indices], t: int, known: dict[int, Vector]
) -> dict[int, Vector]:
    """Vertices at most three triangles away, unfolded."""
    beyond, vertex = links
    places, front, seen = dict(known), [int(near) for near in beyond[t] if near >= 0], {t}
    for _ in range(2):
        following = []
        for near in front:
            seen.add(near)
            for k in range(3):
                new, (a, b, inner) = int(vertex[near, k]), (int(triangles[near, (k + m) % 3]) for m in (1, 2, 0))
                if new >= 0 and new not in places:
                    places[new] = _unfolded(x[a], x[b], x[new], places[a], places[b], places[inner])
                if beyond[near, k] >= 0 and int(beyond[near, k]) not in seen:
                    following.append(int(beyond[near, k]))
        front = following
    return {v: place for v, place in places.items() if v not in known}


def _fill_border(x: Vector, triangles: Indices, index: Indices, flat: Vector, links: tuple[Indices, Indices]) -> None:
    """Where triangles have fewer than three neighbours, vertices beyond these take part: those that tell the most."""
    vertex = links[1]
    for t in np.flatnonzero((vertex < 0).any(axis=1)):
        known = {int(v): flat[t, k].copy() for k, v in enumerate(triangles[t])}
        known |= {int(vertex[t, k]): flat[t, 3 + k].copy() for k in range(3) if vertex[t, k] >= 0}
        others = _beyond_neighbours(x, triangles, links, int(t), known)
        while len(known) < POINTS and others:
            trials = np.array([[*known.values(), place] for place in others.values()])
            extent = np.ptp(trials[0], axis=0).max()
            if extent == 0.0:
                break  # a triangle of one point
            trials = np.clip((trials - trials[:, :3].mean(axis=1, keepdims=True)) / extent, -FAR, FAR)
            best = list(others)[int(np.argmax(_curvature_weights(trials, np.ones(trials.shape[:2]))[1]))]
            known[best] = others.pop(best)
        index[t], flat[t] = triangles[t, 0], flat[t, 0]
        index[t, : len(known)], flat[t, : len(known)] = list(known), list(known.values())


def bending_rows(x: Vector, triangles: Indices) -> tuple[Indices, NDArray[np.float64]]:
    """Three rows for each triangle: vertices and their weights.

    Half of |sum of weight * place|^2, over all rows, is the energy of a plate of rigidity 1.
    """
    links = _neighbours(triangles)
    vertex = links[1]
    corners = _flat_corners(x, triangles)
    index = np.concatenate([triangles, np.where(vertex >= 0, vertex, triangles[:, :1])], axis=1)
    flat = np.zeros((len(triangles), POINTS, 2))
    flat[:, :3] = corners
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        world = (x[triangles[:, a]], x[triangles[:, b]], x[index[:, 3 + k]])
        flat[:, 3 + k] = _unfolded(*world, corners[:, a], corners[:, b], corners[:, k])
    _fill_border(x, triangles, index, flat, links)
    repeated = np.array([[index[t, k] in index[t, :k] for k in range(POINTS)] for t in range(len(index))])
    areas = 0.5 * np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    size = np.sqrt(np.maximum(areas, 1e-300))
    scaled = (flat - flat[:, :3].mean(axis=1, keepdims=True)) / size[:, None, None]
    # Without area, or tiny beside its neighbours, a triangle tells nothing of its bending.
    poor = (areas <= 1e-12 * areas.max()) | (np.abs(scaled).max(axis=(1, 2)) > FAR)
    scaled[poor] = 0.0
    weights = _curvature_weights(scaled, np.where(repeated, 0.0, 1.0))[0] * (np.sqrt(areas) / size**2)[:, None, None]
    weights[poor] = 0.0
    most = np.abs(weights).max(axis=(1, 2))
    weights *= np.minimum(1.0, MOST_WEIGHT * np.median(most) / np.maximum(most, 1e-300))[:, None, None]
    rows = np.repeat(index[:, None], 3, axis=1).reshape(-1, POINTS)
    table = weights.reshape(-1, POINTS)
    kept = np.abs(table).max(axis=1) > 0.0
    return np.ascontiguousarray(rows[kept], np.int32), np.ascontiguousarray(table[kept])
