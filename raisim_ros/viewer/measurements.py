"""What sensors measured, in recordings: at every frame the measurements that are new since the one before.

MEAS: arrays of numbers; ``index`` holds a list (JSON, as bytes) of measurements: number of the frame, place of the
object in the list of objects, names of sensor set and sensor, time [s], and what was read; the arrays follow in order.
What was read is a name, or name, type and shape of an array whose bytes were taken apart (byte_planes.py).
"""

from __future__ import annotations

import io
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import array_file
from raisim_ros.description.byte_planes import put_together, taken_apart
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.recording_file import MEASUREMENTS
from raisim_ros.engine.sensors.sensor import MeasurementSource, Sensor
from raisim_ros.engine.world.world import World

# Chunks are written when they have so many bytes. While so many wait for the disk, what is measured is left out.
CHUNK_BYTES, MOST_WAITING = 2_000_000, 200_000_000
# Not more bytes are noted, before they are packed, a second of simulated time; above it, sensors take turns.
BYTES_PER_SECOND = 64_000_000
# Arrays from this size on are taken apart [bytes].
_LARGE = 4096
# Follows from the depths of the same measurement.
_DERIVED = "_points"

# Place of the object in the list of objects, names of sensor set and sensor.
Key = tuple[int, str, str]
Readings = dict[str, NDArray[Any]]


def sensors_of(world: World) -> Iterator[tuple[Key, Sensor]]:
    """All sensors of a world."""
    rows = {handle.get_id(): row for row, handle in enumerate(world.get_obj_list())}
    for one in world.get_sensor_sets():
        for sensor in one:
            yield (rows[one.mount.object.get_id()], one.get_name(), sensor.get_name()), sensor


def _shown(sensor: Sensor) -> Readings:
    shown = {name: getattr(sensor, name) for name in sensor._READINGS if name != _DERIVED}
    return {name: value for name, value in shown.items() if isinstance(value, np.ndarray)}


def readings_size(sensor: Sensor) -> int:
    """Bytes of the arrays that it shows."""
    return sum(array.nbytes for array in _shown(sensor).values())


def _readings(sensor: Sensor) -> Readings:
    """Copies of the arrays that it shows; points in single precision, as they are published."""
    arrays = _shown(sensor).items()
    return {name: value.astype(np.float32) if name == "_scan" else value.copy() for name, value in arrays}


@dataclass(frozen=True, eq=False)
class _Measurement:
    frame: int
    key: Key
    stamp: float
    readings: Readings

    def size(self) -> int:
        return sum(array.nbytes for array in self.readings.values())

    def names(self) -> list[Any]:
        """Those of what was read, as the index has them."""
        known = self.readings.items()
        return [[name, one.dtype.str, list(one.shape)] if _is_large(one) else name for name, one in known]


def _is_large(array: NDArray[Any]) -> bool:
    return array.nbytes >= _LARGE and array.dtype.kind in "fiu"


def _stored(array: NDArray[Any]) -> NDArray[Any]:
    return taken_apart(array) if _is_large(array) else array


