"""Writes what acts along joints, tendons and frames of robots."""

from __future__ import annotations

from dataclasses import asdict, fields

from lxml import etree

from raisim_ros.description.robot.kinematic_tree import (
    DriveLaw,
    FramePair,
    RoutePoint,
    TreeActuator,
    TreeLock,
    TreeTendon,
)
from raisim_ros.description.world.types import ArticulatedEntry
from raisim_ros.description.world.writer import add, write


def _write_part(parent: etree._Element, tag: str, part: FramePair | DriveLaw | RoutePoint | None) -> None:
    """An element with what of a part is not as it is by default."""
    if part is not None:
        usual = {field.name: field.default for field in fields(part)}
        add(parent, tag, **{name: value for name, value in asdict(part).items() if value != usual[name]})


def write_actuator(parent: etree._Element, actuator: TreeActuator, entry: ArticulatedEntry, number: int) -> None:
    """An <actuator>, the one of that number in the entry."""
    is_kept = actuator.is_drive and bool(entry.controls)
    control = entry.controls[number] if is_kept else None
    activation = entry.activations[number] if is_kept else None
    element = write(parent, "actuator", actuator, control=control, activation=activation)
    _write_part(element, "law", actuator.law)
    _write_part(element, "frames", actuator.frames)


def write_tendon(parent: etree._Element, tendon: TreeTendon) -> None:
    """A <tendon>."""
    joints, coefficients = zip(*tendon.terms, strict=True) if tendon.terms else (None, None)
    element = write(parent, "tendon", tendon, joints=joints, coefficients=coefficients)
    for point in tendon.route:
        _write_part(element, "route", point)


def write_lock(parent: etree._Element, lock: TreeLock) -> None:
    """A <lock>."""
    element = write(parent, "lock", lock, joints=lock.joints or None, tendons=lock.tendons or None)
    _write_part(element, "frames", lock.frames)
