"""Arrays that are laid out to be packed come back with all their bits, and what is no such array is refused."""

import zlib

import numpy as np
import pytest

from raisim_ros.description.byte_planes import put_together, taken_apart
from raisim_ros.description.errors import InvalidValueError

SHAPES = ((1,), (700,), (0, 3), (500, 3), (30, 40), (30, 40, 3), (2, 3, 4, 5), (1, 1))
TYPES = ("u1", "i2", "<u4", "f2", "f4", "f8", ">f4", "i8")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", TYPES)
def test_all_bits_come_back(kind, shape):
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    array = np.random.default_rng(size).integers(0, 256, size, np.uint8).view(kind).reshape(shape)  # also NaNs of all kinds
    stored = taken_apart(array)
    again = put_together(stored, array.dtype.str, list(shape))
    assert (again.dtype, again.shape) == (array.dtype, shape)
    assert again.tobytes() == array.tobytes()


def test_arrays_that_are_not_laid_out_in_order_come_back():
    array = np.arange(3000, dtype=np.float32).reshape(50, 60)[::2, ::-3].T
    assert put_together(taken_apart(array), "<f4", list(array.shape)).tolist() == array.tolist()


def test_clouds_and_images_become_smaller_than_by_packing_alone():
    angle = np.linspace(0.0, 6.28, 4000)
    wall = 3.0 + 0.1 * np.sin(5.0 * angle)
    cloud = np.column_stack((wall * np.cos(angle), wall * np.sin(angle), 0.2 * angle)).astype(np.float32)
    depth = np.add.outer(np.linspace(1.0, 2.0, 120), 0.3 * np.sin(np.linspace(0.0, 3.0, 160))).astype(np.float32)
    for array in (cloud, depth):
        assert len(zlib.compress(taken_apart(array).tobytes())) < 0.75 * len(zlib.compress(array.tobytes()))


@pytest.mark.parametrize(
    ("kind", "shape"),
    [("f4", [3, 3]), ("f4", [10, -1]), ("f4", []), ("f4", "10"), ("f4", [2.5, 4]), ("O", [10]), ("U1", [10]), ("f4,f4", [5]), ("c8", [5])],
)
def test_what_is_no_such_array_is_refused(kind, shape):
    with pytest.raises(InvalidValueError):
        put_together(np.zeros(40, np.uint8), kind, shape)
    with pytest.raises(InvalidValueError):
        put_together(np.zeros(10, np.float32), "f4", [10])
