"""Messages that are serialised once; afterwards only their numbers are written, straight into the bytes.

Building a message from Python objects and serialising it takes ten times as long as publishing the bytes. A
message whose strings and array lengths stay the same need not be built again: `FrozenMessage` gives NumPy
views of its numbers, `FrozenSequence` does the same for a long list of such messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message

from raisim_ros.ros.cdr_layout import Layout, Slot
from raisim_ros.ros.conversions import Stamp

# Serialised messages begin with four bytes that name the encoding; alignment counts from behind them.
ENCAPSULATION = 4
_PLAIN_LITTLE_ENDIAN_CDR = bytes((0, 1, 0, 0))
# The largest alignment: a buffer that begins at such an address gives aligned views of every number.
_ALIGNMENT = 8


def _aligned_buffer(size: int) -> NDArray[np.uint8]:
    """`size` bytes whose CDR body (behind the encapsulation) begins at a multiple of 8."""
    shift = _ALIGNMENT - ENCAPSULATION
    return np.zeros(shift + size, np.uint8)[shift:]


def _view(buffer: NDArray[np.uint8], slot: Slot) -> NDArray[Any]:
    begin = ENCAPSULATION + slot.offset
    return buffer[begin : begin + slot.length * slot.dtype.itemsize].view(slot.dtype)


def _joined(slots: dict[str, Slot], first: str, last: str) -> Slot:
    """The slot that reaches from `first` to `last`; everything between must lie side by side in one size."""
    begin, end = slots[first], slots[last]
    size = end.offset + end.length * end.dtype.itemsize - begin.offset
    inside = [slot for slot in slots.values() if begin.offset <= slot.offset <= end.offset]
    if sum(slot.length * slot.dtype.itemsize for slot in inside) != size:
        raise ValueError(f"the numbers from '{first}' to '{last}' do not lie side by side")
    return Slot(begin.offset, begin.dtype, size // begin.dtype.itemsize)


def _serialise(message: Any, layout: Layout) -> bytes:
    """The serialised message, without the unused bytes that rmw_fastrtps may leave at its end.

    What lies between its fields is zero: rmw_fastrtps leaves there what the memory held, and equal messages would
    have different bytes.
    """
    data: bytes = serialize_message(message)
    end = ENCAPSULATION + layout.end
    if data[:ENCAPSULATION] != _PLAIN_LITTLE_ENDIAN_CDR or len(data) < end:
        raise RuntimeError(
            f"{type(message).__name__}: serialised to {len(data)} bytes that begin with "
            f"{data[:ENCAPSULATION].hex()}; expected at least {end} bytes of little-endian plain CDR"
        )
    body = bytearray(data[ENCAPSULATION:end])
    for gap in layout.padding:
        body[gap] = bytes(gap.stop - gap.start)
    return data[:ENCAPSULATION] + bytes(body)


class FrozenMessage:
    """One message. Strings and array lengths are those of the message it was made from."""

    def __init__(self, message: Any) -> None:
        self._layout = Layout(message)
        data = _serialise(message, self._layout)
        self._buffer = _aligned_buffer(len(data))
        self._buffer[:] = np.frombuffer(data, np.uint8)

    def numbers(self, first: str, last: str | None = None) -> NDArray[Any]:
        """A writable view of the numbers at path `first`, or of all from there to `last`."""
        return _view(self._buffer, _joined(self._layout.slots, first, last or first))

    def to_bytes(self) -> bytes:
        """The message as it is now, ready for `publish`."""
        return self._buffer.tobytes()


class FrozenElement:
    """Serialised form of a message that becomes part of a sequence.

    Its padding depends on where it begins: `bodies[0]` begins at a multiple of 8 bytes, `bodies[1]` four
    bytes behind one. (A message whose first field has four bytes or more begins at no other place.)
    """

    __slots__ = ("bodies", "layouts")

    def __init__(self, message: Any, sequence_type: Any, field: str) -> None:
        """`field`, the last one of `sequence_type`, is the sequence that shall contain `message`."""
        layout = Layout(message)
        alone = _serialise(message, layout)
        parent = sequence_type(**{field: [message]})
        parent_layout = Layout(parent)
        inside = _serialise(parent, parent_layout)
        (start,) = parent_layout.element_starts
        if start % _ALIGNMENT != 4:
            raise TypeError(f"{sequence_type.__name__}.{field}: the first element begins at byte {start}")

        self.bodies = (alone[ENCAPSULATION:], inside[ENCAPSULATION + start :])
        self.layouts = (layout, Layout(message, 4))

    def fill(self, path: str, values: NDArray[np.float64], count: int) -> None:
        """Fills the sequence at `path`, empty so far, with `count` elements that consist of float64 numbers.

        For long lists of points: making a Python object of each would take seconds. Nothing behind the sequence
        may need an alignment of more than four bytes.
        """
        data = np.ascontiguousarray(values, np.float64).tobytes()
        bodies = []
        for phase, (body, layout) in enumerate(zip(self.bodies, self.layouts, strict=True)):
            end = layout.counts[path] + 4
            split = end - 4 * phase
            padding = bytes(-end % _ALIGNMENT)
            bodies.append(body[: split - 4] + count.to_bytes(4, "little") + padding + data + body[split:])
            layout.slots = {name: slot for name, slot in layout.slots.items() if slot.offset < end}
        self.bodies = (bodies[0], bodies[1])

    def body(self, start: int) -> bytes:
        """Its bytes when it begins at `start`, a multiple of 4."""
        return self.bodies[start % _ALIGNMENT // 4]

    def offset(self, path: str, start: int) -> int:
        """Bytes from its beginning at `start` to the number at `path`."""
        phase = start % _ALIGNMENT
        return self.layouts[phase // 4].slots[path].offset - phase


class FrozenSequence:
    """A message whose last field is a sequence of frozen elements, for example an ObjectStateArray."""

    def __init__(self, empty: Any, elements: Sequence[FrozenElement]) -> None:
        """`empty` is the message with that sequence left empty; it gives everything before the elements."""
        self._layout = Layout(empty)
        head = _serialise(empty, self._layout)
        self._elements = elements
        self._starts = np.empty(len(elements), np.int64)
        pieces = [head]
        end = self._layout.end
        for index, element in enumerate(elements):
            padding = -end % 4
            start = end + padding
            body = element.body(start)
            pieces += (bytes(padding), body)
            self._starts[index] = start
            end = start + len(body)
        data = b"".join(pieces)
        self._buffer = _aligned_buffer(len(data))
        self._buffer[:] = np.frombuffer(data, np.uint8)
        count = ENCAPSULATION + self._layout.end - 4
        self._buffer[count : count + 4].view(np.uint32)[0] = len(elements)
        self._places: dict[tuple[str, str], tuple[NDArray[Any], NDArray[np.int64]]] = {}

    @property
    def buffer(self) -> NDArray[np.uint8]:
        """The serialised message, where it stays."""
        return self._buffer

    def numbers(self, first: str, last: str | None = None) -> NDArray[Any]:
        """A writable view of numbers before the sequence, as in FrozenMessage."""
        return _view(self._buffer, _joined(self._layout.slots, first, last or first))

    def write(self, first: str, last: str, rows: NDArray[Any]) -> None:
        """Writes `rows[i]` to the numbers from path `first` to `last` of element i.

        `rows` has one row per element, is contiguous and has the size of the numbers it replaces.
        """
        if not len(self._elements):
            return
        target, index = self._place(first, last)
        target[index] = rows.view(target.dtype).reshape(len(self._elements))

    def element_numbers(self, index: int, path: str) -> NDArray[Any]:
        """A writable view of the numbers at `path` of one element."""
        start, element = int(self._starts[index]), self._elements[index]
        slot = element.layouts[0].slots[path]
        return _view(self._buffer, Slot(start + element.offset(path, start), slot.dtype, slot.length))

    def write_stamp(self, stamp: Stamp) -> None:
        """Writes the time into the header of the message, where it has one, and of every element."""
        path = ("header.stamp.sec", "header.stamp.nanosec")
        words = np.array(stamp, np.uint32)
        if path[0] in self._layout.slots:
            self.numbers(*path).view(np.uint32)[:] = words
        self.write(*path, np.broadcast_to(words, (len(self._elements), 2)).copy())

    def _place(self, first: str, last: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The buffer as overlapping items as long as the run, and the indices of the elements' own runs.

        Copying whole items by index is much faster than scattering single numbers.
        """
        key = (first, last)
        if key not in self._places:
            run = _joined(self._elements[0].layouts[0].slots, first, last)
            unit = run.dtype.itemsize
            size = run.length * unit
            items: NDArray[Any] = np.ndarray(
                shape=((len(self._buffer) - ENCAPSULATION - size) // unit + 1,),
                dtype=np.dtype((np.void, size)),
                buffer=self._buffer,
                offset=ENCAPSULATION,
                strides=(unit,),
            )
            offsets = [
                start + element.offset(first, start)
                for start, element in zip(self._starts.tolist(), self._elements, strict=True)
            ]
            self._places[key] = (items, np.array(offsets, np.int64) // unit)
        return self._places[key]

    def to_bytes(self) -> bytes:
        """The message as it is now, ready for `publish`."""
        return self._buffer.tobytes()
