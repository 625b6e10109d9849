"""The scene of a World: what its objects look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raisim_ros.description.appearance import HIDDEN
from raisim_ros.description.robot.kinematic_tree import TreeBody, TreeCollision, TreeVisual
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import Ground, SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.scene_handles import LightObject, SceneObject
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.types import ArticulationBuffer, BodyType
from raisim_ros.engine.world.looks import child_look, colored_file, ground_color, link_look, object_look, terrain_colors
from raisim_ros.engine.world.world import World
from raisim_ros.viewer import surfaces
from raisim_ros.viewer.page_surfaces import Surfaces, WholeSurfaces
from raisim_ros.viewer.scene import COLLISION, INERTIA, VISUAL, Item, Part, SceneModel, Vector, compose
from raisim_ros.viewer.soft_scene import soft_look

# Lights have no size of their own; they are drawn so large [m].
LAMP_RADIUS = 0.05

WHOLE = WholeSurfaces()


def unique_names(world: World) -> dict[str, Object]:
    """All objects by their names; those without one are called TYPE_ID, the second of a name NAME_ID."""
    named: dict[str, Object] = {}
    for handle in world.get_obj_list():
        name = handle.get_name() or f"{handle.get_object_type().name.lower()}_{handle.get_id()}"
        named[f"{name}_{handle.get_id()}" if name in named else name] = handle
    return named


def world_model(world: World, meshes: Surfaces = WHOLE) -> SceneModel:
    """Frames: the objects in the order of the world's list, then the bodies of all robots."""
    names, misses = unique_names(world), meshes.misses
    robots = world.read_articulations()
    items = [_item(name, row, handle, len(names), robots, meshes) for row, (name, handle) in enumerate(names.items())]
    return SceneModel(items, len(names) + len(robots.link_poses), meshes.misses == misses)


def _item(
    name: str, row: int, handle: Object, objects: int, robots: ArticulationBuffer, meshes: Surfaces
) -> Item:
    kind = handle.get_object_type().name.lower()
    if isinstance(handle, ArticulatedSystem):
        first = objects + robots.link_first[handle.get_id()]
        bodies = tuple(body.name for body in handle.get_kinematic_tree().bodies)
        return Item(name, kind, True, robot_parts(handle, first, meshes=meshes), bodies, first)
    movable = isinstance(handle, SingleBodyObject) and handle.get_body_type() != BodyType.STATIC
    if isinstance(handle, SoftObject):
        return Item(name, kind, False, [], (name,), row, soft=soft_look(handle))
    if handle.get_appearance() == HIDDEN:
        return Item(name, kind, movable, [], (name,), row)
    if isinstance(handle, Ground):
        return Item(name, kind, movable, [], (name,), row, float(handle.get_position()[2]), ground_color(handle))
    return Item(name, kind, movable, _body_parts(handle, row, meshes), (name,), row)


def pose_of(handle: SingleBodyObject | ArticulatedSystem, body: int = 0) -> Vector:
    """Position and quaternion x, y, z, w of a body."""
    w, x, y, z = handle.get_quaternion(body)
    return np.array([*handle.get_position(body), x, y, z, w])


# ---- single bodies ----


def _body_parts(handle: Object, frame: int, meshes: Surfaces) -> list[Part]:
    if isinstance(handle, HeightMap):
        return [Part(surfaces.height_map_surface(handle.get_data(), terrain_colors(handle)), frame)]
    if isinstance(handle, Mesh):
        return _mesh(handle, frame, meshes)
    if isinstance(handle, LightObject):
        if handle.get_settings().kind == "directional":  # it shines from far away: there is no lamp at its place
            return []
        red, green, blue = handle.get_settings().color
        lamp = surfaces.primitive("sphere", (LAMP_RADIUS,))
        return [Part(surface, frame, pose, scale, (red, green, blue)) for surface, pose, scale in lamp]
    if not isinstance(handle, SingleBodyObject) or isinstance(handle, SceneObject):
        return []
    parts = []
    for shape in handle.get_collision_body_list():
        red, green, blue, alpha = child_look(handle, shape)
        w, x, y, z = shape.quaternion
        placed = np.array([*shape.position, x, y, z, w])
        for surface, pose, scale in surfaces.primitive(shape.shape.name.lower(), shape.dim):
            parts.append(Part(surface, frame, compose(placed, pose), scale, (red, green, blue), alpha))
    return parts


def _mesh(handle: Mesh, frame: int, meshes: Surfaces) -> list[Part]:
    file = colored_file(handle)
    if file:
        own = meshes.of_file(file, own_colors=True, alone=True)
        if own is not None and own.glb is not None:
            x, y, z = handle.get_scale()
            return [Part(own, frame, scale=(float(x), float(y), float(z)))]
    surface = meshes.of_mesh(handle.get_mesh())
    red, green, blue, opacity = object_look(handle)
    return [] if surface is None else [Part(surface, frame, color=(red, green, blue), opacity=opacity)]


# ---- robots ----


def robot_parts(
    robot: ArticulatedSystem,
    first_frame: int,
    layers: Sequence[str] = (VISUAL, COLLISION, INERTIA),
    meshes: Surfaces = WHOLE,
) -> list[Part]:
    """What is drawn of a robot whose bodies are the frames from `first_frame` on."""
    if robot.get_appearance() == HIDDEN:
        return []
    tree = robot.get_kinematic_tree()
    seen = any(body.visuals for body in tree.bodies)
    parts = []
    for index, body in enumerate(tree.bodies):
        frame = first_frame + index
        if VISUAL in layers:
            for visual in body.visuals:
                parts += _link_parts(robot, visual, frame, VISUAL, meshes)
        if COLLISION in layers or not seen:
            for collision in body.collisions:
                parts += _link_parts(robot, collision, frame, COLLISION if seen else VISUAL, meshes)
        if body.mass > 0.0 and INERTIA in layers:
            parts.append(_inertia_box(body, frame))
    return parts


def _inertia_box(body: TreeBody, frame: int) -> Part:
    """The uniform box that has the mass and inertia of a body."""
    moments, axes = np.linalg.eigh(np.asarray(body.inertia))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 6.0 / body.mass * (moments.sum() - 2.0 * moments)
    x, y, z = np.sqrt(np.maximum(squares, 1e-8))
    pose = np.array([*body.com, *_xyzw(axes)])
    return Part(surfaces.unit("block"), frame, pose, (float(x), float(y), float(z)), (0.75, 0.25, 0.85), 0.55, INERTIA)


def _link_parts(
    robot: ArticulatedSystem, shape: TreeVisual | TreeCollision, frame: int, layer: str, meshes: Surfaces
) -> list[Part]:
    (red, green, blue, opacity), from_file = link_look(robot, shape, layer == VISUAL)
    color = (red, green, blue)
    x, y, z, w = _xyzw(np.asarray(shape.rotation))
    placed = np.array([*shape.position, x, y, z, w])
    if shape.mesh_file is None:
        drawn = surfaces.primitive(shape.shape, shape.dim)
        return [Part(s, frame, compose(placed, pose), scale, color, opacity, layer) for s, pose, scale in drawn]
    surface = meshes.of_file(shape.mesh_file, from_file, alone=False)
    if surface is None:
        return []
    sx, sy, sz = (float(value) for value in shape.scale)
    return [Part(surface, frame, placed, (sx, sy, sz), color, opacity, layer)]


def _xyzw(rotation: Vector) -> tuple[float, float, float, float]:
    w, x, y, z = quaternion_from_matrix(rotation)
    return float(x), float(y), float(z), float(w)
