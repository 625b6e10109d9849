"""Warnings of what a user most likely did not mean, told once, when the world is about to be stepped."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from raisim_ros.description.errors import near_names
from raisim_ros.engine.articulated.system import ArticulatedSystem

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World


def tell_doubts(world: World) -> None:
    """Warn of materials that no pair names, and of robots with PD targets and without gains. Costs nothing when there
    is nothing new."""
    if world._new_materials:
        pairs = world.get_material_manager().pairs
        known = {name for pair in pairs for name in pair}
        for name in world._new_materials:
            if name not in known:
                near = near_names("material", name, sorted(known))
                _warn(f"{near}; it touches everything as the default material, see World.set_material_pair_prop()")
        world._new_materials = []
    for key in world._new_followers:
        robot = world.get_object_by_id(key)
        if isinstance(robot, ArticulatedSystem) and not any(gains.any() for gains in robot.get_pd_gains()):
            _warn(f"{robot!r} has PD targets and no gains: they have no effect; see set_pd_gains()")
    world._new_followers = []


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=4)
