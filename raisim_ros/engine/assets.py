"""Meshes and heightmaps on their way into the engine.

What the engine makes of a mesh (trees, neighbours, hulls) may take seconds. It is made once, by whichever thread asks
first, and remembered as long as the mesh is: `listed_asset` then only hands it over. It is a context manager
that yields the asset's id in a world; shapes made from it inside the block keep it alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from raisim_ros.description.mesh.file import MeshData
from raisim_ros.description.terrain import HeightMapData
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check

Points = np.ndarray[Any, Any]
Source = MeshData | HeightMapData | Points
"""What an asset is made of; points stand for their convex hull."""

# By the address of the source, which is remembered with it: arrays cannot be keys.
_made: dict[int, tuple[weakref.ref[Any], Any]] = {}


def make_asset(source: Source) -> Any:
    """The asset of a mesh, a heightmap or the hull of points: the one that was made of it before, or a new one.

    Arrays that somebody may write into are not remembered. Raises InvalidValueError.
    """
    asset = _remembered(source)
    if asset is None:
        asset = _new_asset(source)
        if not _arrays(source)[0].flags.writeable:
            address = id(source)
            _made[address] = weakref.ref(source, lambda _: _made.pop(address, None)), asset
    return asset


def has_asset(source: Source) -> bool:
    """Whether `make_asset` would only have to remember."""
    return _remembered(source) is not None


def _remembered(source: Source) -> Any:
    reference, asset = _made.get(id(source), (None, None))
    return asset if reference is not None and reference() is source else None


def _arrays(source: Source) -> tuple[Points, ...]:
    if isinstance(source, MeshData):
        return source.vertices, source.triangles
    return (source.heights,) if isinstance(source, HeightMapData) else (source,)


def _doubles(values: Points) -> Any:
    return c_array(np.ascontiguousarray(values, dtype=np.float64))


def _new_asset(source: Source) -> Any:
    out = ffi.new("rs_asset **")
    if isinstance(source, MeshData):
        triangles = np.ascontiguousarray(source.triangles, dtype=np.int32)
        sizes = len(source.vertices), len(triangles)
        check(lib.rs_asset_create_mesh(sizes[0], _doubles(source.vertices), sizes[1], c_array(triangles), out))
    elif isinstance(source, HeightMapData):
        samples, size = (source.x_samples, source.y_samples), (source.x_size, source.y_size)
        check(lib.rs_asset_create_heightmap(*samples, *size, _doubles(source.heights), out))
    else:
        check(lib.rs_asset_create_convex(len(source), _doubles(source), out))
    return ffi.gc(out[0], lib.rs_asset_destroy)


@contextmanager
def listed_asset(world: Any, source: Source) -> Iterator[int]:
    """The asset of a source in a world."""
    out = ffi.new("rs_asset_id *")
    check(lib.rs_asset_add(world, make_asset(source), out))
    try:
        yield int(out[0])
    finally:
        check(lib.rs_asset_release(world, out[0]))


def hull_corners(points: Points) -> np.ndarray[Any, Any]:
    """Indices of the points [m] that are corners of their convex hull. Raises InvalidValueError when they are flat."""
    corners, count = np.empty(len(points), dtype=np.int32), ffi.new("int64_t *")
    check(lib.rs_hull_corners(len(points), _doubles(points), c_array(corners), count))
    return corners[: count[0]]
