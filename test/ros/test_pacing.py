"""Deadlines follow the real-time factor without drift; measured on a clock of the test's own."""

import random

import pytest

from raisim_ros.ros.pacing import (
    GIVE_UP_AFTER,
    NEVER,
    Pacer,
    RateMeter,
    WallTimer,
    is_time,
    period_in_steps,
    steps_until_multiple,
    steps_until_time,
)


class FakeClock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return FakeClock()


@pytest.mark.parametrize("factor", [0.1, 1.0, 3.0])
def test_deadlines_follow_the_factor_without_drift(clock, factor):
    pacer = Pacer(factor, clock)
    pacer.restart(0.0)
    start, sim_time, generator = clock.now, 0.0, random.Random(1)
    for _ in range(10_000):
        sim_time += 0.005
        clock.now += generator.uniform(0.0, 0.001)  # computing
        clock.now += pacer.seconds_until(sim_time) + generator.uniform(0.0, 0.0005)  # sleeping
    assert sim_time / (clock.now - start) == pytest.approx(factor, rel=1e-3)
    assert pacer.overruns == 0


def test_factor_zero_never_waits(clock):
    pacer = Pacer(0.0, clock)
    assert pacer.seconds_until(1e6) == 0.0
    clock.now += 1e6
    assert pacer.seconds_until(0.0) == 0.0
    assert pacer.overruns == 0


def test_a_short_delay_is_caught_up(clock):
    pacer = Pacer(1.0, clock)
    pacer.restart(0.0)
    clock.now += 0.5 * GIVE_UP_AFTER
    assert pacer.seconds_until(0.005) == 0.0
    assert pacer.seconds_until(GIVE_UP_AFTER) == pytest.approx(0.5 * GIVE_UP_AFTER)
    assert pacer.overruns == 0


def test_a_long_delay_is_given_up_and_counted_once(clock):
    pacer = Pacer(1.0, clock)
    pacer.restart(0.0)
    clock.now += 10.0
    assert pacer.seconds_until(0.005) == 0.0
    assert pacer.overruns == 1
    assert pacer.seconds_until(0.010) == pytest.approx(0.005)
    assert pacer.overruns == 1


def test_changing_the_factor_starts_from_now(clock):
    pacer = Pacer(1.0, clock)
    pacer.restart(0.0)
    clock.now += 1.0
    pacer.set_real_time_factor(2.0, 1.0)
    assert pacer.seconds_until(2.0) == pytest.approx(0.5)


def test_rate_meter_measures_the_last_window(clock):
    meter = RateMeter(1.0, clock)
    assert meter.rate() == 0.0
    count = 0
    for _ in range(5000):
        clock.now += 0.001
        count += 1
        meter.add(count)
    assert meter.rate() == pytest.approx(1000.0, rel=1e-6)
    for _ in range(5000):
        clock.now += 0.001
        count += 3
        meter.add(count)
    assert meter.rate() == pytest.approx(3000.0, rel=1e-6)
    meter.restart()
    assert meter.rate() == 0.0


def test_wall_timer_keeps_its_rate(clock):
    timer = WallTimer(30.0, clock)
    fired = 0
    for _ in range(10_000):
        fired += timer.due()
        clock.now += 0.001
    assert fired == pytest.approx(300, abs=1)


@pytest.mark.parametrize(
    ("rate_hz", "time_step", "period"),
    [(100.0, 0.005, 2), (50.0, 0.005, 4), (1000.0, 0.005, 1), (30.0, 0.001, 33)],
)
def test_period_in_steps(rate_hz, time_step, period):
    assert period_in_steps(rate_hz, time_step) == period


@pytest.mark.parametrize("rate", [1e-300, 5e-324, 1e-20])
def test_a_rate_so_low_that_it_never_comes(rate):
    assert period_in_steps(rate, 0.005) == NEVER
    assert steps_until_time(rate, 3.0, 0.005) == NEVER
    assert not is_time(rate, 3.0, 0.005)


def test_steps_until_multiple():
    assert [steps_until_multiple(step, 4) for step in range(6)] == [4, 3, 2, 1, 4, 3]


@pytest.mark.parametrize(("rate", "time_step"), [(10.0, 0.001), (30.0, 0.005), (400.0, 0.0025), (7.3, 0.003), (1000.0, 0.004)])
def test_times_of_a_rate_that_is_no_multiple_of_the_step(rate, time_step):
    """On average the rate, at most that of the steps; never late by a step; steps_until_time() leads to each."""
    steps = 5000
    times = [step for step in range(1, steps + 1) if is_time(rate, step * time_step, time_step)]
    assert len(times) == pytest.approx(min(rate * time_step, 1.0) * steps, abs=1)
    if rate * time_step < 1.0:
        for number, step in enumerate(times, start=1):
            assert -1e-9 <= step * time_step - number / rate < time_step * (1 - 1e-9)
    visited, step = [], 0
    while step < steps:
        step += steps_until_time(rate, step * time_step, time_step)
        visited.append(step)
    assert visited[: len(times)] == times
