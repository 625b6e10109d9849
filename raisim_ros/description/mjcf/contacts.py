"""Who collides with whom, and how geoms rub: as collision groups, masks and materials.

MuJoCo lets two geoms collide when one of two conditions holds (contype of one among conaffinity of the other), or when
a <pair> says so, unless an <exclude> forbids; this engine when group and mask agree both ways. The table of all pairs
of geoms is made by MuJoCo's rules; geoms with equal rows are of one class with one bit, and the mask of a class has the
bits of all classes that it collides with. That is exact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.collision_groups import GROUND_GROUP, HEIGHTMAP_GROUP
from raisim_ros.description.errors import ParseError
from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.mjcf.skeleton import Skeleton

_BITS = 61  # the others are reserved for ground and heightmaps

_Table = NDArray[np.bool_]


def excluded_bodies(model: CompiledModel) -> list[tuple[int, int]]:
    """Pairs of bodies that never collide."""
    return [(int(signature) >> 16, int(signature) & 0xFFFF) for signature in model["exclude_signature"]]


class Filters:
    """Group and mask of each geom.

    Objects added from code have group bit 0 and collide with all: they take part as MuJoCo's default class. The same
    holds for a ground and for heightmaps, unless the file has them.
    """

    def __init__(self, skeleton: Skeleton, ground: int | None, notes: Notes) -> None:
        model = skeleton.model
        self._static = np.array([skeleton.is_static(int(body)) for body in model["geom_bodyid"]], dtype=bool)
        self._ground = ground
        fields = [geom for geom, kind in enumerate(model.kinds["geom_type"]) if kind == "hfield" and self._static[geom]]
        self._field = fields[0] if fields else None
        for with_pairs in (True, False):
            table = _collision_table(skeleton, self._static, with_pairs)
            self._classes, count = _classes(table)
            if count <= _BITS:
                break
            notes.add("contact pairs (too many)", with_pairs)
        else:
            raise ParseError(model.file, None, f"more than {_BITS} kinds of contype and conaffinity")
        self._table = table
        rows = {int(kind): table[row] for row, kind in enumerate(self._classes)}
        self._masks = {kind: self._mask_of(row) for kind, row in rows.items()}

    def _mask_of(self, row: NDArray[np.bool_]) -> int:
        mask = 0
        for kind in {int(kind) for kind, hit in zip(self._classes, row, strict=True) if hit}:
            mask |= 1 << kind
        outside = bool(row[-1])
        mask |= GROUND_GROUP if (outside if self._ground is None else row[self._ground]) else 0
        mask |= HEIGHTMAP_GROUP if (outside if self._field is None else row[self._field]) else 0
        return mask

    def collides(self, geom: int) -> bool:
        """Is there anything that it collides with?"""
        return bool(self._table[geom].any())

    def group(self, geom: int) -> int:
        """The bit of its class; none for a geom that never collides."""
        return 1 << int(self._classes[geom]) if self.collides(geom) else 0

    def mask(self, geom: int) -> int:
        """The bits of what it collides with."""
        return self._masks[int(self._classes[geom])]


def _collision_table(skeleton: Skeleton, static: NDArray[np.bool_], with_pairs: bool) -> _Table:
    """For each geom and, last, for objects added from code: what it collides with."""
    model = skeleton.model
    types = np.append(model["geom_contype"], 1).astype(np.uint32)
    affinities = np.append(model["geom_conaffinity"], 1).astype(np.uint32)
    table: _Table = np.empty((len(types), len(types)), dtype=bool)
    for row, (kind, affinity) in enumerate(zip(types, affinities, strict=True)):  # numbers for all pairs take gigabytes
        table[row] = (kind & affinities) | (affinity & types)
    bodies = model["geom_bodyid"]
    for one, other in excluded_bodies(model):
        if not is_told_by_bodies(skeleton, one, other):
            table[np.ix_(np.flatnonzero(bodies == one), np.flatnonzero(bodies == other))] = False
            table[np.ix_(np.flatnonzero(bodies == other), np.flatnonzero(bodies == one))] = False
    if with_pairs:
        table[model["pair_geom1"], model["pair_geom2"]] = True
        table[model["pair_geom2"], model["pair_geom1"]] = True
    still = np.append(static, False)
    table[still] &= ~still  # two things that stand still: no matter, so that fewer classes are needed
    if "contact" in model.disabled:
        table[:] = False
        table[-1, -1] = True
    return table


def is_told_by_bodies(skeleton: Skeleton, one: int, other: int) -> bool:
    """Can an <exclude> be kept as a pair of bodies of one robot? Not where other bodies are welded to them."""
    model = skeleton.model
    if skeleton.is_static(one) or skeleton.is_static(other) or skeleton.top_of(one) != skeleton.top_of(other):
        return False
    welded = model["body_weldid"]
    with_geoms = model["body_geomnum"] > 0
    return all(int((with_geoms & (welded == welded[body])).sum()) <= 1 for body in (one, other))


def _classes(table: _Table) -> tuple[NDArray[np.int64], int]:
    """The class of each row, equal for equal rows; 0 is that of objects added from code. How many there are."""
    numbers: dict[bytes, int] = {table[-1].tobytes(): 0}
    inert = np.zeros_like(table[-1]).tobytes()
    numbers[inert] = 0  # never used
    found = []
    for row in table:
        key = row.tobytes()
        if key not in numbers:
            numbers[key] = len(set(numbers.values()))
        found.append(numbers[key])
    return np.array(found), len(set(numbers.values()))


@dataclass(frozen=True)
class Surface:
    """What decides how a geom rubs: sliding, torsional [m] and rolling [m] coefficients, and in which directions."""

    friction: tuple[float, float, float]
    dimensions: int
    priority: int
    pairs: frozenset[int] = frozenset()  # <pair> elements that name the geom


class Materials:
    """A contact material per distinct surface."""

    def __init__(self, model: CompiledModel) -> None:
        self._model = model
        self._surfaces: dict[str, Surface] = {}
        self._is_rolling = bool((model["geom_condim"] > 3).any() or (model["pair_dim"] > 3).any())
        self._pairs: dict[int, set[int]] = {}
        for pair, geoms in enumerate(zip(model["pair_geom1"], model["pair_geom2"], strict=True)):
            for geom in geoms:
                self._pairs.setdefault(int(geom), set()).add(pair)

    def name(self, geom: int) -> str:
        """The material of a geom."""
        model = self._model
        slide, spin, roll = (float(part) for part in model["geom_friction"][geom])
        if min(slide, spin, roll) < 0.0:
            line = model.line("geom", geom) or None
            found = f"{slide:g} {spin:g} {roll:g}"
            raise ParseError(model.file, line, f"<geom>: friction is {found}; expected zero or more")
        friction = (slide, spin, roll) if self._is_rolling else (slide, 0.0, 0.0)
        dimensions, priority = int(model["geom_condim"][geom]), int(model["geom_priority"][geom])
        surface = Surface(friction, dimensions, priority, frozenset(self._pairs.get(geom, ())))
        name = self._name(surface)
        self._surfaces[name] = surface
        return name

    def _name(self, surface: Surface) -> str:
        """The same for the same surface in whatever file; a hash stands for all but the friction."""
        if surface == Surface((surface.friction[0], 0.0, 0.0), 3, 0):
            return f"mjcf_{surface.friction[0]:g}"
        told = [(self._model["pair_friction"][pair].tolist(), pair) for pair in sorted(surface.pairs)]
        parts = (surface.friction, surface.dimensions, surface.priority, told, self._model.file if told else "")
        return f"mjcf_{surface.friction[0]:g}_{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"

    def add_pairs(self, manager: MaterialManager) -> None:
        """Put the friction of all pairs into a manager."""
        surfaces = list(self._surfaces.items())
        for index, (name, surface) in enumerate(surfaces):
            for other_name, other in surfaces[index:]:
                manager.set_material_pair_prop(name, other_name, self._pair(surface, other))

    def _pair(self, one: Surface, other: Surface) -> MaterialPairProperties:
        """MuJoCo's rule: a <pair> decides, then the geom with the higher priority, then the larger number."""
        told = sorted(one.pairs & other.pairs)
        if told and one is not other:
            friction = self._model["pair_friction"][told[0]]
            return _properties(int(self._model["pair_dim"][told[0]]), (friction[0], friction[2], friction[3]))
        if one.priority != other.priority:
            first = one if one.priority > other.priority else other
            return _properties(first.dimensions, first.friction)
        largest = [max(a, b) for a, b in zip(one.friction, other.friction, strict=True)]
        return _properties(max(one.dimensions, other.dimensions), largest)


def _properties(dimensions: int, friction: Iterable[float]) -> MaterialPairProperties:
    slide, spin, roll = (float(part) for part in friction)
    return MaterialPairProperties(
        slide if dimensions >= 3 else 0.0,
        rolling_friction=roll if dimensions > 4 else 0.0,
        spinning_friction=spin if dimensions > 3 else 0.0,
    )
