"""Topics that follow the things of the world: made and destroyed by the executor thread, used by the stepping thread.

The stepping thread gets an endpoint after it was made, and has let go of it before it is destroyed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Set
from typing import Any, Generic, TypeVar

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile

from raisim_ros.ros.request_queue import RequestQueue

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")
Made = TypeVar("Made")


class FollowingEndpoints(ABC, Generic[Key, Thing, Made]):
    """The endpoints `Made` of every `Thing` of one kind, by a `Key` that is never used again."""

    def __init__(self, node: Node, queue: RequestQueue) -> None:
        self._node = node
        self._queue = queue
        self._made: dict[Key, Made] = {}

    def follow(self) -> None:
        """Makes what is missing and destroys what is no longer needed. The stepping thread must be running."""
        self._follow(self._queue.call)

    def begin(self) -> None:
        """The same before the stepping thread runs."""
        self._follow(lambda action: action())

    def _follow(self, on_stepping_thread: Callable[[Callable[[], Any]], Any]) -> None:
        wanted: dict[Key, Thing] = on_stepping_thread(self._release)
        for key in self._made.keys() - wanted.keys():
            self._destroy(self._made.pop(key))
        new = {key: self._make(thing) for key, thing in wanted.items() if key not in self._made}
        self._made.update(new)
        if new:
            on_stepping_thread(lambda: self._attach(new))

    def _release(self) -> dict[Key, Thing]:
        wanted = self._wanted()
        self._detach(self._made.keys() - wanted.keys())
        return wanted

    # ---- for the stepping thread ----

    @abstractmethod
    def _wanted(self) -> dict[Key, Thing]:
        """The things that there are."""

    @abstractmethod
    def _detach(self, gone: Set[Key]) -> None:
        """Use the endpoints of these no more."""

    @abstractmethod
    def _attach(self, new: dict[Key, Made]) -> None:
        """Use these from now on."""

    # ---- for the executor thread ----

    @abstractmethod
    def _make(self, thing: Thing) -> Made:
        """The endpoints of a thing."""

    @abstractmethod
    def _destroy(self, made: Made) -> None:
        """The thing is gone."""

    # No event callbacks: each would cost the executor time at every wake-up.

    def _publisher(self, message_type: Any, topic: str, profile: QoSProfile) -> Any:
        callbacks = PublisherEventCallbacks(use_default_callbacks=False)
        return self._node.create_publisher(message_type, topic, profile, event_callbacks=callbacks)

    def _subscription(
        self, message_type: Any, topic: str, callback: Callable[[Any], object], profile: QoSProfile, **options: Any
    ) -> Any:
        callbacks = SubscriptionEventCallbacks(use_default_callbacks=False)
        return self._node.create_subscription(
            message_type, topic, callback, profile, event_callbacks=callbacks, **options
        )
