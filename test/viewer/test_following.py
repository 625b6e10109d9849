"""Cameras that go with an object, however late pages answer."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from raisim_ros.viewer.following import Follower


class Camera:
    """As viser's: what is set is known at once, and what the page reports replaces it."""

    def __init__(self, position, look_at):
        self._position, self.look_at = np.array(position, float), np.array(look_at, float)

    @property
    def position(self):
        return self._position

    @position.setter
    def position(self, place):
        self.look_at = self.look_at + (place - self._position)
        self._position = np.array(place, float)


class Page:
    """Reports what it was told so many frames ago, turned and shifted as somebody wants."""

    def __init__(self, position=(3.0, 0.0, 1.0), look_at=(0.0, 0.0, 0.0), late=0):
        self.camera = Camera(position, look_at)
        self._late, self._told = late, [self._view()]
        self.shift = np.zeros(3)

    def _view(self):
        return self.camera.position.copy(), self.camera.look_at.copy()

    def atomic(self):
        return contextlib.nullcontext()

    def report(self):
        self._told.append(self._view())
        position, look_at = self._told[max(0, len(self._told) - 1 - self._late)]
        rounded = 1e-6 * np.array([1.0, -1.0, 1.0])
        self.camera._position, self.camera.look_at = position + self.shift + rounded, look_at + self.shift + rounded
        self.shift = np.zeros(3)


def way(frame):
    """A run that starts anew now and then, as recordings do."""
    return np.array([0.05 * (frame % 60), 0.3 * np.sin(0.1 * frame), 0.2])


@pytest.mark.parametrize("late", [0, 1, 40])
def test_the_object_stays_where_it_was_in_the_picture(late):
    page, follower = Page(late=late), Follower()
    follower.begin()
    first = way(0)
    for frame in range(400):
        follower.follow({1: page}, way(frame))
        assert page.camera.look_at - way(frame) == pytest.approx(-first, abs=1e-3)
        assert page.camera.position - page.camera.look_at == pytest.approx([3.0, 0.0, 1.0], abs=1e-3)
        page.report()


def test_a_page_that_comes_later_looks_at_the_object():
    follower, pages = Follower(), {1: Page()}
    follower.begin(np.array([2.0, -2.0, 1.5]))
    for frame in range(50):
        if frame == 30:
            pages[2] = Page((9.0, 9.0, 9.0), (5.0, 5.0, 0.0))
        follower.follow(pages, way(frame))
        for page in pages.values():
            assert page.camera.look_at == pytest.approx(way(frame), abs=1e-3)
            assert page.camera.position == pytest.approx(way(frame) + np.array([2.0, -2.0, 1.5]), abs=1e-3)
            page.report()


def test_a_shifted_view_stays_shifted():
    page, follower = Page(late=3), Follower()
    follower.begin(np.array([3.0, 0.0, 1.0]))
    for frame in range(100):
        follower.follow({1: page}, way(frame))
        page.shift = np.array([0.0, 0.0, 0.5]) if frame == 50 else page.shift
        if frame != 51:  # it learns of it then
            assert page.camera.look_at - way(frame) == pytest.approx([0.0, 0.0, 0.5 * (frame > 50)], abs=0.02)
        page.report()
