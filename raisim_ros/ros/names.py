"""ROS names of objects: valid as part of a topic and of a frame, unique in the world."""

from __future__ import annotations

import re
from collections.abc import Container

# Topics of the node itself; an object of that name would collide with them.
RESERVED = frozenset({"world", "states", "contacts", "markers"})

# FastDDS refuses longer topic names; this leaves room for a namespace and for `/state`.
MAX_LENGTH = 120


def sanitise(name: str) -> str:
    """The valid ROS name nearest to `name`; empty when nothing of it can be used.

    Every character but ASCII letters, digits and the underscore becomes an underscore, repeated ones become
    one (ROS allows no other), and a leading digit gets a prefix, since a name must not begin with it.
    """
    cleaned = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", name)).strip("_")
    if cleaned[:1].isdigit():
        cleaned = f"object_{cleaned}"
    return cleaned[:MAX_LENGTH].rstrip("_")


def unique(name: str, taken: Container[str]) -> str:
    """`name`, or `name_1`, `name_2`, … : the first that is neither taken nor reserved."""
    candidate, number = name, 0
    while candidate in taken or candidate in RESERVED:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def automatic(type_name: str, object_id: int, taken: Container[str]) -> str:
    """Name of an object that has none: `<type>_<id>`."""
    return unique(f"{type_name}_{object_id}", taken)
