"""Surfaces of the shapes that a world has."""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import shapes
from raisim_ros.description.errors import RaisimError
from raisim_ros.description.mesh.color import part_color, part_image
from raisim_ros.description.mesh.file import MeshData, load_mesh
from raisim_ros.description.solids import SOLIDS
from raisim_ros.description.terrain import HeightMapData
from raisim_ros.viewer.scene import Surface, Vector

# A mesh with fewer triangles is drawn with sharp edges: with many, one cannot see them.
SHARP_BELOW = 3000
# A finer heightmap is drawn with every second, third … sample.
MAX_HEIGHT_MAP_CELLS = 250_000

# What has no colour of its own beside parts that have.
PLAIN = (0.7, 0.7, 0.7)

# A unit surface with its pose and scale: what draws a primitive.
Placed = tuple[Surface, Vector, tuple[float, float, float]]


def _surface(vertices: Any, triangles: Any, flat: bool = False) -> Surface:
    return Surface(
        np.ascontiguousarray(vertices, np.float32), np.ascontiguousarray(triangles, np.uint32).reshape(-1, 3), flat
    )


@cache
def grain_ball() -> Surface:
    """Radius 1, with few triangles: there are many of them."""
    import trimesh

    ball = trimesh.creation.icosphere(1)
    return _surface(ball.vertices, ball.faces)


@cache
def unit(solid: str) -> Surface:
    """A solid of `solids.SOLIDS`; the same object at every call."""
    return _surface(*SOLIDS[solid]())


def primitive(shape: str, dim: Any) -> list[Placed]:
    """What draws a primitive shape with the dimensions of the engine; nothing for other shapes."""
    return [
        (unit(piece.solid), np.array([0.0, 0.0, piece.z, 0.0, 0.0, 0.0, 1.0]), piece.size)
        for piece in shapes.pieces(shape, dim)
    ]


_mesh_surfaces: WeakKeyDictionary[MeshData, Surface] = WeakKeyDictionary()


def mesh_surface(mesh: MeshData) -> Surface:
    """The triangles of a mesh; the same object at every call."""
    if mesh not in _mesh_surfaces:
        _mesh_surfaces[mesh] = _surface(mesh.vertices, mesh.triangles, flat=len(mesh.triangles) < SHARP_BELOW)
    return _mesh_surfaces[mesh]


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
    from raisim_ros.description.mesh.scene import read_scene

    try:
        scene = read_scene(Path(file))
        parts = [part for part in scene.geometry.values() if hasattr(part, "faces")]
        if not any(part.visual.defined for part in parts):
            return None
        # Units and axes as everywhere else in the package: the boxes around both tell the factor.
        ours, theirs = np.ptp(np.asarray(mesh.bounds()), axis=0).max(), np.ptp(scene.bounds, axis=0).max()
        if theirs > 0.0 and not math.isclose(ours, theirs, rel_tol=1e-6):
            scene.apply_transform(np.diag([ours / theirs] * 3 + [1.0]))
        if len(parts) > 1:  # the page fails at a file of several meshes that people can drag
            return _merged_glb([part for part in scene.dump(concatenate=False) if hasattr(part, "faces")])
        data: bytes = scene.export(file_type="glb")
        return data
    except Exception:  # trimesh's readers raise whatever their parsers raise; the plain surface is drawn instead
        return None


def _merged_glb(parts: list[Any]) -> bytes:
    """Several of trimesh's meshes as one, in the colours of their vertices, or with one image of all their textures."""
    import trimesh

    if any(part_image(part.visual) is not None for part in parts):
        for part in parts:
            part.visual = _image_alone(part)
        data: bytes = trimesh.util.concatenate(parts).export(file_type="glb", include_normals=True)
        return data
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    triangles = np.concatenate([part.faces + start for part, start in zip(parts, first, strict=False)])
    return _colored_glb(np.concatenate([part.vertices for part in parts]), triangles, _vertex_colors(parts))


