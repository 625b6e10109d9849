"""Many calls of a foreign function in one go, and calls from foreign threads."""

import ctypes
import threading

import numpy as np
import pytest

from raisim_ros.engine.call_each import call_each, counting_function

LIBC = ctypes.CDLL(None)


def address(name):
    return ctypes.cast(LIBC[name], ctypes.c_void_p).value


@pytest.mark.parametrize("different", [0, 1, 7])
def test_it_counts_the_calls_that_do_not_return_zero(different):
    texts = [f"name {number}".encode() for number in range(20)]
    others = [text + b"!" if number < different else bytes(bytearray(text)) for number, text in enumerate(texts)]
    first, second = ([ctypes.create_string_buffer(text) for text in group] for group in (texts, others))
    pointers = [np.array([ctypes.addressof(one) for one in group], np.uintp) for group in (first, second)]
    assert call_each(address("strcmp"), *pointers) == different


def test_the_third_argument_is_null():
    """memcmp() of no bytes finds no difference."""
    first, second = ctypes.create_string_buffer(b"a"), ctypes.create_string_buffer(b"b")
    pointers = [np.array([ctypes.addressof(one)], np.uintp) for one in (first, second)]
    assert call_each(address("memcmp"), *pointers, third_is_null=True) == 0
    assert call_each(address("strcmp"), *pointers) == 1


def test_no_call_at_all():
    nothing = np.zeros(0, np.uintp)
    assert call_each(address("strcmp"), nothing, nothing) == 0


def test_calls_of_several_threads_are_counted():
    """ctypes lets go of Python's lock during a call."""
    counters = np.zeros(3, np.int64)
    count = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)(counting_function())
    middle = counters.ctypes.data + counters.itemsize
    threads = [
        threading.Thread(target=lambda: [count(middle, happened) for happened in (1, 2) * 2000]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.tolist() == [0, 4 * 2000 * 3, 0]
