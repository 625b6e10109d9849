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
    points, triangles = data.surface(*data.drawn_samples(MAX_HEIGHT_MAP_CELLS))
    return points[triangles.reshape(-1)]
