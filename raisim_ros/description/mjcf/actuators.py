"""Actuators of a compiled model.

MuJoCo's force of an actuator is gain · activation + bias, where both may depend on the length and speed of what it acts
on, times the gear. On a slide or hinge, without dynamics, with a constant gain and a bias that falls with length and
speed, the first part is a feed-forward force that set_actuation() sets, and the feedback is the joint's PD control
about zero. All others are drives, whose law the engine evaluates in every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.places import Places
from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.kinematic_tree import (
    DriveLaw,
    FramePair,
    KinematicTree,
    TreeActuator,
    TreeTendon,
)
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.description.world.types import Numbers

Range = tuple[float, float]
ENDLESS = (-math.inf, math.inf)
_DYNAMICS = {
    "none": "none",
    "integrator": "integrator",
    "filter": "filter",
    "filterexact": "filter_exact",
    "muscle": "muscle",
}
_LAWS = {"none": "constant", "fixed": "constant", "affine": "affine", "muscle": "muscle"}
_NUMBERS = 9  # of a law, at most


@dataclass(frozen=True)
class Target:
    """What an actuator acts on: a joint, a tendon or a pair of frames."""

    joint: str = ""
    tendon: str = ""
    frames: FramePair | None = None
    gear: float = 1.0

    @property
    def name(self) -> str:
        """Of the actuator, when it has none of its own."""
        return self.joint or self.tendon or (self.frames.link if self.frames is not None else "")


@dataclass(frozen=True)
class Drive:
    """An actuator, and its number in the model."""

    number: int
    name: str
    target: Target
    law: DriveLaw
    control_range: Range
    force_range: Range

    @property
    def gains(self) -> tuple[float, float, float]:
        """Bias, and gains of position and velocity, of a law without muscles."""
        bias, position, velocity = (*self.law.bias_numbers, 0.0, 0.0, 0.0)[:3]
        return (bias, -position, -velocity) if self.law.bias_law == "affine" else (bias, 0.0, 0.0)

    @property
    def is_plain(self) -> bool:
        """Can it be a feed-forward force and PD control of a joint?"""
        law = self.law
        constant = law.dynamics == "none" and law.gain_law == "constant" and law.bias_law != "muscle"
        return bool(self.target.joint) and constant and min(self.gains[1:]) >= 0.0

    @property
    def is_servo(self) -> bool:
        """Does its force depend on the joint's motion?"""
        return any(self.gains[1:])

    def actuator(self, as_drive: bool) -> TreeActuator:
        """The channel for its control. A servo of a joint is bounded together with its feedback, where that acts."""
        target = self.target
        motor = TreeActuator(
            self.name,
            target.joint,
            target.gear,
            control_range=self.control_range,
            force_range=self.force_range,
            tendon=target.tendon,
            frames=target.frames,
        )
        if as_drive:
            return replace(motor, law=self.law)
        bound = ENDLESS if self.is_servo else self.force_range
        return replace(motor, gain=self.law.gain_numbers[0], bias=self.gains[0], force_range=bound)


# ---- reading ----


def drives_of(
    builder: RobotBuilder, places: Places, tree: KinematicTree, tendons: dict[int, TreeTendon]
) -> list[Drive]:
    """The actuators of a robot that can be had here, in the order of the file; the others are noted."""
    model, notes = builder.model, builder.notes
    if "actuation" in model.disabled:
        return []
    drives = []
    for number, name in enumerate(model.names["actuator"]):
        target = _target(builder, places, tree, tendons, number)
        if target is None:
            continue
        law = _law(model, number)
        if law is None:
            words = [model.kind(f"actuator_{part}type", number) for part in ("gain", "bias", "dyn")]
            notes.add(f"actuators with gain {words[0]}, bias {words[1]} and dynamics {words[2]}")
            continue
        for extra in ("armature", "damping", "delay"):
            notes.add(f"{extra} of actuators", model.has(f"actuator_{extra}", number))
        limits = _range(model, "ctrl", number), _range(model, "force", number)
        drives.append(Drive(number, name or target.name, target, law, *limits))
    return drives


def _target(
    builder: RobotBuilder, places: Places, tree: KinematicTree, tendons: dict[int, TreeTendon], number: int
) -> Target | None:
    """What an actuator acts on; None for what is no part of this robot, or has no counterpart (noted)."""
    model = builder.model
    kind = model.kind("actuator_trntype", number)
    index, reference = (int(value) for value in model["actuator_trnid"][number, :2])
    gear = tuple(map(float, model["actuator_gear"][number]))
    if kind in ("joint", "jointinparent"):
        if int(model["jnt_bodyid"][index]) not in builder.bodies:
            return None
        if index not in builder.joints:
            return _of_base(builder, tree, index, gear, kind == "joint")
        joint = builder.skeleton.joint_names[index]
        if model.kind("jnt_type", index) == "ball":
            return Target(frames=_of_ball(tree, joint, gear, kind == "joint"))
        return Target(joint, gear=gear[0])
    if kind == "tendon":
        return Target(tendon=tendons[index].name, gear=gear[0]) if index in tendons else None
    if kind == "site":
        return _of_site(builder, places, index, reference, gear)
    builder.notes.add(f"actuators of a {kind}")
    return None


