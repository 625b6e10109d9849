"""System identification by batch: masses of an arm, friction of its joints and of the floor, fitted to a recording.

    python examples/learning/identify.py

The recording is what an arm with other masses and frictions did: angles of its joints, and the place of a puck that
slid over the floor, with noise. Each step of the fit (Gauss-Newton with damping, several starts) is one run of a
WorldBatch: for each start one member has the present guess, each of the others one parameter that is a little larger,
so that one run gives the errors and their slopes.
"""

from __future__ import annotations

import argparse

import numpy as np

from raisim_ros import World, WorldBatch, resource

LINKS = ("upper_arm", "forearm", "wrist_1_link")
NAMES = (*(f"mass of {link}" for link in LINKS), "friction of the joints", "friction of the floor")
NOMINAL = np.log([5.0, 3.0, 2.0, 1.0, 0.5])  # [kg, N m, 1]; logarithms keep them positive
SUBSTEPS, SAMPLES, NOISE = 10, 100, 1e-3


def make_world() -> World:
    """An arm that swings, and a puck that slides."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    arm = world.add_articulated_system(resource("robots/arm.urdf"), name="arm")
    arm.set_generalized_coordinate([0.0, 0.6, 0.8, 0.3, 0.0, 0.0])
    arm.set_pd_gains(60.0, 3.0)
    world.add_cylinder(0.1, 0.05, 1.0, name="puck", position=(0, 2, 0.025), velocity=(2.0, 0.5, 0))
    return world


def run(batch: WorldBatch, parameters: np.ndarray) -> np.ndarray:
    """What members with these parameters do (a row each): angles and the puck's place at each sample."""
    values = np.exp(parameters)
    arm, puck = batch.robot("arm"), batch.object("puck")
    arm.masses(LINKS)[:] = values[:, :3]
    arm.joint_friction[:] = values[:, 3:4]
    batch.material_pair()[:, 0] = batch.material_pair()[:, 3] = values[:, 4]
    batch.reset()
    told = []
    for k in range(SAMPLES):
        time = k * SUBSTEPS * 0.002
        lift, bend = 0.6 + 0.5 * np.sin(4 * time), 0.8 + 0.6 * np.cos(5 * time)
        arm.position_targets[:] = (np.sin(3 * time), lift, bend, 0.3, 0, 0)
        batch.step(SUBSTEPS)
        told.append(np.hstack((arm.coordinates[:, :4], puck.poses[:, :2])))
    return np.stack(told, axis=1).reshape(len(parameters), -1)


def fit(recording: np.ndarray, rounds: int = 20, starts: int = 8, seed: int = 0) -> tuple[np.ndarray, float]:
    """Parameters whose run is nearest to a recording, and what is left of the difference (root of the mean square)."""
    count, step = len(NOMINAL), 1e-4
    batch = WorldBatch(make_world(), starts * (count + 1))
    offsets = step * np.vstack((np.zeros(count), np.eye(count)))
    tried = NOMINAL + np.random.default_rng(seed).uniform(-0.5, 0.5, (starts, count))
    tried[0] = NOMINAL
    guesses, left, damping = tried.copy(), np.full(starts, np.inf), np.full(starts, 1e-2)
    slopes, miss = np.zeros((starts, recording.size, count)), np.zeros((starts, recording.size))
    for number in range(rounds):
        rows = run(batch, (tried[:, None] + offsets).reshape(-1, count)).reshape(starts, count + 1, -1)
        now = np.sqrt(np.mean(np.square(rows[:, 0] - recording), axis=1))
        better = now < left
        guesses[better], left[better] = tried[better], now[better]
        slopes[better] = (rows[better, 1:] - rows[better, :1]).transpose(0, 2, 1) / step
        miss[better] = recording - rows[better, 0]
        damping = np.clip(np.where(better, 0.3, 5.0) * damping, 1e-9, 1e6)
        for k in range(starts):
            square = slopes[k].T @ slopes[k]
            move = np.linalg.solve(square + damping[k] * np.diag(np.diag(square)), slopes[k].T @ miss[k])
            tried[k] = guesses[k] + np.clip(move, -0.4, 0.4)
        print(f"round {number:2d}: difference {left.min():.2e}")
    return np.exp(guesses[np.argmin(left)]), float(left.min())


def main() -> None:
    """Record, forget, and find again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    truth = NOMINAL + rng.uniform(-0.5, 0.5, len(NOMINAL))
    recording = run(WorldBatch(make_world(), 1), truth[None])[0]
    recording += NOISE * rng.normal(size=recording.shape)
    found, _ = fit(recording, given.rounds)
    for name, true, value in zip(NAMES, np.exp(truth), found, strict=True):
        print(f"{name:24s} {value:7.4f}, in truth {true:7.4f} ({100 * (value / true - 1):+.2f} %)")


if __name__ == "__main__":
    main()
