"""What the physics promises, on random worlds made of everything there is.

Fixed seeds make failures repeatable; some more are drawn in every run and printed. `make soak` runs thousands. A world that
breaks a promise is written out as a world file.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from random_worlds import make_world
from world_promises import Promises, keep_scene

FRESH = int(os.environ.get("RAISIM_SEED", np.random.SeedSequence().entropy % 10**6))
FAILED = Path(os.environ.get("RAISIM_FAILED_WORLDS", Path(tempfile.gettempdir()) / "raisim_failed_worlds"))


@pytest.mark.parametrize("first", [*range(0, 120, 10), FRESH])
def test_random_worlds_keep_their_promises(first):
    broken = []
    for seed in range(first, first + 10):
        made = make_world(seed)
        faults = Promises(made).run()
        if faults:
            file = keep_scene(make_world(seed), FAILED)
            broken.append(f"{made.name} ({file}): {'; '.join(faults[:3])}")
    assert not broken, "\n".join(broken)


def test_the_watch_sees_what_is_broken():
    """Energy and momentum that come from nowhere."""
    made = make_world(7)
    made.driven = False
    watch = Promises(made)
    integrate = made.world.integrate

    def kicked(steps=1):
        integrate(steps)
        for body in (one for one in made.moving if one not in made.robots):
            body.set_linear_velocity(1.5 * body.get_linear_velocity() + 1.0)

    made.world.integrate = kicked
    faults = watch.run()
    assert any(fault.startswith("P2") for fault in faults)
