"""The examples that use ROS, on a running node."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

import rclpy

from raisim_ros.msg import ObjectState

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def running_node(start_node):
    return start_node()


@pytest.fixture
def ros(running_node, domain_id):
    """The default context, which scripts use."""
    rclpy.init(domain_id=domain_id)
    yield
    rclpy.shutdown()


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_crate_is_spawned_and_seen_falling(ros):
    example = load("ros_spawn_and_watch")
    node = rclpy.create_node("test_spawn")
    heights = example.watch(node, example.spawn(node), 30)
    assert heights[-1] < heights[0]
    node.destroy_node()


def test_a_ball_hovers(ros):
    example = load("ros_hover")
    node = example.Hover("ball_0")
    heights = []
    node.create_subscription(ObjectState, "ball_0/state", lambda state: heights.append(state.pose.position.z), 10)
    for _ in range(5000):
        rclpy.spin_once(node, timeout_sec=0.1)
        if len(heights) > 50 and max(abs(height - example.HEIGHT) for height in heights[-30:]) < 0.1:
            break
    assert heights[-1] == pytest.approx(example.HEIGHT, abs=0.1)
    node.destroy_node()
