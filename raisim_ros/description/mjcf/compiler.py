"""MuJoCo's compiler, asked in a process of its own (worker.py) with limits of time and memory."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import re
import selectors
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import ParseError, RaisimError

TIME_LIMIT = 300.0
"""A model that takes longer is refused [s]."""
MEMORY_LIMIT = 8 * 2**30
"""Address space of the process that compiles [bytes]."""


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A model as MuJoCo compiled it: its arrays by MuJoCo's names, words in place of numbers that stand for kinds."""

    file: str
    arrays: dict[str, NDArray[Any]]
    names: dict[str, list[str]]  # of bodies ("body"), joints ("jnt"), geoms and so on; "" where the file has none
    lines: dict[str, list[int]]  # of the file, or of one that it includes; 0: unknown
    kinds: dict[str, list[str]]
    counts: dict[str, int]
    option: dict[str, Any]
    disabled: frozenset[str]  # MuJoCo's flags that are off
    warnings: tuple[str, ...]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def has(self, name: str, index: int | slice = slice(None)) -> bool:
        """Is anything there other than zero? Older versions of MuJoCo lack some arrays."""
        return name in self.arrays and bool(np.any(self.arrays[name][index]))

    def kind(self, name: str, index: int) -> str:
        """What the number of an array stands for, as a word."""
        return self.kinds[name][index]

    def line(self, what: str, index: int) -> int:
        """Where an element was written; 0: unknown."""
        return self.lines[what][index]


def compile_mjcf(file: Path, text: str | None = None, time_limit: float = TIME_LIMIT) -> CompiledModel:
    """The model of a file, or of a text whose files lie in the folder of `file`.

    Raises ParseError with what MuJoCo says, and RaisimError without MuJoCo.
    """
    if importlib.util.find_spec("mujoco") is None:
        raise RaisimError(f"{file}: reading MuJoCo's models needs MuJoCo (pip install 'raisim_ros[mjcf]')")
    path = Path(os.path.abspath(file))
    request = {"file": str(path), "folder": str(path.parent), "text": text}
    header, data = _ask(request, file, time_limit)
    if "error" in header:
        raise _parse_error(file, header["error"])
    return _model(file, header, data)


def _model(file: Path, header: dict[str, Any], data: bytes) -> CompiledModel:
    arrays, at = {}, 0
    for name, kind, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, np.dtype(kind), count, at).reshape(shape)
        at += arrays[name].nbytes
    return CompiledModel(
        str(file),
        arrays,
        header["names"],
        header["lines"],
        header["kinds"],
        header["counts"],
        header["option"],
        frozenset(header["disabled"]),
        tuple(header["warnings"]),
    )


def _parse_error(file: Path, message: str) -> ParseError:
    """MuJoCo's message, its line before it."""
    line = re.search(r"line (\d+)", message)
    element = re.search(r"Element '(\w+)'", message)
    name = re.search(r"Element name '([^']+)'", message)
    said = message.split("\nElement", 1)[0]
    said = " ".join(re.sub(r"\b(XML )?Error: ", "", said).split())
    if element:
        said = f"<{element.group(1)}>: {said}"
    elif name and name.group(1) not in said:
        said = f"'{name.group(1)}': {said}"
    number = int(line.group(1)) if line else 0
    if line and not number:
        said += " (in a file that it includes)"  # of which MuJoCo does not know the lines
    return ParseError(file, number or None, said)


# ---- the process ----


class _TooSlowError(Exception):
    """The answer takes too long."""


class _Worker:
    """A running process, for one request at a time."""

    def __init__(self, file: Path) -> None:
        # Not as a script: Python would put the folder of this package's modules before all others.
        start = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
        worker = str(Path(__file__).with_name("worker.py"))
        self.owner = os.getpid()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", start, worker, str(MEMORY_LIMIT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "MUJOCO_GL": "disable"},  # it draws nothing: libraries for that need not be loaded
            )
        except OSError as error:  # no more processes, files or memory
            raise RaisimError(f"{file}: MuJoCo's compiler cannot be started: {error.strerror or error}") from error

    @property
    def is_usable(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, request: dict[str, Any], deadline: float) -> tuple[dict[str, Any], bytes]:
        """Header and arrays of the answer. Raises _TooSlowError, or OSError when the process has ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        size = int.from_bytes(self._read(8, deadline), "little")
        header = json.loads(self._read(size, deadline))
        total = sum(
            np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64))
            for _, kind, shape in header.get("arrays", [])
        )
        return header, self._read(total, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        parts, missing = [], size
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while missing:
                left = deadline - time.monotonic()
                if left <= 0.0 or not selector.select(left):
                    raise _TooSlowError
                part = os.read(pipe, min(missing, 1 << 20))
                if not part:
                    raise OSError("the process has ended")
                parts.append(part)
                missing -= len(part)
        return b"".join(parts)

    def end(self) -> None:
        """End the process if this process started it."""
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what was not sent
                        pipe.close()


_lock = threading.Lock()
_worker: _Worker | None = None


def _ask(request: dict[str, Any], file: Path, time_limit: float) -> tuple[dict[str, Any], bytes]:
    global _worker
    with _lock:
        is_new = _worker is None or not _worker.is_usable
        if _worker is None or is_new:
            _end_worker()
            _worker = _Worker(file)
        deadline = time.monotonic() + time_limit
        try:
            try:
                answer = _worker.ask(request, deadline)
            except OSError:
                if is_new:
                    raise
                _worker.end()  # it may have ended because nobody asked: once more
                _worker = _Worker(file)
                answer = _worker.ask(request, deadline)
            if "unknown exception" in answer[0].get("error", ""):
                _end_worker()  # MuJoCo does not know what it left undone: models after that were seen to take for ever
            return answer
        except _TooSlowError:
            _end_worker()
            raise ParseError(file, None, f"MuJoCo's compiler took longer than {time_limit:g} s") from None
        except OSError:
            status = _worker.process.wait()
            _end_worker()
            ending = f"signal {-status}" if status < 0 else f"status {status}"
            raise ParseError(file, None, f"MuJoCo's compiler failed: its process ended with {ending}") from None
        except BaseException:
            _end_worker()  # interrupted: its answer would be taken for that of the next request
            raise


@atexit.register
def _end_worker() -> None:
    global _worker
    if _worker is not None:
        _worker.end()
        _worker = None
