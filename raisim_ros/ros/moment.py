"""One moment of the simulation, as every message about it tells it."""

from __future__ import annotations

import time
from typing import NamedTuple

from raisim_ros.ros.conversions import Stamp, stamp


class Moment(NamedTuple):
    """After `step` steps."""

    step: int
    sim_time: float  # [s]
    wall_time: float  # [s] since the Unix epoch
    stamp: Stamp
    everything: bool  # publish all states, whether their time has come or not
    standing: bool = False  # time stands still: what is published repeats the last moment

    @classmethod
    def now(cls, step: int, sim_time: float, everything: bool, standing: bool = False) -> Moment:
        """The moment with the wall time of now."""
        return cls(step, sim_time, time.time(), stamp(sim_time), everything, standing)
