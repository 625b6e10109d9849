"""Calls between the engine and other C libraries, without Python between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine._library import ffi, lib

Addresses = NDArray[np.uintp]


def call_each(function: int, first: Addresses, second: Addresses, third_is_null: bool = False) -> int:
    """Call the function at an address with ``first[i]``, ``second[i]`` and, if asked for, a null pointer.

    It takes pointers and returns an int; how many calls returned something else than 0. Other threads run meanwhile.
    """
    pointers = [_pointers(one) for one in (first, second)]
    address = ffi.cast("void (*)(void)", function)
    return int(lib.rs_call_each(address, 3 if third_is_null else 2, len(first), *pointers))


def counting_function() -> int:
    """Address of ``void function(const void *counter, size_t happened)``, which adds to the int64 at ``counter``.

    For libraries that call a function when something has happened, on a thread of their own.
    """
    return int(ffi.cast("uintptr_t", ffi.addressof(lib, "rs_add_to_counter")))


def _pointers(addresses: Addresses) -> Any:
    return ffi.from_buffer("void *[]", np.ascontiguousarray(addresses, np.uintp))
