"""Elements of MJCF files with the values of their default classes, and their attributes as numbers and words.

What has no counterpart in this simulator is collected and told in one warning per file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
from lxml import etree

from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import is_file
from raisim_ros.description.limits import IncludeBudget
from raisim_ros.description.robot.model import Place
from raisim_ros.description.rotation import Array, matrix_from_axis_angle, matrix_from_quaternion
from raisim_ros.description.xml.source import parse_xml, read_text

_GREATEST = 1e100  # products of three such numbers still fit into a double
ACTUATORS = frozenset(
    {"general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"}
)
# Attributes with a meaning here, and those that change nothing about how the bodies move.
_UNDERSTOOD: dict[str, frozenset[str]] = {
    tag: frozenset(names.split())
    for tag, names in {
        "compiler": "angle eulerseq meshdir assetdir texturedir strippath inertiafromgeom inertiagrouprange "
        "settotalmass boundmass boundinertia autolimits coordinate discardvisual fusestatic usethread fitaabb "
        "convexhull exactmeshinertia saveinertial alignfree",
        "option": "timestep gravity integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance "
        "noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance impratio "
        "sdf_iterations sdf_initpoints apirate collision magnetic actuatorgroupdisable sleep_tolerance",
        "body": "name childclass pos quat axisangle xyaxes zaxis euler user sleep",
        "frame": "name childclass pos quat axisangle xyaxes zaxis euler",
        "inertial": "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia",
        "joint": "name class type group pos axis springref stiffness damping range limited ref armature frictionloss "
        "user actuatorfrcrange actuatorfrclimited joint1 joint2 polycoef active",
        "freejoint": "name group align",
        "geom": "name class type group pos quat axisangle xyaxes zaxis euler fromto size mass density contype "
        "conaffinity condim friction priority rgba material mesh user",
        "mesh": "name class file scale content_type smoothnormal maxhullvert inertia material",
        **dict.fromkeys(
            ("motor", "position", "velocity", "general"),
            "name class group joint jointinparent gear ctrlrange ctrllimited forcerange forcelimited user kp kv "
            "gaintype biastype dyntype gainprm biasprm",
        ),
        "connect": "name class body1 body2 anchor active",
        "exclude": "name body1 body2",
    }.items()
}
_SETTINGS_OF_HARD_CONTACTS = "solref solimp solmix margin gap solreflimit solimplimit solreffriction solimpfriction"
_SOFTNESS = frozenset(_SETTINGS_OF_HARD_CONTACTS.split())


@dataclass
class Notes:
    """What a file asks for that does not exist here, in the order of appearance."""

    features: dict[str, None] = field(default_factory=dict)

    def add(self, feature: str) -> None:
        """Remember a feature; once is enough."""
        self.features[feature] = None

    def warning(self, file: Path) -> str:
        """The one text for all of them."""
        return f"{file}: not supported and left out: {', '.join(self.features)}"


@dataclass(frozen=True)
class Item:
    """An element with the values of its default class."""

    tag: str
    values: Mapping[str, str]
    element: etree._Element
    place: Place

    def fail(self, message: str) -> NoReturn:
        """Raise ParseError for this element."""
        raise ParseError(self.place.source, self.place.line, f"<{self.tag}>: {message}")

    def text(self, name: str, default: str = "") -> str:
        """An attribute without surrounding space."""
        return self.values.get(name, default).strip()

    def word(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """An attribute that must be one of some words."""
        value = self.text(name) or default
        if value not in choices:
            self.fail(f"attribute {name}=\"{value}\"; expected one of {', '.join(choices)}")
        return value

    def numbers(self, name: str, least: int, most: int | None = None) -> tuple[float, ...] | None:
        """Finite numbers of an attribute, `least` to `most` of them (exactly `least` by default); None if absent."""
        text = self.values.get(name)
        if text is None:
            return None
        most = least if most is None else most
        words = text.split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = (math.nan,)
        if not all(abs(value) <= _GREATEST for value in values):
            self.fail(f'attribute {name}="{text}"; expected finite numbers up to {_GREATEST:g}')
        if not least <= len(values) <= most:
            expected = str(least) if least == most else f"{least} to {most}"
            self.fail(f'attribute {name}="{text}"; expected {expected} numbers, found {len(values)}')
        return values

    def number(self, name: str, default: float) -> float:
        """One number."""
        values = self.numbers(name, 1)
        return default if values is None else values[0]

    def count(self, name: str, default: int) -> int:
        """One integer, zero or more."""
        value = self.number(name, default)
        if value != int(value) or value < 0:
            self.fail(f'attribute {name}="{self.text(name)}"; expected an integer, zero or more')
        return int(value)

    def vector(self, name: str, default: tuple[float, ...]) -> Array:
        """As many numbers as `default` has."""
        values = self.numbers(name, len(default))
        return np.array(default if values is None else values, dtype=np.float64)

    def switch(self, name: str, when_auto: bool) -> bool:
        """A switch; `when_auto` if it is "auto" or absent."""
        value = self.word(name, ("true", "false", "auto"), "auto")
        return when_auto if value == "auto" else value == "true"


@dataclass
class Compiler:
    """How the numbers of a file are to be read."""

    degrees: bool = True
    euler_sequence: str = "xyz"
    mesh_folder: str = ""
    strip_path: bool = False
    autolimits: bool = True
    inertia_from_geom: str = "auto"
    inertia_groups: tuple[float, float] = (0.0, 5.0)
    total_mass: float = -1.0
    bound_mass: float = 0.0
    bound_inertia: float = 0.0

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return math.radians(value) if self.degrees else value

    def read(self, item: Item) -> None:
        """Take over a <compiler> element; there may be several."""
        if item.text("coordinate", "local") != "local":
            item.fail('coordinate="global" is not supported; expected local')
        self.degrees = item.word("angle", ("degree", "radian"), "degree" if self.degrees else "radian") == "degree"
        self.euler_sequence = item.text("eulerseq", self.euler_sequence)
        if len(self.euler_sequence) != 3 or not set(self.euler_sequence) <= set("xyzXYZ"):
            item.fail(f"attribute eulerseq=\"{self.euler_sequence}\"; expected 3 of the letters x y z X Y Z")
        self.mesh_folder = item.text("meshdir") or item.text("assetdir") or self.mesh_folder
        self.strip_path = item.switch("strippath", self.strip_path)
        self.autolimits = item.switch("autolimits", self.autolimits)
        self.inertia_from_geom = item.word("inertiafromgeom", ("true", "false", "auto"), self.inertia_from_geom)
        low, high = item.vector("inertiagrouprange", self.inertia_groups)
        self.inertia_groups = (float(low), float(high))
        self.total_mass = item.number("settotalmass", self.total_mass)
        self.bound_mass = item.number("boundmass", self.bound_mass)
        self.bound_inertia = item.number("boundinertia", self.bound_inertia)

    def rotation(self, item: Item) -> Array:
        """The orientation of an element, in whichever of MJCF's ways it is written."""
        given = [name for name in ("quat", "axisangle", "xyaxes", "zaxis", "euler") if name in item.values]
        if len(given) > 1:
            item.fail(f"more than one orientation: {', '.join(given)}")
        if not given:
            return np.eye(3)
        values = item.numbers(given[0], {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}[given[0]])
        assert values is not None
        vector = np.array(values)
        if given[0] == "quat":
            return matrix_from_quaternion(_unit(item, "quat", vector))
        if given[0] == "axisangle":
            return matrix_from_axis_angle(_unit(item, "axisangle", vector[:3]), self.angle(values[3]))
        if given[0] == "zaxis":
            return rotation_of_z(_unit(item, "zaxis", vector))
        if given[0] == "xyaxes":
            return _rotation_of_axes(item, vector[:3], vector[3:])
        return self._euler_rotation(values)

    def _euler_rotation(self, angles: tuple[float, ...]) -> Array:
        """Small letters turn about axes that move along, capital ones about fixed axes."""
        rotation = np.eye(3)
        for letter, angle in zip(self.euler_sequence, angles, strict=True):
            turn = matrix_from_axis_angle(np.eye(3)["xyz".index(letter.lower())], self.angle(angle))
            rotation = rotation @ turn if letter.islower() else turn @ rotation
        return rotation


