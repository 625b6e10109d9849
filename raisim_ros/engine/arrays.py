"""NumPy arrays as the engine takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine._library import ffi

_VIEWS = {
    np.dtype(kind): ffi.typeof(f"{name}[]")
    for kind, name in (
        (np.float64, "double"),
        (np.float32, "float"),
        (np.int64, "int64_t"),
        (np.int32, "int32_t"),
        (np.uint64, "uint64_t"),
        (np.uint32, "uint32_t"),
        (np.uint8, "uint8_t"),
    )
}


def c_array(array: NDArray[Any] | None) -> Any:
    """The engine's view of the numbers of a contiguous array, which must live as long; NULL without one."""
    return ffi.NULL if array is None else ffi.from_buffer(_VIEWS[array.dtype], array)
