"""Checks of arguments: what a caller passes becomes arrays of the right size, or an error that names it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import quaternion_from_matrix

Vector = NDArray[np.float64]
VectorLike = Sequence[float] | NDArray[Any]

ALL_GROUPS = 2**64 - 1
Choice = TypeVar("Choice", bound=IntEnum)


def vector(name: str, value: VectorLike | Sequence[VectorLike], size: int) -> Vector:
    """A float64 array of `size` finite numbers; nested sequences are read row by row."""
    array = _numbers(value)
    if array is None:
        raise InvalidValueError(f"{name} is {value!r}; expected {size} numbers")
    if array.shape != (size,):
        raise InvalidValueError(f"{name} has {array.size} numbers; expected {size}")
    if not np.isfinite(array).all():
        raise InvalidValueError(f"{name} is {array.tolist()}; expected finite numbers")
    return array


def _numbers(value: VectorLike | Sequence[VectorLike]) -> Vector | None:
    """All numbers in one row; None for strings (NumPy would read them), ragged rows and other things."""
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array.astype(np.float64).reshape(-1) if array.dtype.kind in "biuf" else None


def matrix3(name: str, value: VectorLike | Sequence[VectorLike]) -> Vector:
    """A finite 3 x 3 float64 array."""
    return vector(name, value, 9).reshape(3, 3)


def symmetric6(name: str, value: Sequence[VectorLike] | NDArray[Any]) -> Vector:
    """xx yy zz xy xz yz of a symmetric 3 x 3 matrix."""
    m = matrix3(name, value)
    if not np.allclose(m, m.T, rtol=1e-9, atol=1e-12 * float(np.abs(m).max())):
        raise InvalidValueError(f"{name} is not symmetric: {m.tolist()}")
    return np.array([m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]])


def matrix_of_symmetric6(values: VectorLike) -> Vector:
    """The symmetric 3 x 3 matrix of xx yy zz xy xz yz."""
    xx, yy, zz, xy, xz, yz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def collision_bits(name: str, value: int) -> int:
    """A 64-bit group or mask; negative numbers wrap, so -1 means all."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidValueError(f"{name} is {value!r}; expected an integer")
    number = int(value)
    if not -(2**63) <= number <= ALL_GROUPS:
        raise InvalidValueError(f"{name} is {number}; expected a 64-bit number, or -1 for all")
    return number & ALL_GROUPS


def quaternion_of_matrix(rotation: Vector) -> Vector:
    """Unit quaternion w, x, y, z of a rotation matrix."""
    if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6) or np.linalg.det(rotation) < 0:
        raise InvalidValueError(f"orientation is {rotation.tolist()}; expected a rotation matrix")
    return quaternion_from_matrix(rotation)


def rotation_of_quaternion(q: VectorLike) -> Vector:
    """Rotation matrix of a unit quaternion w, x, y, z."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def orientation(value: VectorLike | Sequence[VectorLike]) -> Vector:
    """Quaternion w, x, y, z of a quaternion or of a rotation matrix."""
    array = _numbers(value)
    if array is not None and array.size == 9:
        return quaternion_of_matrix(matrix3("orientation", value))
    return vector("quaternion", value, 4)


def number(name: str, value: Any) -> float:
    """A float; whether it is in range the engine says."""
    try:
        if not isinstance(value, str):  # float() would read it
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InvalidValueError(f"{name} is {value!r}; expected a number")


def count(name: str, value: int, minimum: int = 0) -> int:
    """An integer that fits the engine's counters."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not minimum <= value < 2**31:
        raise InvalidValueError(f"{name} is {value!r}; expected an integer, at least {minimum}")
    return int(value)


def choice(name: str, kind: type[Choice], value: Choice | int) -> Choice:
    """A member of an enum, given as such or as its number."""
    try:
        return kind(value)
    except ValueError as error:
        names = ", ".join(member.name for member in kind)
        raise InvalidValueError(f"{name} is {value!r}; expected one of {names}") from error
