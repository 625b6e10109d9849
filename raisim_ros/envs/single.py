"""One environment: a vector environment with one world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gymnasium import Env
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from raisim_ros import World
from raisim_ros.description.checked import mapping, whole
from raisim_ros.envs.randomization import Randomization
from raisim_ros.envs.task import Task
from raisim_ros.envs.vector import RENDER_MODES, RaisimVectorEnv

Row = NDArray[Any]


class RaisimEnv(Env[Row, Row]):
    """A task as a single environment; ``world`` is its world, to look at or to draw."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012  (Gymnasium's form)

    def __init__(
        self, task: Task, *, randomization: Sequence[Randomization] = (), render_mode: str | None = None
    ) -> None:
        self._vector = RaisimVectorEnv(
            task,
            1,
            max_episode_steps=2**62,  # the wrapper TimeLimit counts
            threads=1,
            autoreset_mode=AutoresetMode.DISABLED,
            randomization=randomization,
            render_mode=render_mode,
        )
        self.metadata = {**self.metadata, "render_fps": self._vector.metadata["render_fps"]}
        self.render_mode = render_mode
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    @property
    def world(self) -> World:
        """The world of the environment."""
        return self._vector.batch.member(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Row, dict[str, Any]]:
        """Begin a new episode."""
        mapping("options", options)
        if seed is not None:
            seed = whole("seed", seed)
        super().reset(seed=seed)
        observations, info = self._vector.reset(seed=seed)
        return observations[0], info

    def step(self, action: Row) -> tuple[Row, float, bool, bool, dict[str, Any]]:
        """One environment step."""
        rows: Any = [action]  # whatever it is: looked at there
        observations, rewards, terminated, truncated, info = self._vector.step(rows)
        if self.render_mode == "human":
            self.render()
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Any:
        """A picture, height x width x 3 ("rgb_array"), or the viewer ("human")."""
        pictures = self._vector.render()
        return pictures[0] if pictures is not None else None

    def close(self) -> None:
        """Close the viewer."""
        self._vector.close()
