"""A file for MuJoCo while it is written: its sections, names, and the order of its coordinates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lxml import etree

from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import Array, quaternion_from_matrix

_SECTIONS = (
    "compiler", "option", "asset", "worldbody", "contact", "equality", "tendon", "actuator", "sensor", "keyframe",
)  # fmt: skip
_NOT_IN_XML = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")


@dataclass(eq=False)
class Slot:
    """A joint's part of qpos and qvel, as the file starts."""

    owner: int  # place of the object among all
    body: int  # of a robot
    coordinate: Array
    velocity: Array


@dataclass(eq=False)
class Channel:
    """An actuator's part of ctrl and act."""

    owner: int
    name: str  # in the robot; "": made for the file
    control: float = 0.0
    has_activation: bool = False
    activation: float = 0.0


@dataclass(eq=False)
class Key:
    """A keyframe; where it tells nothing, the start counts."""

    coordinates: dict[tuple[int, int], Array] = field(default_factory=dict)  # by owner and body
    velocities: dict[tuple[int, int], Array] = field(default_factory=dict)
    controls: dict[tuple[int, str], tuple[float, float]] = field(default_factory=dict)  # and activations


class Document:
    """A file with root element <mujoco>."""

    def __init__(self, name: str) -> None:
        self.root = etree.Element("mujoco", model=_clean(name) or "world")
        self._sections = {tag: etree.SubElement(self.root, tag) for tag in _SECTIONS}
        self.notes = Notes()
        self._names: dict[str, set[str]] = {"body": {"world"}}
        self.slots: list[Slot] = []
        self.channels: list[Channel] = []
        self.keys: dict[str, Key] = {}

    def __getitem__(self, section: str) -> etree._Element:
        return self._sections[section]

    def name(self, kind: str, wanted: str, prefix: str = "") -> str:
        """A name that no other element of the kind has; `prefix` is put before it where it is taken."""
        taken = self._names.setdefault(kind, set())
        name = base = _clean(wanted) or kind
        if name in taken and prefix:
            name = base = f"{_clean(prefix)}/{name}"
        number = 1
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        return name

    def text(self) -> bytes:
        """The whole file."""
        for index, (name, key) in enumerate(self.keys.items()):
            self._write_key(name or f"key_{index}", key)
        for section in self._sections.values():
            if not len(section) and not section.attrib:
                self.root.remove(section)
        etree.indent(self.root)
        written: bytes = etree.tostring(self.root, xml_declaration=True, encoding="utf-8")
        return written

    def _write_key(self, name: str, key: Key) -> None:
        coordinates = [key.coordinates.get((slot.owner, slot.body), slot.coordinate) for slot in self.slots]
        velocities = [key.velocities.get((slot.owner, slot.body), slot.velocity) for slot in self.slots]
        controls = [
            key.controls.get((channel.owner, channel.name), (channel.control, channel.activation))
            for channel in self.channels
        ]
        activations = [
            value for (_, value), channel in zip(controls, self.channels, strict=True) if channel.has_activation
        ]
        parts: dict[str, Any] = {
            "qpos": np.concatenate([np.zeros(0), *coordinates]),
            "qvel": np.concatenate([np.zeros(0), *velocities]),
            "ctrl": [control for control, _ in controls],
            "act": activations,
        }
        add(self["keyframe"], "key", name=name, **{part: values for part, values in parts.items() if len(values)})


def add(parent: etree._Element, tag: str, **attributes: Any) -> etree._Element:
    """The element with these attributes; those that are None are left out."""
    texts = {name.rstrip("_"): _text(value) for name, value in attributes.items() if value is not None}
    return etree.SubElement(parent, tag, texts)


def placed(pose: Pose) -> dict[str, Any]:
    """Attributes of a pose; what is at its default is left out."""
    position, rotation = pose.arrays()
    quaternion = quaternion_from_matrix(rotation)
    return {
        "pos": position if position.any() else None,
        "quat": quaternion if (quaternion != (1.0, 0.0, 0.0, 0.0)).any() else None,
    }


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, Iterable):
        return " ".join(_text(item) for item in value)
    return repr(float(value))  # the shortest that reads back to the same bits


def _clean(name: str) -> str:
    """What XML can hold of a name."""
    return _NOT_IN_XML.sub("_", name).strip()
