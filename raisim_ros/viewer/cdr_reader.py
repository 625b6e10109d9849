"""Reads serialised ROS messages (CDR, little-endian) without making an object of every number."""

from __future__ import annotations

import struct

import numpy as np

from raisim_ros.viewer.scene import Vector

_HEADER = 4  # bytes before the body; fields are aligned to the body


class CdrReader:
    """Takes values off a message, one after the other."""

    def __init__(self, data: bytes) -> None:
        if len(data) < _HEADER or data[1] not in (0, 1) or data[1] & 1 == 0:
            raise ValueError("not a little-endian CDR message")
        self.data = data
        self.at = _HEADER

    def _align(self, size: int) -> None:
        self.at += -(self.at - _HEADER) % size

    def _take(self, form: str, size: int, count: int = 1) -> tuple[int | float, ...]:
        self._align(size)
        values: tuple[int | float, ...] = struct.unpack_from(f"<{count}{form}", self.data, self.at)
        self.at += size * count
        return values

    def integer(self) -> int:
        """A 32-bit integer."""
        return int(self._take("i", 4)[0])

    def long(self) -> int:
        """A 64-bit unsigned integer."""
        return int(self._take("Q", 8)[0])

    def boolean(self) -> bool:
        """A byte."""
        return bool(self._take("B", 1)[0])

    def number(self) -> float:
        """A double."""
        return float(self._take("d", 8)[0])

    def floats(self, count: int) -> tuple[float, ...]:
        """Single precision."""
        return tuple(float(value) for value in self._take("f", 4, count))

    def place_of_doubles(self, count: int) -> int:
        """Pass over doubles; where they begin."""
        self._align(8)
        place = self.at
        self.at += 8 * count
        return place

    def doubles(self, count: int) -> Vector:
        """Double precision, a copy."""
        place = self.place_of_doubles(count)
        return np.frombuffer(self.data, np.float64, count, place).copy()

    def count(self) -> int:
        """Length of a sequence."""
        return self.integer()

    def rows_of_doubles(self, width: int) -> Vector:
        """A sequence of messages that hold `width` doubles each."""
        rows = self.count()
        return self.doubles(rows * width).reshape(rows, width) if rows else np.zeros((0, width))

    def skip(self, size: int, count: int) -> None:
        """Pass over a sequence's elements of that size."""
        if count:
            self._align(min(size, 4))
            self.at += size * count

    def text(self) -> str:
        """A string."""
        length = self.integer()
        value = self.data[self.at : self.at + length - 1].decode(errors="replace")
        self.at += length
        return value

    def stamp_and_frame(self) -> str:
        """A std_msgs/Header; its frame."""
        self._take("i", 4, 2)
        return self.text()
