"""Spinning lidars that fire column by column while the world steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine.arguments import Vector

# Part of a column by which rounding may shift its time.
_SLACK = 1e-6


@dataclass(frozen=True)
class LidarPose:
    """Where a lidar was at a time [s]."""

    time: float
    position: Vector
    quaternion: Vector


@dataclass(frozen=True)
class Burst:
    """Columns that fire between two poses: column k at the share `first_share` + k * `share_increment` of the way."""

    first: int  # column, counted from the direction of time 0
    count: int
    begin: LidarPose
    end: LidarPose
    first_share: float
    share_increment: float


@dataclass(frozen=True)
class Sweep:
    """What fired since the last sweep.

    `returns` is [column, row, (x, y, z, range, intensity)], each in the frame of the sensor at the time of its column;
    column k fired at `begin` + k / `columns_per_second` [s].
    """

    begin: float
    first: int
    columns_per_second: float
    returns: NDArray[np.float32]

    @property
    def times(self) -> Vector:
        """Of each column [s]."""
        return self.begin + np.arange(len(self.returns)) / self.columns_per_second


class RollingSweep:
    """Collects the columns that a lidar fires between one sweep and the next.

    Column n fires at time n / (columns a second). Its pose is interpolated between those before and after the step;
    everything else stands where it is after the step. `cast` writes a burst into an array like Sweep.returns.
    """

    _rate: float
    _rows: int
    _cast: Any
    _last: LidarPose | None
    _first: int  # column with which the sweep began
    _parts: list[NDArray[np.float32]]

    def __init__(
        self, columns_per_second: float, rows: int, cast: Callable[[Burst, NDArray[np.float32]], None]
    ) -> None:
        self._rate = columns_per_second
        self._rows = rows
        self._cast = cast
        self._last = None
        self._first = 0
        self._parts = []

    def __getstate__(self) -> dict[str, Any]:
        """Without `cast`, which who copies it gives it again."""
        return {name: value for name, value in vars(self).items() if name != "_cast"}

    def casting(self, cast: Callable[[Burst, NDArray[np.float32]], None]) -> None:
        """Let a copy fire, too."""
        self._cast = cast

    def restart(self) -> None:
        """Drop what fired so far; the sweep begins with the next pose."""
        self._last, self._parts = None, []

    def _column_at(self, time: float) -> int:
        """The first column that fires at that time or later."""
        return math.ceil(time * self._rate - _SLACK)

    def advance(self, pose: LidarPose) -> None:
        """Fire the columns whose time has come; a time before the last one begins a new sweep."""
        last = self._last
        if last is None or pose.time < last.time:
            self._parts, self._first = [], self._column_at(pose.time)
        elif pose.time > last.time:
            first, duration = self._column_at(last.time), pose.time - last.time
            count = self._column_at(pose.time) - first
            if count > 0:
                share = (first / self._rate - last.time) / duration
                burst = Burst(first, count, last, pose, share, 1.0 / (self._rate * duration))
                part = np.empty((count, self._rows, 5), np.float32)
                self._cast(burst, part)
                self._parts.append(part)
        self._last = pose

    def take(self) -> Sweep:
        """What fired since the last time; the next sweep begins here."""
        returns = np.concatenate([np.empty((0, self._rows, 5), np.float32), *self._parts])
        sweep = Sweep(self._first / self._rate, self._first, self._rate, returns)
        self._first += len(returns)
        self._parts = []
        return sweep

    def phase(self) -> tuple[LidarPose | None, int, list[NDArray[np.float32]]]:
        """Everything that decides the next sweep; parts are never written twice."""
        return self._last, self._first, list(self._parts)

    def set_phase(self, phase: tuple[LidarPose | None, int, list[NDArray[np.float32]]]) -> None:
        """Go back to an earlier phase."""
        self._last, self._first = phase[:2]
        self._parts = list(phase[2])
