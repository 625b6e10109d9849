"""The file of a recording: chunks that each stand for themselves, so that a crash costs only the last one.

``RAISIM01``, then for every chunk: four letters, length and CRC-32 of the payload (little-endian, 32 bits), and the
payload, compressed with zlib. WRLD: a world file and what lies beside it; FRAM: the frames since the last chunk; INPT:
the commands and requests that a node carried out since the last one; BASE, KEYF, ARRY: see keyframes.py of the viewer,
MEAS: measurements.py there.
"""

from __future__ import annotations

import errno
import io
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import array_file
from raisim_ros.description.errors import FileReadError, FileWriteError, InvalidValueError, ParseError
from raisim_ros.description.file_access import temporary_folder
from raisim_ros.description.files import existing_file
from raisim_ros.description.limits import get_file_limits

MAGIC = b"RAISIM01"
WORLD, FRAMES, INPUTS, MEASUREMENTS = b"WRLD", b"FRAM", b"INPT", b"MEAS"
BASE, KEYFRAME, ARRAY = b"BASE", b"KEYF", b"ARRY"
_HEAD = struct.Struct("<4sII")
_ODD_NAME = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EISDIR, errno.ENOENT)

Arrays = dict[str, NDArray[np.float64]]


def write_chunk(file: BinaryIO, kind: bytes, payload: bytes) -> None:
    """Append a chunk and hand it to the operating system."""
    packed = zlib.compress(payload, 3)
    file.write(_HEAD.pack(kind, len(packed), zlib.crc32(packed)) + packed)
    file.flush()


def read_chunks(path: str | Path) -> Iterator[tuple[bytes, bytes]]:
    """Kind and payload of all whole chunks; what a crash left half-written at the end is passed over."""
    file = existing_file(path, "recording")
    left = get_file_limits().max_recording_bytes
    try:
        with file.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise ParseError(path, None, "this is not a recording")
            size = file.stat().st_size
            while len(head := stream.read(_HEAD.size)) == _HEAD.size:
                kind, length, checksum = _HEAD.unpack(head)
                packed = stream.read(length) if stream.tell() + length <= size else b""
                if len(packed) < length or zlib.crc32(packed) != checksum:
                    return
                payload = _unpacked(path, packed, left)
                left -= len(payload)
                yield kind, payload
    except OSError as error:
        raise FileReadError(path, error) from error


def _unpacked(path: str | Path, packed: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        payload = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise ParseError(path, None, f"the recording is damaged: {error}") from error
    if len(payload) > most:
        limit = get_file_limits().max_recording_bytes
        raise ParseError(path, None, f"the recording takes more than {limit} bytes (limit max_recording_bytes)")
    return payload


def pack_files(files: dict[str, bytes]) -> bytes:
    """Files by name, one of them ``world.xml``."""
    table = json.dumps({name: len(data) for name, data in files.items()}).encode()
    return struct.pack("<I", len(table)) + table + b"".join(files.values())


def unpack_files(payload: bytes) -> dict[str, bytes]:
    """The inverse of pack_files(); raises InvalidValueError for what it did not make."""
    try:
        (length,) = struct.unpack_from("<I", payload)
        table = json.loads(payload[4 : 4 + length])
        files, at = {}, 4 + length
        for name, size in table.items():
            if Path(name).name != name or not 0 <= size <= len(payload) - at:
                raise InvalidValueError(f"it has no file {name!r}")
            files[name] = payload[at : at + size]
            at += size
    except (ValueError, TypeError, AttributeError, RecursionError, struct.error) as error:
        raise InvalidValueError(f"the files of its world are damaged: {error}") from error
    return files


@contextmanager
def laid_out(files: dict[str, bytes]) -> Iterator[Path]:
    """The path of ``world.xml`` in a folder with these files, which is gone at the end."""
    with temporary_folder() as folder:
        for name, data in files.items():
            try:
                (folder / name).write_bytes(data)
            except (OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno not in _ODD_NAME:  # a full disk
                    raise FileWriteError(folder / name, error.strerror or str(error)) from error
                raise InvalidValueError(f"the recording is damaged: it has no file {name!r}") from error
        yield folder / "world.xml"


def pack_arrays(arrays: Arrays) -> bytes:
    """Arrays by name; what hardly changes from frame to frame becomes small when it is compressed."""
    out = io.BytesIO()
    np.savez(out, **{name: _by_frame(array) for name, array in arrays.items()})  # type: ignore[arg-type]
    return out.getvalue()


def _by_frame(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """With the frames innermost: equal numbers lie side by side."""
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


def unpack_arrays(payload: bytes) -> Arrays:
    """The inverse of pack_arrays(); raises InvalidValueError for what it did not make."""
    arrays = array_file.unpack(payload, get_file_limits().max_recording_bytes, "max_recording_bytes")
    if not all(array.ndim and array.dtype.kind == "f" for array in arrays.values()):
        raise InvalidValueError("the recording is damaged: its frames are not made of numbers")
    return {name: np.ascontiguousarray(np.moveaxis(array, -1, 0)) for name, array in arrays.items()}


# What a frame has: the shape of each array, behind the frames; -1: any number. Old recordings lack some.
_SHAPES: dict[str, tuple[int, ...]] = {
    "time": (), "step": (), "exact": (), "contact_counts": (), "poses": (-1, 7), "twists": (-1, 6), "wrenches": (-1, 6),
    "coordinates": (-1,), "velocities": (-1,), "efforts": (-1,), "wires": (-1, 2, 3), "tensions": (-1,),
    "particles": (-1, 3), "position_targets": (-1,), "velocity_targets": (-1,), "feed_forward": (-1,),
}  # fmt: skip
_NEWER = {"step", "exact", "particles", "position_targets", "velocity_targets", "feed_forward"}


def join_frames(parts: Sequence[Arrays]) -> Arrays:
    """The arrays of chunks of frames, one behind the other; raises InvalidValueError when they do not fit."""
    names = set(parts[0])
    if any(set(part) != names for part in parts) or not {"contacts", *_SHAPES} - _NEWER <= names:
        raise InvalidValueError("the recording is damaged: its frames have other arrays than they should")
    try:
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    except ValueError as error:
        raise InvalidValueError(f"the recording is damaged: {error}") from error
    frames = len(arrays["time"])
    for name, shape in _SHAPES.items():
        if name in arrays and not _fits(arrays[name], (frames, *shape)):
            raise InvalidValueError(f"the recording is damaged: '{name}' has shape {arrays[name].shape}")
    counts = arrays["contact_counts"]
    whole = np.isfinite(counts).all() and (counts >= 0.0).all() and (counts == np.floor(counts)).all()
    if not whole or not _fits(arrays["contacts"], (int(counts.sum()), 6)):
        raise InvalidValueError("the recording is damaged: it has other contacts than it says")
    if not all(np.isfinite(arrays[name]).all() for name in ("time", "step") if name in arrays):
        raise InvalidValueError("the recording is damaged: a time is not finite")
    return arrays


def _fits(array: NDArray[np.float64], shape: tuple[int, ...]) -> bool:
    return array.ndim == len(shape) and all(want in (-1, have) for have, want in zip(array.shape, shape, strict=True))
