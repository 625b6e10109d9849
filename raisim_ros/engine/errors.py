"""Exceptions of the engine, and the only reader of its error texts."""

from __future__ import annotations

from typing import Any, TypeVar

from raisim_ros.description.errors import InvalidValueError, RaisimError, near_names
from raisim_ros.engine._library import ffi, lib

Thing = TypeVar("Thing")


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


class UnknownNameError(RaisimError, KeyError):
    """Nothing has that name; the text says which names are near."""

    def __str__(self) -> str:
        return str(self.args[0])


class Named(dict[str, Thing]):
    """Things by name; an unknown one is an error that says which names are near."""

    def __init__(self, what: str, things: dict[str, Thing]) -> None:
        super().__init__(things)
        self._what = what

    def __missing__(self, name: str) -> Thing:
        raise UnknownNameError(near_names(self._what, str(name), self))


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


def is_read(status: int) -> bool:
    """Of a bulk read: False when something was added or removed since room was made for it."""
    if status == lib.RS_WRONG_STATE:
        return False
    check(status)
    return True


def lock(world: Any) -> None:
    """Lock the engine's world. Ctrl-C that comes while this waits is answered when the lock is taken: nobody else would
    give it back."""
    try:
        check(lib.rs_world_lock(world))
    except RaisimError:
        raise
    except BaseException:
        lib.rs_world_unlock(world)
        raise
