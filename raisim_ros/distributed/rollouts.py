"""A policy in many environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros import InvalidValueError
from raisim_ros.description.checked import shown, whole
from raisim_ros.distributed.jobs import Report, run_jobs

Rows = NDArray[Any]
Policy = Callable[[Rows], Rows]


@dataclass(frozen=True)
class Rollout:
    """What happened in some environments. First axis: steps, of observations one more; second: environments."""

    seeds: tuple[int, ...]
    observations: Rows
    actions: Rows
    rewards: Rows
    terminated: Rows
    truncated: Rows


@dataclass(frozen=True)
class _Run:
    make_env: Callable[[int], Any]
    policy: Policy
    steps: int

    def __call__(self, seeds: tuple[int, ...]) -> Rollout:
        env = self.make_env(len(seeds))
        try:
            rows = [env.reset(seed=list(seeds))[0]]
            told: tuple[list[Rows], ...] = ([], [], [], [])
            for _ in range(self.steps):
                actions = np.asarray(self.policy(rows[-1]))
                observations, *rest = env.step(actions)
                rows.append(observations)
                for kept, new in zip(told, (actions, *rest[:3]), strict=True):
                    kept.append(np.array(new))
        finally:
            env.close()
        return Rollout(seeds, np.array(rows), *(np.array(kept) for kept in told))


def rollouts(
    make_env: Callable[[int], Any],
    policy: Policy,
    seeds: Sequence[int],
    steps: int,
    *,
    batch: int = 64,
    workers: int | None = None,
    cpus_per_worker: int = 1,
    progress: Report = None,
) -> list[Rollout]:
    """Run a policy for `steps` steps in one environment for each seed; one Rollout for each `batch` of them, in order.

    ``make_env(count)`` makes a vector environment, for example ``partial(make_vector_env, "Quadruped-v0", threads=1)``;
    ``policy(observations)`` gives a row of actions per environment. Everything else as for sweep().
    """
    for function in (make_env, policy):
        if not callable(function):
            raise InvalidValueError(f"{shown(function)} cannot be called")
    whole("batch", batch, 1)
    whole("steps", steps)
    if not isinstance(seeds, (Sequence, np.ndarray)) or isinstance(seeds, (str, bytes)):
        raise InvalidValueError(f"seeds is {shown(seeds)}; expected a list of whole numbers")
    given = tuple(whole("seed", seed) for seed in seeds)
    chunks = [given[first : first + batch] for first in range(0, len(given), batch)]
    return run_jobs(_Run(make_env, policy, steps), chunks, workers, cpus_per_worker, progress)
