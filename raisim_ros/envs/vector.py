"""A vector environment that is one batch of worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from raisim_ros import InvalidValueError, WorldBatch
from raisim_ros.description.checked import mapping, shown, text, whole
from raisim_ros.envs.randomization import Randomization, Randomizer
from raisim_ros.envs.task import Task
from raisim_ros.envs.window import Window

Rows = NDArray[Any]
RENDER_MODES = ("rgb_array", "human")


class RaisimVectorEnv(VectorEnv[Rows, Rows, Rows]):
    """All environments of a task in one WorldBatch; the same seeds give the same bits.

    Environment k of ``reset(seed=s)`` is what a RaisimEnv of ``reset(seed=s + k)`` is. An environment whose world
    diverges is terminated.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        *,
        max_episode_steps: int = 1000,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        randomization: Sequence[Randomization] = (),
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(task, Task):
            raise InvalidValueError(f"task is {shown(task)}; expected a Task")
        if render_mode is not None and text("render_mode", render_mode) not in RENDER_MODES:
            raise InvalidValueError(f"render_mode is '{render_mode}'; expected one of {', '.join(RENDER_MODES)}")
        self.task, self.num_envs, self.render_mode = task, num_envs, render_mode
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(mode.value for mode in AutoresetMode)
            raise InvalidValueError(f"autoreset_mode is {shown(autoreset_mode)}; expected one of {names}") from None
        self.max_episode_steps = whole("max_episode_steps", max_episode_steps, 1)
        self.batch = WorldBatch(task.make_world(), num_envs, threads)
        task.bind(self.batch)
        self._randomizer = Randomizer(self.batch, randomization)
        fps = round(1.0 / (self.batch.member(0).get_time_step() * task.substeps))
        self.metadata = {"autoreset_mode": self._mode, "render_modes": list(RENDER_MODES), "render_fps": fps}
        size = (task.observation_size,)
        self.single_observation_space = spaces.Box(-np.inf, np.inf, size, np.float64)
        low, high = (np.asarray(bound, dtype=np.float32) for bound in (task.action_low, task.action_high))
        self.single_action_space = spaces.Box(low, high, dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._randoms: list[np.random.Generator] = []
        self.elapsed = np.zeros(num_envs, dtype=np.int64)  # steps of the present episodes; may be written
        self._ended = np.zeros(num_envs, dtype=np.bool_)
        self._window = Window(self.metadata["render_fps"])

    # ---- episodes ----

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Rows, dict[str, Any]]:
        """Begin new episodes; ``options={"reset_mask": mask}`` in some environments only."""
        mask = mapping("options", options).get("reset_mask")
        members = np.arange(self.num_envs) if mask is None else np.flatnonzero(self._mask(mask))
        self._seed(seed)
        self._begin(members)
        return self.task.observe(), {}

    def _mask(self, given: Any) -> Rows:
        try:
            mask = np.asarray(given)
        except ValueError:  # rows of different lengths
            mask = np.array(None)
        if mask.shape != (self.num_envs,) or mask.dtype.kind not in "biu":
            raise InvalidValueError(f"reset_mask is {shown(given)}; expected {self.num_envs} of True and False")
        return mask

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        seed = getattr(seed, "tolist", lambda: seed)()  # NumPy's numbers and arrays
        if isinstance(seed, int):
            seed = [whole("seed", seed) + k for k in range(self.num_envs)]
        if seed is None:
            seed = [None] * self.num_envs if not self._randoms else ()
        elif not isinstance(seed, Sequence) or len(seed) != self.num_envs:
            raise InvalidValueError(f"seed is {shown(seed)}; expected a number, or {self.num_envs} of them")
        seed = [one if one is None else whole("seed", one) for one in seed]
        for k, one in enumerate(seed):
            if not self._randoms or len(self._randoms) <= k:
                self._randoms.append(np.random.default_rng(one))
            elif one is not None:
                self._randoms[k] = np.random.default_rng(one)

    def _begin(self, members: NDArray[np.int64]) -> None:
        if len(members) == 0:
            return
        randoms = [self._randoms[k] for k in members]
        self.batch.reset(members)
        self._randomizer.draw(members, randoms)
        self.task.start(members, randoms)
        self.batch.refresh(members)
        self.elapsed[members] = 0
        self._ended[members] = False

    def _checked(self, actions: Rows) -> Rows:
        """The actions within their bounds, one row per environment."""
        if not self._randoms:
            raise ResetNeeded("step() before the first reset()")
        given = self._numbers(actions)
        if given.shape != self.action_space.shape:
            raise InvalidValueError(f"actions have shape {given.shape}; expected {self.action_space.shape}")
        unknown = np.isnan(given).any(axis=1)  # infinite ones are cut
        if unknown.any():
            raise InvalidValueError(f"member {unknown.argmax()}: its actions hold nan; expected numbers")
        return np.clip(given, self.task.action_low, self.task.action_high)

    @staticmethod
    def _numbers(actions: Rows) -> Rows:
        try:
            return np.asarray(actions, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"actions are {shown(actions)}; expected numbers") from error

    def step(self, actions: Rows) -> tuple[Rows, Rows, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One environment step in all environments."""
        given = self._checked(actions)
        restart = self._ended & (self._mode == AutoresetMode.NEXT_STEP)
        self.task.act(given)
        self.batch.step(self.task.substeps)
        rewards, terminated = self.task.judge(given)
        terminated = terminated | self.batch.diverged
        self.elapsed += 1
        truncated = self.elapsed >= self.max_episode_steps
        info: dict[str, Any] = {}
        if restart.any():
            self._begin(np.flatnonzero(restart))
            rewards = np.where(restart, 0.0, rewards)
            terminated, truncated = terminated & ~restart, truncated & ~restart
        self._ended |= terminated | truncated
        if self._mode == AutoresetMode.SAME_STEP and self._ended.any():
            ended = self._ended.copy()
            info["final_obs"] = np.full(self.num_envs, None, dtype=object)
            for member, row in enumerate(self.task.observe()):
                info["final_obs"][member] = row if ended[member] else None
            info["_final_obs"] = ended
            self._begin(np.flatnonzero(ended))
        return self.task.observe(), rewards, terminated, truncated, info

    # ---- pictures ----

    def render(self) -> Any:
        """Pictures of all environments ("rgb_array"), or the first one in a viewer ("human")."""
        if self.render_mode == "rgb_array":
            return tuple(self.batch.member(k).render() for k in range(self.num_envs))
        if self.render_mode == "human":
            self._window.show(self.batch.member(0))
        return None

    def close_extras(self, **kwargs: Any) -> None:
        """Close the viewer."""
        self._window.close()
