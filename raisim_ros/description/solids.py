"""Triangles of solids that fill the unit cube about the origin: what shapes are drawn with.

A solid is its vertices (N x 3) and triangles (M x 3, counter-clockwise from outside). Where an edge is sharp, the faces
have vertices of their own there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.rotation import Array

Triangles = NDArray[np.int64]
Solid = tuple[Array, Triangles]

_SEGMENTS = 40
_RINGS = 20


def _around() -> tuple[Triangles, Triangles]:
    """Numbers of the points of a rim, and of their neighbours."""
    here = np.arange(_SEGMENTS, dtype=np.int64)
    return here, (here + 1) % _SEGMENTS


def _rim(z: float, radius: float = 0.5) -> Array:
    phi = np.linspace(0.0, 2.0 * np.pi, _SEGMENTS, endpoint=False)
    return np.stack((radius * np.cos(phi), radius * np.sin(phi), np.full(_SEGMENTS, z)), axis=-1)


def _lid(first: int, up: bool) -> Triangles:
    here = np.arange(1, _SEGMENTS - 1)
    sides = (here, here + 1) if up else (here + 1, here)
    return np.stack((np.full_like(here, first), first + sides[0], first + sides[1]), axis=-1)


def ball() -> Solid:
    """A ball."""
    theta = np.linspace(0.0, np.pi, _RINGS + 1)
    rings = [_rim(0.5 * np.cos(angle), 0.5 * np.sin(angle)) for angle in theta[1:-1]]
    vertices = np.vstack(([0.0, 0.0, 0.5], *rings, [0.0, 0.0, -0.5]))
    here, after = _around()
    triangles = [np.stack((np.zeros_like(here), 1 + here, 1 + after), axis=-1)]
    for row in range(_RINGS - 2):
        upper, lower = 1 + row * _SEGMENTS, 1 + (row + 1) * _SEGMENTS
        triangles.append(np.stack((upper + here, lower + here, lower + after), axis=-1))
        triangles.append(np.stack((upper + here, lower + after, upper + after), axis=-1))
    last, south = 1 + (_RINGS - 2) * _SEGMENTS, len(vertices) - 1
    triangles.append(np.stack((last + here, np.full_like(here, south), last + after), axis=-1))
    return vertices, np.concatenate(triangles)


def block() -> Solid:
    """A cube."""
    corners: list[Array] = []
    triangles: list[int] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.roll(np.eye(3), axis, axis=1)[1:]
            normal = sign * np.roll(np.eye(3), axis, axis=1)[0]
            first = len(corners)
            corners += [0.5 * (normal + a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            order = (0, 1, 2, 0, 2, 3) if sign > 0 else (0, 2, 1, 0, 3, 2)
            triangles += [first + k for k in order]
    return np.array(corners), np.array(triangles).reshape(-1, 3)


def rod() -> Solid:
    """A cylinder along z."""
    vertices = np.concatenate((_rim(-0.5), _rim(0.5), _rim(-0.5), _rim(0.5)))
    return vertices, np.concatenate((tube()[1], _lid(2 * _SEGMENTS, False), _lid(3 * _SEGMENTS, True)))


def tube() -> Solid:
    """The side of that cylinder alone."""
    here, after = _around()
    side = [np.stack((here, after, _SEGMENTS + after), -1), np.stack((here, _SEGMENTS + after, _SEGMENTS + here), -1)]
    return np.concatenate((_rim(-0.5), _rim(0.5))), np.concatenate(side)


def cone() -> Solid:
    """A cone with its apex towards +z, its centroid at the origin: from -0.25 to 0.75."""
    apex = np.repeat([[0.0, 0.0, 0.75]], _SEGMENTS, axis=0)  # one for each side, with its normal
    here, after = _around()
    side = np.stack((here, after, _SEGMENTS + here), -1)
    return np.concatenate((_rim(-0.25), apex, _rim(-0.25))), np.concatenate((side, _lid(2 * _SEGMENTS, False)))


SOLIDS: dict[str, Callable[[], Solid]] = {made.__name__: made for made in (ball, block, rod, tube, cone)}
