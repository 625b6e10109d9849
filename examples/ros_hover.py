"""ROS 2: a controller lets a ball hover at 2 m. Start `make run`, then this, and pull the ball in the viewer."""

import rclpy
from rclpy.node import Node

from raisim_ros.msg import ObjectCmd, ObjectState

HEIGHT = 2.0  # m


class Hover(Node):
    """State in, force out."""

    def __init__(self, name: str = "ball_0") -> None:
        super().__init__("hover")
        self._commands = self.create_publisher(ObjectCmd, f"{name}/cmd", 10)
        self.create_subscription(ObjectState, f"{name}/state", self._control, 10)

    def _control(self, state: ObjectState) -> None:
        command = ObjectCmd()
        lift = 9.81 + 20.0 * (HEIGHT - state.pose.position.z) - 8.0 * state.twist.linear.z
        command.wrench.force.z = state.mass * lift
        self._commands.publish(command)


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(Hover())
