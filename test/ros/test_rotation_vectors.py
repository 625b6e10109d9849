"""Rotation vectors against SciPy's, and their rates against differences."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from scipy.spatial.transform import Rotation

from raisim_ros.ros.rotation_vectors import (
    angular_velocity_map,
    conjugate,
    multiply,
    quaternions_of,
    rotation_vectors,
)


def scipy_rotation(wxyz):
    w, x, y, z = wxyz
    return Rotation.from_quat([x, y, z, w])


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-9, 1e-4, 0.3, 2.0, 3.1, np.pi - 1e-9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_vectors_and_quaternions_belong_together(angle, sign):
    vector = angle * np.array([0.48, -0.64, 0.6])
    quaternion = quaternions_of(vector)
    assert scipy_rotation(quaternion).as_rotvec() == pytest.approx(vector, rel=1e-7, abs=1e-14)
    # A quaternion and its negative are the same rotation.
    assert rotation_vectors(sign * quaternion) == pytest.approx(vector, rel=1e-12, abs=1e-15)


def test_many_at_once():
    rng = np.random.default_rng(2)
    vectors = rng.uniform(-1.7, 1.7, (50, 3))
    assert rotation_vectors(quaternions_of(vectors)) == pytest.approx(vectors, abs=1e-12)


def test_products_are_those_of_rotations():
    rng = np.random.default_rng(3)
    one, other = rng.uniform(-2.0, 2.0, (2, 3))
    product = multiply(quaternions_of(one), quaternions_of(other))
    expected = Rotation.from_rotvec(one) * Rotation.from_rotvec(other)
    assert scipy_rotation(product).as_matrix() == pytest.approx(expected.as_matrix(), abs=1e-14)
    back = multiply(conjugate(quaternions_of(one)), product)
    assert rotation_vectors(back) == pytest.approx(Rotation.from_rotvec(other).as_rotvec(), abs=1e-13)


@pytest.mark.parametrize("length", [1e-6, 1e-3, 0.5, 2.5, 4.0])
def test_the_angular_velocity_is_that_of_the_turning_vector(length):
    rng = np.random.default_rng(4)
    vector, rate = rng.normal(size=(2, 3))
    vector *= length / np.linalg.norm(vector)
    step = 1e-6
    before, after = (Rotation.from_rotvec(vector + sign * step * rate) for sign in (-1.0, 1.0))
    measured = (after * before.inv()).as_rotvec() / (2.0 * step)  # in the fixed frame
    assert angular_velocity_map(vector) @ rate == pytest.approx(measured, abs=1e-8)
