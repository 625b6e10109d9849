"""What the readers of all elements of world files share: attributes and children by table, with file and line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from lxml import etree

from raisim_ros.description.errors import InvalidValueError, ParseError, Place
from raisim_ros.description.files import is_file
from raisim_ros.description.robot.drive import DriveSettings
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.description.world.schema import CANONICAL, ELEMENTS
from raisim_ros.description.world.schema_types import ENGINE, PUBLISHED, REQUIRED, Attribute
from raisim_ros.description.world.types import BodyState
from raisim_ros.description.world.values import read_value
from raisim_ros.description.xml.literal_text import ATTRIBUTE

T = TypeVar("T")
Values = dict[str, Any]
Children = dict[str, list[etree._Element]]


@dataclass
class Source:
    """The file that an element stands in, and where warnings go."""

    file: Path
    warnings: list[str] = field(default_factory=list)
    literal: bool = False

    def place(self, element: etree._Element) -> Place:
        """Where an element stands."""
        return Place(str(self.file), element.sourceline)

    def error(self, element: etree._Element, message: str) -> ParseError:
        """An error about an element."""
        return ParseError(self.file, element.sourceline, f"<{element.tag}>: {message}")

    def warn(self, element: etree._Element, message: str) -> None:
        """A warning about an element."""
        self.warnings.append(f"{self.place(element)}: <{element.tag}>: {message}")

    def find(self, name: str) -> Path:
        """A path of the file: beside it first, then in the working directory."""
        path = Path(name)
        beside = self.file.parent / path
        return beside if path.is_absolute() or is_file(beside) or not is_file(path) else path


def attributes(source: Source, element: etree._Element, table: tuple[Attribute, ...]) -> Values:
    """Values of all attributes in the table, by canonical name and in the table's order; warns about others."""
    known = {name: attribute for attribute in table for name in attribute.names}
    values: Values = {}
    for name, text in element.attrib.items():
        attribute = known.get(name)
        if attribute is None:
            if name not in ("exist", ATTRIBUTE):
                source.warn(element, f"unknown attribute '{name}' is ignored{_nearest(name, known)}")
            continue
        if attribute.names[0] in values:
            raise source.error(element, f"attribute '{attribute.names[0]}' is given twice")
        try:
            values[attribute.names[0]] = read_value(attribute.kind, text, source.literal)
        except ValueError as error:
            raise source.error(
                element, f'attribute {name}="{text}": {error}; expected {attribute.kind.value}'
            ) from None
    for attribute in table:
        if attribute.names[0] not in values:
            if attribute.default is REQUIRED:
                raise source.error(
                    element, f"attribute '{attribute.names[0]}' is missing; expected {attribute.kind.value}"
                )
            if attribute.default is not ENGINE:
                values[attribute.names[0]] = attribute.default
    return {attribute.names[0]: values[attribute.names[0]] for attribute in table if attribute.names[0] in values}


def children_of(source: Source, element: etree._Element, canonical: str) -> Children:
    """Child elements by canonical name; warns about those that do not belong here."""
    allowed = ELEMENTS[canonical].children
    names = {name: child for child in allowed for name in ELEMENTS[child].names}
    found: Children = {}
    for child in element:
        if not isinstance(child.tag, str):
            continue
        if child.tag in names:
            found.setdefault(names[child.tag], []).append(child)
        else:
            source.warn(child, f"unknown element inside <{element.tag}> is ignored{_nearest(child.tag, names)}")
    return found


def _nearest(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean '{close[0]}'?" if close else ""


def checked(source: Source, element: etree._Element, make: Callable[..., T], values: Values) -> T:
    """What is made of values of an element; what is wrong with them is told by its place."""
    try:
        return make(**values)
    except InvalidValueError as error:
        raise source.error(element, str(error)) from error


def read_attributes(source: Source, element: etree._Element) -> Values:
    """Values of the attributes of an element."""
    return attributes(source, element, ELEMENTS[CANONICAL[element.tag]].attributes)


def only_child(source: Source, children: Children, name: str) -> etree._Element | None:
    """A child that may stand once."""
    elements = children.get(name, [])
    if len(elements) > 1:
        raise source.error(elements[1], "stands twice; expected once")
    return elements[0] if elements else None


def must_have(source: Source, parent: etree._Element, child: etree._Element | None, name: str) -> etree._Element:
    """A child that may not be missing."""
    if child is None:
        raise source.error(parent, f"<{name}> is missing")
    return child


def body_state(source: Source, children: Children) -> BodyState:
    """What <state> says of a body."""
    element = only_child(source, children, "state")
    if element is None:
        return BodyState()
    values = read_attributes(source, element)
    return BodyState(values["pos"], values["quat"], values["lin_vel"], values["ang_vel"])


def take_interface(source: Source, element: etree._Element, values: Values, children: Children) -> InterfaceSettings:
    """Takes what concerns the object's topics out of the values of its attributes."""
    published = {attribute.names[0]: values.pop(attribute.names[0]) for attribute in PUBLISHED}
    controller, drive = only_child(source, children, "controller"), only_child(source, children, "drive")
    gains = {"linear": None, "angular": None} if controller is None else read_attributes(source, controller)
    try:
        if drive is not None:
            published["drive"] = DriveSettings(**read_attributes(source, drive))
        return InterfaceSettings(gains["linear"], gains["angular"], **published)
    except InvalidValueError as error:
        places = {"drive": drive, "linear_gains": controller, "angular_gains": controller}
        about = next((place for word, place in places.items() if str(error).startswith(word)), None)
        raise source.error(element if about is None else about, str(error)) from error
