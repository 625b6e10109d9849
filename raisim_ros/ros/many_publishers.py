"""Publishers of one kind in large numbers: asked and used together, in C.

A thousand calls of rclpy's `publish` spend a third of their time in Python, and hold its lock all the while.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine.call_each import Addresses, call_each

# rcl_serialized_message_t: where the bytes are, how many, how much room there is, and an allocator that nobody uses.
SERIALIZED = np.dtype([("buffer", np.uintp), ("length", np.uintp), ("capacity", np.uintp), ("allocator", np.uintp, 5)])


def _function(name: str) -> int:
    """Address of a function of rcl, which rclpy has loaded."""
    address = ctypes.cast(ctypes.CDLL("librcl.so")[name], ctypes.c_void_p).value
    assert address is not None
    return address


def serialized(buffer: NDArray[np.uint8]) -> NDArray[np.void]:
    """One message of type SERIALIZED: these bytes, which must stay where they are."""
    message = np.zeros(1, SERIALIZED)
    message["buffer"], message["length"], message["capacity"] = buffer.ctypes.data, len(buffer), len(buffer)
    return message


class ManyPublishers:
    """Publishers that exist as long as this does. For one thread."""

    def __init__(self, publishers: Sequence[Any]) -> None:
        self._publishers = publishers  # keeps their handles alive
        self._addresses: Addresses = np.array([one.handle.pointer for one in publishers], np.uintp)
        self._counts = np.zeros(len(publishers), np.uintp)
        self._count_subscriptions = _function("rcl_publisher_get_subscription_count")
        self._publish = _function("rcl_publish_serialized_message")

    def subscribed(self) -> NDArray[np.bool_]:
        """Which of them have subscribers."""
        self._counts[:] = 0
        call_each(self._count_subscriptions, self._addresses, _addresses(self._counts))
        return self._counts > 0

    def publish(self, messages: NDArray[np.void], which: NDArray[np.int64]) -> int:
        """Publish ``messages[k]``, of type SERIALIZED, with publisher ``which[k]``; how many could not be sent."""
        return call_each(self._publish, self._addresses[which], _addresses(messages), third_is_null=True)


def _addresses(rows: NDArray[Any]) -> Addresses:
    """Where each element of a contiguous array is."""
    return rows.ctypes.data + rows.itemsize * np.arange(len(rows), dtype=np.uintp)
