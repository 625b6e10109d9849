"""What about a robot may be a mistake or cost time, each with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from raisim_ros.description.mesh.file import load_mesh
from raisim_ros.description.robot.kinematic_tree import JointType, KinematicTree, TreeBody
from raisim_ros.description.shapes import ShapeType
from raisim_ros.engine._library import lib
from raisim_ros.engine.articulated.self_collision import overlap_depths, reference_configuration

if TYPE_CHECKING:
    from raisim_ros.engine.articulated.system import ArticulatedSystem

HEAVY_TRIANGLES = 2000
"""Triangles of a link's collision mesh above which its collisions take much of a step."""

_SHOWN = 6  # names in a message
_TOUCHING = 1e-6  # overlap that is none [m]


@dataclass(frozen=True)
class Finding:
    """Something about an object that its author should look at."""

    object_name: str
    kind: str
    """``overlap``, ``inertia``, ``mesh``, ``limits``, ``effort``, ``start`` or ``gains``."""
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.object_name}: {self.message}. {self.fix}."


def check_robot(robot: ArticulatedSystem) -> list[Finding]:
    """All findings about a robot; the world is left as it is."""
    name = robot.get_name() or robot._tree.name
    parts = (_overlaps, _inertias, _meshes, _limits, _efforts, _start, _gains)
    return [Finding(name, *found) for part in parts for found in part(robot)]


Found = Iterator[tuple[str, str, str]]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _overlaps(robot: ArticulatedSystem) -> Found:
    """Pairs that collide although they overlap where the robot begins: they push each other for ever."""
    bodies = robot._tree.bodies
    name, state = next(iter(robot._tree.states.items()), (None, None))
    if state is not None:  # joints at zero may be far from how it is used
        where, configuration = f"the state '{name}'", state.coordinate
    else:
        where, configuration = "the reference configuration", reference_configuration(robot._tree)
    depth = overlap_depths(robot, configuration)
    pairs = [(int(i), int(j)) for i, j in np.argwhere(depth > _TOUCHING) if i < j and robot.may_collide(int(i), int(j))]
    if pairs:
        pairs.sort(key=lambda pair: -depth[pair])
        names = [f"{bodies[i].name} and {bodies[j].name} by {1e3 * depth[i, j]:.3g} mm" for i, j in pairs]
        fix = 'Load the robot with self_collision="auto", give its SRDF, or call ignore_collision_between()'
        yield "overlap", f"links that collide overlap in {where}: {_listed(names)}", fix


def _inertias(robot: ArticulatedSystem) -> Found:
    """Each principal moment of inertia of a solid is at most the sum of the other two."""
    wrong = []
    for index, body in enumerate(robot._tree.bodies):
        if body.joint_type is JointType.FIXED:
            continue
        low, middle, high = np.linalg.eigvalsh(robot.get_inertia_matrix_b(index))
        if high > (1.0 + 1e-6) * (low + middle) + 1e-15:
            wrong.append(f"{body.name} ({low:.3g}, {middle:.3g}, {high:.3g})")
    if wrong:
        fix = "Compute the inertias from the links' shapes; wrong digits or a wrong unit are the usual causes"
        yield "inertia", f"principal moments of inertia [kg m²] that no solid has: {_listed(wrong)}", fix


def _meshes(robot: ArticulatedSystem) -> Found:
    """Triangle meshes whose collisions are slow."""
    files = {shape.name: shape for body in robot._tree.bodies for shape in body.collisions}
    heavy = []
    for body in robot.get_collision_bodies():
        written = files.get(body.name)
        if body.shape != ShapeType.MESH or written is None or written.mesh_file is None:
            continue
        count = len(load_mesh(written.mesh_file, list(written.scale)).triangles)
        if count > HEAVY_TRIANGLES:
            heavy.append(f"{body.name} ({count})")
    if heavy:
        fix = 'Load the robot with collision_meshes="hull" or "convexify"'
        yield "mesh", f"collision meshes with more than {HEAVY_TRIANGLES} triangles: {_listed(heavy)}", fix


def _limits(robot: ArticulatedSystem) -> Found:
    """Sliding joints without an end. A hinge may well be meant to turn for ever."""
    limits, base = robot.get_joint_limits(), _base_joints(robot)
    free = [
        body.joint_name
        for body, first in _joints(robot)
        if body.joint_type.slides
        and not np.isfinite(limits[first]).all()
        and body.joint_name not in base
    ]
    if free:
        fix = "Write <limit lower upper> or call set_joint_limits()"
        yield "limits", f"sliding joints without limits: {_listed(free)}", fix


