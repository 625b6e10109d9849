"""Colours of objects: by name, as numbers, or chosen by the object's type."""

from __future__ import annotations

import difflib
import re

from raisim_ros.description.errors import InvalidValueError

Colour = tuple[float, float, float, float]

HIDDEN = "hidden"
_NAMED: dict[str, tuple[float, float, float]] = {
    "black": (0.05, 0.05, 0.05),
    "blue": (0.12, 0.35, 0.80),
    "brown": (0.45, 0.28, 0.15),
    "cyan": (0.10, 0.70, 0.75),
    "gray": (0.50, 0.50, 0.50),
    "green": (0.15, 0.60, 0.25),
    "grey": (0.50, 0.50, 0.50),
    "magenta": (0.80, 0.15, 0.60),
    "orange": (0.95, 0.50, 0.10),
    "pink": (0.95, 0.60, 0.70),
    "purple": (0.45, 0.20, 0.65),
    "red": (0.80, 0.15, 0.12),
    "white": (0.95, 0.95, 0.95),
    "yellow": (0.95, 0.80, 0.15),
}
# Names of textures that RaiSim's worlds use, shown by the colour that they have from afar.
_TEXTURES: dict[str, tuple[float, float, float]] = {
    "checkerboard": (0.60, 0.62, 0.60),
    "grid": (0.60, 0.62, 0.60),
    "gravel": (0.50, 0.48, 0.45),
    "soil": (0.42, 0.33, 0.24),
    "soil1": (0.42, 0.33, 0.24),
    "soil2": (0.36, 0.27, 0.19),
    "steel": (0.62, 0.64, 0.67),
    "wood": (0.62, 0.45, 0.27),
}
# Wires without a colour of their own: slack, and from little to the largest tension.
_SLACK: Colour = (0.55, 0.55, 0.60, 1.0)
_LITTLE, _MOST = (0.20, 0.75, 0.30), (0.90, 0.10, 0.10)
# Terrain stays quiet, movable things stand out from it and from their neighbours.
_TERRAIN: Colour = (0.42, 0.46, 0.44, 1.0)
_TERRAIN_TYPES = frozenset({"ground", "heightmap"})
_PALETTE = ("blue", "orange", "green", "red", "purple", "cyan", "yellow", "brown", "magenta")


def check_appearance(appearance: str, field: str = "appearance") -> None:
    """Refuse a text that is no colour, texture or "hidden"; InvalidValueError names the field and the nearest."""
    text = appearance.strip().lower()
    known = (*_NAMED, *_TEXTURES, HIDDEN)
    numbers = _numbers(appearance)
    if numbers is not None and not all(0.0 <= number <= 1.0 for number in numbers):
        raise InvalidValueError(f"{field} is '{appearance}'; expected numbers from 0 to 1")
    if text and text not in known and numbers is None:
        close = difflib.get_close_matches(text, known, 1)
        hint = f"did you mean '{close[0]}'?" if close else f'expected "r g b a" or one of {", ".join(known)}'
        raise InvalidValueError(f"{field} is '{appearance}'; {hint}")


def colour(appearance: str, type_name: str, object_id: int) -> Colour:
    """RGBA (0..1) for an appearance: a name, "r g b" or "r g b a"; otherwise chosen by type and id."""
    name = appearance.strip().lower()
    named = _NAMED.get(name) or _TEXTURES.get(name)
    if named is not None:
        return (*named, 1.0)
    numbers = _numbers(appearance)
    if numbers is not None:
        red, green, blue, alpha = (min(max(number, 0.0), 1.0) for number in numbers)
        return red, green, blue, alpha
    if type_name in _TERRAIN_TYPES:
        return _TERRAIN
    return (*_NAMED[_PALETTE[object_id % len(_PALETTE)]], 1.0)


def wire_colour(appearance: str, wire_id: int, tension: float, largest: float) -> Colour:
    """RGBA of a wire: its own colour, or by its share of the largest tension [N] in the world."""
    if appearance:
        return colour(appearance, "wire", wire_id)
    if tension == 0.0:
        return _SLACK
    share = abs(tension) / largest
    red, green, blue = (low + share * (high - low) for low, high in zip(_LITTLE, _MOST, strict=True))
    return red, green, blue, 1.0


def _numbers(appearance: str) -> Colour | None:
    parts = [part for part in re.split(r"[\s,]+", appearance.strip()) if part]
    if len(parts) not in (3, 4):
        return None
    try:
        values = [float(part) for part in parts]
    except ValueError:
        return None
    red, green, blue, alpha = (*values, 1.0)[:4]
    return red, green, blue, alpha
