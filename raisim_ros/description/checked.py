"""Checks of single values that both files and programs give: the value in its right type, or an error that names it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError

_SHOWN = 200  # characters of a value in an error message


def shown(value: object) -> str:
    """A value in an error message: its repr, cut off where it gets long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def is_whole(value: object) -> bool:
    """True for Python's and NumPy's integers, but not for truth values."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def number(name: str, value: Any) -> float:
    """A float; whether it is in range the engine says."""
    try:
        if not isinstance(value, str):  # float() would read it
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidValueError(f"{name} is {shown(value)}; expected a number")


def numbers(name: str, values: Iterable[Any], count: int) -> tuple[float, ...]:
    """So many finite numbers."""
    try:
        result = tuple(number(name, value) for value in values)
    except TypeError:
        result = ()
    if len(result) != count or not all(map(math.isfinite, result)):
        raise InvalidValueError(f"{name} is {shown(values)}; expected {count} finite numbers")
    return result


def whole(name: str, value: int, minimum: int = 0) -> int:
    """An integer that is not too small."""
    if not is_whole(value) or value < minimum:
        raise InvalidValueError(f"{name} is {shown(value)}; expected a whole number, at least {minimum}")
    return int(value)


def mapping(name: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Values by name; None means none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidValueError(f"{name} is {shown(value)}; expected values by name")
    return value


def check_fields(record: Any) -> None:
    """Numbers, counts, truth values, texts and parts of a dataclass are what its annotations say."""
    for one in fields(record):
        kind, value = _CHECKS.get(str(one.type)), getattr(record, one.name)
        if kind is not None:
            kind(one.name, value)


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in known:
        raise InvalidValueError(f"{name} is {shown(value)}; expected one of {', '.join(known)}")
    return value


def path(name: str, value: str | os.PathLike[str]) -> Path:
    """A path that the system can be asked for."""
    if not isinstance(value, (str, os.PathLike)) or "\0" in str(value):
        raise InvalidValueError(f"{name} is {shown(value)}; expected a path")
    return Path(text(name, str(value)))


def flag(name: str, value: bool) -> bool:
    """A truth value; also 0 and 1."""
    if not isinstance(value, (bool, np.bool_, int, np.integer)) or value not in (0, 1):
        raise InvalidValueError(f"{name} is {shown(value)}; expected True or False")
    return bool(value)


def text(name: str, value: str) -> str:
    """A string that can be written to files: without halves of surrogate pairs."""
    if not isinstance(value, str):
        raise InvalidValueError(f"{name} is {shown(value)}; expected a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValueError(f"{name} is {shown(value)}; it has a character that is not Unicode") from None
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {"float": number, "int": whole, "bool": flag, "str": text}
