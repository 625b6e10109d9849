"""`/clock`: simulation time, published before anything that carries it."""

from __future__ import annotations

from typing import Any

from rosgraph_msgs.msg import Clock

from raisim_ros.ros.frozen_message import FrozenMessage
from raisim_ros.ros.moment import Moment


class ClockTopic:
    """Simulation time for every node with `use_sim_time`."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._message = FrozenMessage(Clock())
        self._time = self._message.numbers("clock.sec", "clock.nanosec").view("u4")

    def publish(self, moment: Moment) -> None:
        """Publishes the time of the moment."""
        self._time[:] = moment.stamp
        self._publisher.publish(self._message.to_bytes())
