"""MuJoCo's contact types, affinities and frictions as collision groups, masks and materials.

MuJoCo lets two geoms collide when one of two conditions holds, this engine when both hold. One bit per distinct pair
of contype and conaffinity makes the two rules equal: the mask of a class has the bits of all classes that MuJoCo would
let it collide with.
"""

from __future__ import annotations

from collections.abc import Iterable

from raisim_ros.description.errors import ParseError
from raisim_ros.description.materials import MaterialManager, MaterialPairProperties
from raisim_ros.description.mjcf.geom import ContactClass, Geom, Surface
from raisim_ros.description.world.types import GROUND_GROUP, HEIGHTMAP_GROUP

_FIRST_RESERVED_BIT = 61


class Filters:
    """Group and mask of each class of geoms.

    Objects added from code have group bit 0 and collide with all: they take part as MuJoCo's default class. The same
    holds for a ground and for heightmaps, unless the file has a ground of its own.
    """

    def __init__(self, geoms: Iterable[Geom], ground: ContactClass | None) -> None:
        self._groups = {ContactClass(): 1}
        for geom in geoms:
            if geom.contact in self._groups or geom.contact.is_inert:
                continue
            if len(self._groups) == _FIRST_RESERVED_BIT:
                place = geom.place
                raise ParseError(
                    place.source, place.line, f"more than {_FIRST_RESERVED_BIT} kinds of contype and conaffinity"
                )
            self._groups[geom.contact] = 1 << len(self._groups)
        self._ground = ground or ContactClass()

    def group(self, contact: ContactClass) -> int:
        """The bit of a class; none for geoms that never collide."""
        return self._groups.get(contact, 0)

    def mask(self, contact: ContactClass) -> int:
        """The bits of the classes that a class collides with."""
        mask = sum(bit for other, bit in self._groups.items() if contact.collides_with(other))
        if contact.collides_with(self._ground):
            mask |= GROUND_GROUP
        if contact.collides_with(ContactClass()):
            mask |= HEIGHTMAP_GROUP
        return mask


class Materials:
    """A contact material per distinct surface."""

    def __init__(self) -> None:
        self._names: dict[Surface, str] = {}

    def name(self, surface: Surface) -> str:
        """The material of a surface."""
        if surface not in self._names:
            name = f"mjcf_{surface.friction!r}"
            name += "_frictionless" if surface.frictionless else ""
            name += f"_priority_{surface.priority}" if surface.priority else ""
            self._names[surface] = name
        return self._names[surface]

    def add_pairs(self, manager: MaterialManager) -> None:
        """Put the friction of all pairs into a manager."""
        surfaces = list(self._names.items())
        for index, (surface, name) in enumerate(surfaces):
            for other, other_name in surfaces[index:]:
                pair = MaterialPairProperties(surface.friction_with(other))
                manager.set_material_pair_prop(name, other_name, pair)
