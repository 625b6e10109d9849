"""A policy that train_quadruped.py made, at work: the quadruped follows a commanded velocity in the viewer.

    python examples/learning/walk.py                       # the policy that comes with the examples
    python examples/learning/walk.py policy.npz --speed 0.8 --turn 0.3
    python examples/learning/walk.py --film walk.gif       # a film in place of the viewer

examples/ros/walk_with_policy.py runs the same policy over ROS.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from raisim_ros import View
from raisim_ros.envs import RaisimEnv
from raisim_ros.envs.registration import make_env

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it
from policy import POLICY, Policy


def film(env: RaisimEnv, step: Callable[[], None], path: str, seconds: float) -> None:
    """Draw every fourth step; the camera goes with the robot."""
    from PIL import Image

    pictures = []
    for k in range(round(50 * seconds)):
        step()
        if k % 4 == 0:
            x, y, _ = env.world["quadruped"].get_base_position()
            pictures.append(Image.fromarray(env.world.render(View((x + 0.6, y - 1.9, 0.8), (x, y, 0.25)), 400, 240)))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=80, loop=0)


def main() -> None:
    """Read the command line and walk."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("policy", nargs="?", default=str(POLICY))
    parser.add_argument("--speed", type=float, default=0.6, help="forward [m/s]")
    parser.add_argument("--side", type=float, default=0.0, help="to the left [m/s]")
    parser.add_argument("--turn", type=float, default=0.0, help="to the left [rad/s]")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--film", default="")
    given = parser.parse_args()
    policy, env = Policy(given.policy), make_env("Quadruped-v0", render_mode=None if given.film else "human")
    kept = {"observation": env.reset(seed=0)[0]}

    def step() -> None:
        kept["observation"][9:12] = given.speed, given.side, given.turn  # the command
        kept["observation"] = env.step(policy(kept["observation"]))[0]

    if given.film:
        film(env, step, given.film, given.seconds)
    else:
        for _ in range(round(50 * given.seconds)):
            step()
    print(f"walked to {env.world['quadruped'].get_base_position().round(2)} in {given.seconds} s")
    env.close()


if __name__ == "__main__":
    main()
