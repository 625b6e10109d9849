"""Groups of collision: which of 64 bits mean what."""

from __future__ import annotations

ALL_GROUPS = 2**64 - 1
GROUND_GROUP = 1 << 61
HEIGHTMAP_GROUP = 1 << 63


def is_group_number(value: int) -> bool:
    """Whether it has a meaning as 64 bits; negative numbers wrap, so that -1 means all."""
    return -(2**63) <= value <= ALL_GROUPS
