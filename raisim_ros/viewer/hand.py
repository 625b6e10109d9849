"""A hand on an object: what browsers tell of their mouse, in the order in which it moved."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from raisim_ros.viewer.feed import Feed
from raisim_ros.viewer.scene import Item, Moment, SceneModel, Vector, to_body, to_world

START, UPDATE, END = "start", "update", "end"


@dataclass(frozen=True)
class Picked:
    """What a person points at: an object and one of its bodies."""

    item: Item
    body: int


@dataclass(frozen=True, eq=False)
class Touch:
    """A moment of a drag: where it began and where the mouse is now (world)."""

    picked: Picked
    phase: str
    start: Vector
    end: Vector
    browser: int


@dataclass(frozen=True, eq=False)
class _Grip:
    picked: Picked
    point: Vector  # in the frame of the body
    end: Vector
    browser: int


class Hand:
    """Moves what is held while time stands still, and pulls at it with a spring while it runs.

    Browsers tell of drags in a thread that must not wait; a thread of the hand's own does what they say, one after the
    other, and leaves out what is outdated. pull() is called for every picture that is shown.
    """

    def __init__(self, select: Callable[[Item], None], attempt: Callable[[Callable[[], Any]], Any]) -> None:
        """`select` is told what was taken hold of; `attempt` calls what may fail."""
        self._select, self._attempt = select, attempt
        self._feed: Feed | None = None
        self._model = SceneModel([], 0)
        self._moment: Moment | None = None
        self._grip: _Grip | None = None
        self._touches: deque[Touch] = deque()
        self._lock = threading.Lock()  # nobody pulls at what was let go
        self._worker = ThreadPoolExecutor(1, "raisim_ros viewer hand")

    def serve(self, feed: Feed) -> None:
        """Move the things of this feed from now on."""
        with self._lock:
            self._feed, self._moment, self._grip = feed, None, None

    def close(self) -> None:
        """No browser is left; what they said last is done."""
        self._worker.shutdown()

    def touch(self, touch: Touch) -> None:
        """A browser tells of its mouse. Returns at once."""
        self._touches.append(touch)
        self._worker.submit(self._attempt, self._follow)

    def _follow(self) -> None:
        """What was told first, or the last of the moves that were told in a row."""
        if not self._touches:
            return  # an earlier round saw it, too
        touch = self._touches.popleft()
        while self._touches and touch.phase == UPDATE and _same_drag(touch, self._touches[0]):
            touch = self._touches.popleft()
        if touch.phase == START:
            self._take(touch)
        elif touch.phase == END:
            self._let_go(touch.browser)
        else:
            self._carry(touch)

    def _take(self, touch: Touch) -> None:
        with self._lock:
            pose = self._pose(touch.picked)
            if pose is None:
                return
            self._grip = _Grip(touch.picked, to_body(pose, touch.start), touch.start, touch.browser)
        self._select(touch.picked.item)
        self._carry(touch)

    def _carry(self, touch: Touch) -> None:
        """Only by the browser that took hold of it last."""
        with self._lock:
            grip, feed = self._grip, self._feed
            if grip is None or feed is None or self._moment is None or grip.browser != touch.browser:
                return
            self._grip = replace(grip, end=touch.end)
            moves = self._moment.paused
        shift = touch.end - grip.end
        if moves and shift.any():
            feed.move(grip.picked.item.name, shift)

    def _let_go(self, browser: int) -> None:
        with self._lock:
            if self._grip is not None and self._grip.browser == browser:
                self._release()

    def _release(self) -> None:
        self._grip = None
        if self._feed is not None:
            self._feed.release()

    def pull(self, moment: Moment, model: SceneModel) -> tuple[Vector, Vector] | None:
        """Tell the feed where the hand is; both ends of the spring, if there is one."""
        with self._lock:
            self._moment, self._model, grip = moment, model, self._grip
            if grip is None or self._feed is None:
                return None
            pose = self._pose(grip.picked)
            if pose is None:
                self._release()
                return None
            if moment.paused:
                return None
            self._feed.pull(grip.picked.item.name, grip.picked.body, grip.point, grip.end)
            return to_world(pose, grip.point), grip.end

    def _pose(self, picked: Picked) -> Vector | None:
        """Where that body is; others may have come and gone since it was picked, or itself."""
        item = next((one for one in self._model.items if one.name == picked.item.name), None)
        return None if item is None or self._moment is None else self._moment.poses[item.first_frame + picked.body]


def _same_drag(one: Touch, other: Touch) -> bool:
    return other.phase == UPDATE and other.browser == one.browser
