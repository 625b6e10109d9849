"""Lets topics come and go with the things of the world, a little at a time: making thousands takes many seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from raisim_ros.ros.following_endpoints import FollowingEndpoints

# Endpoints are made for so long at once; then others are served. The stepping thread, when it is late, has the
# interpreter's lock, which the middleware keeps while it makes them, for as long [s].
_SLICE = 0.01

Done = Callable[[Exception | None], None]
Follow = Callable[[Done], None]


class Following:
    """Follows with all endpoints of a node. For the executor thread."""

    def __init__(
        self,
        endpoints: Sequence[FollowingEndpoints[Any, Any, Any]],
        after_change: Callable[[], None],
        later: Callable[[Callable[[], None]], None],
        world_is_late: Callable[[], bool],
    ) -> None:
        """`after_change` is called when all have followed; `later` carries out a function after what waits already."""
        self._endpoints = endpoints
        self._after_change = after_change
        self._later = later
        self._world_is_late = world_is_late

    def follow(self, done: Done) -> None:
        """Topics of new things come, those of removed ones go; `done` is told, here if it is quick."""
        self._go_on(self._work(), done)

    def _work(self) -> Iterator[None]:
        failure: Exception | None = None
        for endpoints in self._endpoints:
            try:
                yield from endpoints.follow()
            except Exception as error:  # the others follow all the same
                failure = failure or error
        self._after_change()
        if failure is not None:
            raise failure

    def _go_on(self, work: Iterator[None], done: Done) -> None:
        end = time.monotonic() + _SLICE
        try:
            for _ in work:
                if time.monotonic() >= end:
                    if self._world_is_late():
                        time.sleep(_SLICE)
                    self._later(partial(self._go_on, work, done))
                    return
        except Exception as error:
            done(error)
        else:
            done(None)
