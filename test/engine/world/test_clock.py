"""Simulation time: a whole number of steps, whatever their number."""

import pytest


@pytest.mark.parametrize("time_step", [0.001, 0.0003])
def test_time_does_not_drift(world, time_step):
    world.set_time_step(time_step)
    world.integrate(1_000_000)
    assert world.get_world_time() == pytest.approx(1_000_000 * time_step, rel=3e-16)


def test_a_set_time_is_where_it_goes_on(world):
    world.integrate(1234)
    world.set_world_time(7.0)
    world.integrate(1000)
    assert world.get_world_time() == pytest.approx(7.0 + 1000 * world.get_time_step(), rel=3e-16)
