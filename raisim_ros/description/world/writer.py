"""What the writers of all elements of world files share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lxml import etree

from raisim_ros.description.world.schema import ELEMENTS
from raisim_ros.description.world.schema_types import PUBLISHED
from raisim_ros.description.xml.literal_text import escaped


def _text(value: Any) -> str:
    """repr of numbers is the shortest text that reads back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Iterable):
        return " ".join(escaped(item, in_list=True) if isinstance(item, str) else _text(item) for item in value)
    raise TypeError(f"{value!r} has no place in a world file")


def add(parent: etree._Element, tag: str, **attributes: Any) -> etree._Element:
    """The element with these attributes; those that are None are left out."""
    texts = {name: _text(value) for name, value in attributes.items() if value is not None}
    return etree.SubElement(parent, tag, texts)


def write(parent: etree._Element, tag: str, entry: Any, **given: Any) -> etree._Element:
    """The element with every attribute of its table: as given, else the entry's field of that name.

    What concerns the topics of an object is written where it differs from the default.
    """
    values = {}
    for attribute in ELEMENTS[tag].attributes:
        name = attribute.names[0]
        if name in given:
            values[name] = given.pop(name)
        elif attribute in PUBLISHED:
            value = getattr(entry.interface, name)
            values[name] = value if value != attribute.default else None
        else:
            values[name] = getattr(entry, name)
    if given:
        raise TypeError(f"<{tag}> has no attributes {', '.join(given)}")
    return add(parent, tag, **values)


def relative_path(path: Path, folder: Path) -> str:
    """A path as a file in that folder names it."""
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.resolve().as_posix()
