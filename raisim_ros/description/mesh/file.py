"""Triangle meshes from files.

``load_mesh`` reads every format trimesh reads (OBJ, STL, PLY, OFF, glTF, COLLADA, 3MF, …) and USD when the
extra ``raisim_ros[usd]`` is installed. All meshes of a file are joined, each with its transform. Repaired on
the way:

- duplicate vertices (exactly equal positions) are merged, unused ones dropped;
- triangles without area are dropped;
- a closed mesh that is inside out is turned, and so is a mesh mirrored by a negative scale.

Open meshes are fine: ``is_closed`` is False and the engine treats them as a thin shell that acts on both
sides.
"""

from __future__ import annotations

import io
import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import checked
from raisim_ros.description.errors import InvalidValueError, MeshError, RaisimError
from raisim_ros.description.files import existing_file, reading
from raisim_ros.description.mesh.cache import content_key, is_stored_hull
from raisim_ros.description.mesh.memory import Memory, file_key
from raisim_ros.description.mesh.plain_formats import read_collada, read_obj
from raisim_ros.description.mesh.size import check_mesh_file, check_triangles

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")

# trimesh reads these when another package is installed.
_OPTIONAL_READERS = {"dae": "pycollada", "zae": "pycollada", "3mf": "networkx", "3dxml": "networkx"}

# Quicker readers of common files; what they leave is trimesh's.
_PLAIN_READERS = {".obj": read_obj, ".dae": read_collada}

# Their files say how long a unit is. The axis that COLLADA calls up does not count, as in rviz.
_FORMATS_WITH_UNITS = ("dae", "zae", "3mf")

_BOUND_MATERIAL = re.compile(rb"<bind_material\b.*?</bind_material>", re.DOTALL)

# The engine refuses triangles whose height is below 1e-12 of their longest side; stay clear of that.
_MIN_ASPECT = 1e-10
_REMEMBERED = 32

