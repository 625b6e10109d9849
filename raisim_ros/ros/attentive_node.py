"""A node that tells which of the parameters it was given nobody asked for: ROS ignores misspelt ones silently."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from raisim_ros.description.errors import near_names


class AttentiveNode(Node):
    """Remembers the names of all parameters that were ever declared."""

    def __init__(self, name: str) -> None:
        self._asked_for: set[str] = set()  # before the node declares its first ones
        super().__init__(name)

    def declare_parameters(self, namespace: str, parameters: Any, ignore_override: bool = False) -> Any:
        """As every node does; also behind declare_parameter."""
        listed = list(parameters)
        self._asked_for.update(f"{namespace}.{one[0]}".lstrip(".") for one in listed)
        return super().declare_parameters(namespace, listed, ignore_override)

    def warn_of_unread_parameters(self) -> None:
        """One line for each that was given and not asked for, with the nearest known names of its kind.

        Those of robots and topics have dots; they may be meant for one that comes later.
        """
        for name in sorted(self._parameter_overrides.keys() - self._asked_for):
            known = [one for one in self._asked_for if _kind(one) == _kind(name)]
            fate = "acts on nothing that is here yet" if "." in name else "is ignored"
            hint = f": {near_names('parameter', name, known)}" if known else ""
            self.get_logger().warning(f"parameter '{name}' {fate}{hint}")


def _kind(name: str) -> str:
    """Of the node itself, of the quality of service of topics, or of a robot."""
    first, dot, _ = name.partition(".")
    return f"{first}{dot}" if first == "qos_overrides" else dot
