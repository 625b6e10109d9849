"""Actuators of a compiled model.

MuJoCo's force of an actuator is gain · control + bias − position_gain · length − velocity_gain · speed, where length
and speed are those of the joint times the gear. Here the first two terms are a feed-forward force that set_actuation()
sets, and the other two are the joint's PD control about zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.robot import RobotBuilder
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeActuator, TreeTendon
from raisim_ros.description.world.types import Numbers

Range = tuple[float, float]
ENDLESS = (-math.inf, math.inf)


@dataclass(frozen=True)
class Drive:
    """An actuator on a slide or hinge, or on a tendon; see above."""

    number: int
    name: str
    joint: str  # "" for one on a tendon
    tendon: str
    gain: float
    bias: float
    position_gain: float
    velocity_gain: float
    gear: float
    control_range: Range
    force_range: Range

    @property
    def is_servo(self) -> bool:
        """Does its force depend on the joint's motion?"""
        return self.position_gain != 0.0 or self.velocity_gain != 0.0

    @property
    def target(self) -> tuple[str, str]:
        """What it acts on."""
        return self.joint, self.tendon

    def actuator(self) -> TreeActuator:
        """The channel for its control. The force of a servo is bounded together with its feedback, where it acts."""
        bound = ENDLESS if self.is_servo else self.force_range
        control = self.control_range
        return TreeActuator(self.name, self.joint, self.gear, self.gain, control, bound, self.bias, self.tendon)


@dataclass(frozen=True)
class Feedback:
    """What the servos on one joint or tendon do together."""

    p_gain: float
    d_gain: float
    range: Range


def feedback_of(drives: list[Drive], target: tuple[str, str], notes: Notes) -> Feedback:
    """The gains and bounds of all servos on a joint or tendon."""
    p_gain = d_gain = 0.0
    bounds = ENDLESS
    own = [drive for drive in drives if drive.target == target]
    for drive in own:
        p_gain += drive.gear**2 * drive.position_gain
        d_gain += drive.gear**2 * drive.velocity_gain
        if not drive.is_servo or np.isinf(drive.force_range).all():
            continue
        if len(own) > 1:
            notes.add("forcerange of servos that share a joint")
            continue
        low, high = sorted(drive.gear * force for force in drive.force_range)
        bounds = (low, high)
    return Feedback(p_gain, d_gain, bounds)


def drives_of(builder: RobotBuilder, tendons: dict[int, TreeTendon]) -> list[Drive]:
    """The actuators of a robot that can be had here, in the order of the file; the others are noted."""
    model, notes = builder.model, builder.notes
    if "actuation" in model.disabled:
        return []
    drives = []
    for number, name in enumerate(model.names["actuator"]):
        kind = model.kind("actuator_trntype", number)
        target = int(model["actuator_trnid"][number, 0])
        joint = tendon = ""
        if kind in ("joint", "jointinparent"):
            if int(model["jnt_bodyid"][target]) not in builder.bodies:
                continue
            if model.kind("jnt_type", target) not in ("hinge", "slide"):
                notes.add("actuators of ball and free joints")
                continue
            joint = builder.skeleton.joint_names[target]
        elif kind == "tendon":
            if target not in tendons:
                continue
            tendon = tendons[target].name
        else:
            notes.add(f"actuators of a {kind}")
            continue
        gains = _gains(model, number)
        if gains is None:
            notes.add(_law(model, number))
            continue
        _note_extras(model, number, notes)
        gear = float(model["actuator_gear"][number, 0])
        limits = _range(model, "ctrl", number), _range(model, "force", number)
        drives.append(Drive(number, name or joint or tendon, joint, tendon, *gains, gear, *limits))
    return drives


def _law(model: CompiledModel, number: int) -> str:
    words = [model.kind(f"actuator_{part}type", number) for part in ("gain", "bias", "dyn")]
    return f"actuators with gain {words[0]}, bias {words[1]} and dynamics {words[2]}"


def _gains(model: CompiledModel, number: int) -> tuple[float, float, float, float] | None:
    """Gain of the control, bias, gains of position and of velocity; None for other laws."""
    if model.kind("actuator_dyntype", number) != "none" or model.kind("actuator_gaintype", number) != "fixed":
        return None
    gain = float(model["actuator_gainprm"][number, 0])
    kind = model.kind("actuator_biastype", number)
    if kind == "none":
        return gain, 0.0, 0.0, 0.0
    bias, position, velocity = (float(number) for number in model["actuator_biasprm"][number, :3])
    return (gain, bias, -position, -velocity) if kind == "affine" and position <= 0.0 and velocity <= 0.0 else None


def _note_extras(model: CompiledModel, number: int, notes: Notes) -> None:
    for name in ("armature", "damping", "delay"):
        notes.add(f"{name} of actuators", model.has(f"actuator_{name}", number))


def _range(model: CompiledModel, what: str, number: int) -> Range:
    if not model[f"actuator_{what}limited"][number] or (what == "ctrl" and "clampctrl" in model.disabled):
        return -math.inf, math.inf
    lower, upper = model[f"actuator_{what}range"][number]
    return float(lower), float(upper)


def joint_settings(tree: KinematicTree, drives: list[Drive], notes: Notes) -> dict[str, Numbers]:
    """Gains, bounds and the force of controls that are zero, as <joints> of a world file has them; empty for none."""
    size = tree.velocity_dim
    first = np.cumsum([0, *(body.joint_type.velocity_dim for body in tree.bodies)])
    place = {body.joint_name: int(first[index]) for index, body in enumerate(tree.bodies)}
    settings: dict[str, Numbers] = {}
    forces = np.zeros(size)
    coefficients = {tendon.name: tendon.terms for tendon in tree.tendons if not tendon.is_servo}
    for drive in drives:
        force = drive.actuator().joint_force(0.0)
        terms = coefficients.get(drive.tendon, ()) if drive.tendon else ((drive.joint, 1.0),)
        for joint, coefficient in terms:
            forces[place[joint]] += coefficient * force
    if forces.any():
        settings["feed_forward"] = tuple(map(float, forces))
    if not any(drive.is_servo and drive.joint for drive in drives):
        return settings
    p_gain, d_gain = np.zeros(size), np.zeros(size)
    bound = np.concatenate([np.full(body.joint_type.velocity_dim, body.effort_limit) for body in tree.bodies])
    lower, upper = -bound, bound.copy()
    for joint in {drive.joint: None for drive in drives if drive.joint}:
        k, feedback = place[joint], feedback_of(drives, (joint, ""), notes)
        p_gain[k], d_gain[k] = feedback.p_gain, feedback.d_gain
        lower[k], upper[k] = max(lower[k], feedback.range[0]), min(upper[k], feedback.range[1])
    found = {"p_gain": p_gain, "d_gain": d_gain, "effort_lower": lower, "effort_upper": upper}
    return settings | {name: tuple(map(float, values)) for name, values in found.items()}
