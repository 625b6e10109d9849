"""SRDF (MoveIt's semantic description of a robot): which pairs of links are not to be checked for collision."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from raisim_ros.description.errors import UrdfError
from raisim_ros.description.files import expanded
from raisim_ros.description.urdf.fields import Fields
from raisim_ros.description.xml.source import parse_xml, read_text

Pair = frozenset[str]


@dataclass(eq=False)
class CollisionRules:
    """Pairs of links, by name."""

    disabled: set[Pair] = field(default_factory=set)
    """Pairs of ``<disable_collisions>``."""
    enabled: set[Pair] = field(default_factory=set)
    """Pairs of ``<enable_collisions>``: they collide whatever else is said."""
    passive: set[str] = field(default_factory=set)
    """Links of ``<disable_default_collisions>``: they collide with no other one."""

    def disabled_among(self, links: list[str]) -> set[Pair]:
        """Every pair of these links that does not collide."""
        pairs = {frozenset(pair) for pair in combinations(links, 2)}
        return {pair for pair in pairs if pair in self.disabled or pair & self.passive} - self.enabled


def load_srdf(path_or_text: str | Path) -> CollisionRules:
    """Read an SRDF file, or its text. Raises FileMissingError, ParseError or UrdfError."""
    is_text = isinstance(path_or_text, str) and "<" in path_or_text
    source = "SRDF text" if is_text else str(path_or_text)
    text = str(path_or_text) if is_text else read_text(expanded(path_or_text), "SRDF file")
    root = parse_xml(text, source)
    if root.tag != "robot":
        raise UrdfError(source, root.sourceline, f"root element is <{root.tag}>; expected <robot>")
    fields, rules = Fields(source), CollisionRules()
    for tag, pairs in (("disable_collisions", rules.disabled), ("enable_collisions", rules.enabled)):
        for element in root.findall(tag):
            pairs.add(frozenset((fields.text(element, "link1"), fields.text(element, "link2"))))
    for element in root.findall("disable_default_collisions"):
        rules.passive.add(fields.text(element, "link"))
    return rules
