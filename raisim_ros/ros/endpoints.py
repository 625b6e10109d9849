"""Topics of single objects: made and destroyed by the executor thread, used by the stepping thread.

The stepping thread gets an endpoint after it was made, and has let go of it before it is destroyed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile

from raisim_ros.msg import ObjectCmd, ObjectState
from raisim_ros.ros import qos
from raisim_ros.ros.command_inbox import CommandInbox, HiddenGroup
from raisim_ros.ros.object_table import ObjectTable
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.state_topics import StateTopics


class _Pair(NamedTuple):
    publisher: Any
    subscription: Any


def _never_called(message: Any) -> None:
    """Commands are taken by the stepping thread, not by a callback."""


class ObjectEndpoints:
    """`<object>/state` publisher and `<object>/cmd` subscription of every object. For the executor thread."""

    def __init__(
        self,
        node: Node,
        queue: RequestQueue,
        table: ObjectTable,
        states: StateTopics,
        inbox: CommandInbox,
        state_profile: QoSProfile,
    ) -> None:
        self._node = node
        self._queue = queue
        self._table = table
        self._states = states
        self._inbox = inbox
        self._state_profile = state_profile
        self._group = HiddenGroup()
        self._pairs: dict[int, _Pair] = {}

    def follow(self) -> None:
        """Brings the endpoints in line with the objects of the world. The stepping thread must be running."""
        self._apply(self._queue.call(self._names), threaded=True)

    def begin(self) -> None:
        """The same before the stepping thread runs."""
        self._apply(self._names(), threaded=False)

    def let_go(self, object_id: int) -> None:
        """The object leaves the world: use its endpoints no more. For the stepping thread."""
        self._states.detach(object_id)
        self._inbox.detach(object_id)

    def close(self) -> None:
        """Destroys all endpoints; the stepping thread has ended.

        Subscriptions first: FastDDS tells every local reader of every writer that goes, which with a thousand of
        each would take seconds.
        """
        for pair in self._pairs.values():
            self._node.destroy_subscription(pair.subscription)
        for pair in self._pairs.values():
            self._node.destroy_publisher(pair.publisher)
        self._pairs.clear()

    def _names(self) -> dict[int, str]:
        return {entry.id: entry.name for entry in self._table}

    def _apply(self, wanted: dict[int, str], threaded: bool) -> None:
        for object_id in self._pairs.keys() - wanted.keys():
            pair = self._pairs.pop(object_id)
            self._node.destroy_subscription(pair.subscription)
            self._node.destroy_publisher(pair.publisher)
        made = {object_id: self._make(name) for object_id, name in wanted.items() if object_id not in self._pairs}
        self._pairs.update(made)
        if not made:
            return
        if threaded:
            self._queue.call(lambda: self._attach(made))
        else:
            self._attach(made)

    def _make(self, name: str) -> _Pair:
        # No event callbacks: each would cost the executor time at every wake-up.
        publisher = self._node.create_publisher(
            ObjectState,
            f"{name}/state",
            self._state_profile,
            event_callbacks=PublisherEventCallbacks(use_default_callbacks=False),
        )
        subscription = self._node.create_subscription(
            ObjectCmd,
            f"{name}/cmd",
            _never_called,
            qos.COMMAND,
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        return _Pair(publisher, subscription)

    def _attach(self, pairs: dict[int, _Pair]) -> None:
        for object_id, pair in pairs.items():
            self._states.attach(object_id, pair.publisher)
            self._inbox.attach(object_id, pair.subscription)
