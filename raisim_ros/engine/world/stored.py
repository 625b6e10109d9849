"""Worlds and snapshots as bytes and files.

``RAISIMW1`` (a world) or ``RAISIMS1`` (a snapshot), the SHA-256 of what is packed, its length after unpacking, and
packed with zlib: the version of the format, the engine's part and Python's part. Reading one runs no code, and whatever
is wrong with a file is found before any world changes.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path
from typing import Any

from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.description.files import read_bytes
from raisim_ros.description.limits import get_file_limits
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.errors import check

WORLD, SNAPSHOT = b"RAISIMW1", b"RAISIMS1"
_NAMES = {WORLD: "world", SNAPSHOT: "snapshot"}
_FORMAT = 1  # of Python's part: to be raised when attributes of stored classes change
_HEAD = struct.Struct("<8s32sQ")
_PARTS = struct.Struct("<QQ")


def engine_snapshot(engine_world: Any) -> Any:
    """The engine's snapshot of a world."""
    out = ffi.new("rs_snapshot **")
    check(lib.rs_snapshot_save(engine_world, out))
    return ffi.gc(out[0], lib.rs_snapshot_destroy)


def engine_bytes(snapshot: Any, geometry: bool = True) -> bytes:
    """The engine's snapshot as bytes; without geometry it needs a world that has it."""
    data = bytearray(engine_size(snapshot, geometry))
    check(lib.rs_snapshot_store(snapshot, geometry, ffi.from_buffer("uint8_t[]", data), len(data), ffi.new("size_t *")))
    return bytes(data)


def engine_size(snapshot: Any, geometry: bool = True) -> int:
    """The length of engine_bytes(), without making them."""
    size = ffi.new("size_t *")
    check(lib.rs_snapshot_store(snapshot, geometry, ffi.NULL, 0, size))
    return int(size[0])


def engine_snapshot_of(data: bytes, engine_world: Any = ffi.NULL) -> Any:
    """The engine's snapshot again; geometry that the world has is shared with it."""
    out = ffi.new("rs_snapshot **")
    check(lib.rs_snapshot_load(ffi.from_buffer("uint8_t[]", data), len(data), engine_world, out))
    return ffi.gc(out[0], lib.rs_snapshot_destroy)


def join(kind: bytes, engine: bytes, python: bytes) -> bytes:
    """One block of bytes."""
    body = _PARTS.pack(_FORMAT, len(engine)) + engine + python
    packed = zlib.compress(body, 1)
    return _HEAD.pack(kind, hashlib.sha256(packed).digest(), len(body)) + packed


def split(kind: bytes, data: bytes) -> tuple[bytes, bytes]:
    """The engine's and Python's part; raises InvalidValueError."""
    what = _NAMES[kind]
    if len(data) < _HEAD.size or data[: len(kind)] not in _NAMES:
        raise InvalidValueError(f"this is no stored {what}")
    found, digest, size = _HEAD.unpack_from(data)
    if found != kind:
        raise InvalidValueError(f"this is a stored {_NAMES[found]}; expected a {what}")
    limit = get_file_limits().max_snapshot_bytes
    if size > limit:
        raise InvalidValueError(f"the {what} takes {size} bytes, more than {limit} (limit max_snapshot_bytes)")
    packed = data[_HEAD.size :]
    if hashlib.sha256(packed).digest() != digest:
        raise InvalidValueError(f"the {what} is damaged or incomplete: its checksum is wrong")
    body = _unpacked(packed, size, what)
    form, length = _PARTS.unpack_from(body)
    if form != _FORMAT:
        raise InvalidValueError(f"the {what} was stored by another version of raisim_ros")
    if length > len(body) - _PARTS.size:
        raise InvalidValueError(f"the {what} ends too early")
    return body[_PARTS.size : _PARTS.size + length], body[_PARTS.size + length :]


def _unpacked(packed: bytes, size: int, what: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise InvalidValueError(f"the {what} cannot be unpacked: {error}") from None
    if len(body) != size or not unpacker.eof or unpacker.unused_data or size < _PARTS.size:
        raise InvalidValueError(f"the {what} has another length than it says")
    return body


def write(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    write_file(path, data)


def read(path: Path, kind: bytes) -> tuple[bytes, bytes]:
    """The engine's and Python's part of a file; errors name it."""
    what = f"stored {_NAMES[kind]}"
    content = read_bytes(path, what, get_file_limits().max_snapshot_bytes, "max_snapshot_bytes")
    try:
        return split(kind, content)
    except InvalidValueError as error:
        raise ParseError(path, None, str(error)) from None
