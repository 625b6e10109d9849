"""Topics that follow the things of the world: made and destroyed by the executor thread, used by the stepping thread.

The stepping thread gets an endpoint after it was made, and has let go of it before it is destroyed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Set
from typing import Any, Generic, TypeVar

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile

from raisim_ros.ros.request_queue import RequestQueue

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")
Made = TypeVar("Made")

# So many new ones are given to the stepping thread at once.
_AT_ONCE = 128


class FollowingEndpoints(ABC, Generic[Key, Thing, Made]):
    """The endpoints `Made` of every `Thing` of one kind, by a `Key` that is never used again."""

    def __init__(self, node: Node, queue: RequestQueue) -> None:
        self._node = node
        self._queue = queue
        self._made: dict[Key, Made] = {}
        self._coming: set[Key] = set()  # some call of `follow` is about to make these
        self._failed: set[Key] = set()  # these could not be made

    def follow(self) -> Iterator[None]:
        """Makes what is missing and destroys what is no longer needed, one after the other.

        What cannot be made (a name that is too long) is told by an error when all else is there, and not tried again.
        The stepping thread must be running. Others may follow meanwhile: each cares only for what nobody else does.
        """
        return self._follow(self._queue.call)

    def begin(self) -> None:
        """The same before the stepping thread runs, at once."""
        for _ in self._follow(lambda action: action()):
            pass

    def _follow(self, on_stepping_thread: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
        wanted: dict[Key, Thing] = on_stepping_thread(self._release)
        gone = [self._made.pop(key) for key in self._made.keys() - wanted.keys()]
        self._failed &= wanted.keys()
        mine = [key for key in wanted if not (key in self._made or key in self._coming or key in self._failed)]
        errors: list[Exception] = []
        self._coming.update(mine)
        for destroy in (self._begin_to_destroy, self._destroy):
            for made in gone:
                destroy(made)
                yield
        try:
            for first in range(0, len(mine), _AT_ONCE):
                new = {}
                for key in mine[first : first + _AT_ONCE]:
                    try:
                        new[key] = self._make(wanted[key])
                    except Exception as error:
                        self._failed.add(key)
                        errors.append(error)
                    yield
                self._begin_to_use(new, on_stepping_thread)
        finally:
            self._coming.difference_update(mine)
        if errors:
            raise errors[0]

    def _begin_to_use(self, new: dict[Key, Made], on_stepping_thread: Callable[[Callable[[], Any]], Any]) -> None:
        attached = on_stepping_thread(lambda: self._take(new))
        self._made.update(attached)
        for key in new.keys() - attached.keys():  # removed meanwhile
            self._destroy(new[key])

    def _release(self) -> dict[Key, Thing]:
        wanted = self._wanted()
        self._detach(self._made.keys() - wanted.keys())
        return wanted

    def _take(self, new: dict[Key, Made]) -> dict[Key, Made]:
        wanted = self._wanted()
        attached = {key: made for key, made in new.items() if key in wanted}
        self._attach(attached)
        return attached

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

    def _begin_to_destroy(self, made: Made) -> None:
        """The thing is gone: this comes before any of many such things is destroyed."""

    @abstractmethod
    def _destroy(self, made: Made) -> None:
        """The rest of what was begun."""

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
