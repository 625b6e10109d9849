"""Surfaces of the shapes that a world has."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.mesh.file import MeshData, load_mesh
from raisim_ros.description.terrain import HeightMapData
from raisim_ros.viewer.scene import IDENTITY, Surface, Vector

# A mesh with fewer triangles is drawn with sharp edges: with many, one cannot see them.
SHARP_BELOW = 3000
# A finer heightmap is drawn with every second, third … sample.
MAX_HEIGHT_MAP_CELLS = 250_000
_SEGMENTS = 40
_RINGS = 20

# A unit surface with its pose and scale: what draws a primitive.
Placed = tuple[Surface, Vector, tuple[float, float, float]]


def _surface(vertices: Any, triangles: Any, flat: bool = False) -> Surface:
    return Surface(
        np.ascontiguousarray(vertices, np.float32), np.ascontiguousarray(triangles, np.uint32).reshape(-1, 3), flat
    )


@cache
def unit_sphere() -> Surface:
    """Radius 1."""
    theta = np.linspace(0.0, np.pi, _RINGS + 1)
    phi = np.linspace(0.0, 2.0 * np.pi, _SEGMENTS, endpoint=False)
    ring = np.stack((np.cos(phi), np.sin(phi)), axis=-1)
    sides = np.concatenate([np.column_stack((ring * np.sin(t), np.full(_SEGMENTS, np.cos(t)))) for t in theta[1:-1]])
    vertices = np.vstack(([0, 0, 1], sides, [0, 0, -1]))
    here = np.arange(_SEGMENTS)
    after = (here + 1) % _SEGMENTS
    triangles = [np.stack((np.zeros_like(here), 1 + here, 1 + after), axis=-1)]
    for row in range(_RINGS - 2):
        upper, lower = 1 + row * _SEGMENTS, 1 + (row + 1) * _SEGMENTS
        triangles.append(np.stack((upper + here, lower + here, lower + after), axis=-1))
        triangles.append(np.stack((upper + here, lower + after, upper + after), axis=-1))
    last, south = 1 + (_RINGS - 2) * _SEGMENTS, len(vertices) - 1
    triangles.append(np.stack((last + here, np.full_like(here, south), last + after), axis=-1))
    return _surface(vertices, np.concatenate(triangles))


@cache
def unit_box() -> Surface:
    """Edges of 1."""
    corners: list[Vector] = []
    triangles: list[int] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.roll(np.eye(3), axis, axis=1)[1:]
            normal = sign * np.roll(np.eye(3), axis, axis=1)[0]
            first = len(corners)
            corners += [0.5 * (normal + a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            order = (0, 1, 2, 0, 2, 3) if sign > 0 else (0, 2, 1, 0, 3, 2)
            triangles += [first + k for k in order]
    return _surface(corners, triangles)


def _rim(z: float, radius: float = 1.0) -> Vector:
    phi = np.linspace(0.0, 2.0 * np.pi, _SEGMENTS, endpoint=False)
    return np.stack((radius * np.cos(phi), radius * np.sin(phi), np.full(_SEGMENTS, z)), axis=-1)


def _lid(first: int, up: bool) -> NDArray[np.int64]:
    here = np.arange(1, _SEGMENTS - 1)
    sides = (here, here + 1) if up else (here + 1, here)
    return np.stack((np.full_like(here, first), first + sides[0], first + sides[1]), axis=-1)


@cache
def unit_cylinder() -> Surface:
    """Radius 1, height 1 along z."""
    vertices = np.concatenate((_rim(-0.5), _rim(0.5), _rim(-0.5), _rim(0.5)))  # twice: the edges are sharp
    here = np.arange(_SEGMENTS)
    after = (here + 1) % _SEGMENTS
    side = [np.stack((here, after, _SEGMENTS + after), -1), np.stack((here, _SEGMENTS + after, _SEGMENTS + here), -1)]
    return _surface(vertices, np.concatenate([*side, _lid(2 * _SEGMENTS, False), _lid(3 * _SEGMENTS, True)]))


@cache
def unit_cone() -> Surface:
    """Radius 1, height 1, apex towards +z, origin at the centroid of the solid."""
    apex = np.repeat([[0.0, 0.0, 0.75]], _SEGMENTS, axis=0)  # one for each side, with its normal
    vertices = np.concatenate((_rim(-0.25), apex, _rim(-0.25)))
    here = np.arange(_SEGMENTS)
    side = np.stack((here, (here + 1) % _SEGMENTS, _SEGMENTS + here), -1)
    return _surface(vertices, np.concatenate((side, _lid(2 * _SEGMENTS, False))))


@cache
def unit_tube() -> Surface:
    """The side of a cylinder alone."""
    whole = unit_cylinder()
    return Surface(whole.vertices, whole.triangles[: 2 * _SEGMENTS])


def primitive(shape: str, dim: Any) -> list[Placed]:
    """What draws "sphere", "box", "cylinder", "cone" or "capsule" with the dimensions of the engine; else nothing."""
    size = [float(value) for value in dim]
    match shape:
        case "sphere":
            return [(unit_sphere(), IDENTITY, (size[0],) * 3)]
        case "box":
            return [(unit_box(), IDENTITY, (size[0], size[1], size[2]))]
        case "cylinder":
            return [(unit_cylinder(), IDENTITY, (size[0], size[0], size[1]))]
        case "cone":
            return [(unit_cone(), IDENTITY, (size[0], size[0], size[1]))]
        case "capsule":
            radius, length = size
            ends = [np.array([0.0, 0.0, 0.5 * sign * length, 0.0, 0.0, 0.0, 1.0]) for sign in (1.0, -1.0)]
            balls: list[Placed] = [(unit_sphere(), end, (radius,) * 3) for end in ends]
            return [(unit_tube(), IDENTITY, (radius, radius, length)), *balls]
        case _:
            return []


def mesh_surface(mesh: MeshData) -> Surface:
    """The triangles of a mesh."""
    return _surface(mesh.vertices, mesh.triangles, flat=len(mesh.triangles) < SHARP_BELOW)


def triangle_surface(corners: Vector, flat: bool = True) -> Surface:
    """Triangles given by their corners, three rows each; those that are not flat share their vertices."""
    if flat:
        return _surface(corners, np.arange(len(corners)), flat=True)
    vertices, place = np.unique(corners, axis=0, return_inverse=True)
    return _surface(vertices, place.reshape(-1))


def file_surface(path: str | Path, own_colors: bool) -> Surface | None:
    """The surface of a mesh file, unscaled; with its materials and textures if `own_colors`. None: not readable."""
    file = Path(path)
    if not file.is_file():
        return None
    return _read_file(str(file), file.stat().st_mtime_ns, own_colors)


@lru_cache(maxsize=256)
def _read_file(file: str, changed: int, own_colors: bool) -> Surface | None:
    """`changed` makes the cache forget a file that was written anew."""
    try:
        mesh = load_mesh(file)
    except RaisimError:
        return None
    plain = mesh_surface(mesh)
    glb = _glb_of(file, mesh) if own_colors else None
    return Surface(plain.vertices, plain.triangles, plain.flat, glb)


def _glb_of(file: str, mesh: MeshData) -> bytes | None:
    """The file as binary glTF in metres, None when it has no colours."""
    import trimesh

    try:
        scene = trimesh.load_scene(file, process=False)
        parts = [part for part in scene.geometry.values() if hasattr(part, "faces")]
        if not any(part.visual.defined for part in parts):
            return None
        # Units and axes as everywhere else in the package: the boxes around both tell the factor.
        ours, theirs = np.ptp(np.asarray(mesh.bounds()), axis=0).max(), np.ptp(scene.bounds, axis=0).max()
        if theirs > 0.0 and not math.isclose(ours, theirs, rel_tol=1e-6):
            scene.apply_transform(np.diag([ours / theirs] * 3 + [1.0]))
        data: bytes = scene.export(file_type="glb")
        return data
    except Exception:  # trimesh's readers raise whatever their parsers raise; the plain surface is drawn instead
        return None


# ---- terrain ----

# Colours by height, from the lowest to the highest.
_TERRAIN_COLORS = np.array([[0.28, 0.40, 0.24], [0.45, 0.50, 0.30], [0.58, 0.50, 0.38], [0.74, 0.71, 0.68]])


def _every(count: int, stride: int) -> NDArray[np.int64]:
    return np.unique(np.append(np.arange(0, count, stride), count - 1))


def height_colors(heights: Vector) -> Vector:
    """Colours of terrain: green below, rock above."""
    share = (heights - heights.min()) / max(float(np.ptp(heights)), 1e-9)
    place = share * (len(_TERRAIN_COLORS) - 1)
    low = np.minimum(place.astype(int), len(_TERRAIN_COLORS) - 2)
    part = (place - low)[..., None]
    mixed: Vector = _TERRAIN_COLORS[low] * (1.0 - part) + _TERRAIN_COLORS[low + 1] * part
    return mixed


def height_map_surface(data: HeightMapData, colors: Vector | None) -> Surface:
    """Terrain in the map's frame, coloured per sample ([iy, ix, rgb]) or by its height."""
    cells = (data.x_samples - 1) * (data.y_samples - 1)
    stride = max(1, math.ceil(math.sqrt(cells / MAX_HEIGHT_MAP_CELLS)))
    columns, rows = _every(data.x_samples, stride), _every(data.y_samples, stride)
    x = (columns / (data.x_samples - 1) - 0.5) * data.x_size
    y = (rows / (data.y_samples - 1) - 0.5) * data.y_size
    heights = data.heights[np.ix_(rows, columns)]
    grid = np.dstack((*np.meshgrid(x, y), heights)).reshape(-1, 3)
    shades = height_colors(heights) if colors is None else colors[np.ix_(rows, columns)]
    place = np.arange(len(grid)).reshape(heights.shape)
    p00, p10, p01, p11 = place[:-1, :-1], place[:-1, 1:], place[1:, :-1], place[1:, 1:]
    # The same diagonal as in the collision: from (ix, iy) to (ix + 1, iy + 1).
    triangles = np.stack((p00, p10, p11, p00, p11, p01), axis=-1).reshape(-1, 3)
    plain = _surface(grid, triangles)
    return Surface(plain.vertices, plain.triangles, False, _colored_glb(grid, triangles, shades.reshape(-1, 3)))


def _colored_glb(vertices: Vector, triangles: NDArray[np.int64], colors: Vector) -> bytes:
    import trimesh

    # glTF takes colours for linear light.
    linear = np.clip(colors, 0.0, 1.0) ** 2.2
    rgba = np.column_stack((np.round(255.0 * linear), np.full(len(linear), 255.0))).astype(np.uint8)
    mesh = trimesh.Trimesh(vertices, triangles, vertex_colors=rgba, process=False)
    data: bytes = mesh.export(file_type="glb", include_normals=True)
    return data
