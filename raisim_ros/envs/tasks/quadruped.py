"""A quadruped that follows a commanded velocity, on flat ground or over terrain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raisim_ros import TerrainProperties, World, WorldBatch, resource
from raisim_ros.envs.task import Rows, Task, uniform

STANCE = np.array([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0, *([0.0, 0.5, -1.0] * 4)])


class Quadruped(Task):
    """Walk with a velocity that each episode draws: forward, sideways [m/s] and turning [rad/s].

    Actions are joint positions around a trot in place, whose phase is observed. Reward: how well the velocity is met,
    less effort, jerks and motion that was not asked for. An episode ends when the trunk falls or tips over.
    """

    substeps = 4
    action_low, action_high = -np.ones(12), np.ones(12)
    _SCALE, _SCAN = 0.4, np.array([(x, y) for x in (-0.4, 0.0, 0.4, 0.8) for y in (-0.3, 0.0, 0.3)])

    _RATE, _LIFT = 2.5, 0.25  # steps of the trot [Hz], and how far they bend the hips [rad]
    _TURNS = np.array([0.0, np.pi, np.pi, 0.0])  # of the legs in the trot: diagonal ones together [rad]

    def __init__(self, terrain: bool = False) -> None:
        self._terrain = terrain
        self.observation_size = 3 + 3 + 3 + 3 + 12 + 12 + 12 + 2 + (len(self._SCAN) if terrain else 0)

    def make_world(self) -> World:
        """The quadruped in its stance."""
        world = World()
        world.set_time_step(0.005)
        height = 0.0
        if self._terrain:
            hills = world.add_height_map(TerrainProperties(z_scale=0.25), name="terrain")
            height = max(hills.get_height(x, y) for x in (-0.4, 0.0, 0.4) for y in (-0.3, 0.0, 0.3))
        else:
            world.add_ground(name="ground")
        robot = world.add_articulated_system(resource("robots/quadruped.urdf"), name="quadruped")
        start = STANCE.copy()
        start[2] += height
        robot.set_generalized_coordinate(start)
        robot.set_joint_gains(80.0, 2.0)
        robot.set_pd_target(start, np.zeros(18))
        return world

    def bind(self, batch: WorldBatch) -> None:
        """Also commands and the last actions."""
        super().bind(batch)
        self._start = self.robot.coordinates[0].copy()
        self._commands = np.zeros((len(batch), 3))
        self._actions = np.zeros((len(batch), 12))
        self._jerk = np.zeros(len(batch))
        self._scan = self.robot.height_scan(self._SCAN) if self._terrain else np.zeros((len(batch), 0))

    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """Near the stance, with a new command."""
        state = uniform(randoms, -1.0, 1.0, 12 + 18 + 3)
        self.robot.coordinates[members] = self._start
        self.robot.coordinates[members, 7:] += 0.1 * state[:, :12]
        self.robot.velocities[members] = 0.1 * state[:, 12:30]
        self._commands[members] = state[:, 30:] * (0.5, 0.2, 0.4) + (0.5, 0.0, 0.0)
        self._actions[members] = 0.0

    def act(self, actions: Rows) -> None:
        """Targets of the joints."""
        self._jerk = np.square(actions - self._actions).sum(axis=1)
        self._actions[:] = actions
        self.robot.position_targets[:, 7:] = self.targets(self.batch.times, actions)

    def targets(self, times: Rows, actions: Rows) -> Rows:
        """Joint positions that actions mean at a time of the trot, a row per member."""
        bend = self._LIFT * np.maximum(0.0, np.sin(self._phase(times)[:, None] + self._TURNS))
        trot = np.stack((np.zeros_like(bend), bend, -2.0 * bend), axis=2).reshape(len(actions), 12)
        rows: Rows = STANCE[7:] + trot + self._SCALE * actions
        return rows

    def _phase(self, times: Rows) -> Rows:
        """Of the trot [rad]."""
        phase: Rows = 2.0 * np.pi * self._RATE * times
        return phase

    def _in_base(self, vectors: Rows) -> Rows:
        """Vectors of the world seen from the trunk."""
        w, xyz = self.robot.coordinates[:, 3:4], self.robot.coordinates[:, 4:7]
        turned = np.cross(xyz, vectors)
        rotated: Rows = vectors - 2.0 * w * turned + 2.0 * np.cross(xyz, turned)
        return rotated

    def observe(self) -> Rows:
        """Up direction, velocities in the trunk's frame, command, joints, last action, phase, height of the ground."""
        q, u, count = self.robot.coordinates, self.robot.velocities, len(self._commands)
        up = self._in_base(np.tile((0.0, 0.0, 1.0), (count, 1)))
        moving = (self._in_base(u[:, :3]), self._in_base(u[:, 3:6]))
        joints = (q[:, 7:] - STANCE[7:], 0.1 * u[:, 6:])
        phase = self._phase(self.batch.times)
        clock = np.stack((np.sin(phase), np.cos(phase)), axis=1)
        return np.hstack((up, *moving, self._commands, *joints, self._actions, clock, self._scan))

    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Velocity as commanded."""
        u = self.robot.velocities
        linear, angular = self._in_base(u[:, :3]), self._in_base(u[:, 3:6])
        up = self._in_base(np.tile((0.0, 0.0, 1.0), (len(actions), 1)))[:, 2]
        miss = np.square(linear[:, :2] - self._commands[:, :2]).sum(axis=1)
        turn = np.square(angular[:, 2] - self._commands[:, 2])
        effort = np.square(self.robot.applied_forces[:, 6:]).sum(axis=1)
        bad = 0.5 * np.square(linear[:, 2]) + 0.05 * np.square(angular[:, :2]).sum(axis=1)
        rewards = np.exp(-4.0 * miss) + 0.5 * np.exp(-4.0 * turn) - bad - 2e-5 * effort - 0.02 * self._jerk
        return rewards, (up < 0.5) | (self.robot.coordinates[:, 2] < self._lowest())

    def _lowest(self) -> float:
        return -np.inf if self._terrain else 0.2
