"""Takes the messages of all `<object>/cmd` topics, by the stepping thread, between steps.

rclpy's executor spends some microseconds on every subscription at every wake-up, which with a thousand
objects is all it does. So these subscriptions are hidden from it and asked in turn: those that had a message
lately every time, of the others a few each time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup

from raisim_ros.ros.pacing import Clock

# Quiet subscriptions asked per round; asking one takes about a microsecond.
_QUIET_PER_ROUND = 64
# A subscription without a message for this long counts as quiet [s of wall time].
_QUIET_AFTER = 1.0


class HiddenGroup(CallbackGroup):
    """A callback group that no executor may run."""

    def add_entity(self, entity: Any) -> None:
        """Remembers nothing: rclpy's own groups never forget an entity and grow with every object."""

    def has_entity(self, entity: Any) -> bool:
        """Every subscription made with this group belongs to it."""
        return True

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing was begun."""


class CommandInbox:
    """All command subscriptions by object id. For the stepping thread."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._subscriptions: dict[int, Any] = {}
        self._busy: dict[int, float] = {}  # when the last message came
        self._quiet: deque[int] = deque()

    def attach(self, object_id: int, subscription: Any) -> None:
        """Commands for the object arrive through `subscription`."""
        self._subscriptions[object_id] = subscription
        self._quiet.append(object_id)

    def detach(self, object_id: int) -> None:
        """Lets go of the object's subscription."""
        if self._subscriptions.pop(object_id, None) is not None and self._busy.pop(object_id, None) is None:
            self._quiet.remove(object_id)

    def take(self) -> Iterator[tuple[int, Any]]:
        """The newest message of every object that has one; older unread ones are overtaken by it."""
        now = self._clock()
        for object_id in list(self._busy):
            yield from self._take_newest(object_id, now)
            if now - self._busy.get(object_id, now) > _QUIET_AFTER:
                del self._busy[object_id]
                self._quiet.append(object_id)
        for _ in range(min(len(self._quiet), _QUIET_PER_ROUND)):
            object_id = self._quiet.popleft()
            newest = list(self._take_newest(object_id, now))
            if not newest:
                self._quiet.append(object_id)
            yield from newest

    def _take_newest(self, object_id: int, now: float) -> Iterator[tuple[int, Any]]:
        subscription = self._subscriptions[object_id]
        newest = None
        while (taken := subscription.handle.take_message(subscription.msg_type, subscription.raw)) is not None:
            newest = taken[0]
        if newest is not None:
            self._busy[object_id] = now
            yield object_id, newest
