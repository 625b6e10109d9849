"""What a worker process and the node tell each other."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# A thing is a pickle and the arrays in it, which go beside it: they need not be copied. Before them stand their number
# and their lengths, the pickle's first.
LENGTH = struct.Struct("<Q")


def packed(thing: Any) -> Iterator[bytes | memoryview]:
    """What is sent of a thing, piece by piece."""
    arrays: list[pickle.PickleBuffer] = []
    data = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    pieces = [memoryview(data), *(array.raw() for array in arrays)]
    yield LENGTH.pack(len(pieces)) + b"".join(LENGTH.pack(piece.nbytes) for piece in pieces)
    yield from pieces


def unpacking() -> Generator[memoryview, None, Any]:
    """The way back: yields one place after the other, to be filled with what comes in, and returns the thing."""
    count = bytearray(LENGTH.size)
    yield memoryview(count)
    lengths = bytearray(LENGTH.size * LENGTH.unpack(count)[0])
    yield memoryview(lengths)
    pieces = [np.empty(length, np.uint8).data for (length,) in LENGTH.iter_unpack(lengths)]
    for piece in pieces:
        if len(piece):
            yield piece
    return pickle.loads(pieces[0], buffers=pieces[1:])


@dataclass(frozen=True)
class Finished:
    """What came of the work: a value, or an error by class and text."""

    value: Any = None
    error_class: type[Exception] | None = None
    error_text: str = ""
    decompositions: dict[str, Any] | None = None
    meshes: dict[str, Any] | None = None  # what was made of them
    warnings: Sequence[str] = ()

    def result(self) -> Any:
        """The value; raises the error."""
        if self.error_class is None:
            return self.value
        error = self.error_class.__new__(self.error_class)  # their constructors take the parts of the text
        error.args = (self.error_text,)
        raise error
