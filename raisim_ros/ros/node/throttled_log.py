"""Log lines about things that repeat: one line per kind and second."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from raisim_ros.ros.pacing import Clock


class ThrottledLog:
    """Passes the first line of each kind on, then at most one per `period` seconds of wall time."""

    # Kinds are few; should they ever be many (names of removed objects), old ones are forgotten.
    MAX_KINDS = 1000

    def __init__(self, write: Callable[[str], object], period: float = 1.0, clock: Clock = time.monotonic) -> None:
        self._write = write
        self._period = period
        self._clock = clock
        self._last: dict[Hashable, float] = {}

    def __call__(self, kind: Hashable, text: str) -> None:
        """Writes `text`, unless a line of this kind was written just now."""
        now = self._clock()
        if now - self._last.get(kind, -self._period) < self._period:
            return
        if len(self._last) >= self.MAX_KINDS:
            self._last.clear()
        self._last[kind] = now
        self._write(text)
