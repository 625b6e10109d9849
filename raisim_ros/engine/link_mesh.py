"""What collides in the place of a link's mesh: its convex hull, its triangles, or convex pieces."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.files import existing_file, reading
from raisim_ros.description.mesh import cache as mesh_cache
from raisim_ros.description.mesh.cache import Points
from raisim_ros.description.mesh.convex_decomposition import decompose, is_decomposed
from raisim_ros.description.mesh.file import MeshData, is_read, load_mesh, load_points
from raisim_ros.description.mesh.memory import FileKey, Memory, file_key
from raisim_ros.description.mesh.size import check_mesh_size
from raisim_ros.description.resources import resource
from raisim_ros.engine.assets import hull_corners

COLLISION_MESHES = ("hull", "original", "convexify")

_KIND = "hulls"
_UNIT_SPHERE = "unit_sphere.obj"

Scale = Sequence[float] | Points

_hulls: Memory[Points] = Memory("corners of hulls", 256)


def link_mesh(file: str, scale: Scale, mode: str) -> list[Points] | MeshData:
    """The vertices of convex pieces, or a mesh whose triangles collide.

    `mode`: "hull", one piece that is the exact convex hull; "original"; "convexify", pieces of CoACD. Without a result
    of CoACD the hull is used, without a hull (a flat mesh) the triangles; a warning tells.
    """
    if mode == "original":
        return load_mesh(file, list(scale))
    if mode == "convexify":
        parts = decompose(load_mesh(file, list(scale)), otherwise="its convex hull is used")
        if parts:
            return [part.vertices for part in parts]
    hull = _hull(file, scale)
    if hull is None:
        text = f"{file}: the mesh is flat and has no convex hull; its triangles are used"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return load_mesh(file, list(scale))
    return [hull]


def is_known(file: str, scale: Scale, mode: str) -> bool:
    """Whether `link_mesh` would only have to remember. Raises FileMissingError and InvalidValueError."""
    if mode == "original":
        return is_read(file, list(scale))
    if mode == "convexify":
        return is_read(file, list(scale)) and is_decomposed(load_mesh(file, list(scale)))
    return _hulls.get(_key(existing_file(file, "mesh file"), scale)) is not None


def _key(path: Path, scale: Scale) -> FileKey:
    return file_key(path, tuple(float(factor) for factor in scale))


def _hull(file: str, scale: Scale) -> Points | None:
    """Corners of the convex hull, as remembered while the file stays as it is; None for a flat mesh."""
    path = existing_file(file, "mesh file")
    with reading(path):
        key = _key(path, scale)
        hull = _hulls.get(key)
        if hull is None:
            hull = _find_hull(path, file, scale)
            if hull is not None:
                hull.setflags(write=False)
                _hulls.put(key, hull)
    return hull


def _find_hull(path: Path, file: str, scale: Scale) -> Points | None:
    """The same, from the cache on disk if the file's content is known."""
    if mesh_cache.is_stored_hull(path):
        return np.unique(load_points(path, list(scale)), axis=0)
    # Ellipsoids: known to be convex, without other libraries.
    if path.name == _UNIT_SPHERE and path == resource(f"meshes/{_UNIT_SPHERE}"):
        lines = path.read_text().splitlines()
        points = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], dtype=np.float64)
        return np.ascontiguousarray(points * np.asarray(scale, dtype=np.float64))
    check_mesh_size(path)
    # Other formats may take their shape from further files, so that one file's content does not tell all.
    whole = path.suffix.lower() in (".stl", ".obj", ".dae", ".ply", ".off", ".glb")
    key = mesh_cache.content_key(path.suffix.lower(), np.asarray(scale, dtype=np.float64), path.read_bytes())
    stored = mesh_cache.read_points(_KIND, key) if whole else None
    if stored is not None:
        return stored[0]
    vertices = load_points(file, list(scale))
    try:
        hull = np.ascontiguousarray(vertices[hull_corners(vertices)])
    except InvalidValueError:
        return None
    if whole:
        mesh_cache.write_points(_KIND, key, [hull])
    return hull
