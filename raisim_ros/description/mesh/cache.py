"""What was made of meshes, kept on disk: lists of point sets under a hash of all they depend on.

The files lie in ``$XDG_CACHE_HOME/raisim_ros/<kind>`` (``~/.cache`` when that is not set). Each holds a checksum of its
content; a damaged file counts as none. Deleting the folder is always safe.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.errors import FileWriteError

# Part of every hash: raise it when the stored form or the meaning of an option changes.
_VERSION = 3
_CHECKSUM = 32  # bytes of a hash before the data: number of sets, of points in each, and the points

Points = NDArray[np.float64]
HULL_SUFFIX = ".hull.stl"  # of meshes that need no hull


def cache_folder(kind: str) -> Path:
    """Where entries of a kind lie."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "raisim_ros" / kind


def is_stored_hull(file: Path) -> bool:
    """Is it a mesh in the cache that was stored as a convex hull?"""
    return file.name.endswith(HULL_SUFFIX) and file.is_relative_to(cache_folder(""))


def content_key(*parts: str | bytes | NDArray[Any]) -> str:
    """A name for what depends on exactly these texts, bytes and arrays."""
    digest = hashlib.sha256(str(_VERSION).encode())
    for part in parts:
        if isinstance(part, np.ndarray):
            form = "<i8" if part.dtype.kind in "iu" else "<f8"
            data = np.ascontiguousarray(part, dtype=form).tobytes()
        else:
            data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read_points(kind: str, key: str) -> list[Points] | None:
    """The stored sets of points, or None when there are none or the file is damaged."""
    file = cache_folder(kind) / f"{key}.points"
    if not file.is_file():  # a pipe or device would never end
        return None
    try:
        content = file.read_bytes()
    except (OSError, MemoryError):
        return None
    checksum, data = content[:_CHECKSUM], content[_CHECKSUM:]
    if hashlib.sha256(data).digest() != checksum:
        return None
    try:
        set_count = int(np.frombuffer(data, "<i8", 1)[0])
        counts = np.frombuffer(data, "<i8", max(0, set_count), 8)
        points = np.frombuffer(data, "<f8", offset=8 + counts.nbytes).astype(np.float64).reshape(-1, 3)
    except (ValueError, OverflowError):  # a right checksum of something else
        return None
    whole = len(counts) > 0 and bool((counts > 0).all()) and int(counts.astype(object).sum()) == len(points)
    return list(np.split(points, np.cumsum(counts)[:-1])) if whole and np.isfinite(points).all() else None


def write_points(kind: str, key: str, sets: Sequence[Points]) -> None:
    """Stores the sets, one or more; two processes never see half a file."""
    numbers = np.array([len(sets), *map(len, sets)], dtype="<i8")
    data = numbers.tobytes() + np.concatenate(sets).astype("<f8").tobytes()
    try:
        write_file(cache_folder(kind) / f"{key}.points", hashlib.sha256(data).digest() + data, is_lasting=False)
    except FileWriteError as error:
        warnings.warn(f"what was made of a mesh was not cached: {error}", RuntimeWarning, stacklevel=3)
