"""Cameras that go with an object."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from raisim_ros.viewer.scene import Vector

# Moves that are not told to pages [m]; what a page reports is rounded by so much, as a share of the distance.
SMALLEST_MOVE, ROUNDING = 1e-4, 1e-4
# Places that pages were told and may report yet: pages that draw slowly answer many seconds late.
MEMORY = 900


@dataclass(eq=False)
class _Track:
    """One page: what it looks at, relative to the object, and what it was told lately."""

    aim: Vector
    told: deque[Vector] = field(default_factory=lambda: deque(maxlen=MEMORY))


class Follower:
    """Moves the cameras of pages with an object; people may turn, zoom and shift their views meanwhile.

    Cameras are placed relative to the object, never by what it moved: what a slow page reports is old by then, and
    the moves since would be lost.
    """

    def __init__(self) -> None:
        self._tracks: dict[int, _Track] = {}
        self._home: Vector | None = None

    def begin(self, home: Vector | None = None) -> None:
        """Another object, or another view of it. `home`: where cameras are, seen from the object; None: as they are."""
        self._tracks.clear()
        self._home = home

    def follow(self, clients: Mapping[int, Any], place: Vector) -> None:
        """The object is here now [m]."""
        self._tracks = {key: track for key, track in self._tracks.items() if key in clients}
        for key, client in clients.items():
            camera = client.camera
            look_at, position = _read(camera)
            arm, track = position - look_at, self._tracks.get(key)
            new = track is None
            if track is None:
                track = self._tracks[key] = _Track(look_at - place if self._home is None else np.zeros(3))
                track.told.append(look_at)
                arm = arm if self._home is None else self._home
            else:
                _notice_shift(track, look_at, float(np.linalg.norm(arm)))
            target = place + track.aim
            if not new and np.abs(target - track.told[-1]).max() < SMALLEST_MOVE:
                continue
            with client.atomic():
                camera.position = target + arm
                camera.look_at = target
            track.told.append(target)


def _read(camera: Any) -> tuple[Vector, Vector]:
    """What it looks at and where it is, of one report: they come in another thread."""
    while True:
        look_at, position = np.array(camera.look_at, float), np.array(camera.position, float)
        if np.array_equal(look_at, camera.look_at):
            return look_at, position


def _notice_shift(track: _Track, look_at: Vector, distance: float) -> None:
    """A page looks at what it was never told: somebody shifted the view."""
    told = np.array(track.told)
    ways = look_at - told
    lengths = np.linalg.norm(ways, axis=1)
    nearest = int(lengths.argmin())
    if lengths[nearest] > max(SMALLEST_MOVE, ROUNDING * distance):
        track.aim = track.aim + ways[nearest]
