"""Topics of a node that come and go: states of wires, clouds of lidars and depth cameras."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2

from raisim_ros.msg import WireState
from raisim_ros.ros import qos
from raisim_ros.viewer.marker_scene import MarkerScene
from raisim_ros.viewer.scene import Vector, to_world

CLOUD_TYPE = "sensor_msgs/msg/PointCloud2"
_MOST_POINTS = 40_000


class WireStream:
    """The wires of the world."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscriptions: dict[str, Any] = {}
        self._states: dict[str, WireState] = {}

    def follow(self, names: list[str]) -> None:
        """These are the wires from now on."""
        for name in [name for name in self._subscriptions if name not in names]:
            self._node.destroy_subscription(self._subscriptions.pop(name))
            self._states.pop(name, None)
        for name in names:
            if name not in self._subscriptions:
                self._subscriptions[name] = self._node.create_subscription(
                    WireState, f"{name}/state", self._keeper(name), qos.STATE
                )

    def _keeper(self, name: str) -> Any:
        return lambda state: self._states.__setitem__(name, state)

    def read(self) -> tuple[Vector, Vector]:
        """Ends, N x 2 x 3 [m], and tensions [N]."""
        states = list(self._states.values())
        ends = [[(p.x, p.y, p.z) for p in (state.point1, state.point2)] for state in states]
        return np.array(ends).reshape(-1, 2, 3), np.array([state.tension for state in states])


class CloudStream:
    """All point clouds below the node's namespace; their frames come from /tf."""

    def __init__(self, node: Node, scene: MarkerScene) -> None:
        self._node, self._scene = node, scene
        self._subscriptions: dict[str, Any] = {}
        self._clouds: dict[str, PointCloud2] = {}
        self._ticks = 0

    def listen(self, wanted: bool) -> None:
        """Look for new clouds once a second while somebody wants them."""
        self._ticks += 1
        if not wanted:
            for subscription in self._subscriptions.values():
                self._node.destroy_subscription(subscription)
            self._subscriptions.clear()
            self._clouds.clear()
        elif self._ticks % 30 == 1:
            space = self._node.get_namespace().rstrip("/")
            for topic, types in self._node.get_topic_names_and_types():
                if topic.startswith(f"{space}/") and CLOUD_TYPE in types and topic not in self._subscriptions:
                    self._subscriptions[topic] = self._node.create_subscription(
                        PointCloud2, topic, self._keeper(topic), qos.SENSOR
                    )

    def _keeper(self, topic: str) -> Any:
        return lambda cloud: self._clouds.__setitem__(topic, cloud)

    @property
    def active(self) -> bool:
        """Whether there are clouds, whose frames are needed."""
        return bool(self._subscriptions)

    def points(self) -> Vector:
        """World frame, N x 3 [m]."""
        found = [np.zeros((0, 3))]
        for cloud in list(self._clouds.values()):
            pose = self._scene.frame_pose(cloud.header.frame_id)
            if pose is not None:
                local = np.frombuffer(cloud.data, np.uint8).reshape(-1, cloud.point_step)[:, :12].copy()
                xyz = local.view(np.float32).astype(np.float64)
                xyz = xyz[np.isfinite(xyz).all(axis=1)]
                found.append(to_world(pose, xyz[:: 1 + len(xyz) // _MOST_POINTS]))
        return np.concatenate(found)
