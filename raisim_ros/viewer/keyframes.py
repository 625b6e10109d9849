"""Whole states of a recorded world, from which it can go on to the same bits.

When objects come or go, a base is written: the world itself. A keyframe is a snapshot that such a world takes. Between
two keyframes the world only stepped, and stepping again gives the same bits; so there is one a second, and one in every
frame after somebody changed something. Large arrays and geometry are written once.

BASE: number of the frame, number of the base that has its geometry (its own: it is in here), size of the engine's part,
that part, Python's part. KEYF: number of the frame, size, the two parts; without Python's: that of the one before.
ARRY: hash, bytes.
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.recording_file import ARRAY, BASE, KEYFRAME
from raisim_ros.engine.world import stored
from raisim_ros.engine.world.snapshots import WorldSnapshot
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.measurements import readings_size, sensors_of

# A keyframe at least so often, and in changed worlds not more bytes a second (of simulated time) than these.
PERIOD, BYTES_PER_SECOND = 1.0, 6e6
# No more keyframes wait to be written; what is changed meanwhile cannot be gone on from.
MOST_WAITING = 60
# Arrays from this size on are written once [bytes].
_LARGE = 4096
_BASE_HEAD, _KEY_HEAD = struct.Struct("<QQQ"), struct.Struct("<QQ")
_HASH_SIZE = 32
_LEAST = {BASE: _BASE_HEAD.size, KEYFRAME: _KEY_HEAD.size, ARRAY: _HASH_SIZE}  # bytes of a chunk

Add = Callable[[bytes, Callable[[], bytes]], None]


class KeyframeWriter:
    """Decides when a whole state is due; what it takes is packed by the thread that writes."""

    def __init__(self, world: World, add: Add) -> None:
        self._world = world
        self._add = add
        self._arrays: set[bytes] = set()
        self._bases = self._geometry_base = 0
        self._geometry = -1
        self._changes = -1
        self._time = 0.0
        self._size = 0  # of the last keyframe, but for what of Python's part seldom changes [bytes]
        self._waiting = 0
        self._python = b""
        self._former: WorldSnapshot | None = None

    def begin(self, frame: int) -> None:
        """The list of objects changed: write the world that the next keyframes belong to."""
        world, geometry = self._world, self._world._geometry_number()
        whole = geometry != self._geometry
        if whole:
            self._geometry, self._geometry_base = geometry, self._bases
        engine, python = world._as_bytes(whole, self._note_of)
        head = _BASE_HEAD.pack(frame, self._geometry_base, len(engine))
        self._add(BASE, lambda: head + engine + python)
        self._bases += 1
        self._former = None
        self._taken()

    def note(self, frame: int) -> bool:
        """Take a keyframe if one is due. True: steps from the last one lead to the bits of now."""
        past = abs(self._world.get_world_time() - self._time)
        changed = self._world._change_count() != self._changes
        if not changed and past < PERIOD:
            return True
        spaced = past * BYTES_PER_SECOND >= self._size or past >= PERIOD
        if not spaced or self._waiting >= MOST_WAITING:
            return not changed
        snapshot = self._world.save_snapshot()
        readings = sum(readings_size(sensor) for _, sensor in sensors_of(self._world))
        # Not as it is written: then it would depend on the speed of a thread what is in the file.
        self._size = stored.engine_size(snapshot._snapshot, geometry=False) + readings
        self._waiting += 1
        self._add(KEYFRAME, partial(self._packed, frame, snapshot, bool(self._world.get_sensor_sets())))
        self._taken()
        return True

    def _taken(self) -> None:
        self._changes, self._time = self._world._change_count(), self._world.get_world_time()

    def _packed(self, frame: int, snapshot: WorldSnapshot, measures: bool) -> bytes:
        """For the thread that writes."""
        self._waiting -= 1
        engine = stored.engine_bytes(snapshot._snapshot, geometry=False)
        python = b""
        if measures or self._former is None or not _same(snapshot, self._former):
            packed = snapshot._python_bytes()
            python, self._python = (b"" if packed == self._python else packed), packed
            self._former = snapshot
        return _KEY_HEAD.pack(frame, len(engine)) + engine + python

    def _note_of(self, value: Any) -> list[Any] | None:
        """Large arrays are written on their own, each once."""
        if type(value) is not np.ndarray or value.nbytes < _LARGE or value.dtype.hasobject or value.dtype.names:
            return None
        data = np.ascontiguousarray(value).tobytes()
        digest = hashlib.sha256(data).digest()
        if digest not in self._arrays:
            self._arrays.add(digest)
            self._add(ARRAY, lambda: digest + data)
        return ["array", digest.hex(), value.dtype.str, list(value.shape)]


def _same(one: WorldSnapshot, other: WorldSnapshot) -> bool:
    """Whether Python's parts are surely equal, without sensors: what is kept is replaced, never changed."""
    if one._parts != other._parts or one._kept.keys() != other._kept.keys():
        return False
    for handle, (name, kept) in one._kept.items():
        former_name, former = other._kept[handle]
        if name != former_name or any(value is not former[key] for key, value in kept.items()):
            return False
    return True