def _unit(item: Item, name: str, vector: Array) -> Array:
    length = float(np.linalg.norm(vector))
    if length < 1e-14:
        item.fail(f'attribute {name}="{item.text(name)}"; expected a vector that is not zero')
    unit: Array = vector / length
    return unit


def _rotation_of_axes(item: Item, x: Array, y: Array) -> Array:
    x = _unit(item, "xyaxes", x)
    y = _unit(item, "xyaxes", y - (x @ y) * x)
    return np.column_stack([x, y, np.cross(x, y)])


def rotation_of_z(direction: Array) -> Array:
    """The smallest rotation that takes the z axis to a unit vector."""
    axis = np.array([-direction[1], direction[0], 0.0])
    sine = float(np.linalg.norm(axis))
    if sine < 1e-10:
        return np.eye(3) if direction[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
    return matrix_from_axis_angle(axis / sine, math.atan2(sine, float(direction[2])))


class MjcfSource:
    """The elements of a file and of those it includes."""

    def __init__(self, root: etree._Element, file: Path) -> None:
        self.file = file
        self.root = root
        self.notes = Notes()
        self._files: dict[etree._Element, str] = {}  # top elements of included files
        self._insert_includes(root, file, (file.resolve(),), IncludeBudget())
        self._classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in root.findall("default"):
            self._read_class(element, "main", {})
        self.compiler = Compiler()
        for element in root.findall("compiler"):
            self.compiler.read(self.item(element, ""))

    # ---- files ----

    def _insert_includes(
        self, parent: etree._Element, file: Path, above: tuple[Path, ...], budget: IncludeBudget
    ) -> None:
        for include in list(parent.iter("include")):
            name = include.get("file", "").strip()
            inner = self.file.parent / name
            budget.take(above, partial(ParseError, file, include.sourceline))
            if not name or not is_file(inner):
                raise ParseError(file, include.sourceline, f"<include>: file '{name}' does not exist")
            if inner.resolve() in above:
                raise ParseError(file, include.sourceline, f"<include>: '{name}' includes itself")
            included = parse_xml(read_text(inner), inner)
            self._insert_includes(included, inner, (*above, inner.resolve()), budget)
            holder = include.getparent()
            if holder is None:
                raise ParseError(file, include.sourceline, "<include> is the root element; expected <mujoco>")
            place = holder.index(include)
            for element in reversed(list(included)):
                self._files.setdefault(element, str(inner))
                holder.insert(place, element)
            holder.remove(include)

    def place(self, element: etree._Element) -> Place:
        """Where an element was written."""
        source = str(self.file)
        if self._files:
            for ancestor in (element, *element.iterancestors()):
                if ancestor in self._files:
                    source = self._files[ancestor]
                    break
        return Place(source, element.sourceline)

    # ---- default classes ----

    def _read_class(self, element: etree._Element, name: str, inherited: dict[str, dict[str, str]]) -> None:
        name = element.get("class", name)
        values = self._classes.setdefault(name, {})
        for tag, attributes in inherited.items():
            values.setdefault(tag, {}).update(attributes)
        for child in element:
            if child.tag != "default":
                values.setdefault(_default_key(child.tag), {}).update(child.attrib)
        for child in element.findall("default"):
            if not child.get("class"):
                place = self.place(child)
                raise ParseError(place.source, place.line, "<default> inside <default> has no attribute 'class'")
            self._read_class(child, "", {tag: dict(attributes) for tag, attributes in values.items()})

    def item(self, element: etree._Element, child_class: str) -> Item:
        """An element with the values of its own class, or else of the class of the bodies around it."""
        name = element.get("class") or child_class or "main"
        place = self.place(element)
        if name not in self._classes:
            raise ParseError(place.source, place.line, f"<{element.tag}>: default class '{name}' does not exist")
        values = {**self._classes[name].get(_default_key(element.tag), {}), **element.attrib}
        item = Item(str(element.tag), values, element, place)
        self._note_attributes(item)
        return item

    def items(self, section: str, child_class: str = "") -> Iterator[Item]:
        """All elements in the sections of one name."""
        for parent in self.root.findall(section):
            for element in parent:
                yield self.item(element, child_class)

    def _note_attributes(self, item: Item) -> None:
        understood = _UNDERSTOOD.get(item.tag)
        if understood is None:
            return
        for name, text in item.values.items():
            if name not in understood and name != "class" and not _is_zero(text):
                self.notes.add("softness of contacts and limits" if name in _SOFTNESS else f"{item.tag} {name}")


def _default_key(tag: str) -> str:
    """All kinds of actuators share one set of defaults."""
    return "actuator" if tag in ACTUATORS else tag


def _is_zero(text: str) -> bool:
    try:
        return all(float(word) == 0.0 for word in text.split())
    except ValueError:
        return text.strip() == "false"
