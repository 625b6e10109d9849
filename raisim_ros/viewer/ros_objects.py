"""Topics of one object of a node, for as long as somebody looks at it."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from raisim_ros.description.urdf.file import load_urdf
from raisim_ros.msg import ObjectState
from raisim_ros.ros import qos
from raisim_ros.viewer.quantities import JOINT_EFFORTS, JOINT_POSITIONS, JOINT_VELOCITIES, TURNING, VELOCITY, xyz
from raisim_ros.viewer.scene import Joint, Quantities

COMMANDED_FORCE = "commanded force [N]"


class StateStream:
    """The state of an object."""

    def __init__(self, node: Node, name: str) -> None:
        self.name = name
        self._node = node
        self._state: ObjectState | None = None
        self._subscription = node.create_subscription(ObjectState, f"{name}/state", self._take, qos.STATE)

    def _take(self, state: ObjectState) -> None:
        self._state = state

    def quantities(self) -> Quantities:
        """What there is to plot; empty before a state came."""
        if self._state is None:
            return {VELOCITY: {}, TURNING: {}, COMMANDED_FORCE: {}}
        twist, force = self._state.twist, self._state.wrench.force
        rows = ((VELOCITY, twist.linear), (TURNING, twist.angular), (COMMANDED_FORCE, force))
        return {label: xyz(np.array([one.x, one.y, one.z])) for label, one in rows}

    def close(self) -> None:
        """Nobody looks any more."""
        self._node.destroy_subscription(self._subscription)


class RobotStream:
    """Limits of the joints from a robot's description, and where they are."""

    def __init__(self, node: Node, name: str) -> None:
        self._description = ""
        self._state = JointState()
        self._limits: dict[str, tuple[float, float]] | None = None
        self._node = node
        self._subscriptions = [
            node.create_subscription(String, f"{name}/robot_description", self._describe, qos.LATCHED),
            node.create_subscription(JointState, f"{name}/joint_states", self._take, 10),
        ]

    def _describe(self, message: String) -> None:
        self._description, self._limits = message.data, None

    def _take(self, message: JointState) -> None:
        self._state = message

    def positions(self) -> dict[str, float]:
        """Where the joints are; none before a state came."""
        return _by_joint(self._state, self._state.position)

    def joints(self) -> list[Joint]:
        """Those with one coordinate; none before the description and a state came."""
        places = self.positions()
        if not self._description or not places:
            return []
        if self._limits is None:
            bodies = [body for body in load_urdf(self._description).bodies if body.joint_type.coordinate_dim == 1]
            self._limits = {body.joint_name: (body.lower, body.upper) for body in bodies}
        return [Joint(name, low, high, places.get(name, 0.0)) for name, (low, high) in self._limits.items()]

    def quantities(self) -> Quantities:
        """What there is to plot; empty before a state came."""
        state = self._state
        return {
            JOINT_POSITIONS: _by_joint(state, state.position),
            JOINT_VELOCITIES: _by_joint(state, state.velocity),
            JOINT_EFFORTS: _by_joint(state, state.effort),
        }

    def close(self) -> None:
        """The robot may be gone."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)


def _by_joint(state: JointState, values: Any) -> dict[str, float]:
    return {name: float(value) for name, value in zip(state.name, values, strict=False)}
