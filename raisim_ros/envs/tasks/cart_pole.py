"""Balance a pole on a cart, and a ball on a plate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raisim_ros import World, WorldBatch, resource
from raisim_ros.envs.task import Rows, Task, uniform


class CartPole(Task):
    """Keep the pole upright: 1 per step until it leans more than 0.2 rad or the cart is 2.4 m away."""

    substeps = 4
    action_low, action_high = np.array([-1.0]), np.array([1.0])
    observation_size = 4
    _FORCE = 20.0  # [N]

    def make_world(self) -> World:
        """A cart on its rail; the pole stands at zero."""
        world = World()
        world.set_time_step(0.005)
        world.add_articulated_system(resource("robots/cartpole.urdf"), name="cart")
        return world

    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """Near the upright position."""
        state = uniform(randoms, -0.05, 0.05, 4)
        self.robot.coordinates[members], self.robot.velocities[members] = state[:, :2], state[:, 2:]

    def act(self, actions: Rows) -> None:
        """A force on the cart."""
        self.robot.forces[:, 0] = self._FORCE * actions[:, 0]

    def observe(self) -> Rows:
        """Position, angle and their velocities."""
        return np.hstack((self.robot.coordinates, self.robot.velocities))

    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """1 while it stands."""
        place, angle = self.robot.coordinates.T
        ended = (np.abs(place) > 2.4) | (np.abs(angle) > 0.2)
        return np.ones(len(actions)), ended


class BallBalance(Task):
    """Tilt a plate so that a ball on it comes to the middle and stays there."""

    substeps = 4
    action_low, action_high = -np.ones(2), np.ones(2)
    observation_size = 10
    _REACH, _TILT, _RADIUS = 0.45, 0.25, 0.05  # [m, rad, m]
    _PLATE = f"""<robot name="plate"><link name="world"/>
      <link name="ring"><inertial><mass value="0.2"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
      <link name="plate"><inertial><mass value="1"/><inertia ixx="0.05" iyy="0.05" izz="0.1"/></inertial>
        <collision><geometry><box size="{2 * _REACH} {2 * _REACH} 0.02"/></geometry></collision>
        <visual><geometry><box size="{2 * _REACH} {2 * _REACH} 0.02"/></geometry></visual></link>
      <joint name="roll" type="revolute"><parent link="world"/><child link="ring"/><origin xyz="0 0 0.5"/>
        <axis xyz="1 0 0"/>
        <limit lower="-0.4" upper="0.4" effort="50" velocity="10"/></joint>
      <joint name="pitch" type="revolute"><parent link="ring"/><child link="plate"/><axis xyz="0 1 0"/>
        <limit lower="-0.4" upper="0.4" effort="50" velocity="10"/></joint></robot>"""

    def make_world(self) -> World:
        """A plate on two joints with a ball on it."""
        world = World()
        world.set_time_step(0.005)
        plate = world.add_articulated_system(self._PLATE, name="plate")
        plate.set_joint_gains(60.0, 4.0)
        world.add_sphere(self._RADIUS, 0.2, name="ball", position=(0, 0, 0.51 + self._RADIUS))
        return world

    def bind(self, batch: WorldBatch) -> None:
        """Also the ball."""
        super().bind(batch)
        self._ball = batch.object("ball")

    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """The ball lies somewhere on the plate."""
        self._ball.poses[members, :2] = uniform(randoms, -0.3, 0.3, 2)

    def act(self, actions: Rows) -> None:
        """Targets of the two angles."""
        self.robot.position_targets[:] = self._TILT * actions

    def observe(self) -> Rows:
        """Angles of the plate and their velocities, place and velocity of the ball."""
        ball = np.hstack((self._ball.poses[:, :3] - (0, 0, 0.51 + self._RADIUS), self._ball.twists[:, :3]))
        return np.hstack((self.robot.coordinates, self.robot.velocities, ball))

    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """The nearer to the middle and the slower, the better."""
        away = np.linalg.norm(self._ball.poses[:, :2], axis=1)
        speed = np.linalg.norm(self._ball.twists[:, :3], axis=1)
        return np.exp(-((away / 0.15) ** 2)) - 0.05 * speed, self._ball.poses[:, 2] < 0.3
