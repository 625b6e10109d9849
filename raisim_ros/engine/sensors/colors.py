"""What objects look like to colour cameras: a colour for each shape, or for each sample of a heightmap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.appearance import HIDDEN, colour
from raisim_ros.description.mesh.color import brings_materials, mesh_color
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeCollision, TreeVisual
from raisim_ros.engine._library import ffi
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

Rows = NDArray[np.float32]

# Shares of light that bytes of sRGB stand for.
_SHARES = ((np.arange(256) / 255.0) ** 2.2).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Texture:
    """An image on a mesh: rows from the top (sRGB), and where the corners of every triangle lie in it, M x 3 x 2."""

    pixels: NDArray[np.uint8]
    uv: NDArray[np.float32]


@dataclass(frozen=True)
class Looks:
    """Red, green, blue (0..1) of all shapes; those of object i are rows first[i] to first[i + 1] - 1.

    `image` is the number of each row's texture, -1 where it has none.
    """

    first: NDArray[np.int64]
    rgb: Rows
    image: NDArray[np.int32] | None = None
    textures: tuple[Texture, ...] = ()


def engine_looks(looks: Looks) -> tuple[Any, Any]:
    """The same for the engine, and what must live as long; the arrays stay those of `looks`."""
    out, textures = ffi.new("rs_looks *"), ffi.new("rs_texture []", len(looks.textures))
    out.object_count = len(looks.first) - 1
    out.first = c_array(looks.first)
    out.rgb = c_array(looks.rgb)
    if looks.image is not None:
        out.image = c_array(looks.image)
        for c_texture, texture in zip(textures, looks.textures, strict=True):
            c_texture.height, c_texture.width = texture.pixels.shape[:2]
            c_texture.rgb = c_array(texture.pixels)
            c_texture.uv = c_array(texture.uv)
        out.textures = textures
        out.shares = c_array(_SHARES)
    return out, textures


def world_looks(world: Home) -> Looks:
    """The looks of all objects, in the order of the world's list. Hidden ones have no rows."""
    rows = [object_rows(handle) for handle in world.get_obj_list()]
    first = np.cumsum([0, *(len(one) for one in rows)], dtype=np.int64)
    return Looks(first, np.concatenate([np.empty((0, 3), np.float32), *rows]))


def object_rows(handle: Object) -> Rows:
    """Colours of the shapes of an object, or of the samples of a heightmap."""
    appearance = handle.get_appearance()
    if appearance == HIDDEN:
        return np.empty((0, 3), np.float32)
    if isinstance(handle, HeightMap):
        map_ = handle.get_color_map()
        if map_ is not None:
            return np.ascontiguousarray(map_.reshape(-1, 3), np.float32)
        appearance = handle.get_color() or appearance
    plain = colour(appearance, handle.get_object_type().name.lower(), handle.get_id())[:3]
    if isinstance(handle, ArticulatedSystem):
        rows = [plain if appearance else own or plain for own in _robot_colors(handle)]
    elif isinstance(handle, Mesh) and not appearance:
        rows = [mesh_color(handle.get_mesh_file_name()) or plain] * len(handle.get_collision_body_list())
    elif isinstance(handle, SingleBodyObject):
        children = [shape.appearance for shape in handle.get_collision_body_list()]
        rows = [colour(child, "", handle.get_id())[:3] if child else plain for child in children]
    elif isinstance(handle, SoftObject):
        rows = [plain]
    else:
        rows = []
    return np.array(rows, np.float32).reshape(-1, 3)


# ---- robots ----


# By shape; found once for every tree, since every image asks for them.
_known_trees: WeakKeyDictionary[KinematicTree, dict[str, tuple[float, float, float] | None]] = WeakKeyDictionary()


def _robot_colors(robot: ArticulatedSystem) -> list[tuple[float, float, float] | None]:
    """Colours of a robot's collision shapes: those of what is drawn in their place."""
    tree = robot.get_kinematic_tree()
    if tree not in _known_trees:
        _known_trees[tree] = {
            shape.name: _visual_color(_nearest(shape, body.visuals))
            for body in tree.bodies
            for shape in body.collisions
        }
    return [_known_trees[tree].get(shape.name) for shape in robot.get_collision_bodies()]


def _nearest(shape: TreeCollision, visuals: list[TreeVisual]) -> TreeVisual | None:
    """The visual of the same link whose origin is nearest; of the whole body when the link has none."""
    own = [visual for visual in visuals if visual.link == shape.link] or visuals
    return min(own, key=lambda visual: float(np.linalg.norm(visual.position - shape.position)), default=None)


def _visual_color(visual: TreeVisual | None) -> tuple[float, float, float] | None:
    if visual is None:
        return None
    own = visual.color[:3] if visual.color is not None else None
    if visual.mesh_file is None or (own is not None and not brings_materials(visual.mesh_file)):
        return own
    return mesh_color(visual.mesh_file) or own
