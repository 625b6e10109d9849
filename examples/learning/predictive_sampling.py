"""Control by predictive sampling: a cart swings its pole up, or the quadruped walks, without any learning.

    python examples/learning/predictive_sampling.py cart-pole --seconds 6
    python examples/learning/predictive_sampling.py quadruped --show      # in the viewer

At every step the members of a WorldBatch begin where the robot is and try the last plan with noise (one without); the
plan of the best is followed for a step, shifted, and tried again.
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod

import numpy as np

from raisim_ros import World, WorldBatch
from raisim_ros.envs.tasks.cart_pole import CartPole
from raisim_ros.envs.tasks.quadruped import Quadruped
from raisim_ros.envs.window import Window


class Problem(ABC):
    """A robot, and what its motion costs. `batch` may be that of the plans or that of the one real robot."""

    substeps: int
    horizon: int  # steps of a plan
    knots: int  # of a plan, between which commands change linearly
    size: int  # of commands, each from -1 to 1
    noise: float

    @abstractmethod
    def make_world(self) -> World:
        """Where it begins."""

    @abstractmethod
    def command(self, batch: WorldBatch, values: np.ndarray) -> None:
        """Write commands, a row per member."""

    @abstractmethod
    def cost(self, batch: WorldBatch) -> np.ndarray:
        """Of the present state, per member."""


class SwingUp(Problem):
    """The pole hangs and shall stand, the cart shall be in the middle."""

    substeps, horizon, knots, size, noise = 4, 50, 6, 1, 0.6

    def make_world(self) -> World:
        """The pole hangs."""
        world = CartPole().make_world()
        world["cart"].set_generalized_coordinate([0.0, np.pi])
        return world

    def command(self, batch: WorldBatch, values: np.ndarray) -> None:
        """A force on the cart."""
        batch.robot().forces[:, 0] = 30.0 * values[:, 0]

    def cost(self, batch: WorldBatch) -> np.ndarray:
        """How far from standing, from the middle and from rest."""
        (place, angle), (speed, turning) = batch.robot().coordinates.T, batch.robot().velocities.T
        return 5 * (1 - np.cos(angle)) + 0.3 * place**2 + 0.02 * speed**2 + 0.02 * turning**2 + 50 * (abs(place) > 2)


class Walk(Problem):
    """The quadruped of the task shall walk along x with 0.5 m/s; its commands are the actions of the task."""

    substeps, horizon, knots, size, noise = 4, 20, 3, 12, 0.35
    speed = 0.5

    def __init__(self) -> None:
        self._task = Quadruped()

    def make_world(self) -> World:
        """In its stance."""
        return self._task.make_world()

    def command(self, batch: WorldBatch, values: np.ndarray) -> None:
        """Joint positions around a trot in place."""
        batch.robot().position_targets[:, 7:] = self._task.targets(batch.times, values)

    def cost(self, batch: WorldBatch) -> np.ndarray:
        """Wrong velocity, wrong heading, a trunk that is not level or low, joints that hurry."""
        q, u = batch.robot().coordinates, batch.robot().velocities
        wrong = (u[:, 0] - self.speed) ** 2 + u[:, 1] ** 2 + 0.2 * u[:, 5] ** 2 + 0.3 * u[:, 2] ** 2 + q[:, 1] ** 2
        lean = np.square(q[:, 4:6]).sum(axis=1)
        low, hurry = np.maximum(0, 0.34 - q[:, 2]), np.square(u[:, 6:]).sum(axis=1)
        return 4 * wrong + 20 * lean + 4 * q[:, 6] ** 2 + 20 * low + 2e-4 * hurry


class Controller:
    """Plans of a problem, tried by the members of a batch."""

    def __init__(self, problem: Problem, samples: int, seed: int = 0) -> None:
        self._problem, self._batch = problem, WorldBatch(problem.make_world(), samples)
        self._random = np.random.default_rng(seed)
        self._plan = np.zeros((problem.knots, problem.size))
        self._times = np.linspace(0.0, problem.horizon - 1, problem.knots)

    def _at(self, plans: np.ndarray, step: float) -> np.ndarray:
        """Commands of plans (samples x knots x commands) at a step."""
        place = min(step / self._times[1], len(self._times) - 1.0)
        first = min(int(place), len(self._times) - 2)
        return plans[:, first] + (place - first) * (plans[:, first + 1] - plans[:, first])

    def act(self, real: WorldBatch) -> np.ndarray:
        """The command for the next step of the robot, which is the only member of `real`."""
        problem, batch = self._problem, self._batch
        plans = self._plan + problem.noise * self._random.normal(size=(len(batch), *self._plan.shape))
        plans[0] = self._plan
        plans = np.clip(plans, -1.0, 1.0)
        batch.reset(snapshot=real.save(0))
        costs = np.zeros(len(batch))
        for step in range(problem.horizon):
            problem.command(batch, self._at(plans, step))
            batch.step(problem.substeps)
            costs += np.where(batch.diverged, np.inf, problem.cost(batch))
        best = plans[np.argmin(costs)][None]
        self._plan = np.array([self._at(best, time + 1.0)[0] for time in self._times])
        return self._at(best, 0)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("robot", choices=("cart-pole", "quadruped"))
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="in the viewer")
    given = parser.parse_args()
    problem = SwingUp() if given.robot == "cart-pole" else Walk()
    real, controller = WorldBatch(problem.make_world(), 1, 1), Controller(problem, given.samples, given.seed)
    robot, world = real.robot(), real.member(0)
    window = Window(1.0 / (problem.substeps * world.get_time_step())) if given.show else None
    period = problem.substeps * world.get_time_step()
    for k in range(round(given.seconds / period)):
        problem.command(real, controller.act(real))
        real.step(problem.substeps)
        if window is not None:
            window.show(world)
        if k % round(0.5 / period) == 0:
            state = robot.coordinates[0, :3].round(2)
            print(f"{real.times[0]:5.2f} s  cost {problem.cost(real)[0]:7.3f}  {state}", flush=True)
    print(f"at the end: cost {problem.cost(real)[0]:.3f}, {robot.coordinates[0, :3].round(2)}")


if __name__ == "__main__":
    main()
