"""Forces at contacts as viewers show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.types import BodyType
from raisim_ros.engine.world.world import World


def contact_forces(world: World) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and forces of the last step, N x 3, world frame [m, N]: on the side that moves, or on the first of two."""
    contacts = world.read_contacts()
    forces = np.einsum("nij,ni->nj", contacts["frame"], contacts["impulse"]) / world.get_time_step()
    # Links of robots move, also when the base is fixed.
    bodies = [handle for handle in world.get_obj_list() if isinstance(handle, SingleBodyObject)]
    held = [handle.get_id() for handle in bodies if handle.get_body_type() != BodyType.DYNAMIC]
    forces[np.isin(contacts["object_a"], held)] *= -1.0  # what the ground feels would point into it
    return contacts["position"].copy(), forces


def contact_force_on(world: World, handle: Object) -> NDArray[np.float64]:
    """The sum of all forces of contacts on an object in the last step, world frame [N]."""
    contacts = world.read_contacts()
    forces = np.einsum("nij,ni->nj", contacts["frame"], contacts["impulse"]) / world.get_time_step()
    total = forces[contacts["object_a"] == handle.get_id()].sum(axis=0)
    return np.asarray(total - forces[contacts["object_b"] == handle.get_id()].sum(axis=0))
