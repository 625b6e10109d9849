"""Walkers of Gymnasium's MuJoCo environments, from its own MJCF files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np
from numpy.typing import NDArray

from raisim_ros import ArticulatedSystem, World, WorldBatch
from raisim_ros.envs.task import Rows, Task, uniform


@dataclass(frozen=True)
class Walker:
    """What distinguishes the walkers: file, rates, rewards and what counts as fallen."""

    file: str
    substeps: int
    forward: float
    alive: float
    effort: float
    height: tuple[float, float]
    noise: float
    lean: float = np.inf  # of planar walkers [rad]


ANT = Walker("ant.xml", 5, 1.0, 1.0, 0.5, (0.2, 1.0), 0.1)
HOPPER = Walker("hopper.xml", 4, 1.0, 1.0, 1e-3, (0.7, np.inf), 5e-3, 0.2)
WALKER2D = Walker("walker2d.xml", 4, 1.0, 1.0, 1e-3, (0.8, 2.0), 5e-3, 1.0)
HUMANOID = Walker("humanoid.xml", 5, 1.25, 5.0, 0.1, (1.0, 2.0), 1e-2)


class Locomotion(Task):
    """Run along x. Reward: speed and staying up, less effort, as in Gymnasium's environment of the same name."""

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self.substeps = walker.substeps
        robot = self._robot_of(self.make_world())
        self._planar = robot.get_generalized_coordinate_dim() == robot.get_dof()  # x, z, pitch in place of a free base
        motors = robot.get_actuators()
        if not motors:
            raise ValueError(f"{walker.file} has no motors")
        self.action_low, self.action_high = np.array([motor.control_range for motor in motors]).T
        skipped = 1 if self._planar else 2  # where along the way it is does not matter
        self.observation_size = robot.get_generalized_coordinate_dim() - skipped + robot.get_dof()
        self._skipped = skipped

    def make_world(self) -> World:
        """The file of Gymnasium."""
        assets = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # softness of contacts: there is none here
            return World(assets / self._walker.file)

    @staticmethod
    def _robot_of(world: World) -> ArticulatedSystem:
        return next(one for one in world if isinstance(one, ArticulatedSystem))

    def bind(self, batch: WorldBatch) -> None:
        """Also the start, around which episodes begin."""
        super().bind(batch)
        self._start, self._controls = self.robot.coordinates[0].copy(), self.robot.controls
        self._time = batch.member(0).get_time_step() * self.substeps
        self._before = self.robot.coordinates[:, 0].copy()

    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """Around the pose of the file."""
        noise, q_count = self._walker.noise, len(self._start)
        u_count = self.robot.velocities.shape[1]
        self.robot.coordinates[members] = self._start + uniform(randoms, -noise, noise, q_count)
        self.robot.velocities[members] = uniform(randoms, -noise, noise, u_count)

    def act(self, actions: Rows) -> None:
        """Controls of the motors."""
        self._before[:] = self.robot.coordinates[:, 0]
        self._controls[:] = actions

    def observe(self) -> Rows:
        """Coordinates without the place along the ground, velocities."""
        return np.hstack((self.robot.coordinates[:, self._skipped :], np.clip(self.robot.velocities, -10, 10)))

    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Forward, alive, without effort."""
        walker, q = self._walker, self.robot.coordinates
        height = q[:, 1] if self._planar else q[:, 2]
        fallen = (height < walker.height[0]) | (height > walker.height[1])
        if self._planar:
            fallen |= np.abs(q[:, 2]) > walker.lean
        speed = (q[:, 0] - self._before) / self._time
        effort = np.square(actions).sum(axis=1)
        return walker.forward * speed + walker.alive * ~fallen - walker.effort * effort, fallen
