"""Random worlds of cloth, bodies, shells and grains: contacts, self collision and tearing bring no energy, momentum is kept."""

from __future__ import annotations

import pytest
from random_soft import make_world, watch

SEEDS = [0, 1, 2, 3, 6, 8, 11, 13, 16, 19, 22, 24, 26, 27, 29, 30, 33, 34, 53, 61, 68, 129, 302, 304, 358, 383, 385, 387, 1007, 1022,
         210030, 760152, 760178]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_random_worlds_gain_neither_energy_nor_momentum(seed: int) -> None:
    made = make_world(seed)
    gain, drift = watch(made)
    assert gain < 1e-3, made.name
    assert drift < 1e-9, made.name
