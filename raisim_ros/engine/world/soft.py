"""The part of World that adds objects made of particles."""

from __future__ import annotations

from typing import Any

from raisim_ros.description.world.soft_types import GranularMaterial
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.granular import GranularSystem, fill_material, grain_tables
from raisim_ros.engine.objects.soft_handles import doubles
from raisim_ros.engine.types import ObjectType
from raisim_ros.engine.world.core import WorldCore


class Soft(WorldCore):
    """Adding grains. A failed call leaves the world as it was."""

    def add_granular_particles(
        self,
        positions: Any,
        radii: Any,
        material: GranularMaterial | None = None,
        contact_material: str = "default",
        collision_group: int = 1,
        collision_mask: int = -1,
        *,
        velocities: Any = None,
    ) -> GranularSystem:
        """Add grains as one object: places N x 3 [m], a radius for each or one for all [m].

        They collide with each other and, both ways, with bodies, robots, terrain and ground. Friction with bodies is
        the geometric mean of that of the grains and that of `contact_material` with the body's material.
        """
        x, r, v = grain_tables(positions, radii, velocities)
        chosen = GranularMaterial() if material is None else arguments.instance("material", material, GranularMaterial)
        definition = ffi.new("rs_grains_def *")
        lib.rs_default_grains_def(definition)
        definition.object_type = int(ObjectType.GRANULAR)
        definition.count = len(x)
        definition.positions, definition.radii, definition.velocities = doubles(x), doubles(r), doubles(v)
        fill_material(definition.material, chosen)
        definition.substeps = chosen.substeps
        definition.collision_group = arguments.collision_bits("collision_group", collision_group)
        definition.collision_mask = arguments.collision_bits("collision_mask", collision_mask)
        out = ffi.new("rs_object_id *")
        with self.locked():
            definition.contact_material = self._material(contact_material)
            check(lib.rs_grains_create(self._world, definition, out))
            handle = GranularSystem(self, int(out[0]), ObjectType.GRANULAR)
            self._register(handle)
        return handle
