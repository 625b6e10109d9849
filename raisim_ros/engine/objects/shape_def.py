"""Collision shapes on their way into the engine."""

from __future__ import annotations

from typing import Any

from raisim_ros.engine.types import CollisionBody


def fill_shape(c_shape: Any, shape: CollisionBody, material: int) -> None:
    """Write a collision shape into the engine's definition."""
    c_shape.type = int(shape.shape)
    c_shape.dim = [*shape.dim, 0.0, 0.0, 0.0][:3]
    c_shape.asset = shape.asset
    c_shape.position = list(shape.position)
    c_shape.quaternion = list(shape.quaternion)
    c_shape.material = material
