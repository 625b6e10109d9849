"""Random requests for any service, made from its definition."""

from __future__ import annotations

import importlib
import random
import re
from typing import Any

FLOATS = [0.0, 1.0, -1.0, 0.5, 1e-3, 1e30, 1e60, -1e308, 1e-320, float("nan"), float("inf"), -float("inf")]
TEXTS = [
    "", "ground", "ball_0", "box_0", "new", "sphere", "box", "mesh", "text", "values", "png", "dynamic", "static", "/etc/passwd", "../..",
    "package://raisim_ros/rsc/robots/arm.urdf", "package://raisim_ros/../../x", "file:///dev/zero", "x" * 3000, "a b/c~é", "\x07", "{1/0}",
    "<robot name='r'><link name='a'/></robot>", "<raisim/>", "<a", "convexify", "stiff", "custom",
]  # fmt: skip
RANGES = {
    "uint8": (0, 2**8 - 1), "int8": (-(2**7), 2**7 - 1), "uint16": (0, 2**16 - 1), "int16": (-(2**15), 2**15 - 1),
    "uint32": (0, 2**32 - 1), "int32": (-(2**31), 2**31 - 1), "uint64": (0, 2**64 - 1), "int64": (-(2**63), 2**63 - 1),
    "octet": (0, 255), "byte": (0, 255), "char": (0, 255),
}  # fmt: skip
FEW_STEPS = 5  # of a Step request: a million would be right, but long


def random_message(kind: Any, rng: random.Random, sane: float) -> Any:
    """A message with random fields; a share of `sane` of them keeps its default."""
    message = kind()
    for name, described in kind.get_fields_and_field_types().items():
        if rng.random() >= sane:
            setattr(message, name, _value(described, rng, sane))
    if hasattr(message, "steps"):
        message.steps = min(message.steps, FEW_STEPS)
    return message


def _value(described: str, rng: random.Random, sane: float) -> Any:
    fixed = re.fullmatch(r"(.+)\[(\d+)\]", described)
    if fixed:
        return [_value(fixed[1], rng, sane) for _ in range(int(fixed[2]))]
    sequence = re.fullmatch(r"sequence<([^,>]+)(?:, *(\d+))?>", described)
    if sequence:
        return [_value(sequence[1], rng, sane) for _ in range(rng.choice((0, 1, 3, 7)))]
    if described in ("double", "float"):
        value = rng.choice(FLOATS)
        return value if described == "double" or abs(value) < 3e38 or value != value else 1e38
    if described == "boolean":
        return rng.random() < 0.5
    if described.startswith("string"):
        return rng.choice(TEXTS)
    if described in RANGES:
        low, high = RANGES[described]
        return rng.choice((0, 1, 2, low, high)) if low == 0 else rng.choice((0, 1, -1, 3, low, high))
    package, _, name = described.partition("/")
    return random_message(getattr(importlib.import_module(f"{package}.msg"), name), rng, sane)
