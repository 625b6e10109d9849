"""Where each number of a message lies in its serialised form (CDR, as ROS 2 sends it).

A message whose strings and array lengths are given has one fixed layout: every field begins at the next
multiple of its own size, a string is a 32-bit length (with the closing zero) and its bytes, a sequence is a
32-bit count and its elements, and nested messages follow without any frame of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from rosidl_parser.definition import (
    AbstractSequence,
    AbstractString,
    Array,
    BasicType,
    NamespacedType,
)

_DTYPES: dict[str, np.dtype[Any]] = {
    "boolean": np.dtype(np.bool_),
    "octet": np.dtype(np.uint8),
    "char": np.dtype(np.uint8),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


class Slot(NamedTuple):
    """Numbers of one kind that lie side by side."""

    offset: int  # bytes from the beginning of the CDR body
    dtype: np.dtype[Any]
    length: int


class Layout:
    """Slots of a message by dotted path: `pose.position.x`, `states[2].mass`, `joint_positions`."""

    def __init__(self, message: Any, start: int = 0) -> None:
        """Lays `message` out with its first field at or after byte `start` of the body."""
        self.slots: dict[str, Slot] = {}
        self.element_starts: list[int] = []  # of the elements of the last sequence of messages
        self.counts: dict[str, int] = {}  # where the count of each sequence lies
        self.padding: list[slice] = []  # bytes that belong to no field
        self.end = start
        self._add_message(message, "")

    def _align(self, size: int) -> None:
        begin = self.end
        self.end += -self.end % size
        if begin != self.end:
            self.padding.append(slice(begin, self.end))

    def _add_message(self, message: Any, path: str) -> None:
        fields = message.get_fields_and_field_types()
        for name, field_type in zip(fields, message.SLOT_TYPES, strict=True):
            self._add_value(getattr(message, name), field_type, f"{path}.{name}" if path else name)

    def _add_value(self, value: Any, field_type: Any, path: str) -> None:
        if isinstance(field_type, BasicType):
            self._add_numbers(field_type, 1, path)
        elif isinstance(field_type, AbstractString):
            self._align(4)
            self.end += 4 + len(value.encode()) + 1
        elif isinstance(field_type, NamespacedType):
            self._add_message(value, path)
        elif isinstance(field_type, AbstractSequence):
            self._align(4)
            self.counts[path] = self.end
            self.end += 4
            self._add_elements(value, field_type.value_type, path)
        elif isinstance(field_type, Array):
            self._add_elements(value, field_type.value_type, path)
        else:
            raise TypeError(f"field '{path}': a {type(field_type).__name__} has no known layout")

    def _add_elements(self, values: Any, value_type: Any, path: str) -> None:
        if isinstance(value_type, BasicType):
            if len(values):
                self._add_numbers(value_type, len(values), path)
            return
        starts = []
        for index, value in enumerate(values):
            starts.append(self.end + -self.end % 4)
            self._add_value(value, value_type, f"{path}[{index}]")
        self.element_starts = starts

    def _add_numbers(self, field_type: BasicType, count: int, path: str) -> None:
        dtype = _DTYPES[field_type.typename]
        self._align(dtype.itemsize)
        self.slots[path] = Slot(self.end, dtype, count)
        self.end += dtype.itemsize * count
