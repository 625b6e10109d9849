"""The only writer of files: a file is either as it was or complete, whatever happens on the way.

The content goes to a temporary file in the same folder, to the disk, and only then under its name. A full disk, a
size limit or a killed process leave the old file; what a killed process leaves besides is removed by the next write.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from raisim_ros.description.errors import FileWriteError
from raisim_ros.description.file_access import check_allowed, is_temporary

_SUFFIX = ".raisim_ros_tmp"
_TEMPORARY = re.compile(rf"\.(?P<host>[^/]+)~(?P<process>\d+)~[0-9a-f]+{re.escape(_SUFFIX)}")


def write_file(path: str | Path, content: bytes) -> None:
    """Replace a file, or make it and its folder; links are followed. Raises FileWriteError."""
    check_allowed(path, "file")
    with _as_write_error(path):
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            raise FileWriteError(path, "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file")
        with _temporary(target, content) as temporary:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            os.replace(temporary, target)
        _sync_folder(target.parent)


def write_beside(path: Path, content: bytes) -> Path:
    """Write a file that another one will name, and return the path it got.

    No existing file is changed, as the one that names it may be replaced later or never: where a file with another
    content lies at `path`, the new one has a part of its hash in its name.
    """
    check_allowed(path, "file")
    hashed = path.with_name(f"{path.stem}_{hashlib.sha256(content).hexdigest()[:16]}{path.suffix}")
    with _as_write_error(path):
        for candidate in (path, hashed):
            if not os.path.lexists(candidate) and _write_new(candidate, content):
                return candidate
            if candidate.is_file() and candidate.read_bytes() == content:
                return candidate
    write_file(hashed, content)  # damaged by somebody else
    return hashed


def _write_new(path: Path, content: bytes) -> bool:
    """False when somebody else made the file meanwhile."""
    with _temporary(path, content) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
    _sync_folder(path.parent)
    return True


@contextmanager
def _as_write_error(path: str | Path) -> Iterator[None]:
    try:
        yield
    except FileWriteError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte or a lone surrogate in the name
        raise FileWriteError(path, getattr(error, "strerror", None) or str(error)) from error


@contextmanager
def _temporary(target: Path, content: bytes) -> Iterator[Path]:
    """A complete file on the disk beside the target, gone at the end unless it was renamed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target.parent)
    name = f".{socket.gethostname()}~{os.getpid()}~{secrets.token_hex(8)}{_SUFFIX}"
    path = target.parent / name
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if not is_temporary(path):  # which is gone after a power cut anyway
                os.fsync(stream.fileno())
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)


def _sync_folder(folder: Path) -> None:
    """Without it a power cut may forget the new name; file systems that cannot do it keep names by themselves."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_leftovers(folder: Path) -> None:
    """Temporary files of processes of this machine that were killed while they wrote."""
    for entry in os.scandir(folder):
        match = _TEMPORARY.fullmatch(entry.name)
        if match and match["host"] == socket.gethostname() and not _is_running(int(match["process"])):
            with suppress(OSError):
                os.unlink(entry.path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True
