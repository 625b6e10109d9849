"""Attributes of XML elements as names, numbers and vectors; what is wrong is answered with file and line."""

from __future__ import annotations

import math
import re
from typing import Any

from lxml import etree

from raisim_ros.description.errors import Place
from raisim_ros.description.robot.checks import fail
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import matrix_from_rpy
from raisim_ros.description.xml.literal_text import is_literal, unescaped

NO_LIMIT = 1e300  # numbers from here on mean "no limit"; other readers of URDF demand a number

# roslaunch's "this variable of the environment, or else": a file that comes without its launch file means the latter.
_OPTIONAL_VARIABLE = re.compile(r"\$\(optenv\s+\w+\s*([^()]*)\)")


class Fields:
    """Reads the attributes of one file's elements."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._literal: bool | None = None  # whether the file says so; known with the first element

    def place(self, element: etree._Element) -> Place:
        """Where `element` was written."""
        return Place(self.source, element.sourceline)

    def text(self, element: etree._Element, attribute: str) -> str:
        """A required attribute that is not empty."""
        value = (element.get(attribute) or "").strip()
        if not value:
            fail(self.place(element), f"<{element.tag}> has no attribute '{attribute}'")
        return self._read(element, value)

    def optional_text(self, element: etree._Element, attribute: str) -> str:
        """An attribute that may be missing or empty."""
        return self._read(element, element.get(attribute) or "")

    def _read(self, element: etree._Element, value: str) -> str:
        if self._literal is None:
            self._literal = is_literal(element.getroottree().getroot())
        if self._literal:
            return unescaped(value)
        return _OPTIONAL_VARIABLE.sub(r"\1", value) if "$(optenv" in value else value

    def numbers(self, element: etree._Element, attribute: str, count: int) -> tuple[float, ...]:
        """A required vector of `count` finite numbers, separated by white space or commas."""
        return self.split_numbers(element, attribute, self.text(element, attribute), (count,))

    def split_numbers(
        self, element: etree._Element, attribute: str, text: str, counts: tuple[int, ...] = ()
    ) -> tuple[float, ...]:
        """The finite numbers in an attribute's text; `counts` are the allowed numbers of numbers."""
        words = text.replace(",", " ").split()
        if counts and len(words) not in counts:
            expected = " or ".join(map(str, counts)) + (" numbers" if counts != (1,) else " number")
            fail(self.place(element), f"<{element.tag} {attribute}=\"{text}\">; expected {expected}")
        values = tuple(map(_number, words))
        if not all(map(math.isfinite, values)):
            word = next(word for word, value in zip(words, values, strict=True) if not math.isfinite(value))
            fail(self.place(element), f"<{element.tag} {attribute}=\"{text}\">: '{word}' is not a finite number")
        return values

    def number(self, element: etree._Element, attribute: str, default: float | None = None) -> float:
        """One finite number; required when there is no default."""
        if default is not None and not (element.get(attribute) or "").strip():
            return default
        return self.numbers(element, attribute, 1)[0]

    def limit(self, element: etree._Element | None, attribute: str, default: float) -> float:
        """One number; infinite when it is `NO_LIMIT` or more."""
        text = (element.get(attribute) or "").strip() if element is not None else ""
        if element is None or not text:
            return default
        value = _number(text)
        if math.isnan(value):
            fail(self.place(element), f"<{element.tag} {attribute}=\"{text}\">; expected a number")
        return value if abs(value) < NO_LIMIT else math.copysign(math.inf, value)

    def pose(self, parent: etree._Element) -> Pose:
        """The ``<origin xyz rpy>`` below an element; identity where it is missing."""
        origin = parent.find("origin")
        if origin is None:
            return Pose()
        zeros = (0.0, 0.0, 0.0)
        position = self.numbers(origin, "xyz", 3) if origin.get("xyz") else zeros
        rpy = self.numbers(origin, "rpy", 3) if origin.get("rpy") else zeros
        return Pose(position, matrix_from_rpy(rpy)) if any(rpy) else Pose(position)

    def child(self, parent: etree._Element, tag: str, what: str) -> etree._Element:
        """A required child element."""
        element: Any = parent.find(tag)
        if element is None:
            fail(self.place(parent), f"{what} has no <{tag}>")
        return element


def _number(word: str) -> float:
    """The number a word spells, NaN when it spells none (Python's digits with '_' are none)."""
    try:
        return math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan
