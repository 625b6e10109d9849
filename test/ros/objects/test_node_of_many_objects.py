"""What an executor sees of a node with thousands of command topics."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from std_msgs.msg import String

from raisim_ros.ros.objects.command_inbox import HiddenGroup, NodeOfManyObjects


@pytest.fixture
def node(make_node):
    return make_node(NodeOfManyObjects, "many")


def test_hidden_subscriptions_are_not_shown_and_all_are_destroyed(node):
    before = list(node.subscriptions)
    hidden = [
        node.create_subscription(String, f"hidden_{number}", print, 1, callback_group=HiddenGroup()) for number in range(3)
    ]
    shown = node.create_subscription(String, "shown", print, 1)
    assert list(node.subscriptions) == [*before, shown]
    assert node.count_subscribers("hidden_0") == 1
    for one in (hidden[0], shown):
        assert node.destroy_subscription(one)
        assert not node.destroy_subscription(one), "it is gone"
    assert list(node.subscriptions) == before
    assert node.count_subscribers("hidden_0") == 0
    assert node.count_subscribers("hidden_1") == 1
