"""ROS names of objects: valid as part of a topic and of a frame, unique in the world."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Topics of the node itself; an object of that name would collide with them.
RESERVED = frozenset({"world", "states", "contacts", "markers", "contact_markers"})

# FastDDS refuses longer topic names; this leaves room for a namespace and for `/state`.
MAX_LENGTH = 120


def sanitise(name: str) -> str:
    """The valid ROS name nearest to `name`; empty when nothing of it can be used.

    A slash separates levels (`robot_a/panda`). In each level every character but ASCII letters, digits and the
    underscore becomes an underscore, repeated ones become one (ROS allows no other), and a leading digit gets a
    prefix, since a name must not begin with it.
    """
    levels = (_sanitise_level(level) for level in name.split("/"))
    return "/".join(level for level in levels if level)[:MAX_LENGTH].rstrip("_/")


def _sanitise_level(level: str) -> str:
    cleaned = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", level)).strip("_")
    return f"object_{cleaned}" if cleaned[:1].isdigit() else cleaned


def _above(name: str) -> list[str]:
    """The names of all levels above a name."""
    levels = name.split("/")
    return ["/".join(levels[:count]) for count in range(1, len(levels))]


def is_free(name: str, taken: Iterable[str]) -> bool:
    """Whether a new object may have that name.

    None may stand below or above another: `a/b` would mix with the links, sensors and topics of `a`.
    """
    taken = set(taken)
    return (
        name.split("/")[0] not in RESERVED
        and name not in taken
        and taken.isdisjoint(_above(name))
        and not any(other.startswith(f"{name}/") for other in taken)
    )


def unique(name: str, taken: Iterable[str]) -> str:
    """`name`, or `name_1`, `name_2`, … : the first that is free."""
    taken = set(taken)
    first, slash, rest = name.partition("/")
    candidate, number = name, 0
    while not is_free(candidate, taken):
        number += 1
        # A number at the end would not help where the first level is in the way.
        candidate = f"{first}_{number}{slash}{rest}" if first in taken | RESERVED and rest else f"{name}_{number}"
    return candidate


def automatic(type_name: str, object_id: int, taken: Iterable[str]) -> str:
    """Name of an object that has none: `<type>_<id>`."""
    return unique(f"{type_name}_{object_id}", taken)
