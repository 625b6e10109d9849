"""The vector environment of rsl_rl (from its version 3 on) on a RaisimVectorEnv."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from raisim_ros import InvalidValueError
from raisim_ros.envs.registration import make_vector_env
from raisim_ros.envs.vector import RaisimVectorEnv


class RslRlEnv(VecEnv):
    """``OnPolicyRunner(RslRlEnv("Quadruped-v0", 1024), settings)`` trains on one batch of worlds.

    All observations are in the group "policy". Tensors are of 32 bits.
    """

    def __init__(
        self, task_or_env: str | RaisimVectorEnv, num_envs: int = 1, device: str = "cpu", **settings: Any
    ) -> None:
        """The name of a registered task with settings of RaisimVectorEnv, or one that resets in the same step."""
        if isinstance(task_or_env, str):
            task_or_env = make_vector_env(task_or_env, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **settings)
        if task_or_env.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP:
            raise InvalidValueError("the environment resets in the next step; expected AutoresetMode.SAME_STEP")
        self.env, self.device, self.cfg = task_or_env, device, settings
        self.num_envs = task_or_env.num_envs
        self.num_actions = int(task_or_env.single_action_space.shape[0])
        self.max_episode_length = task_or_env.max_episode_steps
        self._observations = task_or_env.reset()[0]

    @property
    def episode_length_buf(self) -> Any:
        """Steps of the present episodes; the runner sets them to begin with episodes of any age."""
        return torch.from_numpy(self.env.elapsed.copy()).to(self.device)

    @episode_length_buf.setter
    def episode_length_buf(self, steps: Any) -> None:
        self.env.elapsed[:] = steps.cpu().numpy()

    def seed(self, seed: int) -> None:
        """Begin new episodes with the random numbers of a seed."""
        self._observations = self.env.reset(seed=seed)[0]

    def _tensor(self, values: Any) -> Any:
        return torch.as_tensor(values, dtype=torch.float32, device=self.device)

    def get_observations(self) -> Any:
        """The present observations."""
        return TensorDict({"policy": self._tensor(self._observations)}, batch_size=[self.num_envs], device=self.device)

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One environment step: observations, rewards, who has ended, and who of them only by time."""
        self._observations, rewards, terminated, truncated, _ = self.env.step(actions.detach().cpu().numpy())
        ended = torch.as_tensor(terminated | truncated, dtype=torch.long, device=self.device)
        extras = {"time_outs": torch.as_tensor(truncated & ~terminated, device=self.device)}
        return self.get_observations(), self._tensor(rewards), ended, extras
