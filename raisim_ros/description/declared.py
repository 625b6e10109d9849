"""Whether values are what the annotations of classes say: for instances that were read, not made by their class."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError

_NUMBERS: dict[Any, tuple[type, ...]] = {float: (float, int, np.floating, np.integer), int: (int, np.integer)}


def check_declared(made: Any) -> None:
    """Raise InvalidValueError unless an instance has the attributes that its class declares, of their types."""
    kind, hints = type(made), declared(type(made))
    attributes = vars(made)
    unknown = attributes.keys() - hints.keys()
    missing = [name for name in hints if name not in attributes and not hasattr(kind, name)]
    if unknown or missing:
        raise InvalidValueError(f"a {kind.__name__} has no attribute '{min([*unknown, *missing])}'")
    check_values(made, attributes)


def check_values(owner: Any, values: Mapping[str, Any]) -> None:
    """Raise InvalidValueError unless these can be attributes of an instance."""
    hints = declared(type(owner))
    for name, value in values.items():
        if name not in hints or not fits(value, hints[name]):
            raise InvalidValueError(f"{name} of a {type(owner).__name__} cannot be {type(value).__name__}")


_known: dict[type, dict[str, Any]] = {}


def declared(kind: type) -> dict[str, Any]:
    """The attributes that instances of a class have, with their types."""
    if kind not in _known:
        hints = typing.get_type_hints(kind, localns={"Home": Any})  # which only type checkers know
        _known[kind] = {name: hint for name, hint in hints.items() if typing.get_origin(hint) is not typing.ClassVar}
    return _known[kind]


def parameter_type(function: Callable[..., Any]) -> Any:
    """What a function of one argument takes."""
    hints = typing.get_type_hints(function)
    return next(hint for name, hint in hints.items() if name != "return")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; what is in containers, too, but not what instances hold."""
    if hint in (Any, object) or isinstance(hint, typing.TypeVar):
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is np.ndarray:
        scalar = (typing.get_args(inner[1]) or (Any,))[0]
        return isinstance(value, np.ndarray) and (scalar is Any or np.issubdtype(value.dtype, scalar))
    if origin is not None:
        return isinstance(value, origin) and _holds(value, origin, inner)
    if hint in _NUMBERS:
        return isinstance(value, _NUMBERS[hint]) and not isinstance(value, bool)
    return isinstance(value, hint)


def _holds(value: Any, kind: Any, inner: tuple[Any, ...]) -> bool:
    if kind is tuple and not (len(inner) == 2 and inner[1] is ...):
        return len(value) == len(inner) and all(fits(one, hint) for one, hint in zip(value, inner, strict=True))
    if issubclass(kind, Mapping):
        return all(fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items())
    if issubclass(kind, (Sequence, set, frozenset)):
        return all(fits(one, inner[0]) for one in value)
    return True
