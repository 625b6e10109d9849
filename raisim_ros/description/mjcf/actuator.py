"""Actuators of MJCF files on slides and hinges: motors, and servos of position and velocity.

MuJoCo's force of an actuator is gain · control − position_gain · length − velocity_gain · speed, where length and speed
are those of the joint times the gear. Here the first term is a feed-forward force that set_actuation() sets, and the
other two are the joint's PD control about zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from raisim_ros.description.mjcf.source import Item, MjcfSource
from raisim_ros.description.robot.kinematic_tree import KinematicTree, TreeActuator
from raisim_ros.description.world.types import Numbers


@dataclass(frozen=True)
class Drive:
    """An actuator of the file; see above."""

    item: Item
    joint: str
    gain: float
    position_gain: float
    velocity_gain: float
    gear: float
    control_range: tuple[float, float]
    force_range: tuple[float, float]

    @property
    def is_servo(self) -> bool:
        """Does its force depend on the joint's motion?"""
        return self.position_gain != 0.0 or self.velocity_gain != 0.0

    def actuator(self) -> TreeActuator:
        """The channel for its control. The force of a servo is bounded together with its feedback, at the joint."""
        bound = (-np.inf, np.inf) if self.is_servo else self.force_range
        name = self.item.text("name") or self.joint
        return TreeActuator(name, self.joint, self.gear, self.gain, self.control_range, bound)


def read_drives(source: MjcfSource) -> list[Drive]:
    """All actuators that can be had here, in the order of the file; the others are noted."""
    drives = []
    for item in source.items("actuator"):
        gains = _gains(item)
        joint = item.text("joint") or item.text("jointinparent")
        if gains is None:
            source.notes.add(f"actuator {item.tag}" if item.tag != "general" else "general actuators with other laws")
        elif not joint:
            source.notes.add("actuators that do not act on a joint")
        else:
            gear = (item.numbers("gear", 1, 6) or (1.0,))[0]
            autolimits = source.compiler.autolimits
            limits = _range(item, "ctrl", autolimits), _range(item, "force", autolimits)
            drives.append(Drive(item, joint, *gains, gear, *limits))
    return drives


def _gains(item: Item) -> tuple[float, float, float] | None:
    """Gain of the control, of position and of velocity; None for other laws."""
    if item.tag == "motor":
        return 1.0, 0.0, 0.0
    if item.tag == "position":
        kp = item.number("kp", 1.0)
        return _not_negative(item, kp, kp, item.number("kv", 0.0))
    if item.tag == "velocity":
        kv = item.number("kv", 1.0)
        return _not_negative(item, kv, 0.0, kv)
    if item.tag != "general" or item.text("dyntype", "none") != "none" or item.text("gaintype", "fixed") != "fixed":
        return None
    gain = (item.numbers("gainprm", 1, 10) or (1.0,))[0]
    if item.text("biastype", "none") == "none":
        return gain, 0.0, 0.0
    constant, position, velocity = (*(item.numbers("biasprm", 1, 10) or ()), 0.0, 0.0, 0.0)[:3]
    plain = item.text("biastype") == "affine" and constant == 0.0 and position <= 0.0 and velocity <= 0.0
    return (gain, -position, -velocity) if plain else None


def _not_negative(item: Item, *gains: float) -> tuple[float, float, float]:
    if any(gain < 0.0 for gain in gains):
        item.fail("a negative gain; expected zero or more")
    return gains[0], gains[1], gains[2]


def _range(item: Item, what: str, autolimits: bool) -> tuple[float, float]:
    given = item.numbers(f"{what}range", 2)
    if given is None and item.switch(f"{what}limited", False):
        item.fail(f"{what}limited=\"true\" without an attribute '{what}range'")
    if given is None or not item.switch(f"{what}limited", autolimits):
        return -np.inf, np.inf
    if not given[0] < given[1]:
        item.fail(f"attribute {what}range=\"{item.text(f'{what}range')}\"; expected the lower number first")
    return given[0], given[1]


def servo_settings(source: MjcfSource, tree: KinematicTree, drives: Sequence[Drive]) -> dict[str, Numbers]:
    """Gains and bounds of the PD control, as <joints> of a world file has them; empty without a servo."""
    if not any(drive.is_servo for drive in drives):
        return {}
    size = tree.velocity_dim
    first = np.cumsum([0, *(body.joint_type.velocity_dim for body in tree.bodies)])
    place = {body.joint_name: int(first[index]) for index, body in enumerate(tree.bodies)}
    p_gain, d_gain = np.zeros(size), np.zeros(size)
    bound = np.concatenate([np.full(body.joint_type.velocity_dim, body.effort_limit) for body in tree.bodies])
    lower, upper = -bound, bound.copy()
    for drive in drives:
        k = place[drive.joint]
        p_gain[k] += drive.gear**2 * drive.position_gain
        d_gain[k] += drive.gear**2 * drive.velocity_gain
        if not drive.is_servo or np.isinf(drive.force_range).all():
            continue
        if sum(other.joint == drive.joint for other in drives) > 1:
            source.notes.add("forcerange of servos that share a joint")
            continue
        low, high = sorted(drive.gear * force for force in drive.force_range)
        lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
    settings = {"p_gain": p_gain, "d_gain": d_gain, "effort_lower": lower, "effort_upper": upper}
    return {name: tuple(map(float, values)) for name, values in settings.items()}
