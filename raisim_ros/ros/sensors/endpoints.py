"""Publishers of sensors."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from rclpy.node import Node

from raisim_ros.engine.sensors.sensor import Sensor
from raisim_ros.ros import qos
from raisim_ros.ros.following_endpoints import FollowingEndpoints
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.sensors.messages import Channel, SensorOptions, make_channel
from raisim_ros.ros.sensors.table import SensorRow, SensorTable
from raisim_ros.ros.sensors.topics import SensorTopics

_Made = tuple[Channel, dict[str, Any]]


class SensorEndpoints(FollowingEndpoints[Sensor, SensorRow, _Made]):
    """The publishers of every sensor, by topic. For the executor thread."""

    def __init__(
        self, node: Node, queue: RequestQueue, table: SensorTable, topics: SensorTopics, options: SensorOptions
    ) -> None:
        super().__init__(node, queue)
        self._table = table
        self._topics = topics
        self._options = options

    def _wanted(self) -> dict[Sensor, SensorRow]:
        return {entry.sensor: entry for entry in self._table.entries()}

    def _detach(self, gone: Set[Sensor]) -> None:
        self._topics.detach(gone)

    def _attach(self, new: dict[Sensor, _Made]) -> None:
        for channel, publishers in new.values():
            self._topics.attach(channel, publishers)

    def _make(self, thing: SensorRow) -> _Made:
        channel = make_channel(thing, self._options)
        topics = {topic: (f"{thing.topic}/{topic}", message_type) for topic, message_type in channel.topics.items()}
        return channel, {
            topic: self._publisher(message_type, name, qos.overridden(self._node, name, qos.SENSOR))
            for topic, (name, message_type) in topics.items()
        }

    def _destroy(self, made: _Made) -> None:
        for publisher in made[1].values():
            self._node.destroy_publisher(publisher)
