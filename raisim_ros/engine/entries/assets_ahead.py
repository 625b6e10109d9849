"""What the engine makes of meshes and terrain, made before an object is added: adding it then holds up nobody."""

from __future__ import annotations

from typing import Any

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeCollision
from raisim_ros.description.world.soft_entries import DeformableEntry
from raisim_ros.description.world.types import ArticulatedEntry, HeightMapEntry, MeshEntry, ObjectEntry
from raisim_ros.engine.assets import make_asset
from raisim_ros.engine.collision_parts import collision_parts
from raisim_ros.engine.link_mesh import link_mesh
from raisim_ros.engine.types import MeshCollisionMode


def mesh_shapes(tree: KinematicTree) -> list[TreeCollision]:
    """The collision shapes of a robot that are meshes."""
    return [shape for one in tree.bodies for shape in one.collisions if shape.mesh_file is not None]


def assets_of_robot(tree: KinematicTree, mode: str) -> list[Any]:
    """The assets of a robot's meshes. As long as they are held, adding the robot takes them."""
    held: list[Any] = []
    for shape in mesh_shapes(tree):
        assert shape.mesh_file is not None
        made = link_mesh(shape.mesh_file, list(shape.scale), "hull" if shape.convex else mode)
        parts = made if isinstance(made, list) else [made]
        held += [*parts, *map(make_asset, parts)]
    return held


def mesh_mode(entry: ArticulatedEntry) -> str:
    """What collides in the place of a robot's meshes."""
    return "convexify" if entry.convexify_meshes else entry.collision_meshes


def assets_of_entry(entry: ObjectEntry) -> list[Any]:
    """The same for any object; where something is wrong, none: adding the object tells."""
    try:
        if isinstance(entry, MeshEntry):
            mesh = load_mesh(entry.file, list(entry.scale))
            mode = MeshCollisionMode.of(entry.collision_mode)
            shapes = [part if part is mesh else part.vertices for part in collision_parts(mesh, mode, None)]
            return [mesh, *shapes, *map(make_asset, shapes)]
        if isinstance(entry, DeformableEntry) and entry.file is not None:
            return [load_mesh(entry.file, list(entry.scale))]
        if isinstance(entry, HeightMapEntry) and entry.data is not None:
            entry.data.heights.setflags(write=False)
            return [make_asset(entry.data)]
        if isinstance(entry, ArticulatedEntry) and entry.tree is not None:
            return assets_of_robot(entry.tree, mesh_mode(entry))
    except RaisimError:
        pass
    return []