def _efforts(robot: ArticulatedSystem) -> Found:
    """Motors that cannot do anything."""
    upper, lower = robot.get_actuation_upper_limits(), robot.get_actuation_lower_limits()
    weak = [body.joint_name for body, first in _joints(robot) if upper[first] == 0.0 == lower[first]]
    if weak:
        fix = "Write <limit effort> or call set_actuation_limits()"
        yield "effort", f"joints whose effort limit is zero, so that no motor moves them: {_listed(weak)}", fix


def _start(robot: ArticulatedSystem) -> Found:
    """Joints that are beyond their limits now: the limits push them back in the first steps."""
    limits, coordinates = robot.get_joint_limits(), robot.get_generalized_coordinate()
    place = np.cumsum([0, *(body.joint_type.coordinate_dim for body in robot._tree.bodies)])
    at = {
        body.joint_name: float(coordinates[k])
        for body, k in zip(robot._tree.bodies, place[:-1], strict=True)
        if body.joint_type.has_axis
    }
    beyond = []
    for body, first in _joints(robot):
        (low, high), value = limits[first], at[body.joint_name]
        if not low - 1e-9 <= value <= high + 1e-9:
            beyond.append(f"{body.joint_name} at {value:.3g} of {low:.3g} to {high:.3g}")
    if beyond:
        example = next(iter(robot._tree.states), None)
        fix = f"Set coordinates within the limits with set_state({'' if example is None else repr(example)})"
        yield "start", f"joints beyond their limits: {_listed(beyond)}", fix


def _gains(robot: ArticulatedSystem) -> Found:
    """Joints that nothing holds, moves or ties to others."""
    fields = (lib.RS_FIELD_P_GAIN, lib.RS_FIELD_D_GAIN, lib.RS_FIELD_DAMPING, lib.RS_FIELD_FRICTION)
    held = np.sum([np.abs(robot._read_u(field)) for field in (*fields, lib.RS_FIELD_STIFFNESS)], axis=0)
    tied = _tied(robot._tree) | _base_joints(robot)
    loose = [body.joint_name for body, first in _joints(robot) if held[first] == 0.0 and body.joint_name not in tied]
    if loose:
        fix = "Call set_pd_gains() and set_pd_target() to hold the robot, or write <dynamics damping friction>"
        yield "gains", f"joints with neither gains nor damping, friction or spring: {_listed(loose)}", fix


def _tied(tree: KinematicTree) -> set[str]:
    """Joints that follow others, are parts of closed loops, or are moved by actuators and tendons."""
    joints = {body.joint_name for body in tree.bodies if body.mimic is not None}
    joints |= {name for lock in tree.locks for name in lock.joints}
    joints |= {actuator.joint for actuator in tree.actuators}
    joints |= {name for tendon in tree.tendons for name, _ in tendon.terms}
    place = {link: index for index, body in enumerate(tree.bodies) for link in body.links}
    frames = [pair for pair in (lock.frames for lock in tree.locks) if pair is not None]
    closures = [(pin.body1, pin.body2) for pin in tree.pins]
    closures += [(place.get(pair.link, -1), place.get(pair.reference_link, -1)) for pair in frames]
    for first, second in closures:
        joints |= {tree.bodies[index].joint_name for index in _above(tree, first) ^ _above(tree, second)}
    return joints


def _base_joints(robot: ArticulatedSystem) -> set[str]:
    """Joints without limits between world and first link with a mass: several of them let a robot move freely."""
    tree, limits = robot._tree, robot.get_joint_limits()
    free = {body.joint_name for body, first in _joints(robot) if not np.isfinite(limits[first]).any()}
    found: set[str] = set()
    for body in tree.bodies[1:] if tree.fixed_base else ():
        carrier = tree.bodies[body.parent]
        begins = body.parent == 0 and body.mass == 0.0
        if body.joint_name in free and (begins or (carrier.joint_name in found and carrier.mass == 0.0)):
            found.add(body.joint_name)
    return found


def _above(tree: KinematicTree, index: int) -> set[int]:
    """A body and all that carry it."""
    found = set()
    while index >= 0:
        found.add(index)
        index = tree.bodies[index].parent
    return found


def _joints(robot: ArticulatedSystem) -> Iterator[tuple[TreeBody, int]]:
    """Bodies on joints of one degree of freedom, with its index."""
    at = 0
    for body in robot._tree.bodies:
        if body.joint_type.has_axis:
            yield body, at
        at += body.joint_type.velocity_dim

