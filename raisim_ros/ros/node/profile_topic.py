"""`world/profile`: what the stages of a step take."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from raisim_ros.engine.types import StateBuffer
from raisim_ros.engine.world.world import World
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.topic import WallTimeTopic

_RATE_HZ = 2.0  # of wall time


class ProfileTopic(WallTimeTopic):
    """Times the stages while somebody listens, and tells the means of the steps since the message before."""

    def __init__(self, world: World, publisher: Any) -> None:
        super().__init__(_RATE_HZ, publisher)
        self._world = world
        self._told = world.get_profile()
        self._timing = False

    def due(self, moment: Moment) -> bool:
        """Whether its time has come and somebody listens."""
        listened = self._publisher.get_subscription_count() > 0
        if listened != self._timing:
            self._timing = listened
            self._world.set_profiling(listened)
            self._told = self._world.get_profile()
        return listened and self.timer.due()

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Tells them; a world that stands still has no steps to tell of."""
        sums = self._world.get_profile()
        spent, self._told = sums.since(self._told).microseconds(), sums
        if spent:
            pairs = [KeyValue(key=stage, value=f"{time_:.3f}") for stage, time_ in spent.items()]
            self._publisher.publish(DiagnosticStatus(name="µs per step", hardware_id="raisim_ros", values=pairs))
