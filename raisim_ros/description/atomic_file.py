"""The only writer of files: a file is either as it was or complete, whatever happens on the way.

The content goes to a temporary file in the same folder, to the disk, and only then under its name. A full disk, a
size limit or a killed process leave the old file; what a killed process leaves besides is removed by the next write.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from raisim_ros.description.errors import FileWriteError, RaisimError
from raisim_ros.description.file_access import check_allowed, is_temporary

# What file systems without hard links answer.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK)
_SUFFIX = ".raisim_ros_tmp"
_TEMPORARY = re.compile(rf"\.(?P<place>[^/]+)~(?P<process>\d+)~[0-9a-f]+{re.escape(_SUFFIX)}(?:\.\w+)?")


def write_file(path: str | Path, content: bytes, is_lasting: bool = True) -> None:
    """Replace a file, or make it and its folder; links are followed. Raises FileWriteError.

    One that is not lasting may be lost or damaged in a power cut: for caches, whose readers look at the content.
    """
    check_allowed(path, "file")
    with _as_write_error(path):
        target = Path(os.path.realpath(path))
        _check_kind(path, target)
        with _temporary(target, content, is_lasting) as temporary:
            os.replace(temporary, target)
        if is_lasting:
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


@contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """For libraries that write files themselves: they get another name, with the same suffix, for a file that replaces
    the old one at the end, or is removed when something goes wrong."""
    check_allowed(path, "file")
    with _as_write_error(path):
        target = Path(os.path.realpath(path))
        _check_place(path, target)
        temporary = _temporary_name(target)
        try:
            os.close(_open_new(temporary, target))
            yield temporary
            with temporary.open("rb+") as stream:
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        _sync_folder(target.parent)


class GrowingFile:
    """A file that is written for long. It has a temporary name until `publish`, which replaces the old file."""

    def __init__(self, path: str | Path) -> None:
        check_allowed(path, "file")
        self._path = path
        with _as_write_error(path):
            self._target = Path(os.path.realpath(path))
            _check_place(path, self._target)
            self._temporary: Path | None = _temporary_name(self._target)
            self.stream: BinaryIO = os.fdopen(_open_new(self._temporary, self._target), "wb")

    def publish(self) -> None:
        """What is written so far is worth having: from now on the file has its name. Raises OSError."""
        if self._temporary is not None:
            self.stream.flush()
            os.replace(self._temporary, self._target)
            self._temporary = None

    def close(self) -> None:
        """Ends it; a file that was never published is gone. Raises FileWriteError."""
        with _as_write_error(self._path):
            try:
                with self.stream:
                    self.stream.flush()
                    os.fsync(self.stream.fileno())
            finally:
                if self._temporary is not None:
                    with suppress(OSError):
                        os.unlink(self._temporary)
        _sync_folder(self._target.parent)


def _open_new(temporary: Path, target: Path) -> int:
    """Makes the file; who may read the old one may read this one, and nobody else, not even while it is written."""
    mode = None
    with suppress(FileNotFoundError):  # there is no old one
        mode = stat.S_IMODE(target.stat().st_mode)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666 if mode is None else mode)
    if mode is not None:
        with suppress(PermissionError):  # file systems that have no permissions
            os.fchmod(descriptor, mode)  # what the umask took away
    return descriptor


def _check_place(path: str | Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise FileWriteError(path, "its folder does not exist")
    _check_kind(path, target)


def _check_kind(path: str | Path, target: Path) -> None:
    if target.exists() and not target.is_file():
        raise FileWriteError(path, "it is a folder" if target.is_dir() else "it is not a regular file")


def _write_new(path: Path, content: bytes) -> bool:
    """False when somebody else made the file meanwhile."""
    with _temporary(path, content) as temporary:
        try:
            _give_new_name(temporary, path)
        except FileExistsError:
            return False
    _sync_folder(path.parent)
    return True


def _give_new_name(temporary: Path, path: Path) -> None:
    """Raises FileExistsError where there is a file already."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # FAT and others have no links: the name is taken first. Who is killed in between leaves an empty file, beside
        # which the next one gets another name.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        os.replace(temporary, path)


@contextmanager
def _as_write_error(path: str | Path) -> Iterator[None]:
    try:
        yield
    except RaisimError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte or a lone surrogate in the name
        raise FileWriteError(path, getattr(error, "strerror", None) or str(error)) from error


@contextmanager
def _temporary(target: Path, content: bytes, is_lasting: bool = True) -> Iterator[Path]:
    """A complete file beside the target, on the disk if it is to last, gone at the end unless it was renamed."""
    path = _temporary_name(target)
    descriptor = _open_new(path, target)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if is_lasting and not is_temporary(path):  # which is gone after a power cut anyway
                os.fsync(stream.fileno())
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)


def _temporary_name(target: Path) -> Path:
    """A free name in the folder of the target, which is made if need be, and rid of what killed processes left."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target.parent)
    name = f".{_processes()}~{os.getpid()}~{secrets.token_hex(8)}{_SUFFIX}{target.suffix}"
    return target.parent / name


def _processes() -> str:
    """Where numbers of processes mean the same: containers that share a folder and a host's name have their own."""
    with suppress(OSError):
        return f"{socket.gethostname()}~{os.stat('/proc/self/ns/pid').st_ino}"
    return socket.gethostname()


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
    here = _processes()
    for entry in os.scandir(folder):
        match = _TEMPORARY.fullmatch(entry.name)
        if match and match["place"] == here and not _is_running(int(match["process"])):
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
