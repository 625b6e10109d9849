"""One simulation for each of many sets of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from raisim_ros.description.checked import shown, whole
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.distributed.jobs import Report, run_jobs

Simulation = Callable[[Any, np.random.Generator], Any]


@dataclass(frozen=True)
class _Call:
    """A simulation with its random numbers: those of a place do not depend on who simulates it, and when."""

    function: Simulation
    seed: int

    def __call__(self, job: tuple[int, Any]) -> Any:
        index, parameters = job
        return self.function(parameters, np.random.default_rng([self.seed, index]))


def sweep(
    function: Simulation,
    parameters: Iterable[Any],
    *,
    seed: int = 0,
    workers: int | None = None,
    cpus_per_worker: int = 1,
    progress: Report = None,
) -> list[Any]:
    """``function(one, random)`` for each set of parameters; the results are in their order.

    `function` makes its world, simulates and returns arrays, numbers or anything that pickles; `random` are its random
    numbers, those of `seed` and its place in the list. The results are the same to the bit for any number of workers,
    and whether workers were lost or not. `workers`: None for all processors of the machine or cluster, 0 for none but
    this process, without Ray. Arrays come without being copied and are read only. `progress`: called with a Progress
    after each set, or True for a line on stderr. Raises JobError when `function` raises.
    """
    if not isinstance(parameters, Iterable):
        raise InvalidValueError(f"parameters is {shown(parameters)}; expected a list of them")
    if not callable(function):
        raise InvalidValueError(f"{shown(function)} cannot be called")
    whole("seed", seed)
    return run_jobs(_Call(function, seed), list(enumerate(parameters)), workers, cpus_per_worker, progress)
