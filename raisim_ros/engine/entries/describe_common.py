"""What the entries of all objects that collide have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.errors import NOWHERE
from raisim_ros.engine.entries.describe_sensors import describe_sensor_sets

if TYPE_CHECKING:
    from raisim_ros.engine.objects.handles import SingleBodyObject
    from raisim_ros.engine.objects.soft_handles import SoftObject
    from raisim_ros.engine.world.world import World


def numbers(values: Any) -> tuple[float, ...]:
    """All numbers in one row, as entries have them."""
    return tuple(float(value) for value in np.asarray(values).reshape(-1))


def common_fields(world: World, handle: SingleBodyObject | SoftObject) -> dict[str, Any]:
    """Fields of the entry of an object, as it is now."""
    return {
        "place": NOWHERE,
        "name": handle.get_name(),
        "material": world.get_object_material(handle),
        "appearance": handle.get_appearance(),
        "collision_group": handle.get_collision_group(),
        "collision_mask": handle.get_collision_mask(),
        "interface": handle.get_interface(),
        "sensor_sets": describe_sensor_sets(handle),
    }
