"""Publishers of sensors: made and destroyed by the executor thread, used by the stepping thread."""

from __future__ import annotations

from typing import Any

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node

from raisim_ros.engine.sensors import Sensor
from raisim_ros.ros import qos
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.sensor_messages import Channel, SensorOptions, make_channel
from raisim_ros.ros.sensor_table import SensorEntry, SensorTable
from raisim_ros.ros.sensor_topics import SensorTopics


class SensorEndpoints:
    """Brings the publishers in line with the sensors of the world. For the executor thread."""

    def __init__(
        self, node: Node, queue: RequestQueue, table: SensorTable, topics: SensorTopics, options: SensorOptions
    ) -> None:
        self._node = node
        self._queue = queue
        self._table = table
        self._topics = topics
        self._options = options
        self._publishers: dict[Sensor, dict[str, Any]] = {}

    def follow(self) -> None:
        """Makes what is missing and destroys what is no longer needed. The stepping thread must be running."""
        self._apply(self._queue.call(self._release), threaded=True)

    def begin(self) -> None:
        """The same before the stepping thread runs."""
        self._apply(self._release(), threaded=False)

    def _release(self) -> list[SensorEntry]:
        """The sensors that there are; the stepping thread lets go of all others."""
        entries = self._table.entries()
        self._topics.detach(self._publishers.keys() - {entry.sensor for entry in entries})
        return entries

    def _apply(self, entries: list[SensorEntry], threaded: bool) -> None:
        for sensor in self._publishers.keys() - {entry.sensor for entry in entries}:
            for publisher in self._publishers.pop(sensor).values():
                self._node.destroy_publisher(publisher)
        made = [self._make(entry) for entry in entries if entry.sensor not in self._publishers]
        if not made:
            return
        if threaded:
            self._queue.call(lambda: self._attach(made))
        else:
            self._attach(made)

    def _make(self, entry: SensorEntry) -> tuple[Channel, dict[str, Any]]:
        channel = make_channel(entry, self._options)
        publishers = {
            topic: self._publisher(message_type, f"{entry.topic}/{topic}")
            for topic, message_type in channel.topics.items()
        }
        self._publishers[entry.sensor] = publishers
        return channel, publishers

    def _publisher(self, message_type: Any, topic: str) -> Any:
        profile = qos.overridden(self._node, topic, qos.SENSOR)
        callbacks = PublisherEventCallbacks(use_default_callbacks=False)
        return self._node.create_publisher(message_type, topic, profile, event_callbacks=callbacks)

    def _attach(self, made: list[tuple[Channel, dict[str, Any]]]) -> None:
        for channel, publishers in made:
            self._topics.attach(channel, publishers)
