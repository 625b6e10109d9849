"""Colours of objects: by name, as numbers, or chosen by the object's type."""

from __future__ import annotations

import difflib
import re

from raisim_ros.description.errors import InvalidValueError

Colour = tuple[float, float, float, float]

HIDDEN = "hidden"
# Names that RaiSim's worlds use; markers show them by a colour of their own.
TEXTURES = ("checkerboard", "grid", "gravel", "soil", "soil1", "soil2", "steel", "wood")

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
# Terrain stays quiet, movable things stand out from it and from their neighbours.
_TERRAIN: Colour = (0.42, 0.46, 0.44, 1.0)
_TERRAIN_TYPES = frozenset({"ground", "heightmap"})
_PALETTE = ("blue", "orange", "green", "red", "purple", "cyan", "yellow", "brown", "magenta")


def check_appearance(appearance: str) -> None:
    """Refuse a text that is no colour, texture or "hidden"; InvalidValueError names the nearest."""
    text = appearance.strip().lower()
    known = (*_NAMED, *TEXTURES, HIDDEN)
    numbers = _numbers(appearance)
    if numbers is not None and not all(0.0 <= number <= 1.0 for number in numbers):
        raise InvalidValueError(f"appearance is '{appearance}'; expected numbers from 0 to 1")
    if text and text not in known and numbers is None:
        close = difflib.get_close_matches(text, known, 1)
        hint = f"did you mean '{close[0]}'?" if close else f'expected "r g b a" or one of {", ".join(known)}'
        raise InvalidValueError(f"appearance is '{appearance}'; {hint}")


def colour(appearance: str, type_name: str, object_id: int) -> Colour:
    """RGBA (0..1) for an appearance: a colour name, "r g b" or "r g b a"; otherwise chosen by type and id.

    Textures are names that no colour has: markers cannot show them.
    """
    named = _NAMED.get(appearance.strip().lower())
    if named is not None:
        return (*named, 1.0)
    numbers = _numbers(appearance)
    if numbers is not None:
        red, green, blue, alpha = (min(max(number, 0.0), 1.0) for number in numbers)
        return red, green, blue, alpha
    if type_name in _TERRAIN_TYPES:
        return _TERRAIN
    return (*_NAMED[_PALETTE[object_id % len(_PALETTE)]], 1.0)


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
