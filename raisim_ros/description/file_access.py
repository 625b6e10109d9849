"""Which files this process reads and writes. Everything, unless folders are set: the ROS node does, as its requests
come from the network."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from raisim_ros.description.errors import FileRefusedError

_own: set[Path] = set()  # temporary folders of this process
_folders: tuple[Path, ...] | None = None  # with all links resolved; None: everything


def set_allowed_folders(folders: Iterable[str | Path] | None) -> None:
    """Read and write only what lies in these folders, links resolved; None allows everything."""
    global _folders
    _folders = None if folders is None else tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))


def get_allowed_folders() -> tuple[Path, ...] | None:
    """The folders, or None when everything is allowed."""
    return _folders


@contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary folder for what this process alone puts there; it may be used whatever is allowed to requests."""
    with tempfile.TemporaryDirectory(prefix="raisim_ros_") as name:
        folder = Path(os.path.realpath(name))
        _own.add(folder)
        try:
            yield folder
        finally:
            _own.discard(folder)


def is_own(path: str | Path) -> bool:
    """Whether a file lies in an own folder."""
    return any(Path(path).is_relative_to(folder) for folder in _own)


def is_allowed(path: str | Path) -> bool:
    """Whether a file may be read and written; it need not exist."""
    if _folders is None:
        return True
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return False
    return is_own(real) or any(real.is_relative_to(folder) for folder in _folders)


def check_allowed(path: str | Path, what: str) -> None:
    """Raise FileRefusedError for a file outside the folders, whether it exists or not."""
    if not is_allowed(path):
        raise FileRefusedError(path, what)
