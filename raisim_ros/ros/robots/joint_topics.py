"""`<robot>/joint_states`: positions, velocities and efforts of a robot's joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from raisim_ros.engine.types import ArticulationBuffer, StateBuffer
from raisim_ros.ros.frozen_message import FrozenMessage
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.state_topics import joint_numbers
from raisim_ros.ros.pacing import period_in_steps, steps_until_multiple

_FIELDS = ("position", "velocity", "effort")


class _JointMessage:
    """The frozen message of one robot."""

    def __init__(self, names: list[str]) -> None:
        zeros = [0.0] * len(names)
        self._message = FrozenMessage(JointState(name=names, position=zeros, velocity=zeros, effort=zeros))
        self._stamp = self._message.numbers("header.stamp.sec", "header.stamp.nanosec").view(np.uint32)
        self._numbers = [self._message.numbers(field) for field in _FIELDS] if names else []

    def fill(self, moment: Moment, entry: ObjectRow, robots: ArticulationBuffer) -> bytes:
        self._stamp[:] = moment.stamp
        for view, values in zip(self._numbers, joint_numbers(entry, robots), strict=False):
            view[:] = values
        return self._message.to_bytes()


class JointTopics:
    """Publishes the joints of every robot that somebody listens to, at a rate in Hz of simulation time."""

    def __init__(self, rate_hz: float, read_articulations: Callable[[], ArticulationBuffer]) -> None:
        self.rate_hz = rate_hz
        self._read_articulations = read_articulations
        self._publishers: dict[int, Any] = {}
        self._messages: dict[int, _JointMessage] = {}
        self._robots: list[ObjectRow] = []
        self._period = 1

    def attach(self, object_id: int, publisher: Any) -> None:
        """From now on the robot's joints go out through `publisher`."""
        self._publishers[object_id] = publisher

    def detach(self, object_id: int) -> None:
        """Lets go of the robot's publisher."""
        self._publishers.pop(object_id, None)
        self._messages.pop(object_id, None)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._period = period_in_steps(self.rate_hz, time_step)
        self._robots = [entry for entry in rows if entry.joints is not None]

    def steps_until_due(self, step: int) -> int:
        """Steps until the next message must go out."""
        return steps_until_multiple(step, self._period)

    def _listened(self) -> list[ObjectRow]:
        return [
            entry
            for entry in self._robots
            if (publisher := self._publishers.get(entry.id)) is not None and publisher.get_subscription_count()
        ]

    def due(self, moment: Moment) -> bool:
        """Whether messages must go out and somebody listens."""
        return (moment.everything or moment.step % self._period == 0) and bool(self._listened())

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes the joints of the robots that somebody listens to."""
        robots = self._read_articulations()
        for entry in self._listened():
            assert entry.joints is not None
            if entry.id not in self._messages:
                self._messages[entry.id] = _JointMessage(entry.joints.names)
            self._publishers[entry.id].publish(self._messages[entry.id].fill(moment, entry, robots))
