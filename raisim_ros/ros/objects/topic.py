"""What the stepping loop expects of everything that publishes."""

from __future__ import annotations

from typing import Any, Protocol

from raisim_ros.engine.types import StateBuffer
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import NEVER, WallTimer


class Topic(Protocol):
    """One or several topics; used by the stepping thread alone."""

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Objects came, went or changed, or the time step changed."""

    def steps_until_due(self, step: int) -> int:
        """Steps until the next message must go out."""

    def due(self, moment: Moment) -> bool:
        """Whether a message must go out at this moment."""

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what is due; `states` has the rows of the last rebuild."""


class WallTimeTopic:
    """What goes out at a rate in Hz of wall time, while somebody listens."""

    def __init__(self, rate_hz: float, publisher: Any) -> None:
        self.timer = WallTimer(rate_hz)
        self._publisher = publisher

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Nothing here depends on the objects."""

    def steps_until_due(self, step: int) -> int:
        """It follows wall time and never asks the loop to stop at a step."""
        return NEVER

    def due(self, moment: Moment) -> bool:
        """Whether its time has come and somebody listens."""
        return self._publisher.get_subscription_count() > 0 and (moment.everything or self.timer.due())