def _image_alone(part: Any) -> Any:
    """A mesh's look as nothing but an image: those of several meshes can be put into one."""
    import trimesh
    from PIL import Image

    found = part_image(part.visual)
    if found is None:
        pixel = np.round(255.0 * np.array(part_color(part.visual) or PLAIN)).astype(np.uint8)
        found = np.tile(pixel, (4, 4, 1)), np.full((len(part.vertices), 2), 0.5)
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=Image.fromarray(found[0]), roughnessFactor=0.9)
    return trimesh.visual.TextureVisuals(uv=found[1], material=material)


def _vertex_colors(parts: list[Any]) -> Vector:
    """Red, green, blue (0 to 1) of all vertices."""
    rows = []
    for part in parts:
        if part.visual.defined and part.visual.kind == "vertex":
            rows.append(np.asarray(part.visual.vertex_colors, float)[:, :3] / 255.0)
        else:
            rows.append(np.tile(part_color(part.visual) or PLAIN, (len(part.vertices), 1)))
    return np.concatenate(rows)


# ---- terrain ----

# Colours by height, from the lowest to the highest.
_TERRAIN_COLORS = np.array([[0.28, 0.40, 0.24], [0.45, 0.50, 0.30], [0.58, 0.50, 0.38], [0.74, 0.71, 0.68]])


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
    rows, columns = data.drawn_samples(MAX_HEIGHT_MAP_CELLS)
    grid, triangles = data.surface(rows, columns)
    shown = np.ix_(rows, columns)
    shades = height_colors(data.heights[shown]) if colors is None else colors[shown]
    plain = _surface(grid, triangles)
    return Surface(plain.vertices, plain.triangles, False, _colored_glb(grid, triangles, shades.reshape(-1, 3)))


def terrain_surface(corners: Vector) -> Surface:
    """Terrain given by the corners of its triangles, three rows each, coloured by height."""
    plain = triangle_surface(corners, flat=False)
    vertices = plain.vertices.astype(np.float64)
    glb = _colored_glb(vertices, plain.triangles.astype(np.int64), height_colors(vertices[:, 2]))
    return Surface(plain.vertices, plain.triangles, False, glb)


def _colored_glb(vertices: Vector, triangles: NDArray[np.int64], colors: Vector) -> bytes:
    import trimesh

    # glTF takes colours for linear light.
    linear = np.clip(colors, 0.0, 1.0) ** 2.2
    rgba = np.column_stack((np.round(255.0 * linear), np.full(len(linear), 255.0))).astype(np.uint8)
    mesh = trimesh.Trimesh(vertices, triangles, vertex_colors=rgba, process=False)
    data: bytes = mesh.export(file_type="glb", include_normals=True)
    return data


def without_metal(glb: bytes) -> bytes:
    """A binary glTF file without metal, which the format means where nothing is said: pages have nothing to mirror
    in it, and it would be black."""
    length = int.from_bytes(glb[12:16], "little")
    tree = json.loads(glb[20 : 20 + length])
    materials = tree.setdefault("materials", [])
    for primitive in (one for mesh in tree["meshes"] for one in mesh["primitives"]):
        primitive.setdefault("material", len(materials))
    materials.append({"pbrMetallicRoughness": {"roughnessFactor": 0.9}})
    for material in materials:
        look = material.setdefault("pbrMetallicRoughness", {})
        look["metallicFactor"] = 0.0
        look.pop("metallicRoughnessTexture", None)
    text = json.dumps(tree, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    rest = glb[20 + length :]
    head = glb[:8] + (20 + len(text) + len(rest)).to_bytes(4, "little") + len(text).to_bytes(4, "little")
    return head + glb[16:20] + text + rest


def light(colors: Vector) -> NDArray[np.uint8]:
    """Colours (0 to 1) as shares of light, 0 to 255: the page takes those of instances for such."""
    return np.asarray(np.round(255.0 * np.clip(colors, 0.0, 1.0) ** 2.2), np.uint8)