def _of_base(builder: RobotBuilder, tree: KinematicTree, index: int, gear: Numbers, own_turn: bool) -> Target | None:
    if builder.model.kind("jnt_type", index) != "free":
        builder.notes.add("actuators of slides and balls that make a floating base")
        return None
    origin = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    return Target(frames=FramePair(tree.bodies[0].name, *origin, gear, own_turn=own_turn, is_measured=False))


def _of_ball(tree: KinematicTree, joint: str, gear: Numbers, own_turn: bool) -> FramePair:
    body = next(body for body in tree.bodies if body.joint_name == joint)
    quaternion = tuple(map(float, quaternion_from_matrix(body.joint_rotation)))
    return FramePair(
        body.name,
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, *gear[:3]),
        tree.bodies[body.parent].name,
        tuple(map(float, body.joint_position)),
        quaternion,
        own_turn=own_turn,
    )


def _of_site(builder: RobotBuilder, places: Places, site: int, reference: int, gear: Numbers) -> Target | None:
    own = places.of_site(site)
    if own is None or own.link == "" or builder.skeleton.is_static(int(builder.model["site_bodyid"][site])):
        return None
    if reference < 0:
        pair = FramePair(own.link, own.position, own.quaternion, gear, own_push=True, own_turn=True, is_measured=False)
        return Target(frames=pair)
    other = places.of_site(reference)
    if other is None:
        builder.notes.add("actuators between two systems")
        return None
    pair = FramePair(own.link, own.position, own.quaternion, gear, other.link, other.position, other.quaternion)
    return Target(frames=pair)


def _law(model: CompiledModel, number: int) -> DriveLaw | None:
    dynamics = _DYNAMICS.get(model.kind("actuator_dyntype", number))
    gain, bias = (_LAWS.get(model.kind(f"actuator_{part}type", number)) for part in ("gain", "bias"))
    if dynamics is None or gain is None or bias is None:
        return None
    numbers = {part: tuple(map(float, model[f"actuator_{part}prm"][number])) for part in ("dyn", "gain", "bias")}
    has_bias = model.kind("actuator_biastype", number) != "none"
    return DriveLaw(
        dynamics,
        numbers["dyn"][:3] if dynamics != "none" else (),
        gain,
        numbers["gain"][: 1 if gain == "constant" else _NUMBERS],
        bias,
        numbers["bias"][:_NUMBERS] if has_bias else (),
        _range(model, "act", number),
        (float(model["actuator_lengthrange"][number, 0]), float(model["actuator_lengthrange"][number, 1])),
        float(model["actuator_acc0"][number]),
        bool(model["actuator_actearly"][number]),
    )


def _range(model: CompiledModel, what: str, number: int) -> Range:
    if not model[f"actuator_{what}limited"][number] or (what == "ctrl" and "clampctrl" in model.disabled):
        return -math.inf, math.inf
    lower, upper = model[f"actuator_{what}range"][number]
    return float(lower), float(upper)


# ---- motors of joints ----


def plain_drives(drives: list[Drive], tree: KinematicTree, notes: Notes) -> list[Drive]:
    """Those that are forces and PD control of joints: not where the bounds of several would have to be told apart."""
    plain = [drive for drive in drives if drive.is_plain]
    found = []
    for drive in plain:
        others = [one for one in drives if one.target.joint == drive.target.joint]
        bounded = any(one.is_servo and not np.isinf(one.force_range).all() for one in others)
        if len(others) == 1 or not bounded:
            found.append(drive)
    limited = {body.joint_name for body in tree.bodies if body.effort_limit < math.inf}
    notes.add(
        "actuatorfrcrange of joints with several actuators, or ones with dynamics",
        any(drive.target.joint in limited for drive in drives if drive not in found),
    )
    return found


def joint_settings(tree: KinematicTree, drives: list[Drive], bounds: dict[str, Range]) -> dict[str, Numbers]:
    """Gains, bounds and the force of controls that are zero, of plain drives, as <joints> of a world file has them;
    empty for none. `bounds`: of the forces of joints that are not the same in both directions."""
    size = tree.velocity_dim
    first = np.cumsum([0, *(body.joint_type.velocity_dim for body in tree.bodies)])
    place = {body.joint_name: int(first[index]) for index, body in enumerate(tree.bodies)}
    settings: dict[str, Numbers] = {}
    forces = np.zeros(size)
    for drive in drives:
        forces[place[drive.target.joint]] += drive.actuator(False).joint_force(0.0)
    if forces.any():
        settings["feed_forward"] = tuple(map(float, forces))
    if not bounds and not any(drive.is_servo for drive in drives):
        return settings
    p_gain, d_gain = np.zeros(size), np.zeros(size)
    bound = np.concatenate([np.full(body.joint_type.velocity_dim, body.effort_limit) for body in tree.bodies])
    lower, upper = -bound, bound.copy()
    for joint, (low, high) in bounds.items():
        lower[place[joint]], upper[place[joint]] = low, high
    for drive in (drive for drive in drives if drive.is_servo):
        k, gear = place[drive.target.joint], drive.target.gear
        p_gain[k] += gear * gear * drive.gains[1]  # a power would raise where this is infinite, and told below
        d_gain[k] += gear * gear * drive.gains[2]
        low, high = sorted(gear * force for force in drive.force_range) if gear else (0.0, 0.0)
        lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
    found = {"effort_lower": lower, "effort_upper": upper}
    if p_gain.any() or d_gain.any():
        found |= {"p_gain": p_gain, "d_gain": d_gain}
    return settings | {name: tuple(map(float, values)) for name, values in found.items()}

