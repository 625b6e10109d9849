"""Whoever listens in a thread of its own goes on listening, whatever other threads destroy meanwhile."""

import threading
import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

import rclpy
from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Int32

from raisim_ros.client.spinning import spin


def test_what_is_destroyed_while_it_is_waited_for_ends_nothing(domain_id, monkeypatch):
    """Seen in the viewer: a robot's topics were left at that moment, and the page stood still for ever."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = rclpy.create_node("listener", context=context)
    heard, failed = [], []
    node.create_subscription(Int32, "numbers", lambda message: heard.append(message.data), 10)
    add = EventHandler.add_to_wait_set

    def stumble(self, wait_set):
        if len(failed) < 3:
            failed.append(True)
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        add(self, wait_set)

    monkeypatch.setattr(EventHandler, "add_to_wait_set", stumble)
    executor, end = SingleThreadedExecutor(context=context), threading.Event()
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor, end))
    thread.start()
    publisher, deadline = node.create_publisher(Int32, "numbers", 10), time.monotonic() + 20.0
    while not heard and time.monotonic() < deadline:
        publisher.publish(Int32(data=7))
        time.sleep(0.05)
    end.set()
    executor.wake()
    thread.join(10.0)
    assert heard
    assert len(failed) == 3
    assert not thread.is_alive()
    executor.shutdown()
    rclpy.shutdown(context=context)
