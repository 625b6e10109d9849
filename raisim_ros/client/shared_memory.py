"""Shared memory that nodes leave behind.

FastDDS removes its segments in /dev/shm when Python has taken everything down, but not when a process is killed, or
leaves without that: 70 MB would stay for ever. Nodes, viewers and clients therefore write down the names of their own
segments: nodes remove them when they end, and the next one that starts removes those of dead processes.
Names are known only when the middleware has started; who is killed before has announced the start, and the segments of
those seconds count as its own. Segments of other programs, or that anybody still holds, are never touched.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import suppress
from pathlib import Path

_FOLDER = Path("/dev/shm")
_SEGMENT = re.compile(r"fast(?:rtps|dds)_[0-9a-f]{8,}")
_RECORD = re.compile(r"raisim_ros_segments_(\d+)_(\d+)")
_LOCKED_BY = re.compile(r"^lock:\s+\d+: FLOCK\s+\w+\s+WRITE\s+(\d+)", re.MULTILINE)
_MAX_RECORD = 10_000  # bytes
_STARTING = "starting"
_START_TIME = 60.0  # [s] that the middleware may take to start
_SETTLED = 2.0  # [s] after which whoever made a segment has locked it


def announce(folder: Path = _FOLDER) -> None:
    """Write down that this process is about to make segments; to be followed by remember()."""
    _write(folder, [*_own_segments(folder), _STARTING])


def remember(folder: Path = _FOLDER) -> None:
    """Write down which segments this process has made; nothing when there are none."""
    names = _own_segments(folder)
    if names:
        _write(folder, names)
    else:
        _forget(folder)


def _write(folder: Path, names: list[str]) -> None:
    with suppress(OSError):  # a convenience for later nodes, no reason to fail
        path = folder / _record_name()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w") as stream:
            stream.write("\n".join(names))


def remove_own(folder: Path = _FOLDER) -> None:
    """Remove the segments of this process, which ends and sends nothing any more."""
    for name in _own_segments(folder):
        for path in (folder / name, folder / f"{name}_el"):
            with suppress(OSError):
                os.unlink(path)
    _forget(folder)


def remove_stale(folder: Path = _FOLDER) -> list[str]:
    """Remove the segments of this user's nodes that were killed; their names."""
    removed = []
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            match = _RECORD.fullmatch(entry.name)
            if match is None or _start_time(int(match[1])) == match[2] or not _is_own_file(entry):
                continue
            with suppress(OSError):
                names = Path(entry.path).read_text(errors="replace").split()
                if _STARTING in names:
                    begin = entry.stat(follow_symlinks=False).st_mtime
                    if time.time() < begin + _SETTLED:
                        continue  # the next one looks at it
                    names += _made_since(begin, folder)
                removed += [name for name in names if _SEGMENT.fullmatch(name) and _remove(folder, name)]
                os.unlink(entry.path)
    return removed


def _made_since(begin: float, folder: Path) -> list[str]:
    """This user's segments that were made while a process started. The lock file is written once, when it is made."""
    end = min(begin + _START_TIME, time.time() - _SETTLED)
    found = []
    for lock in folder.glob("fast*_el"):
        with suppress(OSError):
            status = lock.lstat()
            if status.st_uid == os.getuid() and begin <= status.st_mtime <= end:
                found.append(lock.name.removesuffix("_el"))
    return found


def _own_segments(folder: Path) -> list[str]:
    mapped = Path("/proc/self/maps").read_text()
    return sorted({name for name in _SEGMENT.findall(mapped) if _holds(folder, name)})


def _forget(folder: Path) -> None:
    with suppress(OSError):
        os.unlink(folder / _record_name())


def _record_name() -> str:
    """The number of a process comes back; together with the time of its start it does not."""
    return f"raisim_ros_segments_{os.getpid()}_{_start_time(os.getpid())}"


def _start_time(process: int) -> str | None:
    """In ticks since the machine was started; None for a process that does not exist."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _is_own_file(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        status = entry.stat(follow_symlinks=False)
        return entry.is_file(follow_symlinks=False) and status.st_uid == os.getuid() and status.st_size <= _MAX_RECORD
    return False


def _holds(folder: Path, name: str) -> bool:
    """Whether this process has made a segment: it has locked the file beside it, as FastDDS does.

    To have it open is not enough: who is started by a process with a node of its own, as launch does it, inherits that.
    """
    lock = os.path.realpath(folder / f"{name}_el")
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{descriptor}") == lock:
                locks = _LOCKED_BY.findall(Path(f"/proc/self/fdinfo/{descriptor}").read_text())
                return str(os.getpid()) in locks
    return False


def _remove(folder: Path, name: str) -> bool:
    """Remove a segment and its lock file, unless somebody holds the lock."""
    lock = folder / f"{name}_el"
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in (folder / name, lock):
            with suppress(FileNotFoundError):
                os.unlink(path)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
