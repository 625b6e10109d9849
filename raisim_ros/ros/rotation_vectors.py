"""Rotations as vectors along their axes, as long as their angles [rad]. Pure functions; quaternions are w, x, y, z."""

from __future__ import annotations

import numpy as np

from raisim_ros.description.rotation import cross_matrix
from raisim_ros.ros.conversions import Vector

# Below this angle two terms of a series are exact to rounding [rad].
_SMALL_ANGLE = 1e-4
_TINY = 1e-300


def rotation_vectors(quaternions: Vector) -> Vector:
    """The vectors (..., 3), at most half a turn long, of unit quaternions (..., 4)."""
    scalar, axis = quaternions[..., :1], quaternions[..., 1:]
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    # Of the two quaternions of a rotation the one with a positive scalar turns by less than half a turn.
    angle = 2.0 * np.arctan2(np.where(scalar < 0.0, -sine, sine), np.abs(scalar))
    return np.asarray(angle / np.maximum(sine, _TINY) * axis)


def quaternions_of(vectors: Vector) -> Vector:
    """Unit quaternions (..., 4) of rotation vectors (..., 3) of any length."""
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate((np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * np.pi)) * vectors), axis=-1)


def multiply(outer: Vector, inner: Vector) -> Vector:
    """The quaternion of the rotation `inner` followed by `outer`."""
    a, b, c, d = outer
    matrix = np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    return np.asarray(matrix @ inner)


def conjugate(quaternion: Vector) -> Vector:
    """The quaternion of the opposite rotation."""
    return quaternion * (1.0, -1.0, -1.0, -1.0)


def angular_velocity_map(vector: Vector) -> Vector:
    """The 3 x 3 matrix that takes the rate of a rotation vector to the angular velocity, both in the fixed frame."""
    angle = float(np.linalg.norm(vector))
    cross = cross_matrix(vector)
    if angle < _SMALL_ANGLE:
        return np.asarray(np.eye(3) + 0.5 * cross + cross @ cross / 6.0)
    across, along = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.asarray(np.eye(3) + across * cross + along * cross @ cross)
