"""ROS 2: put a crate into a running world and watch it fall. Start `make run` first."""

import rclpy
from rclpy.node import Node

from raisim_ros.msg import ObjectState
from raisim_ros.srv import SpawnObject


def spawn(node: Node) -> str:
    """Ask the node for a crate; the name it got."""
    client = node.create_client(SpawnObject, "spawn_object")
    client.wait_for_service()
    request = SpawnObject.Request(name="crate", allow_renaming=True, shape="box", size=[0.4, 0.4, 0.4], mass=2.0)
    request.pose.position.x, request.pose.position.z = 2.0, 3.0
    answer = client.call_async(request)
    rclpy.spin_until_future_complete(node, answer)
    print(answer.result().message)
    return str(answer.result().name)


def watch(node: Node, name: str, states: int) -> list[float]:
    """Heights of the object in its next states."""
    heights: list[float] = []
    node.create_subscription(ObjectState, f"{name}/state", lambda state: heights.append(state.pose.position.z), 10)
    while len(heights) < states:
        rclpy.spin_once(node)
    return heights


if __name__ == "__main__":
    rclpy.init()
    node = rclpy.create_node("spawn_and_watch")
    print([f"{height:.2f}" for height in watch(node, spawn(node), 20)])
    rclpy.shutdown()
