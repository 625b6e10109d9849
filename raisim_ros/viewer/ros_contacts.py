"""What a node tells of contacts."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from raisim_ros.viewer.cdr_reader import CdrReader
from raisim_ros.viewer.scene import Vector


class Touches:
    """A serialised ContactArray, or nothing: names of both objects, points [m], and forces on the first ones [N]."""

    def __init__(self, message: bytes) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.points, self.forces = np.zeros((0, 3)), np.zeros((0, 3))
        if not message:
            return
        reader = CdrReader(message)
        reader.stamp_and_frame()
        step = reader.number()
        rows = np.zeros((reader.count(), 10))
        for row in rows:
            self.pairs.append((reader.text(), reader.text()))
            reader.long()
            reader.long()
            row[:] = reader.doubles(10)
        self.points, self.forces = rows[:, :3], rows[:, 6:9] / step

    def on_movable(self, held: Container[str]) -> tuple[Vector, Vector]:
        """Points and forces; on the second object where the first is `held`: what the ground feels points into it."""
        signs = np.array([-1.0 if first in held else 1.0 for first, _ in self.pairs])
        return self.points, self.forces * signs[:, None]

    def with_forces(self, name: str) -> list[tuple[str, float]]:
        """What touches an object, and how strongly [N], point by point."""
        rows = zip(self.pairs, np.linalg.norm(self.forces, axis=1), strict=True)
        return [(pair[1 if pair[0] == name else 0], float(size)) for pair, size in rows if name in pair]
