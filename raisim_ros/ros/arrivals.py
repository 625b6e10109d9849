"""Which of many subscriptions have new messages: the middleware counts, so that none of them need be asked."""

from __future__ import annotations

import ctypes
from collections.abc import Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from rclpy.subscription import Subscription

from raisim_ros.engine.call_each import counting_function

Key = TypeVar("Key", bound=Hashable)

# Counters of so many subscriptions lie together; they never move, for the middleware writes to them.
_PER_BLOCK = 1024


def _set_callback(subscription: Subscription, function: int | None, counter: int | None) -> bool:
    """Whether the middleware calls this function from now on; None: no longer."""
    call = ctypes.CDLL("librcl.so").rcl_subscription_set_on_new_message_callback
    call.argtypes = [ctypes.c_void_p] * 3
    return int(call(subscription.handle.pointer, function, counter)) == 0


class Arrivals(Generic[Key]):
    """Counts the messages of subscriptions. For one thread; the counters are written by those of the middleware."""

    def __init__(self) -> None:
        self._function = counting_function()
        self._blocks: list[NDArray[np.int64]] = []  # counters
        self._seen: list[NDArray[np.int64]] = []
        self._keys: dict[int, Key] = {}  # by place
        self._watched: dict[Key, tuple[int, Subscription]] = {}
        self._free: list[int] = []

    def watch(self, key: Key, subscription: Subscription) -> bool:
        """Counts from now on what arrives; False where the middleware does not tell."""
        if not self._free:
            self._add_block()
        place = self._free[-1]
        block, index = divmod(place, _PER_BLOCK)
        counters = self._blocks[block]
        self._seen[block][index] = counters[index] - 1  # to be asked once for what came before
        if not _set_callback(subscription, self._function, counters.ctypes.data + index * counters.itemsize):
            return False
        self._free.pop()
        self._keys[place] = key
        self._watched[key] = (place, subscription)
        return True

    def forget(self, key: Key) -> bool:
        """Counts no longer; whether it was counted."""
        if key not in self._watched:
            return False
        place, subscription = self._watched.pop(key)
        _set_callback(subscription, None, None)
        del self._keys[place]
        self._free.append(place)
        return True

    def new(self) -> list[Key]:
        """The subscriptions to which something has come since they were told last."""
        found = []
        for number, (counters, seen) in enumerate(zip(self._blocks, self._seen, strict=True)):
            now = counters.copy()
            for index in np.flatnonzero(now != seen).tolist():
                place = number * _PER_BLOCK + index
                if place in self._keys:
                    found.append(self._keys[place])
            seen[:] = now
        return found

    def _add_block(self) -> None:
        first = len(self._blocks) * _PER_BLOCK
        self._blocks.append(np.zeros(_PER_BLOCK, np.int64))
        self._seen.append(np.zeros(_PER_BLOCK, np.int64))
        self._free += range(first + _PER_BLOCK - 1, first - 1, -1)
