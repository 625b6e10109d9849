"""WorldBatch against as many single Worlds in Python, and its threads: environment steps per second of the quadruped.

    python bench/batch.py [members] [steps]

Rates are per second of CPU time, so that a busy machine does not count; that of threads is per second of wall time.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from raisim_ros import WorldBatch
from raisim_ros.envs.tasks.quadruped import STANCE, Quadruped

SUBSTEPS = 4


def rate(step, members: int, steps: int, clock=time.process_time) -> float:
    for k in range(3):
        step(k)
    begin = clock()
    for k in range(steps):
        step(k)
    return members * steps / (clock() - begin)


def main() -> None:
    members, steps = (int(value) for value in (*sys.argv[1:], 64, 50)[:2])
    world = Quadruped().make_world()
    rng = np.random.default_rng(0)
    targets = [np.tile(STANCE, (members, 1)) for _ in range(8)]
    for rows in targets:
        rows[:, 7:] += rng.uniform(-0.1, 0.1, (members, 12))

    def batch_step(threads: int):
        batch = WorldBatch(world, members, threads)
        robot = batch.robot()
        q, u, wanted = robot.coordinates, robot.velocities, robot.position_targets

        def step(k: int) -> None:
            wanted[:] = targets[k % 8]
            batch.step(SUBSTEPS)
            np.hstack((q, u))

        return step

    worlds = [world.copy() for _ in range(members)]
    robots = [one["quadruped"] for one in worlds]

    def loop_step(k: int) -> None:
        for row, one, robot in zip(targets[k % 8], worlds, robots, strict=True):
            robot.set_pd_target(row, np.zeros(18))
            one.integrate(SUBSTEPS)
            robot.get_state()

    batch, loop = rate(batch_step(1), members, steps), rate(loop_step, members, steps)
    print(f"{members} members: batch {batch:.0f}, single worlds {loop:.0f} environment steps/s: {batch / loop:.2f} x")
    one, two = (rate(batch_step(threads), members, steps, time.perf_counter) for threads in (1, 2))
    print(f"threads 1 -> 2: {two / one:.2f} x")
    batch = WorldBatch(world, 1000)
    robot = batch.robot()
    masses, friction = robot.masses(), batch.material_pair()
    begin = time.perf_counter()
    batch.reset()
    print(f"reset of 1000 members: {1e3 * (time.perf_counter() - begin):.2f} ms")
    begin = time.perf_counter()
    masses *= rng.uniform(0.9, 1.1, masses.shape)
    friction[:, 0] = rng.uniform(0.5, 1.0, 1000)
    batch.refresh()
    print(f"masses and friction of 1000 members: {1e3 * (time.perf_counter() - begin):.2f} ms")


if __name__ == "__main__":
    main()
