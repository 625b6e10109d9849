"""What viewers need of the objects of a World that are made of particles."""

from __future__ import annotations

from typing import Any

import numpy as np

from raisim_ros.description.appearance import HIDDEN, colour
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.granular import GranularSystem
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.scene import SoftLook, SoftShape


def soft_objects(world: World) -> list[SoftObject]:
    """In the order of the world's list."""
    return [handle for handle in world.get_obj_list() if isinstance(handle, SoftObject)]


def soft_look(handle: Object) -> SoftLook | None:
    """How a viewer draws an object made of particles; None for others, and for what is hidden."""
    if not isinstance(handle, SoftObject) or handle.get_appearance() == HIDDEN:
        return None
    kind = handle.get_object_type().name.lower()
    red, green, blue, alpha = colour(handle.get_appearance(), kind, handle.get_id())
    triangles = handle.get_triangles().astype(np.uint32) if isinstance(handle, DeformableObject) else None
    return SoftLook(triangles, (red, green, blue), alpha)


def soft_shape(handle: SoftObject) -> SoftShape:
    """Where its particles are now."""
    radii = handle.get_radii() if isinstance(handle, GranularSystem) else np.zeros(0)
    return SoftShape(handle.get_positions().astype(np.float32), radii.astype(np.float32))


def soft_shapes(named: dict[str, Object]) -> dict[str, SoftShape]:
    """All of a world, by the names of its objects."""
    return {name: soft_shape(handle) for name, handle in named.items() if isinstance(handle, SoftObject)}


def particle_counts(world: World) -> tuple[int, ...]:
    """Of each object; frames of a recording have one length as long as these stay."""
    return tuple(handle.get_num_particles() for handle in soft_objects(world))


def read_particles(world: World) -> Any:
    """Places of all particles of all objects, one behind the other, N x 3 [m]."""
    places = [handle.get_positions().astype(np.float32) for handle in soft_objects(world)]
    return np.concatenate(places) if places else np.zeros((0, 3), np.float32)


def split_particles(world: World, particles: Any) -> list[Any]:
    """What read_particles() told, for each object."""
    cuts = np.cumsum(particle_counts(world))[:-1]
    return np.split(particles, cuts) if len(cuts) or len(particle_counts(world)) else []
