"""When the next step is due: absolute deadlines at a real-time factor, and measured rates."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

Clock = Callable[[], float]

# A loop that is later than this gives the lost time up instead of running ever faster to catch up [s].
GIVE_UP_AFTER = 0.1

# Steps until what never comes; no wait is longer, however low a rate is.
NEVER = 1 << 62


class Pacer:
    """Ties simulation time to wall time.

    Deadlines are computed from one anchor, never from the previous deadline, so they do not drift. The anchor
    moves only when the factor changes, after a pause, and when the loop falls behind (an overrun).
    """

    def __init__(self, real_time_factor: float = 1.0, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._factor = real_time_factor
        self._anchor_wall = clock()
        self._anchor_sim = 0.0
        self.overruns = 0

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per wall second; 0 = as fast as possible."""
        return self._factor

    def set_real_time_factor(self, factor: float, sim_time: float) -> None:
        """Changes the factor from `sim_time` on."""
        self._factor = factor
        self.restart(sim_time)

    def restart(self, sim_time: float) -> None:
        """From now on `sim_time` belongs to this moment."""
        self._anchor_wall = self._clock()
        self._anchor_sim = sim_time

    def seconds_until(self, sim_time: float) -> float:
        """Wall time left until `sim_time` is due; 0 when it is due, late, or the factor is 0.

        A delay beyond GIVE_UP_AFTER counts as an overrun and moves the anchor.
        """
        if self._factor == 0.0:
            return 0.0
        deadline = self._anchor_wall + (sim_time - self._anchor_sim) / self._factor
        left = deadline - self._clock()
        if left < -GIVE_UP_AFTER:
            self.overruns += 1
            self.restart(sim_time)
        return max(left, 0.0)


class RateMeter:
    """Growth of a counter per wall second, over about the last `window` seconds."""

    def __init__(self, window: float = 1.0, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._window = window
        self._samples: deque[tuple[float, float]] = deque()

    def restart(self) -> None:
        """Forgets what was measured."""
        self._samples.clear()

    def add(self, value: float) -> None:
        """Notes the counter's value at this moment."""
        now = self._clock()
        # One sample per hundredth of the window is enough, however fast the loop runs.
        if len(self._samples) >= 2 and now - self._samples[-2][0] < 0.01 * self._window:
            self._samples[-1] = (now, value)
        else:
            self._samples.append((now, value))
        while len(self._samples) > 2 and now - self._samples[1][0] >= self._window:
            self._samples.popleft()

    def rate(self) -> float:
        """Growth per second; 0 before two samples were noted."""
        if len(self._samples) < 2:
            return 0.0
        (start, first), (end, last) = self._samples[0], self._samples[-1]
        return (last - first) / (end - start) if end > start else 0.0


def period_in_steps(rate_hz: float, time_step: float) -> int:
    """Steps between two events that happen `rate_hz` times per simulated second; at least one."""
    per_step = rate_hz * time_step
    return max(1, round(1.0 / per_step)) if per_step * NEVER > 1.0 else NEVER


def steps_until_multiple(step: int, period: int) -> int:
    """Steps until the step count is the next multiple of `period`."""
    return period - step % period


def periods(rate_hz: float, sim_time: float, time_step: float) -> int:
    """Whole periods that have passed at a time; rounding may shift it by a thousandth of a step."""
    return math.floor((sim_time + 1e-3 * time_step) * rate_hz)


def is_time(rate_hz: float, sim_time: float, time_step: float) -> bool:
    """Whether a multiple of the period lies in the step that ends at `sim_time`; the period need not be whole steps."""
    return periods(rate_hz, sim_time, time_step) > periods(rate_hz, sim_time - time_step, time_step)


def steps_until_time(rate_hz: float, sim_time: float, time_step: float) -> int:
    """Steps until is_time() holds, at least one."""
    if rate_hz * time_step * NEVER <= 1.0:
        return NEVER
    wait = (periods(rate_hz, sim_time, time_step) + 1) / rate_hz - sim_time
    return max(1, math.ceil(wait / time_step - 1e-3))


class WallTimer:
    """True at most `rate_hz` times per wall second, for what only people look at."""

    def __init__(self, rate_hz: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self.set_rate(rate_hz)

    def set_rate(self, rate_hz: float) -> None:
        """Changes the rhythm from now on."""
        self.rate_hz, self._period = rate_hz, 1.0 / rate_hz
        self._next = self._clock()

    def due(self) -> bool:
        """Whether the period has passed; the next one then begins."""
        now = self._clock()
        if now < self._next:
            return False
        # Keep the rhythm while on time; start a new one after a gap.
        self._next = max(self._next + self._period, now)
        return True
