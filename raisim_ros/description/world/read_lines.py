"""Reads the elements for what acts along joints, tendons and frames of robots."""

from __future__ import annotations

from lxml import etree

from raisim_ros.description.robot.kinematic_tree import (
    DriveLaw,
    FramePair,
    RoutePoint,
    TreeActuator,
    TreeLock,
    TreeTendon,
)
from raisim_ros.description.world.reader import Source, children_of, only_child, read_attributes
from raisim_ros.description.world.types import ArticulatedEntry


def add_actuator(source: Source, element: etree._Element, entry: ArticulatedEntry) -> None:
    """Give a robot the motor of an <actuator>."""
    motor, children = read_attributes(source, element), children_of(source, element, "actuator")
    law, frames = only_child(source, children, "law"), only_child(source, children, "frames")
    if bool(motor["joint"]) + bool(motor["tendon"]) + (frames is not None) != 1:
        raise source.error(element, "expected a joint, a tendon or <frames>")
    entry.controls = (*entry.controls, motor.pop("control"))
    entry.activations = (*entry.activations, motor.pop("activation"))
    pair = _frames(source, frames) if frames is not None else None
    motor["name"] = motor["name"] or motor["joint"] or motor["tendon"] or (pair.link if pair is not None else "")
    rule = DriveLaw(**read_attributes(source, law)) if law is not None else None
    if rule is not None and not rule.gain_numbers:
        raise source.error(element, "<law>: gain_numbers is empty; expected at least one number")
    entry.actuators.append(TreeActuator(**motor, frames=pair, law=rule))


def _frames(source: Source, element: etree._Element) -> FramePair:
    values = read_attributes(source, element)
    if len(values["gear"]) != 6:
        raise source.error(element, f"gear has {len(values['gear'])} numbers; expected 6")
    return FramePair(**values)


def lock_of(source: Source, element: etree._Element) -> TreeLock:
    """What a <lock> says."""
    values = read_attributes(source, element)
    frames = only_child(source, children_of(source, element, "lock"), "frames")
    pair = _frames(source, frames) if frames is not None else None
    values["joints"], values["tendons"] = tuple(values["joints"]), tuple(values["tendons"])
    lengths = (len(values["joints"]), len(values["tendons"]), 2 * (pair is not None))
    if sorted(lengths) != [0, 0, 2]:
        raise source.error(element, "expected two joints, two tendons or <frames>")
    if len(values["references"]) != 2 or len(values["curve"]) != 5:
        raise source.error(element, "expected two references and five numbers of a curve")
    return TreeLock(frames=pair, **values)


def tendon_of(source: Source, element: etree._Element) -> TreeTendon:
    """What a <tendon> says."""
    values = read_attributes(source, element)
    joints, coefficients = values.pop("joints"), values.pop("coefficients")
    if len(joints) != len(coefficients):
        raise source.error(element, f"{len(joints)} joints and {len(coefficients)} coefficients; expected as many")
    if len(values["rest"]) != 2:
        raise source.error(element, f"rest has {len(values['rest'])} numbers; expected 2")
    inside = children_of(source, element, "tendon").get("route", [])
    if bool(inside) == bool(joints):
        raise source.error(element, "expected joints, or at least one <route>")
    route = []
    for part in inside:
        point = RoutePoint(**read_attributes(source, part))
        if len(point.side) not in (0, 3):
            raise source.error(part, f"side has {len(point.side)} numbers; expected 3")
        route.append(point)
    return TreeTendon(terms=tuple(zip(joints, coefficients, strict=True)), route=tuple(route), **values)
