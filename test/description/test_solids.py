"""Solids that shapes are drawn with: closed, seen from outside, as large as they say."""

from __future__ import annotations

import numpy as np
import pytest

from raisim_ros.description.shapes import SHAPES, pieces
from raisim_ros.description.solids import SOLIDS

CIRCLE = np.pi / 4.0
VOLUMES = {"ball": np.pi / 6.0, "block": 1.0, "rod": CIRCLE, "cone": CIRCLE / 3.0}


@pytest.mark.parametrize("solid", VOLUMES)
def test_solids_are_closed_and_have_their_centroid_at_the_origin(solid):
    vertices, triangles = SOLIDS[solid]()
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    assert volumes.sum() == pytest.approx(VOLUMES[solid], rel=0.02)  # circles are polygons
    assert (a + b + c).T @ volumes / volumes.sum() == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_drawn_within_the_box_around_it(shape):
    dim = [0.3 + 0.2 * k for k in range(len(SHAPES[shape].fields))]
    corners = [SOLIDS[piece.solid]()[0] * piece.size + (0.0, 0.0, piece.z) for piece in pieces(shape, dim)]
    low, high = SHAPES[shape].box(dim)
    assert np.concatenate(corners).min(axis=0) == pytest.approx(low, rel=1e-12)
    assert np.concatenate(corners).max(axis=0) == pytest.approx(high, rel=1e-12)
