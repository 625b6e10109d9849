"""Requests with fields of the right types: the middleware ends the program at a wrong one."""

from __future__ import annotations

from typing import Any

from raisim_ros.description.checked import text
from raisim_ros.description.errors import InvalidValueError, near_names


def checked_request(service: str, kind: Any, fields: dict[str, Any]) -> Any:
    """A request of a type of services; InvalidValueError names the field that is wrong."""
    request = kind.Request()
    known = request.get_fields_and_field_types()
    for name, value in fields.items():
        if name not in known:
            raise InvalidValueError(f"{service} has no such field: {near_names('field', name, list(known))}")
        _set(request, name, value, f"{service}: {name}")
    return request


def _set(message: Any, field: str, value: Any, what: str) -> None:
    """Set a field, with all that it holds checked."""
    parts = [value] if not isinstance(value, (list, tuple)) else value
    for part in parts:
        if isinstance(part, str):
            text(what, part)
        elif hasattr(part, "get_fields_and_field_types"):
            for inner in part.get_fields_and_field_types():
                _set(part, inner, getattr(part, inner), f"{what}.{inner}")
    if hasattr(message, "_check_fields"):
        message._check_fields = True  # off by default since Jazzy
    try:
        setattr(message, field, value)
    except (AssertionError, TypeError, ValueError, OverflowError) as error:
        raise InvalidValueError(f"{what}: {error}") from None
