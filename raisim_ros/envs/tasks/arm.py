"""An arm that reaches for points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raisim_ros import World, WorldBatch, resource
from raisim_ros.envs.task import Rows, Task, uniform

HOME = np.array([0.0, -0.8, 1.2, -0.4, 0.5, 0.0])


class ArmReach(Task):
    """Bring the wrist of a six-joint arm to a point that each episode draws, and stay there."""

    substeps = 4
    action_low, action_high = -np.ones(6), np.ones(6)
    observation_size = 6 + 6 + 3 + 3
    _STEP = 0.08  # largest change of a target per step [rad]

    def make_world(self) -> World:
        """The arm on its base."""
        world = World()
        world.set_time_step(0.005)
        arm = world.add_articulated_system(resource("robots/arm.urdf"), name="arm")
        arm.set_generalized_coordinate(HOME)
        arm.set_joint_gains(200.0, 20.0)
        arm.set_joint_targets(HOME)
        return world

    def bind(self, batch: WorldBatch) -> None:
        """Also the wrist and the goals."""
        super().bind(batch)
        source = batch.member(0)["arm"]
        self._lower, self._upper = source.get_joint_limits().T
        self._wrist = self.robot.link_poses([source.get_number_of_joints() - 1])[:, 0]
        self._goals = np.zeros((len(batch), 3))

    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """At home, with a new goal in reach."""
        drawn = uniform(randoms, 0.0, 1.0, 3)
        angle, radius = np.pi * (drawn[:, 0] - 0.5), 0.35 + 0.25 * drawn[:, 1]
        place = (radius * np.cos(angle), radius * np.sin(angle), 0.2 + 0.4 * drawn[:, 2])
        self._goals[members] = np.stack(place, axis=1)

    def act(self, actions: Rows) -> None:
        """Changes of the joints' targets."""
        targets = self.robot.position_targets + self._STEP * actions
        self.robot.position_targets[:] = np.clip(targets, self._lower, self._upper)

    def observe(self) -> Rows:
        """Joints, their velocities, the goal and the way to it."""
        way = self._goals - self._wrist[:, :3]
        return np.hstack((self.robot.coordinates, self.robot.velocities, self._goals, way))

    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """The nearer the better; it never ends by itself."""
        away = np.linalg.norm(self._goals - self._wrist[:, :3], axis=1)
        rewards = -away + 0.5 * (away < 0.03) - 0.005 * np.square(actions).sum(axis=1)
        return rewards, np.zeros(len(actions), dtype=np.bool_)
