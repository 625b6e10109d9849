"""Checks of arguments: what a caller passes becomes arrays of the right size, or an error that names it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.checked import flag, is_whole, number, numbers, one_of, path, shown, text
from raisim_ros.description.collision_groups import ALL_GROUPS, is_group_number
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.rotation import quaternion_from_matrix

__all__ = [
    "choice", "collision_bits", "count", "flag", "index", "instance", "is_whole", "matrix3", "matrix_of_symmetric6",
    "number", "numbers", "one_of", "orientation", "path", "shown", "symmetric6",
    "table", "text", "vector", "whole",
]  # fmt: skip

Vector = NDArray[np.float64]
VectorLike = Sequence[float] | NDArray[Any]
BodyLike = int | str  # index of a body of an object, or the name of one of its links

_EYE = np.eye(3)
_EYE_ROUNDING = 1e-6 + 1e-5 * _EYE  # how far a rotation matrix times its transpose may be off
Choice = TypeVar("Choice", bound=IntEnum)
Kind = TypeVar("Kind")


def vector(name: str, value: VectorLike | Sequence[VectorLike], size: int) -> Vector:
    """A float64 array of `size` finite numbers; nested sequences are read row by row."""
    array = _numbers(value)
    if array is None:
        raise InvalidValueError(f"{name} is {shown(value)}; expected {size} numbers")
    if array.shape != (size,):
        raise InvalidValueError(f"{name} has {array.size} numbers; expected {size}")
    if not np.isfinite(array).all():
        raise InvalidValueError(f"{name} is {shown(array.tolist())}; expected finite numbers")
    return array


def _numbers(value: VectorLike | Sequence[VectorLike]) -> Vector | None:
    """All numbers in one row; None for strings (NumPy would read them), ragged rows and other things."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array.astype(np.float64).reshape(-1) if array.dtype.kind in "biuf" else None


def shape(value: Any) -> tuple[int, ...]:
    """Of arrays and nested sequences; that of one row for ragged ones, of which whoever reads them tells."""
    try:
        return tuple(np.shape(value))
    except (TypeError, ValueError):
        return (0,)


def matrix3(name: str, value: VectorLike | Sequence[VectorLike]) -> Vector:
    """A finite 3 x 3 float64 array."""
    return vector(name, value, 9).reshape(3, 3)


def symmetric6(name: str, value: Sequence[VectorLike] | NDArray[Any]) -> Vector:
    """xx yy zz xy xz yz of a symmetric 3 x 3 matrix."""
    m = matrix3(name, value)
    size = np.abs(m)
    if not (np.abs(m - m.T) <= 1e-9 * size + 1e-12 * size.max()).all():
        raise InvalidValueError(f"{name} is not symmetric: {m.tolist()}")
    return np.array([m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]])


def matrix_of_symmetric6(values: VectorLike) -> Vector:
    """The symmetric 3 x 3 matrix of xx yy zz xy xz yz."""
    xx, yy, zz, xy, xz, yz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def collision_bits(name: str, value: int) -> int:
    """A 64-bit group or mask; negative numbers wrap, so -1 means all."""
    if not is_whole(value):
        raise InvalidValueError(f"{name} is {shown(value)}; expected an integer")
    number = int(value)
    if not is_group_number(number):
        raise InvalidValueError(f"{name} is {number}; expected a 64-bit number, or -1 for all")
    return number & ALL_GROUPS


def orientation(value: VectorLike | Sequence[VectorLike]) -> Vector:
    """Quaternion w, x, y, z of a quaternion or of a rotation matrix."""
    array = _numbers(value)
    if array is not None and array.size == 9:
        rotation = matrix3("orientation", value)
        if not (np.abs(rotation @ rotation.T - _EYE) <= _EYE_ROUNDING).all() or np.linalg.det(rotation) < 0:
            raise InvalidValueError(f"orientation is {rotation.tolist()}; expected a rotation matrix")
        return quaternion_from_matrix(rotation)
    return vector("quaternion", value, 4)


def index(name: str, value: int, size: int) -> int:
    """A place in a list of `size` things."""
    if not is_whole(value) or not 0 <= value < size:
        expected = f"0 to {size - 1}" if size else "nothing, as there are none"
        raise InvalidValueError(f"{name} is {shown(value)}; expected {expected}")
    return int(value)


def instance(name: str, value: object, kind: type[Kind]) -> Kind:
    """An object of a class."""
    if not isinstance(value, kind):
        raise InvalidValueError(f"{name} is {shown(value)}; expected {kind.__name__}")
    return value


def table(name: str, value: Any, shape: tuple[int, ...], kind: type[Any] = np.float64) -> NDArray[Any]:
    """A new array of numbers (NaN and infinite ones too) with a shape, in which -1 stands for any length."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise ValueError("no numbers")
        with np.errstate(all="ignore"):
            return array.astype(kind).reshape(shape)
    except (TypeError, ValueError, OverflowError):
        expected = " x ".join("N" if size < 0 else str(size) for size in shape)
        raise InvalidValueError(f"{name} is {shown(value)}; expected {expected} numbers") from None


def count(name: str, value: int, minimum: int = 0) -> int:
    """An integer that fits the engine's counters."""
    if not is_whole(value) or not minimum <= value < 2**31:
        too_many = is_whole(value) and value >= 2**31
        expected = f"an integer of at most {2**31 - 1}" if too_many else f"an integer, at least {minimum}"
        raise InvalidValueError(f"{name} is {shown(value)}; expected {expected}")
    return int(value)


def whole(name: str, value: int) -> int:
    """An integer that fits into 32 bits."""
    if not is_whole(value) or not -(2**31) <= value < 2**31:
        raise InvalidValueError(f"{name} is {shown(value)}; expected an integer")
    return int(value)


def choice(name: str, kind: type[Choice], value: Choice | int) -> Choice:
    """A member of an enum, given as such or as its number."""
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        names = ", ".join(member.name for member in kind)
        raise InvalidValueError(f"{name} is {shown(value)}; expected one of {names}") from error
