"""Topics of many things are made a little at a time, and fast where the world has time."""

import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.ros import following
from raisim_ros.ros.following import Following
from raisim_ros.ros.following_endpoints import FollowingEndpoints


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


class Named(FollowingEndpoints):
    """Topics of names; those with a capital letter cannot be made."""

    def __init__(self, wanted):
        super().__init__(None, None)
        self.wanted, self.there = wanted, set()

    def follow(self):
        return self._follow(lambda action: action())

    def _wanted(self):
        return {name: name for name in self.wanted}

    def _detach(self, gone):
        self.there -= gone

    def _attach(self, new):
        self.there |= new.keys()

    def _make(self, thing):
        if not thing.islower():
            raise ValueError(f"no topic can be called {thing}")
        return thing

    def _destroy(self, made):
        pass


def test_what_cannot_be_made_is_told_once_and_holds_up_nobody():
    first, second, done = Named(["a", "B", "c"]), Named(["d"]), []
    follow = Following([first, second], lambda: None, lambda later: later(), lambda: False).follow
    follow(done.append)
    assert str(done.pop()) == "no topic can be called B"
    assert (first.there, second.there) == ({"a", "c"}, {"d"})
    second.wanted = ["d", "e"]
    follow(done.append)
    assert done.pop() is None
    assert second.there == {"d", "e"}
    first.wanted = ["a"]
    follow(done.append)
    first.wanted = ["a", "B"]
    follow(done.append)
    assert [str(one) for one in done] == ["None", "no topic can be called B"]
