"""Which files this process reads and writes. Everything, unless folders are set: the ROS node does, as its requests
come from the network."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from raisim_ros.description import checked
from raisim_ros.description.errors import FileRefusedError, FileWriteError, InvalidValueError

_folders: tuple[Path, ...] | None = None  # with all links resolved; None: everything
_own: set[Path] = set()  # folders of files that this package has made itself
_temporary: set[Path] = set()  # folders of this process that will be gone soon


def set_allowed_folders(folders: Iterable[str | Path] | None) -> None:
    """Read and write only what lies in these folders, links resolved; None allows everything."""
    global _folders
    if folders is None:
        _folders = None
        return
    if isinstance(folders, (str, bytes, os.PathLike)) or not isinstance(folders, Iterable):
        raise InvalidValueError(f"folders is {checked.shown(folders)}; expected paths, or None")
    paths = [checked.path("a folder", folder) for folder in folders]
    _folders = tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in paths))


def get_allowed_folders() -> tuple[Path, ...] | None:
    """The folders, or None when everything is allowed."""
    return _folders


@dataclass(frozen=True)
class Access:
    """What a process that does a part of the work may use: the same as the one that started it."""

    folders: tuple[Path, ...] | None
    own: frozenset[Path]


def get_access() -> Access:
    """What this process may use, without its temporary folders."""
    return Access(_folders, frozenset(_own))


def set_access(access: Access) -> None:
    """Use what another process may."""
    set_allowed_folders(access.folders)
    _own.update(access.own)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder for what this process alone puts there; it may be used whatever is allowed to requests.
    Raises FileWriteError."""
    try:
        made = tempfile.TemporaryDirectory(prefix="raisim_ros_")
    except OSError as error:
        raise FileWriteError("a temporary folder", error.strerror or str(error)) from error
    with made as name:
        folder = Path(os.path.realpath(name))
        _temporary.add(folder)
        try:
            yield folder
        finally:
            _temporary.discard(folder)


def is_temporary(path: str | Path) -> bool:
    """Whether a file lies in such a folder."""
    return any(Path(path).is_relative_to(folder) for folder in tuple(_temporary))


def allow_own_folder(folder: Path) -> None:
    """Read what this package has made itself in a folder of its cache, whatever else is allowed."""
    _own.add(Path(os.path.realpath(folder)))


def is_allowed(path: str | Path) -> bool:
    """Whether a file may be read and written; it need not exist."""
    if _folders is None:
        return True
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return False
    return any(real.is_relative_to(folder) for folder in (*_folders, *_own, *_temporary))


def check_allowed(path: str | Path, what: str) -> None:
    """Raise FileRefusedError for a file outside the folders, whether it exists or not."""
    if not is_allowed(path):
        raise FileRefusedError(path, what)