Vertices = NDArray[np.float64]
Triangles = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class MeshData:
    """A triangle mesh in its own frame [m]; triangles are counter-clockwise seen from outside."""

    vertices: Vertices
    """Positions, N x 3."""
    triangles: Triangles
    """Vertex indices, M x 3."""
    is_closed: bool
    """Every edge has two triangles, with opposite directions: the mesh encloses a volume."""
    source: str = ""
    """The file, for messages."""
    dropped_triangles: int = 0
    """Triangles without area that were left out."""
    was_flipped: bool = False
    """The mesh came inside out and was turned."""

    def bounds(self) -> tuple[Vertices, Vertices]:
        """Lowest and highest corner of the axis-aligned box around the mesh [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def box_center(self) -> Vertices:
        """Centre of that box: the default centre of mass [m]."""
        low, high = self.bounds()
        return np.asarray(0.5 * (low + high))

    def box_inertia(self, mass: float) -> NDArray[np.float64]:
        """Inertia, 3 x 3, of the bounding box as a uniform solid about its centre: the default [kg m²]."""
        low, high = self.bounds()
        x2, y2, z2 = (high - low) ** 2
        return mass / 12.0 * np.diag([y2 + z2, x2 + z2, x2 + y2])

    def volume(self) -> float:
        """Enclosed volume [m³]; only meaningful for a closed mesh."""
        return _signed_volume(self.vertices, self.triangles)


_meshes: Memory[MeshData] = Memory("meshes", _REMEMBERED)
_hulls: Memory[MeshData] = Memory("hulls", _REMEMBERED)
# The same by the mesh itself: looking up the content of a large one takes a while.
_hull_of: weakref.WeakKeyDictionary[MeshData, MeshData] = weakref.WeakKeyDictionary()


def load_mesh(path: str | Path, scale: float | Sequence[float] = 1.0) -> MeshData:
    """Read, scale (one number, or one per axis) and repair the mesh of a file.

    The result is shared by all callers until the file changes: do not write into its arrays.

    Raises FileMissingError, MeshError (not a mesh, no triangle, numbers that are not finite, too many
    triangles) and InvalidValueError (scale).
    """
    factors = _check_scale(scale)
    file = existing_file(checked.path("path", path), "mesh file")
    with reading(file):
        key = file_key(file, tuple(factors.tolist()))
        mesh = _meshes.get(key)
        if mesh is None:
            vertices, triangles = _read(file)
            mesh = make_mesh(vertices * factors, triangles, source=str(path), mirrored=bool(np.prod(factors) < 0))
            _meshes.put(key, mesh)
    return mesh


def is_read(path: str | Path, scale: float | Sequence[float] = 1.0) -> bool:
    """Whether `load_mesh` would only have to remember. Raises FileMissingError and InvalidValueError."""
    file = existing_file(path, "mesh file")
    return _meshes.get(file_key(file, tuple(_check_scale(scale).tolist()))) is not None


def load_points(path: str | Path, scale: float | Sequence[float] = 1.0) -> Vertices:
    """Corners of all triangles of a file, N x 3 [m], as they are: for a convex hull nothing needs a repair.

    Raises like load_mesh().
    """
    factors = _check_scale(scale)
    file = existing_file(path, "mesh file")
    with reading(file):
        points = _read_binary_stl(file)
        if points is None:
            vertices, triangles = _read(file)
            if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(vertices)):
                raise MeshError(f"{path}: a triangle names a vertex outside 0..{len(vertices) - 1}")
            points = vertices[np.bincount(triangles.ravel(), minlength=len(vertices)) > 0]
    if len(points) == 0:
        raise MeshError(f"{path}: the mesh has no triangles")
    if not np.isfinite(points).all():
        raise MeshError(f"{path}: a vertex is not finite")
    return points * factors


def make_mesh(vertices: Any, triangles: Any, source: str = "mesh", mirrored: bool = False) -> MeshData:
    """A repaired mesh from arrays: N x 3 positions [m] and M x 3 indices. Raises MeshError."""
    points = np.ascontiguousarray(vertices, dtype=np.float64)
    faces = np.ascontiguousarray(triangles, dtype=np.int64)
    if points.ndim != 2 or points.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise MeshError(
            f"{source}: vertices have shape {points.shape} and triangles {faces.shape}, "
            "expected N x 3 and M x 3"
        )
    check_triangles(len(faces), source)
    if len(faces) == 0:
        raise MeshError(f"{source}: the mesh has no triangles")
    if faces.min() < 0 or faces.max() >= len(points):
        raise MeshError(f"{source}: a triangle names a vertex outside 0..{len(points) - 1}")
    if not np.isfinite(points).all():
        bad = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise MeshError(f"{source}: vertex {bad} is {points[bad].tolist()}, expected finite numbers")

    points, faces = _merge_vertices(points, faces)
    kept = faces[_has_area(points, faces)]
    if len(kept) == 0:
        raise MeshError(f"{source}: none of the {len(faces)} triangles has an area")
    points, compact = _drop_unused(points, kept)
    if mirrored:
        compact = compact[:, ::-1]
    closed = _is_closed(compact)
    inside_out = closed and _signed_volume(points, compact) < 0.0
    if inside_out:
        compact = compact[:, ::-1]
    return MeshData(
        vertices=_frozen(points),
        triangles=_frozen(compact.astype(np.int32)),
        is_closed=closed,
        source=source,
        dropped_triangles=len(faces) - len(kept),
        was_flipped=inside_out,
    )


def drawn_mesh(vertices: Vertices, triangles: NDArray[np.int64]) -> tuple[MeshData, NDArray[np.bool_]]:
    """A mesh to be looked at, its triangles as they are, and which of them have an area: the others are left out."""
    kept = _has_area(vertices, triangles)
    if not kept.any():
        raise MeshError(f"none of the {len(triangles)} triangles has an area")
    points = np.ascontiguousarray(vertices, dtype=np.float64)
    return MeshData(_frozen(points), _frozen(triangles[kept].astype(np.int32)), is_closed=False), kept


def convex_hull(mesh: MeshData) -> MeshData:
    """The convex hull of the mesh, closed and turned outwards. Raises MeshError when the mesh is flat."""
    if mesh.is_closed and is_stored_hull(Path(mesh.source)):
        return mesh
    hull = _known_hull(mesh)
    if hull is None:
        hull = hull_of_points(mesh.vertices, f"convex hull of {mesh.source}")
        _hulls.put(content_key(mesh.vertices), hull)
        _hull_of[mesh] = hull
    return hull


def has_hull(mesh: MeshData) -> bool:
    """Whether `convex_hull` would only have to remember."""
    return _known_hull(mesh) is not None


def _known_hull(mesh: MeshData) -> MeshData | None:
    hull = _hull_of.get(mesh)
    if hull is None:
        hull = _hulls.get(content_key(mesh.vertices))
        if hull is not None:
            _hull_of[mesh] = hull
    return hull


def hull_of_points(points: Vertices, source: str) -> MeshData:
    """The convex hull of N x 3 points, closed and turned outwards. Raises MeshError when coplanar."""
    from scipy.spatial import ConvexHull, QhullError  # here: it takes longer to import than all the rest

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise MeshError(f"{source}: the {len(points)} points lie in one plane, or nearly so") from error
    # qhull's triangles are turned either way; the stored planes point outwards
    faces = hull.simplices.astype(np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return make_mesh(points, faces, source=source)


# ---- reading ----


def _check_scale(scale: float | Sequence[float]) -> NDArray[np.float64]:
    try:
        given = np.asarray(scale)
        factors = given.astype(np.float64) if given.dtype.kind in "biuf" else np.zeros(0)
    except ValueError:  # ragged
        factors = np.zeros(0)
    if factors.ndim == 0:
        factors = np.repeat(factors, 3)
    if factors.shape != (3,) or not np.isfinite(factors).all() or (factors == 0.0).any():
        expected = "one or three finite numbers other than zero"
        raise InvalidValueError(f"scale is {checked.shown(scale)}; expected {expected}")
    return factors


def _read(file: Path) -> tuple[Vertices, NDArray[np.int64]]:
    suffix = file.suffix.lower()
    if file.stat().st_size == 0:
        raise MeshError(f"{file}: the file is empty")
    check_mesh_file(file)
    if suffix in USD_SUFFIXES:
        from raisim_ros.description.mesh.usd import read_usd

        return read_usd(file)
    corners = _read_binary_stl(file)
    if corners is not None and len(corners):
        return corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)
    try:
        plain = _PLAIN_READERS[suffix](file.read_bytes()) if suffix in _PLAIN_READERS else None
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from None
    return plain or _read_with_trimesh(file)


def _read_binary_stl(file: Path) -> Vertices | None:
    """Corners of the triangles of a binary STL, the most common format by far; None for any other file."""
    if file.suffix.lower() != ".stl" or file.stat().st_size < 84:
        return None
    content = file.read_bytes()
    count = int.from_bytes(content[80:84], "little")
    if len(content) != 84 + 50 * count:
        return None
    check_triangles(count, str(file))
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    return np.frombuffer(content, triangle, offset=84)["corners"].reshape(-1, 3).astype(np.float64)


def _read_with_trimesh(file: Path) -> tuple[Vertices, NDArray[np.int64]]:
    import trimesh

    from raisim_ros.description.mesh.scene import read_scene

    known = trimesh.available_formats()
    suffix = file.suffix.lower().lstrip(".")
    if suffix not in known and suffix in _OPTIONAL_READERS:
        package = _OPTIONAL_READERS[suffix]
        raise MeshError(f"{file}: reading '{suffix}' needs the Python package {package}: pip install {package}")
    if suffix not in known:
        raise MeshError(f"{file}: unknown mesh format '{suffix}', expected one of {', '.join(sorted(known))}")
    try:
        scene = read_scene(file, _source(file), skip_materials=True)
        mesh = scene.to_mesh()
    except (ImportError, ModuleNotFoundError) as error:
        raise MeshError(f"{file}: reading '{suffix}' needs another Python package: {error}") from error
    except RaisimError:
        raise
    except Exception as error:  # trimesh's readers raise whatever their parsers raise, which may quote the file
        raise MeshError(f"{file}: not a readable '{suffix}' mesh ({type(error).__name__})") from error
    faces = getattr(mesh, "faces", None)
    if faces is None or len(faces) == 0:
        raise MeshError(f"{file}: the file holds no triangles")
    if np.shape(mesh.vertices)[1:] != (3,):
        raise MeshError(f"{file}: vertices of {np.shape(mesh.vertices)[1:]} numbers; expected 3")
    has_units = suffix in _FORMATS_WITH_UNITS and scene.units is not None
    meters = trimesh.units.unit_conversion(scene.units, "meters") if has_units else 1.0
    return np.asarray(mesh.vertices, dtype=np.float64) * meters, np.asarray(faces, dtype=np.int64)


def _source(file: Path) -> io.BytesIO | None:
    """What is read in its place. COLLADA without materials: a shape whose material is broken would be left out."""
    if file.suffix.lower() != ".dae":
        return None
    return io.BytesIO(_BOUND_MATERIAL.sub(b"", file.read_bytes()))


# ---- repair ----


def _merge_vertices(points: Vertices, faces: NDArray[np.int64]) -> tuple[Vertices, NDArray[np.int64]]:
    """One vertex for equal positions, in the order of their first use in the input."""
    rows = np.ascontiguousarray(points + 0.0)  # -0.0 becomes 0.0: equal positions have equal bytes
    by_place = np.lexsort(rows.T)  # equal ones side by side, the first of them first
    is_first = np.ones(len(rows), bool)
    is_first[1:] = (rows[by_place[1:]] != rows[by_place[:-1]]).any(axis=1)
    first_of = np.empty(len(rows), np.int64)
    first_of[by_place] = by_place[is_first][np.cumsum(is_first) - 1]
    kept = np.zeros(len(rows), bool)
    kept[by_place[is_first]] = True
    return rows[kept], (np.cumsum(kept) - 1)[first_of][faces]


def _has_area(points: Vertices, faces: NDArray[np.int64]) -> NDArray[np.bool_]:
    a, b, c = (points[faces[:, k]] for k in range(3))
    longest2 = np.maximum.reduce([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)])
    twice_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(twice_area > _MIN_ASPECT * longest2)


def _drop_unused(points: Vertices, faces: NDArray[np.int64]) -> tuple[Vertices, NDArray[np.int64]]:
    used = np.zeros(len(points), bool)
    used[faces] = True
    return points[used], (np.cumsum(used) - 1)[faces]


def _is_closed(faces: NDArray[np.int64]) -> bool:
    count = int(faces.max()) + 1
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    directed = np.sort(start * count + end)
    if (np.diff(directed) == 0).any():
        return False
    return bool(np.array_equal(directed, np.sort(end * count + start)))


def _signed_volume(points: Vertices, faces: NDArray[Any]) -> float:
    a, b, c = (points[faces[:, k]] - points[faces[0, 0]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    result = np.ascontiguousarray(array)
    result.setflags(write=False)
    return result
