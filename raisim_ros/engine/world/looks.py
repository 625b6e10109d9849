"""What objects look like, decided once for all who draw them: pages, pictures and markers."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.appearance import Colour, colour
from raisim_ros.description.mesh.color import brings_materials, has_colors
from raisim_ros.description.robot.kinematic_tree import TreeCollision, TreeVisual
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import Ground
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.types import CollisionBody

# Links without a colour.
_LINK: Colour = (0.75, 0.76, 0.78, 1.0)


def object_look(handle: Object) -> Colour:
    """Red, green, blue and opacity (0 to 1) of an object as a whole."""
    return colour(_own(handle), handle.get_object_type().name.lower(), handle.get_id())


def _own(handle: Object) -> str:
    plain = handle.get_color() if isinstance(handle, HeightMap) else ""
    return plain or handle.get_appearance()


def child_look(handle: Object, child: CollisionBody) -> Colour:
    """Of one shape of a body: its own, or that of the body."""
    return colour(child.appearance, "", handle.get_id()) if child.appearance else object_look(handle)


def link_look(robot: ArticulatedSystem, shape: TreeVisual | TreeCollision, seen: bool) -> tuple[Colour, bool]:
    """Of one shape of a link, and whether the colours of its mesh file count more; `seen`: it is drawn as a visual."""
    if robot.get_appearance():
        return object_look(robot), False
    own = shape.color if isinstance(shape, TreeVisual) else None
    from_file = seen and shape.mesh_file is not None and (own is None or brings_materials(shape.mesh_file))
    if own is not None:
        return (own[0], own[1], own[2], own[3]), from_file
    return _LINK if seen else object_look(robot), from_file


def colored_file(mesh: Mesh) -> str:
    """The file of a mesh object whose colours count; empty: it has that of object_look()."""
    file = mesh.get_mesh_file_name()
    return file if file and not mesh.get_appearance() and has_colors(file) else ""


def ground_color(ground: Ground) -> tuple[float, float, float] | None:
    """None: whoever draws it chooses."""
    return object_look(ground)[:3] if ground.get_appearance() else None


def terrain_colors(terrain: HeightMap) -> Vector | None:
    """For each sample, [iy, ix, rgb]; None: whoever draws it chooses, by height."""
    colors = terrain.get_color_map()
    if colors is None and _own(terrain):
        data = terrain.get_data()
        return np.broadcast_to(object_look(terrain)[:3], (data.y_samples, data.x_samples, 3))
    return colors
