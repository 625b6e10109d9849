"""What `world/profile` tells of the stages of a step."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.engine.world.world import World
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.node.profile_topic import ProfileTopic


class Publisher:
    def __init__(self):
        self.listeners = 0
        self.messages = []

    def get_subscription_count(self):
        return self.listeners

    def publish(self, message):
        self.messages.append(message)


def test_stages_are_timed_while_somebody_listens():
    world, publisher = World(), Publisher()
    world.add_ground()
    world.add_sphere(0.1, 1.0).set_position(0.0, 0.0, 0.1)
    topic, now = ProfileTopic(world, publisher), Moment.now(7, 2.5, False)
    world.integrate(5)
    assert not topic.due(now)
    assert world.get_profile().steps == 0  # nobody pays for what nobody sees

    publisher.listeners = 1
    topic.due(now)
    topic.publish(now, None)
    assert publisher.messages == []  # no step was timed yet
    world.integrate(5)
    topic.publish(now, None)
    stages = {pair.key: float(pair.value) for pair in publisher.messages[-1].values}
    assert stages["solve"] > 0.0
    assert {"broad phase", "narrow phase", "integrate"} < stages.keys()

    publisher.listeners = 0
    assert not topic.due(now)
    world.integrate(5)
    assert world.get_profile().steps == 0
