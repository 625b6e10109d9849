"""Arrays of a batch: memory of the engine with a row per member, seen through NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import check

Rows = NDArray[Any]
_C_TYPES = {np.dtype(np.int32): "int32_t[]", np.dtype(np.float64): "double[]"}
Members = Sequence[int] | NDArray[Any] | int | None


def _let_go(_batch: Any, _data: Any) -> None:
    """Holds the batch until the last array over its memory is gone."""


class EngineBatch:
    """The engine's batch, and the arrays over its memory; each is made once."""

    def __init__(self, world: Any, count: int, threads: int) -> None:
        out = ffi.new("rs_batch **")
        check(lib.rs_batch_create(world, count, threads, out))
        self.batch = ffi.gc(out[0], lib.rs_batch_destroy)
        self.count = count
        self._arrays: dict[Any, Rows] = {}

    def array(self, kind: int, shape: tuple[int, ...], *, object_id: int = 0, **fields: Any) -> Rows:
        """The array of a channel: a row of `shape` per member."""
        key = (kind, object_id, *((name, _key(value)) for name, value in sorted(fields.items())))
        if key not in self._arrays:
            definition, kept = ffi.new("rs_channel_def *"), []
            lib.rs_default_channel_def(definition)
            definition.kind, definition.object = kind, object_id
            for name, value in fields.items():
                if isinstance(value, np.ndarray):
                    numbers = np.ascontiguousarray(value)
                    kept.append(numbers)
                    value = ffi.from_buffer(_C_TYPES.get(numbers.dtype, "rs_actuator[]"), numbers)
                setattr(definition, name, value)
            self._arrays[key] = self._add(definition, shape, np.float32 if kind == lib.RS_CHANNEL_DEPTH else np.float64)
        return self._arrays[key]

    def _add(self, definition: Any, shape: tuple[int, ...], kind: type[Any]) -> Rows:
        view = ffi.new("rs_channel_view *")
        check(lib.rs_batch_add_channel(self.batch, definition, view))
        size = self.count * view.width * np.dtype(kind).itemsize
        numbers = np.frombuffer(ffi.buffer(self.held(view.data), size), dtype=kind)
        rows = numbers.reshape(self.count, *shape)
        rows.flags.writeable = bool(view.writable)
        return rows

    def held(self, pointer: Any) -> Any:
        """A pointer into the batch that keeps it alive."""
        return ffi.gc(pointer, partial(_let_go, self.batch))

    def refresh(self, number: int, members: Any) -> None:
        """Carry changed rows over and read all arrays."""
        check(lib.rs_batch_refresh(self.batch, number, members))

    def members(self, which: Members) -> tuple[int, Any, NDArray[np.int64] | None]:
        """Number of members, pointer and numbers of those that a mask, a list or one number names; None: all."""
        if which is None:
            return self.count, ffi.NULL, None
        try:
            array = np.atleast_1d(np.asarray(which))
        except ValueError:  # lists of different lengths
            array = np.array(["no numbers"])
        if array.dtype == np.bool_:
            if array.shape != (self.count,):
                raise InvalidValueError(f"the mask of members has shape {array.shape}; expected ({self.count},)")
            array = np.flatnonzero(array)
        elif array.size == 0:
            array = array.astype(np.int64)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise InvalidValueError(f"members is {arguments.shown(which)}; expected a mask or numbers of members")
        numbers = np.ascontiguousarray(array, dtype=np.int64)
        return len(numbers), c_array(numbers), numbers


def put(name: str, rows: Rows, values: Any, chosen: Any = slice(None)) -> None:
    """Write rows of an array, which is carried over before the next step."""
    try:
        rows[chosen] = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"{name}: {error}") from error


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, ffi.CData):
        return bytes(ffi.buffer(ffi.addressof(value)))
    return tuple(value) if isinstance(value, list) else value
