"""Long work in processes of its own: with a limit of time, progress in the log, and an end whenever it is wanted."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.file_access import get_access
from raisim_ros.description.limits import get_file_limits
from raisim_ros.description.mesh import memory
from raisim_ros.description.mesh.convex_decomposition import remember_decompositions
from raisim_ros.ros.node.work_protocol import Finished, unpacking

# Others wait: decomposition uses all processors it gets.
_AT_ONCE = 2
# A sign of life in the log, at least this often [s].
_SIGN_PERIOD = 10.0
# How soon a waiting thread notices that it shall stop [s].
_POLL = 0.1


class LongWorkError(RaisimError):
    """The work took too long, was ended, or its process died."""


class LongWork:
    """Runs functions of `preparation` in processes. Any thread may call it; the caller waits."""

    def __init__(self, tell: Callable[[str], object], limit_s: float, stop: threading.Event) -> None:
        """`tell` takes lines for the log; `limit_s`: longer work is given up [s]; 0: never; `stop` ends all work."""
        self._tell = tell
        self._stop = stop
        self.limit_s = limit_s
        self._places = threading.BoundedSemaphore(_AT_ONCE)

    @contextmanager
    def prepared(self, function: str, argument: Any, what: str) -> Iterator[Any]:
        """The value of a function of `preparation`; raises what it raises, and LongWorkError.

        Inside the block all that the work has made of meshes is remembered.
        """
        finished = self._finish(function, argument, what)
        remember_decompositions(finished.decompositions or {})
        memory.take_over(finished.meshes or {})
        for text in finished.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        yield finished.result()

    def _finish(self, function: str, argument: Any, what: str) -> Finished:
        while not self._places.acquire(timeout=_POLL):
            if self._stop.is_set():
                raise LongWorkError(f"{what}: the simulation ends")
        try:
            # A session of its own: Ctrl-C in a terminal is for the node, which ends its workers itself.
            command = [sys.executable, "-m", "raisim_ros.ros.node.worker"]
            pipe = subprocess.PIPE
            with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as process:
                try:
                    return self._converse(process, function, argument, what)
                finally:
                    process.kill()
        finally:
            self._places.release()

    def _converse(self, process: subprocess.Popen[bytes], function: str, argument: Any, what: str) -> Finished:
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        started = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(pickle.dumps((function, argument, get_access(), get_file_limits()), protocol=5))
            process.stdin.close()
        reader = _Reader(process.stdout.fileno())
        next_sign = started + _SIGN_PERIOD
        while True:
            for thing in reader.read(_POLL):
                if isinstance(thing, Finished):
                    return thing
                self._tell(f"{what}: {thing}")
                next_sign = time.monotonic() + _SIGN_PERIOD
            now = time.monotonic()
            if self._stop.is_set():
                raise LongWorkError(f"{what}: the simulation ends")
            if reader.ended:
                raise LongWorkError(f"{what}: its process died (exit code {process.wait()})")
            if self.limit_s and now - started > self.limit_s:
                raise LongWorkError(f"{what} took more than {self.limit_s:g} s (parameter long_work_limit_s)")
            if now >= next_sign:
                next_sign = now + _SIGN_PERIOD
                limit = f" of at most {self.limit_s:g} s" if self.limit_s else ""
                self._tell(f"{what}: still at work after {now - started:.0f} s{limit}")


class _Reader:
    """Things from a pipe. Arrays are read into their place at once, without the lock of the interpreter."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._thing = unpacking()
        self._place = next(self._thing)  # is filled next
        self.ended = False

    def read(self, timeout: float) -> list[Any]:
        """What has arrived whole, after waiting at most so long [s]."""
        if not select.select([self._descriptor], [], [], timeout)[0]:
            return []
        count = os.readv(self._descriptor, [self._place])
        self.ended = count == 0
        self._place = self._place[count:]
        if len(self._place) or self.ended:
            return []
        try:
            self._place = next(self._thing)
            return []
        except StopIteration as end:
            self._thing = unpacking()
            self._place = next(self._thing)
            return [end.value]
