"""`pull`: hands that pull at objects with springs, computed in every step, so that they are stiff and shake nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.world.pull import Pull
from raisim_ros.engine.world.world import World
from raisim_ros.ros.conversions import Vector, vector_from_xyz
from raisim_ros.ros.objects.commands import CommandRefusedError
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.pacing import NEVER


@dataclass(frozen=True, eq=False)
class _Held:
    """A hand, where it took hold (world, then), and the step when it was last told."""

    pull: Pull
    grip: Vector
    step: int


class Pulls:
    """The hands that pull, one at each object. For the stepping thread."""

    def __init__(self, world: World, table: ObjectTable) -> None:
        self._world = world
        self._table = table
        self._held: dict[int, _Held] = {}  # by the object's id

    def accept(self, message: Any, step: int) -> None:
        """Carries a Pull out; raises RaisimError, and changes nothing, when it cannot."""
        entry = self._table.get(message.name)
        if message.release:
            self._held.pop(entry.id, None)
            return
        if not isinstance(entry.handle, BodyOwner) or entry.body_type != "dynamic":
            raise CommandRefusedError("type", f"'{entry.name}' is {entry.body_type} {entry.type}; it cannot be pulled")
        body = _body(entry.handle, message.link)
        grip, target = vector_from_xyz(message.grip, "grip"), vector_from_xyz(message.target, "target")
        before = self._held.get(entry.id)
        if before is not None and before.pull.body == body and np.array_equal(before.grip, grip):
            self._held[entry.id] = _Held(replace(before.pull, target=target), grip, step)
            return
        point = entry.handle.get_orientation(body).T @ (grip - entry.handle.get_position(body))
        self._held[entry.id] = _Held(Pull(entry.handle, body, point, target), grip, step)

    def steps_until_due(self) -> int:
        """A spring is computed anew for every step."""
        return 1 if self._held else NEVER

    def apply(self, step: int, patience: int) -> None:
        """The forces for the next step; hands that were not told for more than `patience` steps let go (0: never)."""
        for object_id, held in list(self._held.items()):
            if (patience and step - held.step >= patience) or not held.pull.apply(self._world):
                del self._held[object_id]


def _body(handle: BodyOwner, link: str) -> int:
    if not link:
        return 0
    if not isinstance(handle, ArticulatedSystem):
        raise CommandRefusedError("link", f"link is '{link}', and the object has no links")
    body = handle.get_body_idx(link)
    if body < 0:
        raise CommandRefusedError("link", f"the robot has no link '{link}'")
    return body
