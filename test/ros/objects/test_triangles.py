"""Triangles drawn in place of height maps."""

import numpy as np

from raisim_ros.description.terrain import height_map_from_values
from raisim_ros.ros.objects import triangles


def test_height_map_goes_through_its_samples_and_splits_cells_like_the_collision():
    heights = [0.0, 1.0, 2.0, 3.0, 5.0, 8.0]  # 3 samples along x, 2 along y
    corners = triangles.height_map_triangles(height_map_from_values(3, 2, 4.0, 6.0, heights))
    assert corners.shape == (12, 3)
    samples = {(x, y, h) for (x, y), h in zip([(x, y) for y in (-3, 3) for x in (-2, 0, 2)], heights, strict=True)}
    assert {tuple(corner) for corner in corners} == samples
    # Each cell's two triangles share the corners of the diagonal from low x, low y to high x, high y.
    for cell in corners.reshape(-1, 2, 3, 3):
        shared = {tuple(p) for p in cell[0]} & {tuple(p) for p in cell[1]}
        low, high = sorted(shared)
        assert low[0] < high[0]
        assert low[1] < high[1]
    normals = [np.cross(t[1] - t[0], t[2] - t[0]) for t in corners.reshape(-1, 3, 3)]
    assert all(normal[2] > 0.0 for normal in normals), "they face upwards"


def test_a_fine_height_map_is_thinned_and_keeps_its_border():
    count = 1000
    data = height_map_from_values(count, count, 10.0, 10.0, np.zeros(count * count))
    corners = triangles.height_map_triangles(data)
    assert len(corners) <= 6 * triangles.MAX_HEIGHT_MAP_CELLS * 1.1
    assert corners[:, 0].min() == corners[:, 1].min() == -5.0
    assert corners[:, 0].max() == corners[:, 1].max() == 5.0
