"""A worker of the fuzzer, watched from outside: what hangs in C, or in a process that it started, is seen, too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

WAITING = 0.1  # how much waiting counts beside processor time: other programs may need the machine
LAST_WORDS = 5.0  # seconds that a worker has to tell where it hung
_TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(pid: int) -> float:
    """That a process, what it started and what has ended of that took so far [s]."""
    try:
        # From the 14th field on, after the name in parentheses: of itself twice, of its ended children twice.
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        children = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has ended meanwhile
        return 0.0
    return sum(map(int, times)) / _TICKS + sum(processor_time(int(child)) for some in children for child in some)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@dataclass
class Outcome:
    """What became of a worker."""

    last: int = -1  # input at which it was last; none
    records: list[dict[str, object]] = field(default_factory=list)
    slow: set[int] = field(default_factory=set)  # inputs that took longer than asked
    slowest: float = 0.0  # what an input took at most [s]
    hung: bool = False
    code: int = 0
    errors: str = ""


class Watched:
    """Runs a worker; ends it when one input takes longer than `limit`, notes those that take longer than `slow` [s]."""

    def __init__(self, command: list[str], slow: float, limit: float) -> None:
        self._command = command
        self._outcome = Outcome()
        self._slow, self._limit = slow, limit
        self._lock = threading.Lock()
        self._began: tuple[float, float] | None = None  # processor time and time of day at which the present one began

    def run(self, environment: dict[str, str]) -> Outcome:
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory() as folder:  # one that is killed leaves files
            own = {**environment, "TMPDIR": folder}
            process = subprocess.Popen(self._command, env=own, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
            reader = threading.Thread(target=self._read, args=(process,))
            reader.start()
            try:
                while reader.is_alive() and not self._outcome.hung:
                    reader.join(0.2)
                    took = self._took(process.pid)
                    self._outcome.hung, self._outcome.slowest = took > self._limit, max(took, self._outcome.slowest)
                    if process.poll() is not None:
                        _kill_group(process.pid)  # what it started may hold its streams
                if self._outcome.hung:
                    process.send_signal(signal.SIGABRT)  # faulthandler tells where it was
                    reader.join(LAST_WORDS)
            finally:
                _kill_group(process.pid)
                self._outcome.code = process.wait()
                reader.join()
            errors.seek(0)
            self._outcome.errors = errors.read().decode(errors="replace")[-8000:]
        return self._outcome

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with suppress(ValueError):
                record = json.loads(line)
                took, now = self._took(process.pid), (processor_time(process.pid), time.monotonic())
                with self._lock:
                    self._outcome.slowest = max(self._outcome.slowest, took)
                    if took > self._slow:
                        self._outcome.slow.add(self._outcome.last)
                    self._began = now
                    self._outcome.last = record.get("at", self._outcome.last)
                    if "at" not in record:
                        self._outcome.records.append(record)

    def _took(self, pid: int) -> float:
        with self._lock:
            began = self._began
        if began is None:  # it still imports
            return 0.0
        return max(processor_time(pid) - began[0], WAITING * (time.monotonic() - began[1]))
