"""Conversions between ROS messages and plain numbers."""

import math
from types import SimpleNamespace as Message

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.ros import conversions as convert


def xyz(x, y, z):
    return Message(x=x, y=y, z=z)


def quaternion(x, y, z, w):
    return Message(x=x, y=y, z=z, w=w)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0, (0, 0)), (1.25, (1, 250_000_000)), (0.1 + 0.2, (0, 300_000_000)), (1.9999999999, (2, 0))],
)
def test_stamp_rounds_to_nanoseconds(seconds, expected):
    assert convert.stamp(seconds) == expected


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_not_finite_numbers_are_refused_by_field(bad):
    with pytest.raises(InvalidValueError, match=r"pose\.position: expected finite numbers"):
        convert.pose_from_message(Message(position=xyz(0, bad, 0), orientation=quaternion(0, 0, 0, 1)), "pose")
    with pytest.raises(InvalidValueError, match=r"twist\.angular"):
        convert.twist_from_message(Message(linear=xyz(0, 0, 0), angular=xyz(bad, 0, 0)), "twist")
    with pytest.raises(InvalidValueError, match=r"wrench\.force"):
        convert.wrench_from_message(Message(force=xyz(0, 0, bad), torque=xyz(0, 0, 0)), "wrench")
    with pytest.raises(InvalidValueError, match=r"q: expected finite numbers"):
        convert.wxyz_from_quaternion(quaternion(0, 0, 0, bad), "q")


def test_quaternion_is_reordered_and_normalised():
    assert np.allclose(convert.wxyz_from_quaternion(quaternion(0, 0, 3, 4), "q"), [0.8, 0, 0, 0.6], atol=1e-15)


def test_unit_quaternion_keeps_its_bits():
    q = Rotation.from_rotvec([0.1, -0.7, 2.0]).as_quat()
    assert np.array_equal(convert.wxyz_from_quaternion(quaternion(*q), "q"), q[[3, 0, 1, 2]])


def test_zero_quaternion_is_refused():
    with pytest.raises(InvalidValueError, match="expected a rotation"):
        convert.wxyz_from_quaternion(quaternion(0, 0, 0, 0), "q")


def test_rotate_and_compose_agree_with_scipy():
    random = np.random.default_rng(3)
    outer, inner = Rotation.random(50, random), Rotation.random(50, random)
    p, q = random.normal(size=(2, 50, 3))
    xyzw = outer.as_quat()
    assert np.allclose(convert.rotate(xyzw[:, [3, 0, 1, 2]], q), outer.apply(q), atol=1e-14)
    composed = convert.compose_xyzw(np.hstack((p, xyzw)), np.hstack((q, inner.as_quat())))
    assert np.allclose(composed[:, :3], p + outer.apply(q), atol=1e-14)
    assert np.allclose(Rotation.from_quat(composed[:, 3:]).as_matrix(), (outer * inner).as_matrix(), atol=1e-14)


def test_velocity_at_com_of_a_spinning_body():
    turned = Rotation.from_euler("z", 90, degrees=True).as_quat()[[3, 0, 1, 2]]
    twist = convert.Twist(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 2.0]))
    # The centre of mass lies at (0, 0.5, 0) in the world: it moves with -1 m/s along x about the origin.
    assert np.allclose(convert.velocity_at_com(twist, turned, np.array([0.5, 0, 0])), [0, 0, 0], atol=1e-15)


def test_principal_inertia_does_not_depend_on_the_axes():
    turn = Rotation.from_rotvec([0.3, 0.2, -1.0]).as_matrix()
    inertia = turn @ np.diag([3.0, 1.0, 2.0]) @ turn.T
    assert np.allclose(convert.principal_inertia(inertia), [1, 2, 3], atol=1e-12)
