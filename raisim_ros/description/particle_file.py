"""NumPy files (.npz) with arrays of particles: what world files and saved grains keep beside them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import ParseError
from raisim_ros.description.files import read_bytes
from raisim_ros.description.limits import get_file_limits


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The content of a file; equal arrays give equal bytes."""
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file, by name; raises ParseError for anything else."""
    limits = get_file_limits()
    content = read_bytes(path, "file of particles", limits.max_file_bytes, "max_file_bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > limits.max_archive_bytes:
            most = limits.max_archive_bytes
            raise ParseError(path, None, f"its arrays have {size} bytes; expected at most {most} (max_archive_bytes)")
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            return {name: _numbers(path, name, data[name]) for name in data.files}
    except (ValueError, KeyError, OSError, EOFError, MemoryError, NotImplementedError, RuntimeError) as error:
        raise ParseError(path, None, f"it holds no arrays of particles: {error}") from error
    except (zipfile.BadZipFile, zlib.error, SyntaxError) as error:
        raise ParseError(path, None, f"it holds no arrays of particles: {error}") from error


def _numbers(path: str | Path, name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise ParseError(path, None, f"array '{name}' is of type {array.dtype}; expected numbers")
    return array
