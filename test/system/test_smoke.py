"""The installed console script, as `ros2 run raisim_ros world_node` starts it, from start to SIGINT."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import raisim_ros  # noqa: E402  the ROS check comes first

DOMAIN_ID = 10 + os.getpid() % 90
WAIT_S = 30.0


@pytest.fixture
def node_process():
    script = Path(raisim_ros.__file__).parents[4] / "lib/raisim_ros/world_node"
    env = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN_ID), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    process = subprocess.Popen(
        [str(script)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def client_node(monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN_ID)
    node = rclpy.create_node("smoke_test", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield node, executor
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


def spin_until(executor, condition, what):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {WAIT_S} s"
        executor.spin_once(timeout_sec=0.05)


def test_the_installed_node_publishes_answers_and_ends(node_process, client_node):
    from rclpy.qos import qos_profile_sensor_data
    from rosgraph_msgs.msg import Clock

    from raisim_ros.srv import ListObjects

    node, executor = client_node
    stamps: list[float] = []

    def on_clock(message):
        stamps.append(message.clock.sec + 1e-9 * message.clock.nanosec)

    node.create_subscription(Clock, "/clock", on_clock, qos_profile_sensor_data)
    spin_until(executor, lambda: len(stamps) > 10, "ten messages on /clock")
    assert stamps == sorted(stamps)
    assert stamps[-1] > stamps[0]

    client = node.create_client(ListObjects, "list_objects")
    spin_until(executor, client.service_is_ready, "the service list_objects")
    future = client.call_async(ListObjects.Request())
    spin_until(executor, future.done, "the answer of list_objects")
    assert future.result().result == 1

    from simulation_interfaces.srv import GetSimulationState

    client = node.create_client(GetSimulationState, "get_simulation_state")
    spin_until(executor, client.service_is_ready, "the service get_simulation_state")
    future = client.call_async(GetSimulationState.Request())
    spin_until(executor, future.done, "the answer of get_simulation_state")
    assert (future.result().result.result, future.result().state.state) == (1, 1)  # OK, playing

    node_process.send_signal(signal.SIGINT)
    output, _ = node_process.communicate(timeout=10)
    assert node_process.returncode == 0, output
    assert "Traceback" not in output
