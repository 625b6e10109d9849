"""Topics of many things are made a little at a time, and fast where the world has time."""

import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.ros import following
from raisim_ros.ros.following import Following


class SlowEndpoints:
    """Five things whose topics take longer than a slice each."""

    def __init__(self):
        self.made = 0

    def follow(self):
        for _ in range(5):
            end = time.monotonic() + following._SLICE
            while time.monotonic() < end:
                pass
            self.made += 1
            yield


@pytest.mark.parametrize("late", [True, False])
def test_others_are_served_between_and_only_a_late_world_is_waited_for(late, monkeypatch):
    waits, later, done = [], [], []
    monkeypatch.setattr(following.time, "sleep", waits.append)
    endpoints = SlowEndpoints()
    changes = []
    Following([endpoints], lambda: changes.append(endpoints.made), later.append, lambda: late).follow(done.append)
    rounds = 0
    while later:
        assert not done
        later.pop()()
        rounds += 1
    assert (endpoints.made, changes, done, rounds) == (5, [5], [None], 5)
    assert waits == [following._SLICE] * 5 * late
