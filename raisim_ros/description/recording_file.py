"""The file of a recording: chunks that each stand for themselves, so that a crash costs only the last one.

``RAISIM01``, then for every chunk: four letters, length and CRC-32 of the payload (little-endian, 32 bits), and the
payload, compressed with zlib. WRLD: a world file and what lies beside it; FRAM: the frames since the last chunk; INPT:
the commands and requests that a node carried out since the last one; BASE, KEYF, ARRY: see keyframes.py of the viewer.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import FileMissingError, ParseError

MAGIC = b"RAISIM01"
WORLD, FRAMES, INPUTS = b"WRLD", b"FRAM", b"INPT"
BASE, KEYFRAME, ARRAY = b"BASE", b"KEYF", b"ARRY"
_HEAD = struct.Struct("<4sII")

Arrays = dict[str, NDArray[np.float64]]


def write_chunk(file: BinaryIO, kind: bytes, payload: bytes) -> None:
    """Append a chunk and hand it to the operating system."""
    packed = zlib.compress(payload, 3)
    file.write(_HEAD.pack(kind, len(packed), zlib.crc32(packed)) + packed)
    file.flush()


def read_chunks(path: str | Path) -> Iterator[tuple[bytes, bytes]]:
    """Kind and payload of all whole chunks; what a crash left half-written at the end is passed over."""
    if not Path(path).is_file():
        raise FileMissingError(path, "recording")
    with Path(path).open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ParseError(str(path), None, "this is not a recording")
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            kind, length, checksum = _HEAD.unpack(head)
            packed = file.read(length)
            if len(packed) < length or zlib.crc32(packed) != checksum:
                return
            yield kind, zlib.decompress(packed)


def pack_files(files: dict[str, bytes]) -> bytes:
    """Files by name, one of them ``world.xml``."""
    table = json.dumps({name: len(data) for name, data in files.items()}).encode()
    return struct.pack("<I", len(table)) + table + b"".join(files.values())


def unpack_files(payload: bytes) -> dict[str, bytes]:
    """The inverse of pack_files()."""
    (length,) = struct.unpack_from("<I", payload)
    table = json.loads(payload[4 : 4 + length])
    files, at = {}, 4 + length
    for name, size in table.items():
        files[name] = payload[at : at + size]
        at += size
    return files


def pack_arrays(arrays: Arrays) -> bytes:
    """Arrays by name; what hardly changes from frame to frame becomes small when it is compressed."""
    out = io.BytesIO()
    np.savez(out, **{name: _by_frame(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return out.getvalue()


def _by_frame(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """With the frames innermost: equal numbers lie side by side."""
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


def unpack_arrays(payload: bytes) -> Arrays:
    """The inverse of pack_arrays()."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        return {name: np.ascontiguousarray(np.moveaxis(arrays[name], -1, 0)) for name in arrays.files}
