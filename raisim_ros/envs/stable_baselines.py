"""Stable-Baselines3's vector environment on a RaisimVectorEnv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from raisim_ros import InvalidValueError
from raisim_ros.envs.registration import make_vector_env
from raisim_ros.envs.vector import RaisimVectorEnv

Rows = NDArray[Any]


class StableBaselinesEnv(VecEnv):
    """``PPO("MlpPolicy", StableBaselinesEnv("Quadruped-v0", 64))`` trains on one batch of worlds."""

    def __init__(self, task_or_env: str | RaisimVectorEnv, num_envs: int = 1, **settings: Any) -> None:
        """The name of a registered task with settings of RaisimVectorEnv, or one that resets in the same step."""
        if isinstance(task_or_env, str):
            task_or_env = make_vector_env(task_or_env, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        if task_or_env.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP:
            raise InvalidValueError("the environment resets in the next step; expected AutoresetMode.SAME_STEP")
        self.env = task_or_env
        self.render_mode = task_or_env.render_mode
        self._actions: Rows = np.zeros((0, 0))
        self._returns, self._lengths = np.zeros(self.env.num_envs), np.zeros(self.env.num_envs, dtype=np.int64)
        super().__init__(self.env.num_envs, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> Rows:
        """Begin new episodes, with the seeds of seed()."""
        seeds = None if all(one is None for one in self._seeds) else self._seeds
        self._reset_seeds()
        self._returns[:], self._lengths[:] = 0.0, 0
        return self.env.reset(seed=seeds)[0]

    def step_async(self, actions: Rows) -> None:
        """Keep the actions for step_wait()."""
        self._actions = actions

    def step_wait(self) -> tuple[Rows, Rows, Rows, list[dict[str, Any]]]:
        """Make the step."""
        rows, rewards, terminated, truncated, info = self.env.step(self._actions)
        ended = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(ended):
            infos[k] = {
                "terminal_observation": info["final_obs"][k],
                "TimeLimit.truncated": bool(truncated[k] and not terminated[k]),
                "episode": {"r": float(self._returns[k]), "l": int(self._lengths[k]), "t": 0.0},
            }
        self._returns[ended], self._lengths[ended] = 0.0, 0
        return rows, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """Close the viewer."""
        self.env.close()

    def get_images(self) -> Sequence[Any]:
        """A picture of each environment."""
        return [self.env.batch.member(k).render() for k in range(self.num_envs)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the vector environment, once for each index."""
        return [getattr(self.env, attr_name, None)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector environment."""
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of the vector environment; its result stands for each index."""
        return [getattr(self.env, method_name)(*args, **kwargs)] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * len(list(self._get_indices(indices)))
