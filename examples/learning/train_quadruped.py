"""PPO of Stable-Baselines3 teaches the quadruped to walk with a commanded velocity.

    python examples/learning/train_quadruped.py --minutes 10 --out policy.zip
    python examples/learning/train_quadruped.py --show policy.zip          # in the viewer

Needs raisim_ros[learn], stable-baselines3 and torch.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from raisim_ros.envs import Randomization
from raisim_ros.envs.registration import make_env
from raisim_ros.envs.stable_baselines import StableBaselinesEnv

TABLE = (Randomization("masses", 0.9, 1.1), Randomization("friction", 0.6, 1.0, operation="set"))


class UntilTime(BaseCallback):
    """Ends after a wall time, and prints the curve: seconds, steps, mean reward per step."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end, self._begin = time.monotonic() + seconds, time.monotonic()

    def _on_rollout_end(self) -> None:
        rewards = self.locals["rollout_buffer"].rewards
        seconds = time.monotonic() - self._begin
        print(f"{seconds:7.1f} s {self.num_timesteps:9d} steps  reward {np.mean(rewards):.3f}", flush=True)

    def _on_step(self) -> bool:
        return time.monotonic() < self._end


def train(minutes: float, envs: int, out: str, steps: int) -> None:
    """Train until the time or the steps are over."""
    env = StableBaselinesEnv("Quadruped-v0", envs, randomization=TABLE)
    env.seed(1)
    model = PPO(
        "MlpPolicy", env, n_steps=24, batch_size=envs * 6, n_epochs=4, learning_rate=1e-3, gamma=0.98, gae_lambda=0.95,
        ent_coef=0.0, clip_range=0.2, target_kl=0.02, seed=1, device="cpu",
        policy_kwargs={"net_arch": [128, 128], "log_std_init": -1.0},
    )  # fmt: skip
    model.learn(steps, callback=UntilTime(60.0 * minutes))
    if out:
        model.save(out)


def show(policy: str) -> None:
    """Run a policy in the viewer until Ctrl-C."""
    model = PPO.load(policy, device="cpu")
    env = make_env("Quadruped-v0", render_mode="human")
    observation, _ = env.reset(seed=0)
    while True:
        action, _ = model.predict(observation, deterministic=True)
        observation, _, terminated, *_ = env.step(action)
        if terminated:
            observation, _ = env.reset()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--steps", type=int, default=100_000_000)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--out", default="")
    parser.add_argument("--show", default="")
    given = parser.parse_args()
    if given.show:
        show(given.show)
    else:
        train(given.minutes, given.envs, given.out, given.steps)


if __name__ == "__main__":
    main()
