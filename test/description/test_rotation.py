"""Roll, pitch, yaw, quaternions and axis-angle against SciPy and each other."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from raisim_ros.description.rotation import (
    matrix_from_axis_angle,
    matrix_from_quaternion,
    matrix_from_rpy,
    rpy_from_matrix,
)

RNG = np.random.default_rng(3)


def test_rpy_turns_about_fixed_axes_roll_first():
    rpy = (0.3, -0.7, 1.9)
    np.testing.assert_allclose(matrix_from_rpy(rpy), Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-15)
    # Roll leaves x alone, pitch 90° takes x to -z, yaw leaves -z alone.
    np.testing.assert_allclose(matrix_from_rpy((0.5, np.pi / 2, 0.8)) @ (1, 0, 0), (0, 0, -1), atol=1e-15)
    np.testing.assert_allclose(matrix_from_rpy((np.pi / 2, 0, np.pi / 2)) @ (0, 1, 0), (0, 0, 1), atol=1e-15)


def test_zero_is_exactly_the_identity():
    assert np.array_equal(matrix_from_rpy((0, 0, 0)), np.eye(3))


@pytest.mark.parametrize("pitch_from_vertical", [1.0, 1e-3, 1e-6, 1e-8, 1e-9, 1e-12, 0.0])
@pytest.mark.parametrize("sign", [-1, 1])
def test_every_rotation_survives_rpy(pitch_from_vertical, sign):
    for _ in range(50):
        roll, yaw = RNG.uniform(-np.pi, np.pi, 2)
        rotation = matrix_from_rpy((roll, sign * (np.pi / 2 - pitch_from_vertical), yaw))
        np.testing.assert_allclose(matrix_from_rpy(rpy_from_matrix(rotation)), rotation, atol=2e-15)


def test_quaternion_and_axis_angle_agree_with_scipy():
    for _ in range(50):
        vector = RNG.normal(size=3)
        angle = float(np.linalg.norm(vector))
        expected = Rotation.from_rotvec(vector)
        np.testing.assert_allclose(matrix_from_axis_angle(vector / angle, angle), expected.as_matrix(), atol=1e-14)
        x, y, z, w = expected.as_quat()
        np.testing.assert_allclose(matrix_from_quaternion((w, x, y, z)), expected.as_matrix(), atol=1e-14)
