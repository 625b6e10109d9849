"""Where in a scene there is room for something new."""

from __future__ import annotations

import numpy as np

from raisim_ros.viewer.scene import VISUAL, SceneModel, Vector, boxes_of, to_world

# Free space left around what is put into a scene, as a share of its size, and how far away room is sought.
MARGIN, MOST_RINGS = 0.15, 40
TERRAIN = "heightmap"


def free_place(model: SceneModel, poses: Vector, low: Vector, high: Vector, near: Vector) -> tuple[float, float, float]:
    """The place of the ground nearest to `near` where a box finds room; `low`, `high` are its corners there [m]."""
    taken = [item for item in model.items if item.parts and item.ground_height is None and item.kind != TERRAIN]
    boxes = boxes_of(taken, poses)[:, :, :2] if taken else np.zeros((0, 2, 2))
    gap = MARGIN * float(np.max(high[:2] - low[:2]))
    for x, y in _around(near[:2], 0.5 * float(np.max(high[:2] - low[:2])) + gap):
        own_low, own_high = np.add(low[:2], (x, y)) - gap, np.add(high[:2], (x, y)) + gap
        if not ((boxes[:, 0] < own_high) & (own_low < boxes[:, 1])).all(axis=1).any():
            return x, y, _height(model, poses, own_low, own_high)
    top = float(boxes_of(taken, poses)[:, 1, 2].max())  # everything is taken: on top of it
    return float(near[0]), float(near[1]), top


def _around(middle: Vector, step: float) -> list[tuple[float, float]]:
    """Places on rings around a middle, the nearest first."""
    places = [(float(middle[0]), float(middle[1]))]
    for ring in range(1, MOST_RINGS):
        angles = np.linspace(0.0, 2.0 * np.pi, 6 * ring, endpoint=False)
        ways = ring * step * np.column_stack((np.cos(angles), np.sin(angles)))
        places += [(float(x), float(y)) for x, y in middle + ways]
    return places


def _height(model: SceneModel, poses: Vector, low: Vector, high: Vector) -> float:
    """The highest ground below a rectangle [m]; 0 where there is none."""
    heights = [item.ground_height for item in model.items if item.ground_height is not None]
    for part in (part for item in model.items if item.kind == TERRAIN for part in item.parts if part.layer == VISUAL):
        points = to_world(poses[part.frame], part.pose[:3] + part.surface.vertices * part.scale)
        # Of a coarse terrain no corner may lie below it: as much around it as two corners are apart.
        reach = float(np.ptp(points[:, 0])) / max(len(points) ** 0.5 - 1.0, 1.0)
        inside = ((points[:, :2] > low - reach) & (points[:, :2] < high + reach)).all(axis=1)
        heights += [float(points[inside, 2].max())] if inside.any() else []
    return max(heights, default=0.0)
