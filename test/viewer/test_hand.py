"""Hands on objects: browsers tell of drags faster than feeds can follow, and from several threads."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from raisim_ros.viewer.hand import END, START, UPDATE, Hand, Picked, Touch
from raisim_ros.viewer.scene import Item, Moment, SceneModel

BALL = Item("ball", "sphere", True, [], (), 0)


class SlowFeed:
    """Notes what it is told, and takes its time."""

    def __init__(self, delay=0.0):
        self.told, self.shift, self.moves, self.delay = [], np.zeros(3), 0, delay

    def move(self, name, shift):
        time.sleep(self.delay)
        self.shift += shift
        self.moves += 1

    def pull(self, name, body, point, target):
        time.sleep(self.delay)
        self.told.append(("pull", name, tuple(target)))

    def release(self):
        self.told.append(("release",))


def moment(paused, frames=1):
    poses = np.zeros((frames, 7))
    poses[:, 3] = 1.0
    poses[:, 0] = range(frames)
    return Moment(0.0, poses, paused)


def touch(phase, x, browser=1, item=BALL):
    return Touch(Picked(item, 0), phase, np.zeros(3), np.array([x, 0.0, 0.0]), browser)


@pytest.fixture
def hand():
    selected = []
    one = Hand(selected.append, lambda action: action())
    one.selected = selected
    yield one
    one.close()


def begin(hand, feed, paused, model=None):
    hand.serve(feed)
    hand.pull(moment(paused), model or SceneModel([BALL], 1))


def settle(hand):
    hand._worker.submit(lambda: None).result()


def test_what_is_moved_ends_where_the_mouse_is_let_go(hand):
    feed = SlowFeed(0.002)
    begin(hand, feed, paused=True)
    hand.touch(touch(START, 0.0))
    for x in np.linspace(0.01, 1.0, 200):
        hand.touch(touch(UPDATE, x))
    hand.touch(touch(END, 1.0))
    settle(hand)
    assert feed.shift == pytest.approx([1.0, 0.0, 0.0])
    assert feed.moves < 100  # what is outdated is left out
    assert hand.selected == [BALL]
    assert feed.told == [("release",)]


def test_nobody_pulls_at_what_was_let_go(hand):
    """The picture's thread pulls while another lets go: the last word is that of the hand."""
    feed = SlowFeed(0.001)
    begin(hand, feed, paused=False)
    model, over = SceneModel([BALL], 1), threading.Event()
    springs = []

    def show():
        while not over.is_set():
            springs.append(hand.pull(moment(paused=False), model))

    shower = threading.Thread(target=show)
    shower.start()
    for _ in range(40):
        hand.touch(touch(START, 0.0))
        hand.touch(touch(UPDATE, 0.5))
        settle(hand)
        hand.touch(touch(END, 0.5))
        settle(hand)
        assert feed.told[-1] == ("release",)
    over.set()
    shower.join()
    assert hand.pull(moment(paused=False), model) is None
    assert any(spring is not None for spring in springs)


def test_a_spring_begins_where_the_object_is_now(hand):
    """Others came before it in the list since it was taken hold of."""
    feed = SlowFeed()
    begin(hand, feed, paused=False)
    hand.touch(touch(START, 0.0))
    settle(hand)
    moved = Item("ball", "sphere", True, [], (), 2)
    start, end = hand.pull(moment(paused=False, frames=3), SceneModel([moved], 3))
    assert start == pytest.approx([2.0, 0.0, 0.0])
    assert end == pytest.approx([0.0, 0.0, 0.0])


def test_what_goes_is_let_go(hand):
    feed = SlowFeed()
    begin(hand, feed, paused=False)
    hand.touch(touch(START, 0.0))
    settle(hand)
    assert hand.pull(moment(paused=False), SceneModel([], 0)) is None
    hand.touch(touch(UPDATE, 0.5))
    settle(hand)
    assert hand.pull(moment(paused=False), SceneModel([BALL], 1)) is None
    assert feed.told == [("release",)]


def test_who_took_hold_last_moves_it(hand):
    feed = SlowFeed()
    begin(hand, feed, paused=True)
    hand.touch(touch(START, 0.0, browser=1))
    hand.touch(touch(START, 0.0, browser=2))
    hand.touch(touch(UPDATE, 5.0, browser=1))
    hand.touch(touch(UPDATE, 0.3, browser=2))
    hand.touch(touch(END, 5.0, browser=1))
    hand.touch(touch(UPDATE, 0.4, browser=2))
    settle(hand)
    assert feed.shift == pytest.approx([0.4, 0.0, 0.0])
    assert feed.told == []
