"""From a robot in a world to an ArticulatedEntry: the reverse of build_articulated.py."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.collision_groups import ALL_GROUPS
from raisim_ros.description.errors import NOWHERE
from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody
from raisim_ros.description.urdf.export import urdf_text
from raisim_ros.description.world.types import ArticulatedEntry, Numbers, ShapeEntry
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.entries.build_articulated import JOINT_FIELDS, LIKE_COORDINATES
from raisim_ros.engine.entries.describe_common import numbers
from raisim_ros.engine.entries.describe_sensors import describe_sensor_sets, tree_with_kept_sensors
from raisim_ros.engine.errors import check

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World


def describe_articulated(world: World, handle: ArticulatedSystem) -> ArticulatedEntry:
    """The robot with its state and all settings; what equals the robot file is left out."""
    tree = handle._tree
    joint_order = tuple(body.joint_name for body in tree.bodies[1:])
    group, mask, shapes = _shapes(world, handle)
    collides_with_parent = any(
        handle.may_collide(index, body.parent) for index, body in enumerate(tree.bodies) if body.parent >= 0
    )
    entry = ArticulatedEntry(
        NOWHERE,
        handle.get_name(),
        appearance=handle.get_appearance(),
        collision_group=group,
        collision_mask=mask,
        interface=handle.get_interface(),
        joint_order=joint_order,
        base="fixed" if tree.fixed_base else "floating",
        tree=present_tree(handle),
        robot_description=_description(handle),
        sensor_sets=describe_sensor_sets(handle),
        collide_parent=collides_with_parent,
        collision_meshes=handle.get_options().mesh_mode,
        self_collision="all",  # with every pair that does not collide written out
        integration_scheme=handle.get_integration_scheme().name.lower(),
        control_mode=handle.get_control_mode().name.lower(),
        qpos=numbers(handle.get_generalized_coordinate()),
        qvel=numbers(handle.get_generalized_velocity()),
        joints=_joints(handle),
        shapes=shapes,
        ignored_links=_ignored_links(handle, collides_with_parent),
        actuators=handle.get_actuators(),
        controls=numbers(handle.get_controls()),
        activations=numbers(handle.get_activations()),
        tendons=tree.tendons,
        locks=tree.locks,
        lifted=[(body.name, body.lifted_mass, numbers(body.lifted_com)) for body in tree.bodies if body.lifted_mass],
        states=handle.get_named_states(),
    )
    if tree.fixed_base:
        entry.base_position = numbers(handle.get_base_position())
        entry.base_quaternion = numbers(handle.get_base_quaternion())
    return entry


# ---- the robot file ----


def _description(handle: ArticulatedSystem) -> str:
    """The robot's own URDF, or one with the masses, joints and sensors that were edited."""
    tree = present_tree(handle)
    return (tree is handle._tree and tree.robot_description) or urdf_text(tree)


def present_tree(handle: ArticulatedSystem) -> KinematicTree:
    """The robot's own tree, or one with the masses, joints and sensors that were edited."""
    tree = tree_with_kept_sensors(handle)
    bodies = [_present_body(handle, index, body) for index, body in enumerate(tree.bodies)]
    if all(present is body for present, body in zip(bodies, tree.bodies, strict=True)):
        return tree
    return replace(tree, bodies=bodies)


def _present_body(handle: ArticulatedSystem, index: int, body: TreeBody) -> TreeBody:
    link = handle._link(index)
    inertia = arguments.matrix_of_symmetric6(list(link.inertia))
    present: dict[str, Any] = {
        "joint_position": np.array(list(link.joint_position)),
        "joint_rotation": np.array(list(link.joint_rotation)).reshape(3, 3),
        "axis": np.array(list(link.axis)),
        "mass": float(link.mass),
        "com": np.array(list(link.com)),
        "inertia": inertia,
    }
    same = all(_close(value, getattr(body, name)) for name, value in present.items())
    return body if same else replace(body, **present)


def _close(value: Any, other: Any) -> bool:
    """The same but for rounding; np.allclose takes most of a description's time."""
    return bool((np.abs(value - other) <= 1e-14 * np.abs(other)).all())


# ---- joints ----


def _joints(handle: ArticulatedSystem) -> dict[str, Numbers]:
    """The settings that differ from those of a robot just made."""
    found = {}
    for name, field in JOINT_FIELDS.items():
        count = handle.get_generalized_coordinate_dim() if name in LIKE_COORDINATES else handle.get_dof()
        values = handle._read(field, count)
        if not np.array_equal(values, _initial(handle._tree, name)):
            found[name] = numbers(values)
    return found


def _initial(tree: KinematicTree, name: str) -> Vector:
    """The setting of all joints after loading."""
    if name == "p_target":
        return tree.zero_configuration
    parts = [_initial_of_body(body, name) for body in tree.bodies]
    return np.concatenate([np.zeros(0), *parts])


def _initial_of_body(body: TreeBody, name: str) -> Vector:
    kind, dof = body.joint_type, body.joint_type.velocity_dim
    if name == "spring_mount":
        fixed_or_base = kind in (JointType.FIXED, JointType.FLOATING)
        return kind.zero_coordinate if fixed_or_base else np.atleast_1d(np.asarray(body.spring_mount, dtype=float))
    if name in ("effort_lower", "effort_upper"):
        return np.full(dof, -body.effort_limit if name == "effort_lower" else body.effort_limit)
    return np.full(dof, getattr(body, name, 0.0))


# ---- collisions ----


def _shapes(world: World, handle: ArticulatedSystem) -> tuple[int, int, list[ShapeEntry]]:
    """Group and mask of the first shape, and the shapes that differ from it or from the robot file."""
    shapes = handle.get_collision_bodies()
    count = len(shapes)
    groups, masks = ffi.new("uint64_t[]", count), ffi.new("uint64_t[]", count)
    materials = ffi.new("int32_t[]", count)
    check(lib.rs_object_get_filters(world._world, handle._engine_id, groups, masks, count))
    check(lib.rs_object_get_materials(world._world, handle._engine_id, materials, count))
    tree_shapes = {shape.name: shape for body in handle._tree.bodies for shape in body.collisions}
    group, mask = (int(groups[0]), int(masks[0])) if count else (1, ALL_GROUPS)
    entries: dict[str, ShapeEntry] = {}  # one per name: a mesh may have become several pieces
    for k, shape in enumerate(shapes):
        written = tree_shapes[shape.name]
        material = world._material_name(materials[k])
        differs = (groups[k], masks[k]) != (group, mask)
        if differs or written.convex or material != written.material:
            entries[shape.name] = ShapeEntry(
                NOWHERE,
                shape.name,
                int(groups[k]) if differs else None,
                int(masks[k]) if differs else None,
                material if material != written.material else None,
                written.convex,
            )
    return group, mask, list(entries.values())


def _ignored_links(handle: ArticulatedSystem, collides_with_parent: bool) -> list[tuple[str, str]]:
    """Pairs of bodies that do not collide although nothing else keeps them from it."""
    bodies = handle._tree.bodies
    shaped = [index for index, body in enumerate(bodies) if body.collisions]
    pairs = []
    for position, first in enumerate(shaped):
        for second in shaped[position + 1 :]:
            related = bodies[second].parent == first or bodies[first].parent == second
            if (collides_with_parent or not related) and not handle.may_collide(first, second):
                pairs.append((bodies[first].name, bodies[second].name))
    return pairs
