"""Geoms of a compiled model as shapes. Meshes become files in the cache, named by their content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.file_access import allow_own_folder
from raisim_ros.description.mesh import cache as mesh_cache
from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.resources import resource
from raisim_ros.description.robot.model import Geometry
from raisim_ros.description.rotation import Array
from raisim_ros.description.shapes import SHAPES

CACHE_KIND = "mjcf"
_DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
_SHOWN_GROUPS = 3  # geoms of groups 0, 1 and 2 are drawn by MuJoCo's viewer
# Geoms that are primitive shapes here, too.
MJCF_SHAPES = frozenset(shape.name for shape in SHAPES.values() if shape.mjcf)


@dataclass(frozen=True, eq=False)
class HeightField:
    """A grid of heights over the x-y plane of its geom, y_samples rows of x_samples [m]."""

    heights: Array
    x_size: float
    y_size: float


allow_own_folder(mesh_cache.cache_folder(CACHE_KIND))


class Shapes:
    """Makes the shapes of geoms."""

    def __init__(self, model: CompiledModel) -> None:
        self._model = model
        self.mesh = lru_cache(maxsize=None)(self._mesh)

    def collision(self, geom: int) -> Geometry | None:
        """What collides: a mesh as the hull that MuJoCo made of it. None for planes and height fields."""
        return self._geometry(geom, is_hull=True)

    def visual(self, geom: int) -> Geometry | None:
        """What is drawn. None for planes and height fields."""
        return self._geometry(geom, is_hull=False)

    def _geometry(self, geom: int, is_hull: bool) -> Geometry | None:
        model = self._model
        kind = model.kind("geom_type", geom)
        size = [float(length) for length in model["geom_size"][geom]]
        if kind in MJCF_SHAPES:
            factors = SHAPES[kind].mjcf
            return Geometry(kind, tuple(factor * length for factor, length in zip(factors, size, strict=False)))
        if kind == "ellipsoid":
            return Geometry("mesh", (), str(resource("meshes/unit_sphere.obj")), tuple(size))
        if kind in ("mesh", "sdf"):
            return Geometry("mesh", (), str(self.mesh(int(model["geom_dataid"][geom]), is_hull and kind == "mesh")))
        return None

    def is_shown(self, geom: int) -> bool:
        """Does MuJoCo's viewer draw it, unless asked for more?"""
        return int(self._model["geom_group"][geom]) < _SHOWN_GROUPS

    def color(self, geom: int) -> tuple[float, ...]:
        """Red, green, blue, alpha: its own, or else that of its material."""
        own = tuple(float(part) for part in self._model["geom_rgba"][geom])
        material = int(self._model["geom_matid"][geom])
        if material >= 0 and own == _DEFAULT_COLOR:
            return tuple(float(part) for part in self._model["mat_rgba"][material])
        return own

    def height_field(self, geom: int) -> HeightField:
        """The grid of a geom of that type."""
        model, field = self._model, int(self._model["geom_dataid"][geom])
        rows, columns = int(model["hfield_nrow"][field]), int(model["hfield_ncol"][field])
        first = int(model["hfield_adr"][field])
        half_x, half_y, height, _ = (float(length) for length in model["hfield_size"][field])
        values = model["hfield_data"][first : first + rows * columns].astype(np.float64) * height
        return HeightField(values.reshape(rows, columns), 2.0 * half_x, 2.0 * half_y)

    def _mesh(self, mesh: int, is_hull: bool) -> Path:
        """The file of a mesh, or of its hull where MuJoCo has made one."""
        model = self._model
        first, count = int(model["mesh_vertadr"][mesh]), int(model["mesh_vertnum"][mesh])
        vertices = model["mesh_vert"][first : first + count]
        hull = self._hull_triangles(mesh) if is_hull else None
        triangles = hull
        if triangles is None:
            first, count = int(model["mesh_faceadr"][mesh]), int(model["mesh_facenum"][mesh])
            triangles = model["mesh_face"][first : first + count]
        suffix = ".stl" if hull is None else mesh_cache.HULL_SUFFIX
        return _stored(model.names["mesh"][mesh] or f"mesh_{mesh}", vertices[triangles], suffix)

    def _hull_triangles(self, mesh: int) -> NDArray[np.int32] | None:
        """Of the graph: counts of vertices and triangles, two numbers per vertex, neighbours, then the triangles."""
        at = int(self._model["mesh_graphadr"][mesh])
        if at < 0:
            return None
        graph = self._model["mesh_graph"][at:]
        vertices, triangles = int(graph[0]), int(graph[1])
        last = 2 + 3 * vertices + 6 * triangles
        return graph[last - 3 * triangles : last].reshape(-1, 3)


def _stored(name: str, corners: NDArray[np.float32], suffix: str) -> Path:
    """A binary STL with these triangles, which holds MuJoCo's single-precision numbers as they are."""
    form = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    table = np.zeros(len(corners), form)
    table["corners"] = corners
    content = bytes(80) + len(corners).to_bytes(4, "little") + table.tobytes()
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:60]
    folder = mesh_cache.cache_folder(CACHE_KIND)
    allow_own_folder(folder)
    file = folder / f"{readable}_{mesh_cache.content_key(content)[:16]}{suffix}"
    if not (file.is_file() and file.stat().st_size == len(content) and file.read_bytes() == content):
        write_file(file, content, is_lasting=False)
    return file
