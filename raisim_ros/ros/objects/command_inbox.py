"""Takes the messages of all command topics of objects, by the stepping thread, between steps.

rclpy's executor spends some microseconds on every subscription at every wake-up, which with a thousand
objects is all it does. So these subscriptions are hidden from it, and those are asked to which something has come.
With a middleware that does not tell, they are asked in turn: those that had a message lately every time, of the
others a few each time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from enum import Enum
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription

from raisim_ros.ros.arrivals import Arrivals
from raisim_ros.ros.attentive_node import AttentiveNode
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


class CommandTopic(Enum):
    """The command topics below an object's name."""

    OBJECT = "cmd"
    JOINTS = "joint_cmd"
    TRAJECTORY = "joint_trajectory"
    VELOCITY = "cmd_vel"


Key = tuple[int, CommandTopic | int]  # id of an object, and one of its topics, or the body of a link


class NodeOfManyObjects(AttentiveNode):
    """A node that does not even show its executor the hidden subscriptions.

    An executor asks every subscription twice per wake-up whether it may run.
    """

    def __init__(self, name: str) -> None:
        self._shown: list[Subscription] = []
        super().__init__(name)

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Those that an executor may run."""
        return iter(self._shown)

    def create_subscription(self, *args: Any, **options: Any) -> Subscription:
        """As every node does."""
        one = super().create_subscription(*args, **options)
        if not isinstance(one.callback_group, HiddenGroup):
            self._shown.append(one)
        return one

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """As every node does."""
        if subscription in self._shown:
            self._shown.remove(subscription)
        return bool(super().destroy_subscription(subscription))


class CommandInbox:
    """All command subscriptions. For the stepping thread."""

    def __init__(self, arrivals: Arrivals[Key], clock: Clock = time.monotonic) -> None:
        """`arrivals` tells which subscriptions have messages, where the middleware does."""
        self._clock = clock
        self._subscriptions: dict[Key, Any] = {}
        self._arrivals = arrivals
        self._busy: dict[Key, float] = {}  # when the last message came
        self._quiet: deque[Key] = deque()

    def attach(self, key: Key, subscription: Any) -> None:
        """Commands arrive through `subscription`."""
        self._subscriptions[key] = subscription
        if not self._arrivals.watch(key, subscription):
            self._quiet.append(key)

    def detach(self, key: Key) -> None:
        """Lets go of a subscription, if there is one."""
        if self._subscriptions.pop(key, None) is None or self._arrivals.forget(key):
            return
        if self._busy.pop(key, None) is None:
            self._quiet.remove(key)

    def take(self) -> Iterator[tuple[Key, Any]]:
        """The newest message of every topic that has one; older unread ones are overtaken by it.

        Except of those that name joints: they may name different ones, so all of them count.
        """
        for key in self._arrivals.new():
            yield from self._take_from(key)
        now = self._clock()
        for key in list(self._busy):
            yield from self._take_in_turn(key, now)
            if now - self._busy.get(key, now) > _QUIET_AFTER:
                del self._busy[key]
                self._quiet.append(key)
        for _ in range(min(len(self._quiet), _QUIET_PER_ROUND)):
            key = self._quiet.popleft()
            taken = list(self._take_in_turn(key, now))
            if not taken:
                self._quiet.append(key)
            yield from taken

    def _take_in_turn(self, key: Key, now: float) -> Iterator[tuple[Key, Any]]:
        for taken in self._take_from(key):
            self._busy[key] = now
            yield taken

    def _take_from(self, key: Key) -> Iterator[tuple[Key, Any]]:
        subscription = self._subscriptions[key]
        messages = []
        while (taken := subscription.handle.take_message(subscription.msg_type, subscription.raw)) is not None:
            messages.append(taken[0])
        for message in messages if key[1] is CommandTopic.JOINTS else messages[-1:]:
            yield key, message
