"""Rotations as files write them: roll, pitch, yaw about the fixed axes x, y, z, and quaternions w, x, y, z."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def matrix_from_rpy(rpy: Sequence[float] | Array) -> Array:
    """Rotation matrix of URDF's ``rpy`` [rad]: R = Rz(yaw) · Ry(pitch) · Rx(roll)."""
    roll, pitch, yaw = (float(angle) for angle in rpy)
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_matrix(rotation: Array) -> Array:
    """The inverse of `matrix_from_rpy`, exact to rounding for every rotation."""
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    # Near pitch ±90° roll is ill-defined; a yaw that undoes this very roll keeps their product exact.
    cr, sr = math.cos(roll), math.sin(roll)
    yaw = math.atan2(sr * rotation[0, 2] - cr * rotation[0, 1], cr * rotation[1, 1] - sr * rotation[1, 2])
    return np.array([roll, pitch, yaw])


def matrix_from_axis_angle(axis: Array, angle: float) -> Array:
    """Rotation about a unit axis by an angle [rad] (Rodrigues' formula)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotated: Array = np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)
    return rotated


def matrix_from_quaternion(wxyz: Sequence[float] | Array) -> Array:
    """Rotation matrix of a unit quaternion w, x, y, z."""
    w, x, y, z = (float(part) for part in wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def cross_matrix(vector: Sequence[float] | Array) -> Array:
    """The matrix that multiplies as the cross product with the vector does."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def quaternion_from_matrix(rotation: Array) -> Array:
    """Unit quaternion w, x, y, z of a rotation matrix, w not negative."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation.tolist()
    # The row of the largest of the four squared components: no cancellation.
    squares = (1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz)
    rows = (
        (squares[0], zy - yz, xz - zx, yx - xy),
        (zy - yz, squares[1], xy + yx, xz + zx),
        (xz - zx, xy + yx, squares[2], yz + zy),
        (yx - xy, xz + zx, yz + zy, squares[3]),
    )
    row = np.array(rows[squares.index(max(squares))])
    q: Array = row / np.linalg.norm(row)
    return q if q[0] >= 0 else -q
