"""Attribute values of world files: text to numbers, groups, choices."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from raisim_ros.description.collision_groups import ALL_GROUPS, is_group_number
from raisim_ros.description.robot.drive import DRIVE_TYPES, ODOMETRY_SOURCES
from raisim_ros.description.world.interface_settings import FRAME_CHOICES, MAX_RATE_HZ
from raisim_ros.description.world.scene_types import LIGHT_KINDS
from raisim_ros.description.world.schema_types import Kind
from raisim_ros.description.xml.literal_text import unescaped

_SEPARATORS = re.compile(r"[\s,]+")
_GROUPS = re.compile(r"collision\[\s*(-?\d+(?:\s*\|\s*-?\d+)*)\s*\]")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _SEPARATORS.split(text.strip()) if word)


def _floats(text: str) -> list[tuple[str, float]]:
    found = []
    for word in _words(text):
        try:
            found.append((word, float(word)))
        except ValueError:
            raise ValueError(f"'{word}' is not a number") from None
    return found


def numbers(text: str) -> tuple[float, ...]:
    """Finite numbers separated by white space, commas or both; ValueError tells what is wrong."""
    found = _floats(text)
    for word, value in found:
        if not math.isfinite(value):
            raise ValueError(f"'{word}' is not a finite number")
    return tuple(value for _, value in found)


def _limits(text: str) -> tuple[float, ...]:
    """Numbers, also infinite ones."""
    values = tuple(value for _, value in _floats(text))
    if any(map(math.isnan, values)):
        raise ValueError("'nan' is not a number")
    return values


def _exactly(count: int) -> Callable[[str], tuple[float, ...]]:
    def read(text: str) -> tuple[float, ...]:
        values = numbers(text)
        if len(values) != count:
            raise ValueError(f"{len(values)} numbers found; expected {count}")
        return values

    return read


def _number(text: str) -> float:
    return _exactly(1)(text)[0]


def _positive(text: str) -> float:
    value = _number(text)
    if value <= 0.0:
        raise ValueError(f"{value:g} is not greater than 0")
    return value


def _rate(text: str) -> float:
    value = _positive(text)
    if value > MAX_RATE_HZ:
        raise ValueError(f"{value:g} is more than {MAX_RATE_HZ:g}")
    return value


def _count(text: str) -> int:
    value = _number(text)
    if value != int(value) or not 0 <= value < 2**63:
        raise ValueError(f"{text.strip()!r} is not an integer, at least 0")
    return int(value)


def _indices(text: str) -> tuple[int, ...]:
    values = numbers(text)
    if any(value != int(value) or not 0 <= value < 2**31 for value in values):
        raise ValueError("a number is not an integer, at least 0")
    return tuple(map(int, values))


def _quaternion(text: str) -> tuple[float, ...]:
    values = _exactly(4)(text)
    if math.hypot(*values) < 1e-6:
        raise ValueError("the quaternion is zero")
    return values


def collision_groups(text: str) -> int:
    """Collision bits: ``collision[i|j]`` are bits i and j, ``collision[-1]`` is all; a number is the raw 64 bits."""
    stripped = text.strip()
    match = _GROUPS.fullmatch(stripped)
    if match is None:
        try:
            value = int(stripped)
        except ValueError:
            raise ValueError(f"'{stripped}' is neither a number nor collision[…]") from None
        if not is_group_number(value):
            raise ValueError(f"{value} does not fit into 64 bits")
        return value & ALL_GROUPS
    bits = [int(bit) for bit in match.group(1).split("|")]
    if -1 in bits:
        return ALL_GROUPS
    if any(not 0 <= bit < 64 for bit in bits):
        raise ValueError(f"'{stripped}' names a group outside 0 to 63")
    return sum({1 << bit for bit in bits})


def _choice(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        value = text.strip().lower()
        if value not in allowed:
            raise ValueError(f"'{text.strip()}' is unknown")
        return value

    return read


def _switch(text: str) -> bool:
    value = text.strip().lower()
    if value not in ("true", "false", "1", "0"):
        raise ValueError(f"'{text.strip()}' is neither true nor false")
    return value in ("true", "1")


def _frames(text: str) -> str:
    value = text.strip().lower()
    if value in FRAME_CHOICES:
        return value
    return "all" if _switch(text) else "none"


def _range(text: str) -> tuple[float, ...]:
    values = _limits(text)
    if len(values) != 2 or not values[0] < values[1]:
        raise ValueError("the lower number must come first")
    return values


def _color(text: str) -> tuple[float, ...]:
    values = _exactly(3)(text)
    if not all(0.0 <= share <= 1.0 for share in values):
        raise ValueError("a share is outside 0 to 1")
    return values


def _scale(text: str) -> tuple[float, ...]:
    values = numbers(text)
    return values * 3 if len(values) == 1 else _exactly(3)(text)


def _stretch_type(text: str) -> str:
    """Also the names of the enum in the Python interface."""
    value = _choice("stretch_only", "compression_only", "both", *_STRETCH_TYPES)(text)
    return _STRETCH_TYPES.get(value, value)


_STRETCH_TYPES = {
    "stretch_resistant_only": "stretch_only",
    "compression_resistant_only": "compression_only",
}

_READERS: dict[Kind, Callable[[str], object]] = {
    Kind.NUMBER: _number,
    Kind.POSITIVE: _positive,
    Kind.RATE: _rate,
    Kind.COUNT: _count,
    Kind.VEC3: _exactly(3),
    Kind.SCALE: _scale,
    Kind.QUATERNION: _quaternion,
    Kind.NUMBERS: numbers,
    Kind.INDICES: _indices,
    Kind.BUILD_MODE: _choice("surface", "filled"),
    Kind.STRUTS: _choice("none", "pairs_within_radius"),
    Kind.SOLVER_MODE: lambda text: _choice("xpbd", "pbd")(text).upper(),
    Kind.TEXT: str,
    Kind.PATH: lambda text: text.strip().replace("\\", "/"),
    Kind.GROUPS: collision_groups,
    Kind.BODY_TYPE: _choice("dynamic", "kinematic", "static"),
    Kind.MESH_MODE: _choice("original", "convex_hull", "convexify"),
    Kind.LINK_MESH_MODE: _choice("hull", "original", "convexify"),
    Kind.SELF_COLLISION: _choice("auto", "all", "none"),
    Kind.GYRO_MODE: _choice("energy_conserving", "implicit_body", "implicit_world", "explicit", "none"),
    Kind.BROADPHASE: _choice("none", "sap_3_axis", "multi_box_prune"),
    Kind.SWITCH: _switch,
    Kind.FRAMES: _frames,
    Kind.DRIVE_TYPE: _choice(*DRIVE_TYPES),
    Kind.ODOMETRY: _choice(*ODOMETRY_SOURCES),
    Kind.NAMES: _words,
    Kind.BASE: _choice("auto", "fixed", "floating"),
    Kind.SCHEME: _choice("trapezoid", "semi_implicit", "euler", "runge_kutta_4", "midpoint"),
    Kind.CONTROL: _choice("force_and_torque", "pd_plus_feedforward_torque"),
    Kind.COLOR: _color,
    Kind.LIGHT_TYPE: _choice(*LIGHT_KINDS),
    Kind.WIRE_TYPE: _choice("stiff", "compliant", "custom"),
    Kind.STRETCH_TYPE: _stretch_type,
    Kind.LIMITS: _limits,
    Kind.RANGE: _range,
}


_LITERAL_READERS: dict[Kind, Callable[[str], object]] = {
    Kind.TEXT: unescaped,
    Kind.PATH: unescaped,
    Kind.NAMES: lambda text: tuple(unescaped(word) for word in _words(text)),
}


def read_value(kind: Kind, text: str, literal: bool = False) -> object:
    """The value of an attribute; ValueError, without the attribute's name, tells what is wrong.

    `literal`: names and paths are written as in literal_text.py.
    """
    return _LITERAL_READERS.get(kind, _READERS[kind])(text) if literal else _READERS[kind](text)