def _read(reading: Any, stored: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Name and array of something in the index."""
    if isinstance(reading, str):
        return reading, stored
    name, dtype, shape = reading
    return name, put_together(stored, dtype, shape)


class MeasurementWriter:
    """Notes what sensors measured; what it takes is packed by the thread that writes."""

    def __init__(self, world: World, add: Callable[[bytes, Callable[[], bytes]], None]) -> None:
        self._world, self._add = world, add
        self._seen: dict[Key, tuple[float, int]] = {}
        self._new: list[_Measurement] = []
        self._waiting = 0  # bytes that nobody packed yet
        self._left = float(BYTES_PER_SECOND)  # bytes that may still be noted
        self._time = world.get_world_time()

    def begin(self) -> None:
        """Objects or sensors came or went: what there is shall be noted again."""
        self.flush()
        self._seen.clear()

    def note(self, frame: int) -> None:
        """Take what is new."""
        if not self._world.get_sensor_sets():
            return
        now = self._world.get_world_time()
        self._left = min(self._left + abs(now - self._time) * BYTES_PER_SECOND, BYTES_PER_SECOND)
        self._time = now
        # First whose last measurement is the oldest: when not all fit in, none is left out for ever.
        for key, sensor in sorted(sensors_of(self._world), key=lambda one: self._seen.get(one[0], (-1.0, 0))[0]):
            mark = sensor.get_update_time_stamp(), sensor._frame
            if mark[0] < 0.0 or mark == self._seen.get(key) or self._waiting > MOST_WAITING:
                continue
            if self._left <= 0.0 and readings_size(sensor) >= _LARGE:
                continue
            self._seen[key] = mark
            self._new.append(_Measurement(frame, key, mark[0], _readings(sensor)))
            self._waiting += self._new[-1].size()
            self._left -= self._new[-1].size()
        if sum(one.size() for one in self._new) > CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand over what was noted."""
        if self._new:
            self._add(MEASUREMENTS, partial(self._packed, self._new))
        self._new = []

    def _packed(self, measurements: list[_Measurement]) -> bytes:
        """For the thread that writes."""
        self._waiting -= sum(one.size() for one in measurements)
        index = json.dumps([[one.frame, *one.key, one.stamp, one.names()] for one in measurements])
        arrays = [_stored(array) for one in measurements for array in one.readings.values()]
        named = {"index": np.frombuffer(index.encode(), np.uint8)} | {str(k): one for k, one in enumerate(arrays)}
        out = io.BytesIO()
        np.savez(out, **named)
        return out.getvalue()


@dataclass
class Measurements:
    """Those of a recording."""

    by_sensor: dict[Key, list[_Measurement]] = field(default_factory=dict)

    def add(self, payload: bytes) -> None:
        """Take over a chunk of the file; raises InvalidValueError for what no recorder wrote."""
        arrays = array_file.unpack(payload, get_file_limits().max_recording_bytes, "max_recording_bytes")
        number = 0
        try:
            for frame, row, set_name, name, stamp, readings in json.loads(arrays["index"].tobytes()):
                shown = dict(_read(reading, arrays[str(number + k)]) for k, reading in enumerate(readings))
                number += len(readings)
                key, others = (row, set_name, name), self.by_sensor.setdefault((row, set_name, name), [])
                if not (type(frame) is int and type(row) is int and type(stamp) is float):
                    raise InvalidValueError("a frame, a place or a time is none")
                if others and frame < others[-1].frame:  # the last one of a frame counts
                    raise InvalidValueError("they are in the wrong order")
                others.append(_Measurement(frame, key, stamp, shown))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InvalidValueError(f"the recording is damaged: its measurements cannot be read ({error})") from error

    def __bool__(self) -> bool:
        return bool(self.by_sensor)

    def show(self, world: World, first: int, frame: int, *, since_restored: bool = False) -> None:
        """Let the sensors of a world, which was recorded from frame `first` on, show what they showed at a frame.

        `since_restored`: only where somebody else measured after the whole state from which the world stepped here.
        What that state holds has all bits, and what the world measured by itself it has measured again.
        """
        for key, sensor in sensors_of(world) if self.by_sensor else ():
            found = self.by_sensor.get(key, [])
            at = bisect_right(found, frame, key=lambda one: one.frame) - 1
            if at < 0 or found[at].frame < first:
                continue
            by_itself = sensor.get_measurement_source() == MeasurementSource.RAISIM
            if since_restored and (by_itself or sensor.get_update_time_stamp() == found[at].stamp):
                continue
            _put_back(sensor, found[at])


def _put_back(sensor: Sensor, measurement: _Measurement) -> None:
    phase = sensor._phase()
    for name, array in measurement.readings.items():
        own = phase.get(name)
        rows = 1 if name.startswith("_scan") else 0  # a scan has any number of points, all else the size that it has
        if not isinstance(own, np.ndarray) or array.shape[rows:] != own.shape[rows:]:
            raise InvalidValueError(f"the recording is damaged: '{sensor.get_full_name()}' shows no such {name}")
        phase[name] = array.astype(own.dtype)
    phase["_stamp"] = measurement.stamp
    if _DERIVED in phase:
        phase[_DERIVED] = None
    sensor._check_phase(phase)
    sensor._set_phase(phase)
