"""Tasks by name, for ``gymnasium.make`` and ``gymnasium.make_vec``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

from raisim_ros.description.checked import text
from raisim_ros.description.errors import InvalidValueError, near_names
from raisim_ros.envs.single import RaisimEnv
from raisim_ros.envs.task import Task
from raisim_ros.envs.tasks.arm import ArmReach
from raisim_ros.envs.tasks.cart_pole import BallBalance, CartPole
from raisim_ros.envs.tasks.grasp import CubeGrasp
from raisim_ros.envs.tasks.locomotion import ANT, HOPPER, HUMANOID, WALKER2D, Locomotion
from raisim_ros.envs.tasks.quadruped import Quadruped
from raisim_ros.envs.vector import RaisimVectorEnv

TASKS: dict[str, tuple[Callable[[], Task], int]] = {
    "CartPole-v0": (CartPole, 500),
    "BallBalance-v0": (BallBalance, 300),
    "Ant-v0": (lambda: Locomotion(ANT), 1000),
    "Hopper-v0": (lambda: Locomotion(HOPPER), 1000),
    "Walker2d-v0": (lambda: Locomotion(WALKER2D), 1000),
    "Humanoid-v0": (lambda: Locomotion(HUMANOID), 1000),
    "Quadruped-v0": (Quadruped, 500),
    "QuadrupedTerrain-v0": (lambda: Quadruped(terrain=True), 500),
    "ArmReach-v0": (ArmReach, 150),
    "CubeGrasp-v0": (CubeGrasp, 200),
}
"""Name, how the task is made, and steps of an episode."""


def _known(task: str) -> tuple[Callable[[], Task], int]:
    if text("task", task) not in TASKS:
        raise InvalidValueError(near_names("task", task, TASKS))
    return TASKS[task]


def make_env(task: str, **settings: Any) -> RaisimEnv:
    """One environment of a registered task."""
    return RaisimEnv(_known(task)[0](), **settings)


def make_vector_env(task: str, num_envs: int = 1, **settings: Any) -> RaisimVectorEnv:
    """The native vector environment of a registered task."""
    make, steps = _known(task)
    return RaisimVectorEnv(make(), num_envs, **{"max_episode_steps": steps, **settings})


def register() -> None:
    """Register all tasks as ``raisim_ros/<name>``; does nothing the second time."""
    for name, (_, steps) in TASKS.items():
        if f"raisim_ros/{name}" not in gymnasium.registry:
            gymnasium.register(
                f"raisim_ros/{name}",
                entry_point="raisim_ros.envs.registration:make_env",
                vector_entry_point="raisim_ros.envs.registration:make_vector_env",
                max_episode_steps=steps,
                kwargs={"task": name},
            )
