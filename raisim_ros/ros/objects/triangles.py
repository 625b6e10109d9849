"""Triangles for what rviz2 has no marker of."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.terrain import HeightMapData
from raisim_ros.ros.conversions import Vector

# A finer height map is drawn with every second, third … sample: more would stall the viewer.
MAX_HEIGHT_MAP_CELLS = 40_000
# What a viewer's camera shows is drawn with this ratio of width to height, and no wider than this [rad].
_ASPECT = 4.0 / 3.0
_WIDEST_DRAWN = 2.5


def frustum_triangles(horizontal_fov: float, length: float) -> Vector:
    """Corners (N x 3) of the four sides of a pyramid with its apex at the origin, opening towards +x."""
    y = length * np.tan(0.5 * min(horizontal_fov, _WIDEST_DRAWN))
    z = y / _ASPECT
    corners = np.array([(length, y, z), (length, -y, z), (length, -y, -z), (length, y, -z)])
    apex = np.zeros_like(corners)
    return np.stack((apex, corners, np.roll(corners, -1, axis=0)), axis=1).reshape(-1, 3)


def height_map_triangles(data: HeightMapData) -> Vector:
    """Corners (N x 3) of the surface, in the map's frame; two triangles for each cell that is drawn."""
    cells = (data.x_samples - 1) * (data.y_samples - 1)
    stride = int(np.ceil(np.sqrt(cells / MAX_HEIGHT_MAP_CELLS))) or 1
    columns, rows = _every(data.x_samples, stride), _every(data.y_samples, stride)
    x = (columns / (data.x_samples - 1) - 0.5) * data.x_size
    y = (rows / (data.y_samples - 1) - 0.5) * data.y_size
    grid = np.empty((len(rows), len(columns), 3))
    grid[..., 0], grid[..., 1] = np.meshgrid(x, y)
    grid[..., 2] = data.heights[np.ix_(rows, columns)]
    p00, p10, p01, p11 = grid[:-1, :-1], grid[:-1, 1:], grid[1:, :-1], grid[1:, 1:]
    # The same diagonal as in the collision: from (ix, iy) to (ix + 1, iy + 1).
    return np.stack((p00, p10, p11, p00, p11, p01), axis=2).reshape(-1, 3)


def _every(count: int, stride: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Every `stride`-th index below `count`, and the last."""
    return np.unique(np.append(np.arange(0, count, stride), count - 1))
