"""Meshes and heightmaps on their way into the engine.

Each function is a context manager that yields the asset's id. Shapes made from it inside the block keep it alive.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from raisim_ros.description.mesh.file import MeshData
from raisim_ros.description.terrain import HeightMapData
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.errors import check


@contextmanager
def _released(world: Any, out: Any) -> Iterator[int]:
    try:
        yield int(out[0])
    finally:
        check(lib.rs_asset_release(world, out[0]))


@contextmanager
def convex_asset(world: Any, points: np.ndarray[Any, Any]) -> Iterator[int]:
    """The convex hull of points [m]."""
    xyz = np.ascontiguousarray(points, dtype=np.float64)
    out = ffi.new("rs_asset_id *")
    check(lib.rs_asset_create_convex(world, len(xyz), ffi.cast("double *", xyz.ctypes.data), out))
    with _released(world, out) as asset:
        yield asset


def hull_corners(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Indices of the points [m] that are corners of their convex hull. Raises InvalidValueError when they are flat."""
    xyz = np.ascontiguousarray(points, dtype=np.float64)
    corners, count = np.empty(len(xyz), dtype=np.int32), ffi.new("int64_t *")
    data = ffi.cast("double *", xyz.ctypes.data), ffi.cast("int32_t *", corners.ctypes.data)
    check(lib.rs_hull_corners(len(xyz), *data, count))
    return corners[: count[0]]


@contextmanager
def mesh_asset(world: Any, mesh: MeshData) -> Iterator[int]:
    """The triangles of a mesh."""
    xyz = np.ascontiguousarray(mesh.vertices, dtype=np.float64)
    triangles = np.ascontiguousarray(mesh.triangles, dtype=np.int32)
    out = ffi.new("rs_asset_id *")
    check(
        lib.rs_asset_create_mesh(
            world,
            len(xyz),
            ffi.cast("double *", xyz.ctypes.data),
            len(triangles),
            ffi.cast("int32_t *", triangles.ctypes.data),
            out,
        )
    )
    with _released(world, out) as asset:
        yield asset


@contextmanager
def heightmap_asset(world: Any, data: HeightMapData) -> Iterator[int]:
    """The grid of a heightmap."""
    heights = np.ascontiguousarray(data.heights, dtype=np.float64)
    out = ffi.new("rs_asset_id *")
    check(
        lib.rs_asset_create_heightmap(
            world,
            data.x_samples,
            data.y_samples,
            data.x_size,
            data.y_size,
            ffi.cast("double *", heights.ctypes.data),
            out,
        )
    )
    with _released(world, out) as asset:
        yield asset
