"""Reading files: whatever the system has against it becomes an error of ours that names the file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from raisim_ros.description.errors import FileMissingError, FileReadError, NotRegularError, ParseError, RaisimError
from raisim_ros.description.file_access import check_allowed, is_allowed


def is_file(path: Path) -> bool:
    """Whether there is a file that may be used; False also for names that no file can have, and for what is no stored
    file."""
    try:
        return is_allowed(path) and path.is_file() and not is_special(path)
    except (OSError, ValueError):  # too long, a zero byte
        return False


def is_special(path: Path) -> bool:
    """Whether reading may wait for ever or never end: pipes, devices, and what the system makes up as it is read, which
    says that it is a regular file, but has no size on a disk of no size."""
    try:
        found = path.stat()
        if stat.S_ISREG(found.st_mode):
            return found.st_size == 0 and os.statvfs(path).f_blocks == 0
        return not stat.S_ISDIR(found.st_mode)
    except (OSError, ValueError):
        return False  # there is none


def working_folder() -> Path:
    """The working directory; raises FileMissingError when somebody has removed it."""
    try:
        return Path.cwd()
    except OSError as error:
        raise FileMissingError(".", "working directory") from error


def expanded(path: str | Path) -> Path:
    """With the home folder of ``~`` and ``~user``; unchanged where nobody of that name is known."""
    return Path(os.path.expanduser(path))


def full_path(path: str | Path) -> Path:
    """Without links and relative parts; raises FileMissingError where that needs a working directory that is gone."""
    whole = Path(path) if Path(path).is_absolute() else working_folder() / path
    return Path(os.path.realpath(whole))  # resolve() fails where links lead in a circle


def existing_file(path: str | Path, what: str) -> Path:
    """The path of a file; raises FileMissingError, FileRefusedError where it may not be used, NotRegularError."""
    file = Path(path)
    check_allowed(file, what)
    if not is_file(file):
        raise (NotRegularError if is_special(file) else FileMissingError)(path, what)
    return file


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """What the system has against reading a file becomes an error of ours."""
    try:
        yield
    except RaisimError:
        raise
    except OSError as error:
        raise FileReadError(path, error) from error


def check_size(path: str | Path, most: int, limit: str) -> None:
    """Refuse a file of more than `most` bytes before it is read; `limit` is the name of that limit."""
    with reading(path):
        size = Path(path).stat().st_size
    if size > most:
        raise ParseError(path, None, f"the file has {size} bytes; expected at most {most} (limit {limit})")


def read_bytes(path: str | Path, what: str, most: int, limit: str) -> bytes:
    """The content of a file of at most `most` bytes; `limit` is the name of that limit."""
    file = existing_file(path, what)
    check_size(file, most, limit)
    with reading(path):
        return file.read_bytes()
