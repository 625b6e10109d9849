"""How far a box slides, for many frictions and speeds: on all processors of this machine, or of a cluster.

    python examples/learning/sweep_friction.py                   # here
    RAY_ADDRESS=auto python examples/learning/sweep_friction.py  # on the cluster that this machine belongs to

Needs raisim_ros[distributed]; ``--workers 0`` does without, in this process.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from raisim_ros import World
from raisim_ros.distributed import sweep


def slide(parameters: tuple[float, float], random: np.random.Generator) -> np.ndarray:
    """Places of a box that is pushed along x, over two seconds [m]."""
    friction, speed = parameters
    world = World()
    world.set_default_material(friction, 0.0, 0.0)
    world.add_ground()
    box = world.add_box(0.3, 0.3, 0.1, 2.0, position=(0, 0, 0.05), velocity=(speed, 0, 0))
    return np.array([(world.integrate(10), box.get_position()[0])[1] for _ in range(40)])


def main() -> None:
    """Sweep, and compare with the closed form v² / (2 μ g)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--count", type=int, default=10, help="frictions, and as many speeds")
    given = parser.parse_args()
    sets = list(product(np.linspace(0.2, 1.0, given.count), np.linspace(0.5, 2.5, given.count)))
    places = sweep(slide, sets, workers=given.workers, progress=True)
    ways = np.array([one[-1] for one in places])
    exact = np.array([speed**2 / (2 * friction * 9.81) for friction, speed in sets])
    error = abs(ways - exact).max()
    print(f"{len(sets)} boxes slide {ways.min():.3f} to {ways.max():.3f} m, the closed form within {error:.4f} m")


if __name__ == "__main__":
    main()
