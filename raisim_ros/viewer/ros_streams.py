"""Topics of a node that come and go: clouds and images of sensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import Image, PointCloud2

from raisim_ros.ros import qos
from raisim_ros.viewer.marker_scene import MarkerScene
from raisim_ros.viewer.scene import Vector, to_world
from raisim_ros.viewer.sensor_views import grey

_MOST_POINTS = 40_000


class _TopicsOfType:
    """All topics of one type below the node's namespace, and their last messages."""

    def __init__(self, node: Node, message_type: Any, type_name: str) -> None:
        self._node, self._type, self._type_name = node, message_type, type_name
        self._subscriptions: dict[str, Any] = {}
        self.messages: dict[str, Any] = {}
        self._ticks = 0

    def listen(self, wanted: bool) -> None:
        """Look for new ones once a second while somebody wants them."""
        self._ticks += 1
        if not wanted:
            for topic in list(self._subscriptions):
                self._drop(topic)
        elif self._ticks % 30 == 1:
            space = self._node.get_namespace().rstrip("/")
            there = {
                topic
                for topic, types in self._node.get_topic_names_and_types()
                if topic.startswith(f"{space}/") and self._type_name in types and self._node.count_publishers(topic)
            }
            for topic in self._subscriptions.keys() - there:
                self._drop(topic)
            for topic in there - self._subscriptions.keys():
                self._subscriptions[topic] = self._node.create_subscription(
                    self._type, topic, self._keeper(topic), qos.SENSOR
                )

    def _drop(self, topic: str) -> None:
        self._node.destroy_subscription(self._subscriptions.pop(topic))
        self.messages.pop(topic, None)

    def _keeper(self, topic: str) -> Any:
        return lambda message: self.messages.__setitem__(topic, message)

    @property
    def active(self) -> bool:
        """Whether there are any."""
        return bool(self._subscriptions)


class CloudStream(_TopicsOfType):
    """All point clouds; their frames come from /tf."""

    def __init__(self, node: Node, scene: MarkerScene) -> None:
        super().__init__(node, PointCloud2, "sensor_msgs/msg/PointCloud2")
        self._scene = scene

    def points(self) -> Vector:
        """World frame, N x 3 [m]."""
        found = [np.zeros((0, 3))]
        for cloud in list(self.messages.values()):
            pose = self._scene.frame_pose(cloud.header.frame_id)
            if pose is not None:
                local = np.frombuffer(cloud.data, np.uint8).reshape(-1, cloud.point_step)[:, :12].copy()
                xyz = local.view(np.float32).astype(np.float64)
                xyz = xyz[np.isfinite(xyz).all(axis=1)]
                found.append(to_world(pose, xyz[:: 1 + len(xyz) // _MOST_POINTS]))
        return np.concatenate(found)


class ImageStream(_TopicsOfType):
    """The images of all cameras."""

    def __init__(self, node: Node) -> None:
        super().__init__(node, Image, "sensor_msgs/msg/Image")

    def images(self) -> dict[str, NDArray[np.uint8]]:
        """By topic; depths in grey, near is bright."""
        found = {topic: _pixels(message) for topic, message in list(self.messages.items())}
        return {topic: image for topic, image in found.items() if image is not None}


def _pixels(message: Any) -> NDArray[np.uint8] | None:
    """An image in red, green and blue; None for an encoding that no camera of a world has."""
    data = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    shape = (message.height, message.width)
    if message.encoding == "rgb8":
        return data[:, : 3 * message.width].reshape(*shape, 3)
    if message.encoding == "32FC1":
        return grey(data[:, : 4 * message.width].copy().view(np.float32).reshape(shape))
    if message.encoding == "16UC1":
        depth = data[:, : 2 * message.width].copy().view(np.uint16).reshape(shape).astype(np.float32)
        return grey(np.where(depth > 0.0, depth, np.inf).astype(np.float32))
    return None
