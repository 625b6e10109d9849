"""Collision groups and materials as MuJoCo's contype, conaffinity, condim and friction: the reverse of contacts.py.

Two shapes collide here when group and mask agree both ways. Each kind of shape that collides with different things gets
a bit of contype, and in conaffinity the bits of what it collides with: as that holds both ways, MuJoCo's rule is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.mjcf.notes import Notes

_BITS = 31  # of MuJoCo's whole numbers, without the sign

Filter = tuple[int, int]  # group, mask


class BitFilters:
    """contype and conaffinity for groups and masks."""

    def __init__(self, filters: Iterable[Filter], notes: Notes) -> None:
        found = list(dict.fromkeys(filters))
        rows = [
            tuple(bool(group & other_mask and other_group & mask) for other_group, other_mask in found)
            for group, mask in found
        ]
        kinds = list(dict.fromkeys(row for row in rows if any(row)))
        if len(kinds) > _BITS:
            notes.add(f"collision groups and masks (more than {_BITS} kinds)")
            self._bits = dict.fromkeys(found, (1, 1))
            return
        bits = {row: 1 << number for number, row in enumerate(kinds)} | {(False,) * len(found): 0}
        affinity = {row: sum({bits[other] for other, hit in zip(rows, row, strict=True) if hit}) for row in set(rows)}
        self._bits = {one: (bits[row], affinity[row]) for one, row in zip(found, rows, strict=True)}

    def attributes(self, one: Filter) -> dict[str, Any]:
        """Of a geom."""
        contype, affinity = self._bits[one]
        return {} if (contype, affinity) == (1, 1) else {"contype": contype, "conaffinity": affinity}


class Frictions:
    """Friction of materials. MuJoCo takes the larger one of two geoms; other pairs are noted."""

    def __init__(self, manager: MaterialManager, used: Iterable[str], notes: Notes) -> None:
        self._manager = manager
        names = list(dict.fromkeys(used))
        for number, first in enumerate(names):
            for second in names[number:]:
                self._check(first, second, notes)

    def _pair(self, first: str, second: str) -> MaterialPairProperties:
        pairs = self._manager.pairs
        return pairs.get((first, second)) or pairs.get((second, first)) or self._manager.default

    def _check(self, first: str, second: str, notes: Notes) -> None:
        pair, own = self._pair(first, second), [self._pair(name, name) for name in (first, second)]
        for field in ("friction", "rolling_friction", "spinning_friction"):
            if getattr(pair, field) != max(getattr(one, field) for one in own):
                notes.add("friction of pairs of materials that is not the larger one of both")
        notes.add("restitution", pair.restitution > 0.0)
        notes.add("static friction", pair.static_friction is not None and pair.static_friction != pair.friction)

    def attributes(self, material: str) -> dict[str, Any]:
        """Of a geom."""
        own = self._pair(material, material)
        turning = own.spinning_friction, own.rolling_friction
        found: dict[str, Any] = {"friction": (own.friction, *turning) if any(turning) else own.friction}
        if own.rolling_friction:
            found["condim"] = 6
        elif own.spinning_friction:
            found["condim"] = 4
        return found
