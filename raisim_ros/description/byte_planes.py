"""Arrays of numbers laid out so that zlib makes them small, without losing a bit.

Neighbours resemble each other: the differences between them, as whole numbers, have zeros in their upper bytes. So
columns (x, y, z or red, green, blue) are taken apart, differences made along the first axis, and the first bytes of all
numbers written before the second ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError

_WHOLE: dict[int, type[np.unsignedinteger[Any]]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
# As many columns at most are taken apart: more are those of an image.
_MOST_COLUMNS = 4


def _has_columns(shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and shape[-1] <= _MOST_COLUMNS


def taken_apart(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of an array with at least one axis, in the order in which they are stored."""
    size = array.dtype.itemsize
    whole = np.ascontiguousarray(array).view(_WHOLE[size])
    steps = whole.copy()
    steps[1:] -= whole[:-1]
    if _has_columns(array.shape):
        steps = np.moveaxis(steps, -1, 0)
    return np.ascontiguousarray(np.ascontiguousarray(steps).view(np.uint8).reshape(-1, size).T).reshape(-1)


def put_together(stored: NDArray[Any], dtype: str, shape: list[int]) -> NDArray[Any]:
    """The inverse; raises InvalidValueError for what taken_apart() did not make."""
    kind = np.dtype(dtype)
    if kind.kind not in "fiu" or kind.itemsize not in _WHOLE or not shape or any(type(n) is not int for n in shape):
        raise InvalidValueError(f"there are no numbers of type {dtype} and shape {shape}")
    if min(shape) < 0 or stored.dtype != np.uint8 or stored.size != math.prod(shape) * kind.itemsize:
        raise InvalidValueError(f"{stored.size} bytes are no array of shape {shape}")
    columns_first = _has_columns(tuple(shape))
    laid = (shape[-1], *shape[:-1]) if columns_first else tuple(shape)
    whole = _WHOLE[kind.itemsize]
    steps = np.ascontiguousarray(stored.reshape(kind.itemsize, -1).T).reshape(-1).view(whole).reshape(laid)
    if columns_first:
        steps = np.moveaxis(steps, 0, -1)
    return np.ascontiguousarray(np.add.accumulate(steps, axis=0, dtype=whole)).view(kind)
