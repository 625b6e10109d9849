"""ROS names of objects: valid as part of a topic and of a frame, unique in the world."""

from __future__ import annotations

import re
from collections import Counter
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


class Taken:
    """The names that are taken: looking one up does not take longer when there are many."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._above: Counter[str] = Counter()  # levels with something below them
        self._tried: dict[str, int] = {}  # numbers that were not free for a name, and still are not
        for name in taken:
            self.add(name)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        """Takes a name that is not taken."""
        if name not in self._names:
            self._names.add(name)
            self._above.update(_above(name))

    def remove(self, name: str) -> None:
        """The name is free again."""
        self._names.remove(name)
        self._above.subtract(_above(name))
        self._tried.clear()

    def clear(self) -> None:
        """All names are free again."""
        self._names.clear()
        self._above.clear()
        self._tried.clear()

    def is_free(self, name: str) -> bool:
        """See below."""
        return (
            name.split("/")[0] not in RESERVED
            and name not in self._names
            and self._names.isdisjoint(_above(name))
            and self._above[name] <= 0
        )

    def unique(self, name: str, others: Taken | None = None) -> str:
        """See below; `others` are names that are taken besides."""
        first, slash, rest = name.partition("/")
        # A number at the end would not help where the first level is in the way.
        inside = bool(rest) and (first in self or first in RESERVED or (others is not None and first in others))
        number = self._tried.get(name, 0)
        while True:
            numbered = f"{first}_{number}{slash}{rest}" if inside else f"{name}_{number}"
            candidate = numbered if number else name
            if self.is_free(candidate):
                self._tried[name] = number
                if others is None or others.is_free(candidate):
                    return candidate
            number += 1


def is_free(name: str, taken: Iterable[str]) -> bool:
    """Whether a new object may have that name.

    None may stand below or above another: `a/b` would mix with the links, sensors and topics of `a`.
    """
    return Taken(taken).is_free(name)


def unique(name: str, taken: Iterable[str]) -> str:
    """`name`, or `name_1`, `name_2`, … : the first that is free."""
    return Taken(taken).unique(name)
