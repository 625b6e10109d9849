"""The two ends of test_large_messages: `publish` and `subscribe`, each a process of its own.

Images of 1.2 MB, best effort, as a camera sends them. The subscriber prints how many have arrived.
"""

import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image
from std_msgs.msg import Empty

COUNT, SIZE, RATE_HZ = 100, 1_200_000, 50.0
QOS = QoSProfile(depth=COUNT, reliability=ReliabilityPolicy.BEST_EFFORT)


def publish(node: Node) -> None:
    publisher = node.create_publisher(Image, "image", QOS)
    ready: list[Empty] = []
    node.create_subscription(Empty, "ready", ready.append, 1)
    while not ready:
        publisher.publish(Image())
        rclpy.spin_once(node, timeout_sec=0.05)
    image = Image(data=bytes(SIZE))
    for _ in range(COUNT):
        publisher.publish(image)
        time.sleep(1.0 / RATE_HZ)
    time.sleep(5.0)  # the last ones must be fetched before this process ends


def subscribe(node: Node) -> None:
    sizes: list[int] = []
    node.create_subscription(Image, "image", lambda data: sizes.append(len(data)), QOS, raw=True)
    ready = node.create_publisher(Empty, "ready", 1)
    while not sizes or not ready.get_subscription_count():
        rclpy.spin_once(node, timeout_sec=0.1)
    ready.publish(Empty())
    last, arrived = time.monotonic(), 0
    while arrived < COUNT and time.monotonic() - last < 3.0:
        rclpy.spin_once(node, timeout_sec=0.1)
        if (count := sum(size > SIZE for size in sizes)) > arrived:
            last, arrived = time.monotonic(), count
    print(arrived)


if __name__ == "__main__":
    rclpy.init()
    {"publish": publish, "subscribe": subscribe}[sys.argv[1]](Node(sys.argv[1]))
    rclpy.shutdown()
