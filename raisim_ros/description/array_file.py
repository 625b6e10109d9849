"""NumPy files (.npz) with arrays of numbers: particles beside world files, frames of recordings, what is cached."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.description.files import read_bytes
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.zip_file import open_zip, read_entry

# What NumPy and zipfile raise about content that is not theirs.
_FOREIGN = (
    ValueError, KeyError, OSError, EOFError, MemoryError, NotImplementedError, RuntimeError, TypeError, OverflowError,
    SyntaxError, tokenize.TokenError, struct.error, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error,
)  # fmt: skip


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The content of a file; equal arrays give equal bytes."""
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def unpack(content: bytes, most: int, limit: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file, by name, of at most so many bytes; raises InvalidValueError for anything else."""
    try:
        with open_zip(content, most, limit) as archive:
            return {entry.filename.removesuffix(".npy"): _numbers(archive, entry) for entry in archive.infolist()}
    except InvalidValueError:
        raise
    except _FOREIGN as error:
        raise InvalidValueError(f"it holds no arrays of numbers: {error}") from error


def _numbers(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    name, content = entry.filename, io.BytesIO(read_entry(archive, entry))
    array: NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise InvalidValueError(f"array '{name}' is of type {array.dtype}; expected numbers")
    return array


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file, by name; raises ParseError for anything else."""
    limits = get_file_limits()
    content = read_bytes(path, "file of particles", limits.max_file_bytes, "max_file_bytes")
    try:
        return unpack(content, limits.max_archive_bytes, "max_archive_bytes")
    except InvalidValueError as error:
        raise ParseError(path, None, str(error)) from error
