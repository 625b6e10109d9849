"""Couplings, tendons and actuators of a robot for MuJoCo: the reverse of equalities.py, tendons.py and actuators.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from raisim_ros.description.mjcf.document import Channel, Document, Key, add
from raisim_ros.description.mjcf.export_robot import ORIGIN, RobotWriter, moved_frame
from raisim_ros.description.robot.kinematic_tree import (
    DriveLaw,
    FramePair,
    JointType,
    RoutePoint,
    TreeActuator,
    TreeLock,
    TreeTendon,
)
from raisim_ros.description.robot.tree_poses import coordinate_parts, velocity_parts
from raisim_ros.description.world.types import Numbers

START = "start"  # keyframe of what the start of a file cannot hold
_DYNAMICS = {"none": None, "filter_exact": "filterexact"}
_NEAR = 1e-12


class LineWriter:
    """Writes what acts between the bodies of one robot."""

    def __init__(self, writer: RobotWriter) -> None:
        self._writer, self._entry, self._tree = writer, writer.entry, writer.tree
        self._document: Document = writer.document
        self._tendons: dict[str, str] = {}  # names in the file

    def write(self) -> None:
        """Everything, the keyframes last."""
        for tendon in self._entry.tendons:
            self._add_tendon(tendon)
        self._add_couplings()
        self._add_locks()
        self._add_actuators()
        self._add_keys()

    # ---- tendons ----

    def _add_tendon(self, tendon: TreeTendon) -> None:
        name = self._document.name("tendon", tendon.name, self._entry.name)
        self._tendons[tendon.name] = name
        element = add(
            self._document["tendon"],
            "spatial" if tendon.route else "fixed",
            name=name,
            stiffness=tendon.stiffness or None,
            damping=tendon.damping or None,
            springlength=tendon.rest,
            frictionloss=tendon.friction or None,
            range=_finite(tendon.range),
        )
        for joint, coefficient in tendon.terms:
            add(element, "joint", joint=self._writer.joints[joint], coef=coefficient)
        for point in tendon.route:
            self._add_point(element, point)

    def _add_point(self, element: Any, point: RoutePoint) -> None:
        writer = self._writer
        if point.kind == "pulley":
            add(element, "pulley", divisor=point.size)
        elif point.kind == "point":
            add(element, "site", site=writer.site(point.link, point.position))
        else:
            side = writer.site(point.side_link, point.side) if point.side else None
            geom = writer.obstacle(point.link, point.position, point.quaternion, point.kind, point.size)
            add(element, "geom", geom=geom, sidesite=side)

    # ---- couplings ----

    def _add_couplings(self) -> None:
        section, joints = self._document["equality"], self._writer.joints
        for body in self._tree.bodies:
            if body.joint_name not in self._writer.references:
                continue
            own = self._writer.references[body.joint_name]
            if body.mimic is not None:
                leader, factor, offset = body.mimic
                constant = offset + factor * self._writer.references[leader] - own
                names = {"joint1": joints[body.joint_name], "joint2": joints[leader]}
                add(section, "joint", **names, polycoef=(constant, factor, 0.0, 0.0, 0.0))
            elif body.lower >= body.upper:
                held = (body.lower - own, 0.0, 0.0, 0.0, 0.0)
                add(section, "joint", joint1=joints[body.joint_name], polycoef=held)
        for first, second in self._writer.pinned_points():
            add(section, "connect", site1=first, site2=second)

    def _add_locks(self) -> None:
        pending = list(self._entry.locks)
        while pending:
            lock = pending.pop(0)
            if lock.frames is not None:
                self._add_frame_lock(lock.frames, pending)
            elif lock.joints:
                self._add_joint_lock(lock)
            else:
                self._add_tendon_lock(lock)

    def _add_frame_lock(self, pair: FramePair, pending: list[TreeLock]) -> None:
        """Locks of one pair of frames stand one after the other: three are a point, six a frame."""
        gears = [pair.gear]
        while pending and pending[0].frames is not None and _same_frames(pair, pending[0].frames):
            gears.append(pending.pop(0).frames.gear)  # type: ignore[union-attr]
        kind = {3: "connect", 6: "weld"}.get(len(gears))
        if kind is None or gears != [tuple(float(k == axis) for k in range(6)) for axis in range(len(gears))]:
            self._document.notes.add("locks of single axes between frames")
            return
        first, second = self._sites(pair)
        add(self._document["equality"], kind, site1=first, site2=second)

    def _sites(self, pair: FramePair) -> tuple[str, str]:
        own = self._writer.site(pair.link, pair.position, pair.quaternion)
        return own, self._writer.site(pair.reference_link, pair.reference_position, pair.reference_quaternion)

    def _add_joint_lock(self, lock: TreeLock) -> None:
        joints, references = self._writer.joints, [self._writer.references[name] for name in lock.joints]
        curve = _shifted(lock.curve, lock.references, (*references, 0.0)[:2])
        names = {f"joint{k + 1}": joints[name] for k, name in enumerate(lock.joints)}
        add(self._document["equality"], "joint", **names, polycoef=curve)

    def _add_tendon_lock(self, lock: TreeLock) -> None:
        lengths = [self._length(name) for name in lock.tendons]
        if None in lengths:
            self._document.notes.add("equalities of tendons that are led from point to point")
            return
        curve = _shifted(lock.curve, lock.references, [length for length in lengths if length is not None])
        names = {f"tendon{k + 1}": self._tendons[name] for k, name in enumerate(lock.tendons)}
        if lock.tendons[0] == lock.tendons[-1]:
            del names["tendon2"]
        add(self._document["equality"], "tendon", **names, polycoef=curve)

    def _length(self, name: str) -> float | None:
        """Length of a tendon in the pose of the file, where it is a sum of joints."""
        tendon = next(one for one in self._entry.tendons if one.name == name)
        if tendon.route:
            return None
        return sum(factor * self._writer.references[joint] for joint, factor in tendon.terms)

    # ---- actuators ----

    def _add_actuators(self) -> None:
        feedback = self._feedback()
        for number, actuator in enumerate(self._entry.actuators):
            target = self._target(actuator)
            if target is None:
                self._document.notes.add(f"the actuator '{actuator.name}'")
                continue
            if actuator.law is not None:
                law = _law(actuator.law) | {"forcerange": _finite(actuator.force_range)}
            else:
                law = self._plain_law(actuator, feedback.pop(actuator.joint, None))
            channel = Channel(
                self._writer.number,
                actuator.name,
                _known(self._entry.controls, number),
                actuator.law is not None and actuator.law.dynamics != "none",
                _known(self._entry.activations, number),
            )
            attributes = {**target, "ctrlrange": _finite(actuator.control_range), **law}
            self._add_general(actuator.name, channel, attributes)
        self._add_servos(feedback)

    def _add_general(self, name: str, channel: Channel, attributes: dict[str, Any]) -> None:
        free = self._document.name("actuator", name, self._entry.name)
        add(self._document["actuator"], "general", name=free, **attributes)
        self._document.channels.append(channel)

    def _feedback(self) -> dict[str, tuple[float, float, float, float, float]]:
        """Gains, bounds and target of joints under PD control."""
        settings, found = self._entry.joints, {}
        if self._entry.control_mode != "pd_plus_feedforward_torque":
            return {}
        dof, place = 0, 0
        for body in self._tree.bodies:
            gains = [settings[name][dof] if name in settings else 0.0 for name in ("p_gain", "d_gain")]
            if body.joint_name in self._writer.references and any(gains):
                bounds = [
                    settings[name][dof] if name in settings else sign * body.effort_limit
                    for name, sign in (("effort_lower", -1.0), ("effort_upper", 1.0))
                ]
                target = settings["p_target"][place] if "p_target" in settings else 0.0
                found[body.joint_name] = (gains[0], gains[1], bounds[0], bounds[1], target)
            dof += body.joint_type.velocity_dim
            place += body.joint_type.coordinate_dim
        return found

    def _plain_law(
        self, actuator: TreeActuator, feedback: tuple[float, float, float, float, float] | None
    ) -> dict[str, Any]:
        bias: Numbers = (actuator.bias, 0.0, 0.0)
        force_range: Numbers = actuator.force_range
        if feedback is not None and actuator.gear:
            gear, (p_gain, d_gain, lower, upper, target) = actuator.gear, feedback
            bias = (actuator.bias + p_gain * target / gear, -p_gain / gear**2, -d_gain / gear**2)
            force_range = tuple(sorted((lower / gear, upper / gear)))
        law: dict[str, Any] = {"gainprm": actuator.gain, "forcerange": _finite(force_range)}
        return law | ({"biastype": "affine", "biasprm": bias} if any(bias) else {})

    def _add_servos(self, feedback: dict[str, tuple[float, float, float, float, float]]) -> None:
        """PD control of joints without actuators as servos that hold the target; other joints get motors, where an
        effort limit tells that they have one."""
        driven = {actuator.joint for actuator in self._entry.actuators}
        for body in self._tree.bodies:
            joint = body.joint_name
            if joint in driven or joint not in self._writer.references:
                continue
            target = {"joint": self._writer.joints[joint]}
            if joint in feedback:
                p_gain, d_gain, lower, upper, goal = feedback[joint]
                law = {"gainprm": p_gain or d_gain, "biastype": "affine", "biasprm": (0.0, -p_gain, -d_gain)}
                channel = Channel(self._writer.number, joint, goal if p_gain else 0.0)
                self._add_general(joint, channel, {**target, **law, "forcerange": _finite((lower, upper))})
            elif 0.0 < body.effort_limit < math.inf and body.mimic is None and not self._entry.actuators:
                limits = (-body.effort_limit, body.effort_limit)
                self._add_general(joint, Channel(self._writer.number, joint), {**target, "ctrlrange": limits})

    def _target(self, actuator: TreeActuator) -> dict[str, Any] | None:
        if actuator.joint:
            return {"joint": self._writer.joints[actuator.joint], "gear": actuator.gear}
        if actuator.tendon:
            return {"tendon": self._tendons[actuator.tendon], "gear": actuator.gear}
        assert actuator.frames is not None
        pair = actuator.frames
        gear = tuple(actuator.gear * part for part in pair.gear)
        if pair.is_measured:
            joint = self._ball_joint(pair)
            if joint is not None:
                return {"joint" if pair.own_turn else "jointinparent": joint, "gear": (*gear[3:], 0.0, 0.0, 0.0)}
            if pair.own_push or pair.own_turn:
                return None
            own, other = self._sites(pair)
            return {"site": own, "refsite": other, "gear": gear}
        if pair.own_push and pair.own_turn:
            return {"site": self._writer.site(pair.link, pair.position, pair.quaternion), "gear": gear}
        base = self._tree.bodies[0]
        is_base = pair.link == base.name and (tuple(pair.position), tuple(pair.quaternion)) == ORIGIN
        if pair.own_push or not is_base or base.joint_type is not JointType.FLOATING:
            return None
        return {"joint" if pair.own_turn else "jointinparent": self._writer.joints[base.joint_name], "gear": gear}

    def _ball_joint(self, pair: FramePair) -> str | None:
        """The ball joint between the frames, if they are its own."""
        body = next(body for body in self._tree.bodies if body.name == pair.link)
        at_joint = (tuple(pair.position), tuple(pair.quaternion)) == ORIGIN and not any(pair.gear[:3])
        if body.joint_type is not JointType.SPHERICAL or not at_joint:
            return None
        is_parent = pair.reference_link == self._tree.bodies[body.parent].name
        near = np.allclose(pair.reference_position, body.joint_position, rtol=0.0, atol=_NEAR)
        return self._writer.joints[body.joint_name] if is_parent and near else None

    # ---- keyframes ----

    def _add_keys(self) -> None:
        writer, document = self._writer, self._document
        for name, state in self._entry.states.items():
            key = document.keys.setdefault(name, Key())
            self._set(key, state.coordinate, state.velocity)
            activations = state.activation if len(state.activation) else np.zeros(len(state.control))
            for actuator, control, activation in zip(self._entry.actuators, state.control, activations, strict=False):
                key.controls[writer.number, actuator.name] = (float(control), float(activation))
        moving = self._entry.qvel is not None and any(self._entry.qvel)
        zero = JointType.SPHERICAL.zero_coordinate
        turned = any(
            body.joint_type is JointType.SPHERICAL and not np.array_equal(part, zero)
            for body, part in zip(self._tree.bodies, coordinate_parts(self._tree, writer.start), strict=True)
        )
        own = [channel for channel in document.channels if channel.owner == writer.number]
        if moving or turned or any(channel.control or channel.activation for channel in own):
            speeds = np.array(self._entry.qvel) if self._entry.qvel else np.zeros(self._tree.velocity_dim)
            self._set(document.keys.setdefault(START, Key()), writer.start, speeds)

    def _set(self, key: Key, coordinate: Any, velocity: Any) -> None:
        positions, speeds = coordinate_parts(self._tree, coordinate), velocity_parts(self._tree, velocity)
        for index, body in enumerate(self._tree.bodies):
            where = (self._writer.number, index)
            key.coordinates[where], key.velocities[where] = moved_frame(body, positions[index], speeds[index])


def _law(law: DriveLaw) -> dict[str, Any]:
    """Of a drive."""
    found: dict[str, Any] = {}
    if law.dynamics != "none":
        found = {"dyntype": _DYNAMICS.get(law.dynamics, law.dynamics), "dynprm": law.dynamics_numbers}
        found |= {"actrange": _finite(law.activation_range), "actearly": True if law.early else None}
    found |= {"gaintype": {"constant": "fixed"}.get(law.gain_law, law.gain_law), "gainprm": law.gain_numbers}
    if any(law.bias_numbers):
        found |= {"biastype": {"constant": "affine"}.get(law.bias_law, law.bias_law)}
        found["biasprm"] = law.bias_numbers if law.bias_law != "constant" else law.bias_numbers[:1]
    return found | {"lengthrange": law.length_range if any(law.length_range) else None}


def _known(values: Numbers, number: int) -> float:
    """The value of an actuator, where the engine keeps it."""
    return values[number] if number < len(values) and not math.isnan(values[number]) else 0.0


def _finite(limits: Numbers) -> tuple[float, float] | None:
    lower, upper = limits
    if (math.isinf(lower) and math.isinf(upper)) or not lower < upper:
        return None
    return max(lower, -1e10), min(upper, 1e10)


def _same_frames(one: FramePair, other: FramePair) -> bool:
    names = ("link", "position", "quaternion", "reference_link", "reference_position", "reference_quaternion")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _shifted(curve: Numbers, references: Numbers, new: Any) -> Numbers:
    """The polynomial about other references."""
    own, other = references
    moved = np.polynomial.Polynomial(curve)(np.polynomial.Polynomial([float(new[1]) - other, 1.0]))
    values = np.zeros(5)
    values[: len(moved.coef)] = moved.coef
    values[0] += own - float(new[0])
    return tuple(map(float, values))
