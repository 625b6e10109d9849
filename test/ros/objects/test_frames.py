"""/tf: which frames of an object are there is chosen per object; odometry has a frame of its own."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_calls import spawn_arm, step
from tf2_msgs.msg import TFMessage

from raisim_ros.ros import qos

STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
MOVING_LINK, FIXED_LINK = "arm/forearm", "arm/base_link"


def parents(messages):
    return {one.child_frame_id: one.header.frame_id for message in messages for one in message.transforms}


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize(
    ("choice", "base", "links"),
    [("all", True, True), ("base", True, False), ("links", False, True), ("none", False, False)],
)
def test_base_and_links_of_a_robot_are_chosen_apart(probe, choice, base, links):
    spawn_arm(probe, publish_tf=choice)
    with probe.subscribed(TFMessage, "/tf", qos.TF) as moving, probe.subscribed(TFMessage, "/tf_static", STATIC) as static:
        step(probe, 20)
        probe.spin_until(lambda: moving and static and "ball_0" in parents(moving), "frames")
        step(probe, 20)
        seen = len(moving)
        probe.spin_until(lambda: len(moving) > seen, "more frames")
    frames = {**parents(static[-1:]), **parents(moving[-1:])}
    assert ("arm" in frames) == base
    assert (MOVING_LINK in frames) == links
    assert (FIXED_LINK in frames) == links
    if base:
        assert frames["arm"] == "world"


@pytest.mark.usefixtures("fresh_world")
def test_odometry_stands_between_world_and_base_when_it_is_wanted(probe):
    spawn_arm(probe, odometry="truth", odom_tf=True)
    with probe.subscribed(TFMessage, "/tf", qos.TF) as moving, probe.subscribed(TFMessage, "/tf_static", STATIC) as static:
        step(probe, 20)
        probe.spin_until(lambda: "arm" in parents(moving) and "arm/odom" in parents(static), "frames")
    assert parents(moving)["arm"] == "arm/odom"
    assert parents(static)["arm/odom"] == "world"
