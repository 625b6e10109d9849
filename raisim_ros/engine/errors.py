"""Exceptions of the engine, and the only reader of its error texts."""

from __future__ import annotations

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.engine._library import ffi, lib


class ObjectRemovedError(RaisimError):
    """The object behind a handle was removed from its world."""


class WrongTypeError(RaisimError, TypeError):
    """The object cannot do what was asked: for example a heightmap cannot become dynamic."""


class WrongStateError(RaisimError):
    """Not now: for example integrate2 without integrate1."""


class EngineMemoryError(RaisimError, MemoryError):
    """The engine found no memory."""


class DivergedError(RaisimError, ArithmeticError):
    """The state of an object was no longer finite; it was stopped at its last pose."""


_CLASSES: dict[int, type[RaisimError]] = {
    lib.RS_INVALID_VALUE: InvalidValueError,
    lib.RS_UNKNOWN_OBJECT: ObjectRemovedError,
    lib.RS_WRONG_TYPE: WrongTypeError,
    lib.RS_WRONG_STATE: WrongStateError,
    lib.RS_OUT_OF_MEMORY: EngineMemoryError,
    lib.RS_DIVERGED: DivergedError,
}


def check(status: int) -> None:
    """Raise the exception that belongs to a status of the engine."""
    if status != lib.RS_OK:
        raise _CLASSES[status](ffi.string(lib.rs_error_text()).decode())