@dataclass(frozen=True)
class _Base:
    frame: int
    geometry_base: int
    engine: bytes
    python: bytes


@dataclass(frozen=True)
class _Keyframe:
    frame: int
    engine: bytes
    python: bytes


@dataclass
class Keyframes:
    """Those of a recording, as they are in the file."""

    bases: list[_Base] = field(default_factory=list)
    keyframes: list[_Keyframe] = field(default_factory=list)
    arrays: dict[str, bytes] = field(default_factory=dict)

    def add(self, kind: bytes, payload: bytes) -> None:
        """Take over a chunk of the file; other kinds are passed over."""
        if len(payload) < _LEAST.get(kind, 0):
            raise InvalidValueError("the recording is damaged: a whole state is cut off")
        if kind == ARRAY:
            self.arrays[payload[:_HASH_SIZE].hex()] = payload[_HASH_SIZE:]
        elif kind == BASE:
            frame, geometry_base, size = _BASE_HEAD.unpack_from(payload)
            self._check_order(self.bases, frame)
            at = _BASE_HEAD.size
            self.bases.append(_Base(frame, geometry_base, payload[at : at + size], payload[at + size :]))
        elif kind == KEYFRAME:
            frame, size = _KEY_HEAD.unpack_from(payload)
            self._check_order(self.keyframes, frame)
            at = _KEY_HEAD.size
            python = payload[at + size :] or (self.keyframes[-1].python if self.keyframes else b"")
            self.keyframes.append(_Keyframe(frame, payload[at : at + size], python))

    @staticmethod
    def _check_order(former: Sequence[_Base | _Keyframe], frame: int) -> None:
        if former and frame < former[-1].frame:
            raise InvalidValueError("the recording is damaged: whole states are in the wrong order")

    def __bool__(self) -> bool:
        return bool(self.bases)

    def before(self, frame: int) -> tuple[int, WorldSnapshot | None]:
        """The frame of the last whole state until then; None: that of the base itself."""
        base = self.bases[self._base_of(frame)]
        at = bisect_right(self.keyframes, frame, key=lambda one: one.frame) - 1
        if at < 0 or self.keyframes[at].frame <= base.frame:
            return base.frame, None
        found = self.keyframes[at]
        return found.frame, WorldSnapshot._of_bytes(found.engine, found.python)

    def _base_of(self, frame: int) -> int:
        return max(0, bisect_right(self.bases, frame, key=lambda one: one.frame) - 1)

    def world(self, frame: int) -> World:
        """A new world with the objects of a frame, in the state in which they came."""
        return self._world(self._base_of(frame))

    def _world(self, number: int) -> World:
        base = self.bases[number]
        if base.geometry_base > number or self.bases[base.geometry_base].geometry_base != base.geometry_base:
            raise InvalidValueError("the recording is damaged: a world has the geometry of one that has none")
        donor = self._world(base.geometry_base) if base.geometry_base != number else None
        return World._of_bytes(base.engine, base.python, self._look_up, donor)

    def _look_up(self, note: list[Any]) -> Any:
        kind, digest, dtype, shape = note
        if kind != "array" or digest not in self.arrays:
            raise InvalidValueError("the recording is damaged: a part of a world is missing")
        return np.frombuffer(self.arrays[digest], np.dtype(dtype)).reshape(shape).copy()
