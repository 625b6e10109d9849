"""From an ArticulatedEntry of a world file to a robot in a world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.urdf.file import load_urdf
from raisim_ros.description.world.types import ArticulatedEntry
from raisim_ros.engine._library import lib
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.types import ArticulatedSystemOption, ControlMode, IntegrationScheme

if TYPE_CHECKING:
    from raisim_ros.engine.world.robots import Robots

# Attributes of <joints>; the targets and mounts have one number per coordinate, the others per degree of freedom.
JOINT_FIELDS: Mapping[str, int] = {
    "feed_forward": lib.RS_FIELD_FEED_FORWARD,
    "p_target": lib.RS_FIELD_P_TARGET,
    "d_target": lib.RS_FIELD_D_TARGET,
    "p_gain": lib.RS_FIELD_P_GAIN,
    "d_gain": lib.RS_FIELD_D_GAIN,
    "damping": lib.RS_FIELD_DAMPING,
    "friction": lib.RS_FIELD_FRICTION,
    "rotor_inertia": lib.RS_FIELD_ROTOR_INERTIA,
    "stiffness": lib.RS_FIELD_STIFFNESS,
    "spring_mount": lib.RS_FIELD_SPRING_MOUNT,
    "lower": lib.RS_FIELD_LOWER,
    "upper": lib.RS_FIELD_UPPER,
    "velocity_limit": lib.RS_FIELD_VELOCITY_LIMIT,
    "effort_lower": lib.RS_FIELD_EFFORT_LOWER,
    "effort_upper": lib.RS_FIELD_EFFORT_UPPER,
}
LIKE_COORDINATES = ("p_target", "spring_mount")


def add_articulated_entry(world: Robots, entry: ArticulatedEntry) -> ArticulatedSystem:
    """Add the robot of an entry with all its settings."""
    option = ArticulatedSystemOption(
        entry.base,
        not entry.collide_parent,
        entry.convexify_meshes,
        entry.collision_meshes,
        entry.self_collision,
        entry.srdf,
    )
    handle = world.add_articulated_system(
        entry_tree(entry), collision_group=entry.collision_group, collision_mask=entry.collision_mask, options=option
    )
    if entry.base_position is not None:
        handle.set_base_pos(entry.base_position)
    if entry.base_quaternion is not None:
        handle.set_base_orientation(entry.base_quaternion)
    if entry.qpos is not None:
        handle.set_generalized_coordinate(entry.qpos)
    if entry.qvel is not None:
        handle.set_generalized_velocity(entry.qvel)
    for name, values in entry.joints.items():
        count = handle.get_generalized_coordinate_dim() if name in LIKE_COORDINATES else handle.get_dof()
        if len(values) != count:
            raise InvalidValueError(f"<joints>: {name} has {len(values)} numbers; expected {count}")
        handle._write(JOINT_FIELDS[name], np.array(values, dtype=np.float64))
    if any(entry.controls) or any(entry.activations):
        handle._set_drives(entry.controls, entry.activations)
    handle.set_integration_scheme(IntegrationScheme[entry.integration_scheme.upper()])
    handle.set_control_mode(ControlMode[entry.control_mode.upper()])
    return handle


def entry_tree(entry: ArticulatedEntry) -> KinematicTree:
    """The entry's tree with the settings that a robot file does not have."""
    if entry.tree is not None:
        return entry.tree
    if entry.urdf is None:
        raise RaisimError(f"{entry.place}: the articulated system has no source")
    tree = load_urdf(entry.urdf, entry.res_dir or "", entry.joint_order, None, entry.modules, entry.base)
    _apply_shapes(tree, entry)
    bodies = {link: index for index, body in enumerate(tree.bodies) for link in body.links}
    for pair in entry.ignored_links:
        for link in pair:
            if link not in bodies:
                raise InvalidValueError(f"<ignore_collision>: the robot has no link '{link}'")
        tree.ignored_pairs.append((bodies[pair[0]], bodies[pair[1]]))
    for link, mass, com in entry.lifted:
        if link not in bodies:
            raise InvalidValueError(f"<gravity_compensation>: the robot has no link '{link}'")
        body = tree.bodies[bodies[link]]
        body.lifted_mass, body.lifted_com = mass, np.array(com)
    with_axis = {body.joint_name for body in tree.bodies if body.joint_type.has_axis}
    tree.tendons += entry.tendons
    for joint in (joint for tendon in entry.tendons for joint, _ in tendon.terms):
        if joint not in with_axis:
            raise InvalidValueError(f"<tendon>: '{joint}' is no revolute or prismatic joint of the robot")
    names = {tendon.name for tendon in tree.tendons}
    for actuator in entry.actuators:
        if actuator.tendon and actuator.tendon not in names:
            raise InvalidValueError(f"<actuator>: the robot has no tendon '{actuator.tendon}'")
        if actuator.joint and actuator.joint not in with_axis:
            raise InvalidValueError(f"<actuator>: '{actuator.joint}' is no revolute or prismatic joint of the robot")
        tree.actuators.append(actuator)
    tree.locks += entry.locks
    for lock in entry.locks:
        for joint in lock.joints:
            if joint not in with_axis:
                raise InvalidValueError(f"<lock>: '{joint}' is no revolute or prismatic joint of the robot")
        for tendon in lock.tendons:
            if tendon not in names:
                raise InvalidValueError(f"<lock>: the robot has no tendon '{tendon}'")
    for name, state in entry.states.items():
        given = (len(state.coordinate), len(state.velocity), len(state.control) or len(tree.actuators))
        expected = (tree.coordinate_dim, tree.velocity_dim, len(tree.actuators))
        if given != expected:
            raise InvalidValueError(
                f"<named_state>: '{name}' has {given} coordinates, velocities and controls; expected {expected}"
            )
    tree.states |= entry.states
    return tree


def _apply_shapes(tree: KinematicTree, entry: ArticulatedEntry) -> None:
    shapes = {shape.name: shape for body in tree.bodies for shape in body.collisions}
    for given in entry.shapes:
        shape = shapes.get(given.name)
        if shape is None:
            known = ", ".join(shapes) or "none"
            raise InvalidValueError(f"<collision_shape>: the robot has no '{given.name}'; there are {known}")
        shape.collision_group, shape.collision_mask = given.collision_group, given.collision_mask
        shape.material = given.material or shape.material
        shape.convex = given.convex
