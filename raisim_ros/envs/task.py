"""What a task is: a world, how actions act on it, what is observed, what is rewarded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros import World, WorldBatch
from raisim_ros.engine.batch.object_batch import RobotBatch

Rows = NDArray[Any]


class Task(ABC):
    """A task for one robot. Its methods work on all members of a batch at a time: rows are members."""

    substeps = 1
    """Time steps of the world per environment step."""
    action_low: Rows
    """Least action; one number per action."""
    action_high: Rows
    """Greatest action."""
    observation_size: int
    """Numbers of an observation."""

    batch: WorldBatch
    robot: RobotBatch

    @abstractmethod
    def make_world(self) -> World:
        """The world that all members begin with."""

    def bind(self, batch: WorldBatch) -> None:
        """Take the arrays that the task needs; called once."""
        self.batch = batch
        self.robot = batch.robot()

    @abstractmethod
    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """Change the state of members that were just reset: write to the arrays, one random source per member."""

    @abstractmethod
    def act(self, actions: Rows) -> None:
        """Write the commands of an environment step."""

    @abstractmethod
    def observe(self) -> Rows:
        """Observations of all members, a new array."""

    @abstractmethod
    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Rewards of the step that was just made, and which members have come to an end."""


def uniform(randoms: Sequence[np.random.Generator], low: float, high: float, size: int) -> Rows:
    """A row of random numbers from each source."""
    return np.array([one.uniform(low, high, size) for one in randoms]).reshape(len(randoms), size)
