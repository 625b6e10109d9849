"""Jobs on workers: each one is done by a process of its own, and again by another one when that process is lost."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from raisim_ros import InvalidValueError, RaisimError
from raisim_ros.description.checked import flag

_LOSSES = 3  # workers that one job may take with it: then it is the job's fault


class JobError(RaisimError):
    """A job raised an exception; `index` is its place."""

    def __init__(self, index: int, text: str) -> None:
        super().__init__(f"job {index} failed: {text}")
        self.index = index


class WorkersLostError(RaisimError):
    """The same job lost several workers, one after the other."""


@dataclass(frozen=True)
class Progress:
    """How far a run is. `replaced`: workers that were lost and replaced; `seconds` since the start."""

    done: int
    total: int
    replaced: int
    seconds: float


Report = Callable[[Progress], None] | bool | None
"""Called after every job; True prints a line."""


def run_jobs(
    function: Callable[[Any], Any],
    jobs: Sequence[Any],
    workers: int | None = None,
    cpus: int = 1,
    progress: Report = None,
) -> list[Any]:
    """``[function(job) for job in jobs]``, done by `workers` processes.

    None: one for each `cpus` processors of the cluster; 0: in this process, without Ray. The arrays in the results lie
    in shared memory and are read only: nothing is copied. Raises JobError when a job raises.
    """
    for name, value, least in (("workers", workers, 0), ("cpus", cpus, 1)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise InvalidValueError(f"{name} is {value!r}; expected a whole number, at least {least}")
    if progress is not None and not callable(progress):
        flag("progress", progress)
    tell = _Teller(len(jobs), progress)
    results: list[Any] = [None] * len(jobs)
    done = _serial(function, jobs) if workers == 0 or not jobs else _Pool(function, jobs, workers, cpus, tell).run()
    for index, result in done:
        results[index] = result
        tell.one_more()
    return results


def _serial(function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    for index, job in enumerate(jobs):
        try:
            yield index, function(job)
        except Exception as error:
            raise JobError(index, f"{type(error).__name__}: {error}") from error


class _Teller:
    """Tells how far a run is."""

    def __init__(self, total: int, report: Report) -> None:
        self._begin, self._report = time.monotonic(), report
        self._done, self._total, self.replaced = 0, total, 0

    def one_more(self) -> None:
        self._done += 1
        now = Progress(self._done, self._total, self.replaced, time.monotonic() - self._begin)
        if callable(self._report):
            self._report(now)
        elif self._report:
            lost = f", {now.replaced} workers replaced" if now.replaced else ""
            end = "\n" if now.done == now.total else "\r"
            print(f"{now.done}/{now.total} in {now.seconds:.1f} s{lost}", end=end, file=sys.stderr, flush=True)


class _Worker:
    """Runs in a process of its own."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def do(self, job: Any) -> Any:
        return self._function(job)


def connect() -> Any:
    """Ray's module, connected: to the cluster of ``RAY_ADDRESS`` or of the job that this is, else to a local one."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise RaisimError("raisim_ros.distributed needs Ray: pip install raisim_ros[distributed]") from error
    if not ray.is_initialized():
        ray.init(include_dashboard=False, logging_level="warning")
    return ray


class _Pool:
    """Workers, and what each of them is doing."""

    def __init__(
        self, function: Callable[[Any], Any], jobs: Sequence[Any], workers: int | None, cpus: int, tell: _Teller
    ) -> None:
        self._ray = connect()
        if workers is None:
            workers = int(self._ray.cluster_resources().get("CPU", 1)) // cpus
        self._count = max(1, min(len(jobs), workers))
        self._make = self._ray.remote(num_cpus=cpus, max_restarts=0)(_Worker).remote
        self._function = self._ray.put(function)  # once, however many workers there will be
        self._jobs, self._waiting = jobs, deque(range(len(jobs)))
        self._losses, self._tell = [0] * len(jobs), tell
        self._busy: dict[Any, tuple[int, Any]] = {}  # what a worker is doing -> job, worker

    def run(self) -> Iterator[tuple[int, Any]]:
        """Each job and its result, in the order in which they are done."""
        try:
            for _ in range(self._count):
                self._give(self._make(self._function))
            while self._busy:
                for done in self._ray.wait(list(self._busy))[0]:
                    yield from self._take(done)
        finally:
            for _, worker in self._busy.values():
                self._ray.kill(worker)

    def _give(self, worker: Any) -> None:
        """The next job to a worker, which is let go when there is none."""
        if self._waiting:
            index = self._waiting.popleft()
            self._busy[worker.do.remote(self._jobs[index])] = (index, worker)
        else:
            self._ray.kill(worker)

    def _take(self, done: Any) -> Iterator[tuple[int, Any]]:
        errors = self._ray.exceptions
        index, worker = self._busy.pop(done)
        try:
            result = self._ray.get(done)
        except errors.RayTaskError as error:
            self._ray.kill(worker)
            raise JobError(index, f"{type(error.cause).__name__}: {error.cause}") from error
        except errors.RayError as error:  # the worker, its machine or the result is gone
            self._lose(index, error)
            self._ray.kill(worker)
            self._give(self._make(self._function))
        else:
            self._give(worker)
            yield index, result

    def _lose(self, index: int, error: Exception) -> None:
        self._losses[index] += 1
        self._tell.replaced += 1
        if self._losses[index] > _LOSSES:
            raise WorkersLostError(f"job {index} lost {self._losses[index]} workers: {error}") from error
        self._waiting.appendleft(index)
