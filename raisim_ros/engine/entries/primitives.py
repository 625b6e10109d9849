"""The primitive shapes of description/shapes.py: the handle of each, and how it is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.entries.body_builder import ALL, insert_primitive
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.home import Home
from raisim_ros.engine.objects.placed import PrimitiveKeywords

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Box", "Capsule", "Cone", "Cylinder", "Sphere"]


class Sphere(SingleBodyObject):
    """A ball."""

    def get_radius(self) -> float:
        """Radius [m]."""
        return float(self._collision_bodies[0].dim[0])


class Box(SingleBodyObject):
    """A box; origin at its centre."""

    def get_dim(self) -> Vector:
        """Full lengths along the body's x, y and z axes [m]."""
        return self._collision_bodies[0].dim.copy()


class _RoundObject(SingleBodyObject):
    """Shapes with a radius and a height along the body's z axis."""

    def get_radius(self) -> float:
        """Radius [m]."""
        return float(self._collision_bodies[0].dim[0])

    def get_height(self) -> float:
        """Height along z [m]: full length, or for a capsule the distance of the sphere centres."""
        return float(self._collision_bodies[0].dim[1])


class Cylinder(_RoundObject):
    """A cylinder along z; origin at its centre."""


class Cone(_RoundObject):
    """A cone, apex towards +z; origin at the centroid of the solid, a quarter of the height above the base."""


class Capsule(_RoundObject):
    """A cylinder along z with half-spherical ends; origin at its centre."""


PRIMITIVES: dict[str, type[SingleBodyObject]] = {  # by the names of description/shapes.py
    kind.__name__.lower(): kind for kind in (Sphere, Box, Cylinder, Cone, Capsule)
}


class Primitives:
    """The part of World that adds them, with the keywords that `Bodies` names."""

    def add_sphere(
        self: Home,
        radius: float,
        mass: float,
        material: str = "default",
        collision_group: int = 1,
        collision_mask: int = ALL,
        **placed: Unpack[PrimitiveKeywords],
    ) -> Sphere:
        """Add a ball [m, kg]."""
        return insert_primitive(self, Sphere, (radius,), mass, material, collision_group, collision_mask, placed)

    def add_box(
        self: Home,
        x_length: float,
        y_length: float,
        z_length: float,
        mass: float,
        material: str = "default",
        collision_group: int = 1,
        collision_mask: int = ALL,
        **placed: Unpack[PrimitiveKeywords],
    ) -> Box:
        """Add a box with the given full lengths [m, kg]."""
        lengths = (x_length, y_length, z_length)
        return insert_primitive(self, Box, lengths, mass, material, collision_group, collision_mask, placed)

    def add_cylinder(
        self: Home,
        radius: float,
        height: float,
        mass: float,
        material: str = "default",
        collision_group: int = 1,
        collision_mask: int = ALL,
        **placed: Unpack[PrimitiveKeywords],
    ) -> Cylinder:
        """Add a cylinder along z; `height` is its full length [m, kg]."""
        dim = radius, height
        return insert_primitive(self, Cylinder, dim, mass, material, collision_group, collision_mask, placed)

    def add_cone(
        self: Home,
        radius: float,
        height: float,
        mass: float,
        material: str = "default",
        collision_group: int = 1,
        collision_mask: int = ALL,
        **placed: Unpack[PrimitiveKeywords],
    ) -> Cone:
        """Add a cone with its apex towards +z; the origin is the centroid of the solid [m, kg]."""
        dim = radius, height
        return insert_primitive(self, Cone, dim, mass, material, collision_group, collision_mask, placed)

    def add_capsule(
        self: Home,
        radius: float,
        height: float,
        mass: float,
        material: str = "default",
        collision_group: int = 1,
        collision_mask: int = ALL,
        **placed: Unpack[PrimitiveKeywords],
    ) -> Capsule:
        """Add a capsule along z; `height` is the distance of the two sphere centres [m, kg]."""
        dim = radius, height
        return insert_primitive(self, Capsule, dim, mass, material, collision_group, collision_mask, placed)
