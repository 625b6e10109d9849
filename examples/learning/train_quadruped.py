"""PPO of Stable-Baselines3 teaches the quadruped to walk with a commanded velocity.

    python examples/learning/train_quadruped.py --minutes 10 --out policy.zip   # and policy.npz, for walk.py

Needs raisim_ros[learn], stable-baselines3 and torch.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from raisim_ros.envs import Randomization
from raisim_ros.envs.stable_baselines import StableBaselinesEnv

TABLE = (Randomization("masses", 0.9, 1.1), Randomization("friction", 0.6, 1.0, operation="set"))


class UntilTime(BaseCallback):
    """Ends after a wall time, and prints the curve: seconds, steps, mean return and length of the last episodes."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end, self._begin = time.monotonic() + seconds, time.monotonic()

    def _on_rollout_end(self) -> None:
        seconds, episodes = time.monotonic() - self._begin, self.model.ep_info_buffer
        if episodes:
            told, length = (np.mean([one[key] for one in episodes]) for key in "rl")
            steps = f"{self.num_timesteps:9d} steps"
            print(f"{seconds:7.1f} s {steps}  return {told:.1f} in {length:.1f} steps", flush=True)

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
        export(model, Path(out).with_suffix(".npz"))


def export(model: PPO, path: Path) -> None:
    """Write the layers of the policy for walk.py, which needs no torch."""
    net = model.policy
    layers = [one for one in [*net.mlp_extractor.policy_net, net.action_net] if hasattr(one, "weight")]
    weights = {f"weight{k}": one.weight.detach().numpy() for k, one in enumerate(layers)}
    biases = {f"bias{k}": one.bias.detach().numpy() for k, one in enumerate(layers)}
    np.savez_compressed(path, **weights, **biases)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--steps", type=int, default=100_000_000)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--out", default="")
    given = parser.parse_args()
    train(given.minutes, given.envs, given.out, given.steps)


if __name__ == "__main__":
    main()
