"""Thousands of random worlds and what the physics promises about them: `make soak WORLDS=5000`.

Worlds that break a promise are written out as world files and named; the distribution of the solver's error is printed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
from random_worlds import make_world
from world_promises import Promises, keep_scene


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int(np.random.SeedSequence().entropy % 10**6))
    parser.add_argument("--folder", type=Path, default=Path("build/failed_worlds"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    errors, broken = [], 0
    print(f"worlds of seeds {arguments.seed} to {arguments.seed + arguments.count - 1}", flush=True)
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        watch = Promises(make_world(seed))
        faults = watch.run()
        errors += watch.errors
        if faults:
            broken += 1
            file = keep_scene(make_world(seed), arguments.folder)
            print(f"{watch.made.name} ({file}):\n    {'; '.join(faults[:3])}", flush=True)
    shares = ", ".join(f"{np.mean(np.array(errors) > limit):.2%} above {limit:g}" for limit in (1e-6, 1e-4, 1e-2))
    print(f"{arguments.count} worlds, {broken} broken; relative violation in {len(errors)} steps: {shares}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
