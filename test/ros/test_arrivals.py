"""The middleware counts what arrives at subscriptions that no executor looks at."""

import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rclpy.node import Node
from std_msgs.msg import Int32

from raisim_ros.ros.arrivals import Arrivals


@pytest.fixture
def node(make_node):
    return make_node(Node, "arrivals")


def pair(node, topic):
    publisher = node.create_publisher(Int32, topic, 10)
    subscription = node.create_subscription(Int32, topic, lambda _: None, 10)
    while not publisher.get_subscription_count():
        time.sleep(0.01)
    return publisher, subscription


def wait_for(arrivals, seconds=20.0):
    """What is told next, within reason."""
    end = time.monotonic() + seconds
    while not (new := arrivals.new()) and time.monotonic() < end:
        time.sleep(0.005)
    return new


def take_all(subscription):
    taken = []
    while (one := subscription.handle.take_message(Int32, False)) is not None:
        taken.append(one[0].data)
    return taken


def test_only_those_with_messages_are_told_and_only_once(node):
    arrivals, pairs = Arrivals(), [pair(node, f"topic_{number}") for number in range(5)]
    for number, (_, subscription) in enumerate(pairs):
        assert arrivals.watch(number, subscription)
    assert arrivals.new() == [0, 1, 2, 3, 4], "something may have come before it was watched"
    assert arrivals.new() == []
    pairs[3][0].publish(Int32(data=7))
    assert wait_for(arrivals) == [3]
    assert take_all(pairs[3][1]) == [7]
    assert arrivals.new() == []


def test_no_message_is_missed_in_a_burst(node):
    """Told before the last one was taken, or told again."""
    arrivals = Arrivals()
    publisher, subscription = pair(node, "burst")
    assert arrivals.watch("burst", subscription)
    taken, sent = [], 0
    end = time.monotonic() + 60.0
    while len(taken) < 500 and time.monotonic() < end:
        if sent < 500 and sent - len(taken) < 8:  # the queue holds ten
            publisher.publish(Int32(data=sent))
            sent += 1
        if arrivals.new():
            taken += take_all(subscription)
    assert taken == list(range(500))


def test_one_that_is_forgotten_is_told_no_more_and_its_place_serves_the_next(node):
    arrivals = Arrivals()
    publisher, subscription = pair(node, "first")
    assert arrivals.watch("first", subscription)
    arrivals.new()
    assert arrivals.forget("first")
    assert not arrivals.forget("first")
    publisher.publish(Int32(data=1))
    other, other_subscription = pair(node, "second")
    assert arrivals.watch("second", other_subscription)
    assert arrivals.new() == ["second"]
    other.publish(Int32(data=2))
    assert wait_for(arrivals) == ["second"]
    assert take_all(other_subscription) == [2]


def test_more_than_a_block_of_them(node):
    arrivals = Arrivals()
    publisher, subscription = pair(node, "many")
    for number in range(1500):  # of one subscription the last one counts
        assert arrivals.watch(number, subscription)
    assert arrivals.new() == list(range(1500))
    publisher.publish(Int32(data=1))
    assert wait_for(arrivals) == [1499]
