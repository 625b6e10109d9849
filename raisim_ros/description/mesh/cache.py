"""What was made of meshes, kept on disk: lists of point sets under a hash of all they depend on.

The files lie in ``$XDG_CACHE_HOME/raisim_ros/<kind>`` (``~/.cache`` when that is not set). Each holds a checksum of its
content; a damaged file counts as none. Deleting the folder is always safe.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import array_file
from raisim_ros.description.atomic_file import write_file
from raisim_ros.description.errors import FileWriteError, InvalidValueError
from raisim_ros.description.limits import get_file_limits

# Part of every hash: raise it when the stored form or the meaning of an option changes.
_VERSION = 3

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
    most = get_file_limits().max_archive_bytes
    try:
        content = (cache_folder(kind) / f"{key}.npz").read_bytes()
        stored = array_file.unpack(content, most, "max_archive_bytes")
        points, counts, checksum = (stored[name] for name in ("points", "counts", "checksum"))
    except (OSError, InvalidValueError, KeyError):
        return None
    whole = counts.ndim == 1 and counts.dtype.kind in "iu" and len(counts) > 0 and bool((counts > 0).all())
    if not whole or points.shape != (counts.sum(), 3) or not np.isfinite(points).all():
        return None
    if not np.array_equal(checksum, _checksum(points, counts)):
        return None
    return list(np.split(points.astype(np.float64, copy=False), np.cumsum(counts)[:-1]))


def _checksum(points: Points, counts: NDArray[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(bytes.fromhex(content_key(points, counts)), np.uint8)


def write_points(kind: str, key: str, sets: Sequence[Points]) -> None:
    """Stores the sets; two processes never see half a file."""
    points, counts = np.concatenate(sets), np.array([len(part) for part in sets])
    buffer = io.BytesIO()
    np.savez_compressed(buffer, points=points, counts=counts, checksum=_checksum(points, counts))
    try:
        write_file(cache_folder(kind) / f"{key}.npz", buffer.getvalue(), is_lasting=False)
    except FileWriteError as error:
        warnings.warn(f"what was made of a mesh was not cached: {error}", RuntimeWarning, stacklevel=3)
