"""What a file holds, in words."""

from __future__ import annotations

import math
from collections import Counter

from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import BodyType
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.recording import Recording
from raisim_ros.viewer.world_scene import unique_names


def describe_world(world: World) -> list[str]:
    """Objects, masses, robots, wires, settings."""
    handles = unique_names(world)
    kinds = Counter(handle.get_object_type().name.lower().replace("_", " ") for handle in handles.values())
    lines = [
        f"{len(handles)} objects: " + (", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "none"),
        f"time step {world.get_time_step():g} s, gravity {_numbers(world.get_gravity())} m/s²",
    ]
    if world.get_wires():
        lines.append(f"{len(world.get_wires())} wires")
    if world.get_sensor_sets():
        names = [sensor.get_full_name() for sensors in world.get_sensor_sets() for sensor in sensors]
        lines.append(f"{len(names)} sensors: {', '.join(names)}")
    for name, handle in list(handles.items())[:40]:
        if isinstance(handle, ArticulatedSystem):
            lines += ["", *describe_robot(name, handle)]
        elif isinstance(handle, SingleBodyObject):
            body = handle.get_body_type()
            mass = f", {handle.get_mass():g} kg" if body == BodyType.DYNAMIC else f", {body.name.lower()}"
            kind = handle.get_object_type().name.lower()
            lines.append(f"  {name}: {kind}{mass}, at {_numbers(handle.get_position())}")
        elif isinstance(handle, SoftObject):
            count, kind = handle.get_num_particles(), handle.get_object_type().name.lower()
            lines.append(f"  {name}: {kind}, {count} particles, at {_numbers(handle.get_position())}")
    if len(handles) > 40:
        lines.append(f"  … and {len(handles) - 40} more")
    return lines


def describe_robot(name: str, robot: ArticulatedSystem) -> list[str]:
    """The tree of bodies with joints, limits, masses and shapes."""
    tree = robot.get_kinematic_tree()
    base = "fixed base" if tree.fixed_base else "floating base"
    lines = [
        f"robot {name}: {len(tree.bodies)} bodies, {robot.get_dof()} degrees of freedom, {base}, "
        f"{robot.get_total_mass():.4g} kg"
    ]
    return lines + _branch(tree, 0, "  ")


def _branch(tree: KinematicTree, index: int, indent: str) -> list[str]:
    body = tree.bodies[index]
    joint = "" if index == 0 else f" ← {body.joint_name} ({body.joint_type.value}{_limits(body.lower, body.upper)})"
    shapes = f"{len(body.collisions)} collision, {len(body.visuals)} visual"
    lines = [f"{indent}{body.name}{joint}: {body.mass:.4g} kg, {shapes}"]
    for child, other in enumerate(tree.bodies):
        if other.parent == index:
            lines += _branch(tree, child, indent + "  ")
    return lines


def _limits(lower: float, upper: float) -> str:
    if math.isinf(lower) and math.isinf(upper):
        return ", no limits"
    return f", {lower:.4g} … {upper:.4g}"


def describe_recording(recording: Recording) -> list[str]:
    """Length, frames and the recorded world."""
    start, end = float(recording.times[0]), float(recording.times[-1])
    lines = [f"recording of {end - start:.3f} s (from {start:.3f} s), {len(recording)} frames"]
    return lines + describe_world(recording.world(0))


def _numbers(values: object) -> str:
    return " ".join(f"{value:g}" for value in values)  # type: ignore[attr-defined]
