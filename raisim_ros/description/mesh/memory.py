"""What was made of meshes last, in memory: so that a hundred equal objects make it once.

What one process has made another can take over (`contents`, `take_over`).
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")

FileKey = tuple[str, int, int, tuple[float, ...]]


def file_key(file: Path, scale: tuple[float, ...]) -> FileKey:
    """A file as it is now, at a scale."""
    stat = file.stat()
    return str(file.resolve()), stat.st_mtime_ns, stat.st_size, scale


class Memory(Generic[T]):
    """The last results of one kind, and all that are in use, by what they were made of. Any thread may use it."""

    _all: dict[str, Memory[Any]] = {}  # noqa: RUF012  one for the process

    def __init__(self, kind: str, size: int) -> None:
        self._size = size
        self._results: OrderedDict[Hashable, T] = OrderedDict()
        self._in_use: weakref.WeakValueDictionary[Hashable, T] = weakref.WeakValueDictionary()
        self._lock = threading.Lock()
        Memory._all[kind] = self

    def get(self, key: Hashable) -> T | None:
        """What was made, if it is still remembered."""
        with self._lock:
            result = self._in_use.get(key)
            if result is not None and key in self._results:
                self._results.move_to_end(key)
            return result

    def put(self, key: Hashable, result: T) -> None:
        """Remembers it, and forgets the one that was used least lately."""
        with self._lock:
            self._in_use[key] = result
            self._results[key] = result
            self._results.move_to_end(key)
            while len(self._results) > self._size:
                self._results.popitem(last=False)

    def items(self) -> list[tuple[Hashable, T]]:
        """All of it, the last used at the end."""
        with self._lock:
            return list(self._results.items())

    def keep_all(self) -> None:
        """From now on nothing is forgotten."""
        self._size = sys.maxsize


def keep_all() -> None:
    """For a process that makes results for another one: it forgets none."""
    for memory in Memory._all.values():
        memory.keep_all()


def contents() -> dict[str, list[tuple[Hashable, Any]]]:
    """All that this process remembers, by kind."""
    return {kind: memory.items() for kind, memory in Memory._all.items()}


def take_over(remembered: dict[str, list[tuple[Hashable, Any]]]) -> None:
    """Use what another process remembers."""
    for kind, results in remembered.items():
        for key, result in results:
            Memory._all[kind].put(key, result)
