"""Settings that a world file leaves to the engine."""

from __future__ import annotations

from functools import cache
from typing import Any

from raisim_ros.description.world.schema import ELEMENTS
from raisim_ros.description.world.schema_types import ENGINE, Kind
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.types import BroadphaseType

_STRUCTS = {"erp": "solver", "solver": "solver", "contact": "contact", "sleeping": "sleep"}


@cache
def engine_defaults(element: str) -> dict[str, Any]:
    """Values of the attributes of an element whose defaults are the engine's, by their names, as a file gives them."""
    if element not in _STRUCTS:
        return {}
    settings = ffi.new(f"rs_{_STRUCTS[element]}_settings *")
    getattr(lib, f"rs_default_{_STRUCTS[element]}_settings")(settings)
    attributes = {one.names[0]: one.kind for one in ELEMENTS[element].attributes if one.default is ENGINE}
    return {name: _as_in_file(kind, getattr(settings, name)) for name, kind in attributes.items()}


def _as_in_file(kind: Kind, value: Any) -> Any:
    if kind is Kind.SWITCH:
        return bool(value)
    if kind is Kind.BROADPHASE:
        return BroadphaseType(value).name.lower()
    return tuple(value) if kind is Kind.VEC3 else value
