"""A gripper on a gantry that picks up a cube."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raisim_ros import ArticulatedSystemOption, World, WorldBatch
from raisim_ros.envs.task import Rows, Task, uniform

_SLIDE = """<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
  {shape}</link>
  <joint name="{name}_slide" type="prismatic"><parent link="{parent}"/><child link="{name}"/><axis xyz="{axis}"/>
  <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="2"/></joint>"""
_BOX = """<{0}><origin xyz="0 0 {1}"/><geometry><box size="{2}"/></geometry></{0}>"""


def _slide(
    name: str, parent: str, axis: str, bounds: tuple[float, float], mass: float, effort: float, *box: str
) -> str:
    """A link on a sliding joint; `box`: height of its centre and sizes [m]."""
    shape = "".join(_BOX.format(kind, *box) for kind in ("visual", "collision")) if box else ""
    return _SLIDE.format(
        name=name, parent=parent, axis=axis, lower=bounds[0], upper=bounds[1], mass=mass, effort=effort, shape=shape
    )


class CubeGrasp(Task):
    """Take a cube that lies somewhere on the floor between two fingers and hold it 0.2 m above.

    Actions: motion of the gripper along x, y, z, and opening (1) or closing (-1) of the fingers. Reward: the fingers
    near the cube, its height, and staying at the goal. An episode ends when the cube is pushed out of reach.
    """

    substeps = 5
    action_low, action_high = -np.ones(4), np.ones(4)
    observation_size = 5 + 5 + 3 + 3 + 3 + 4
    _EDGE, _REACH, _GOAL = 0.06, 0.25, 0.2  # [m]
    _TIP = -0.14  # centre between the finger tips, from the palm [m]
    _START = np.array([0.0, 0.0, 0.32, 0.08, 0.08])
    _MOST, _LEAST = np.array([0.3, 0.3, 0.45, 0.09, 0.09]), np.array([-0.3, -0.3, 0.16, 0.0, 0.0])
    _STEP = np.array([0.02, 0.02, 0.02, 0.02, 0.02])  # largest change of the targets per step [m]

    def make_world(self) -> World:
        """The gripper above the cube."""
        low, most = self._LEAST, self._MOST
        robot = (
            '<robot name="gripper"><link name="world"/>'
            + _slide("bridge", "world", "1 0 0", (low[0], most[0]), 2.0, 400.0)
            + _slide("trolley", "bridge", "0 1 0", (low[1], most[1]), 1.0, 400.0)
            + _slide("palm", "trolley", "0 0 1", (low[2], most[2]), 1.0, 400.0, "0", "0.08 0.22 0.04")
            + _slide("left", "palm", "0 1 0", (low[3], most[3]), 0.1, 40.0, "-0.1", "0.04 0.015 0.14")
            + _slide("right", "palm", "0 -1 0", (low[4], most[4]), 0.1, 40.0, "-0.1", "0.04 0.015 0.14")
            + "</robot>"
        )
        world = World()
        world.set_time_step(0.004)
        world.set_default_material(0.9, 0.0, 0.0)
        world.add_ground(name="floor")
        options = ArticulatedSystemOption(self_collision="none")
        gripper = world.add_articulated_system(robot, name="gripper", options=options)
        gripper.set_generalized_coordinate(self._START)
        gripper.set_pd_gains([6000.0] * 3 + [2000.0] * 2, [400.0] * 3 + [40.0] * 2)
        gripper.set_pd_target(self._START, np.zeros(5))
        edge = self._EDGE
        world.add_box(edge, edge, edge, 0.2, name="cube", position=(0, 0, edge / 2), appearance="orange")
        return world

    def bind(self, batch: WorldBatch) -> None:
        """Also the cube and the forces on the fingers."""
        super().bind(batch)
        self._cube = batch.object("cube")
        self._forces = self.robot.contact_forces(["left", "right"])

    def start(self, members: NDArray[np.int64], randoms: Sequence[np.random.Generator]) -> None:
        """The cube lies anywhere in reach, turned by up to 17 degrees."""
        drawn = uniform(randoms, -1.0, 1.0, 3)
        self._cube.poses[members, :2] = 0.8 * self._REACH * drawn[:, :2]
        half = 0.15 * drawn[:, 2]
        self._cube.poses[members, 3], self._cube.poses[members, 6] = np.cos(half), np.sin(half)

    def act(self, actions: Rows) -> None:
        """Changes of the targets, which stay within 4 cm of where the gripper is, that is, of a bounded force."""
        moves = actions[:, (0, 1, 2, 3, 3)] * self._STEP
        q = self.robot.coordinates
        targets = np.clip(self.robot.position_targets + moves, q - 0.04, q + 0.04)
        self.robot.position_targets[:] = np.clip(targets, self._LEAST, self._MOST)

    def _tip(self) -> Rows:
        """Where the finger tips meet."""
        return self.robot.coordinates[:, :3] + (0.0, 0.0, self._TIP)

    def observe(self) -> Rows:
        """Joints and their velocities, where the fingers, the cube and the cube from the fingers are, how it lies."""
        place = self._cube.poses[:, :3]
        joints = (self.robot.coordinates, self.robot.velocities)
        return np.hstack((*joints, self._tip(), place, place - self._tip(), self._cube.poses[:, 3:]))

    def judge(self, actions: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Near, held, high."""
        place = self._cube.poses[:, :3]
        away = np.linalg.norm(place - self._tip(), axis=1)
        held = np.linalg.norm(self._forces, axis=2).min(axis=1) > 0.5
        height = np.clip(place[:, 2] - self._EDGE / 2, 0.0, self._GOAL)
        there = np.abs(place[:, 2] - self._EDGE / 2 - self._GOAL) < 0.02
        rewards = -away + held * (0.2 + 5.0 * height + there) - 0.005 * np.square(actions).sum(axis=1)
        return rewards, np.abs(place[:, :2]).max(axis=1) > 0.4
