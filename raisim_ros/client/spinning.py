"""Listening in a thread of its own while other threads make and destroy what is listened to."""

from __future__ import annotations

import contextlib
import threading

from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

# The executor looks this often whether it shall end, should it miss the wake-up [s].
WAKE_PERIOD = 0.2


def spin_once(executor: SingleThreadedExecutor) -> None:
    """Wait for something and do what it asks for, also when another thread destroys something at that moment.

    While it looks what to wait for, the executor raises then, and whoever runs it would hear nothing ever again.
    """
    with contextlib.suppress(InvalidHandle):
        executor.spin_once(timeout_sec=WAKE_PERIOD)


def spin(executor: SingleThreadedExecutor, end: threading.Event) -> None:
    """Until `end`, or until the context ends."""
    with contextlib.suppress(ExternalShutdownException):
        while not end.is_set():
            spin_once(executor)
