"""What goes to the log, and to /rosout: the start, changes of the world, and neighbours that get in the way."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_calls import robot
from sensor_msgs.msg import JointState
from service_calls import ok

from raisim_ros.srv import RemoveObject, Reset, SaveWorld, SpawnArticulatedSystem, SpawnObject

ROSOUT = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def test_the_start_and_every_change_of_the_world_is_told(start_node, probe, tmp_path):
    node = start_node(namespace="/told", paused=True)
    with probe.subscribed(Log, "/rosout", ROSOUT) as lines:

        def said(text):
            return lambda: any(text in line.msg for line in lines if line.name.endswith("world_node"))

        probe.spin_until(said("stop with Ctrl-C"), "the banner")
        ok(probe.call(SpawnObject, "/told/spawn_object", name="ball", shape="sphere", radius=0.1))
        ok(probe.call(RemoveObject, "/told/remove_object", name="ball"))
        ok(probe.call(SaveWorld, "/told/save_world", file=str(tmp_path / "saved.xml")))
        ok(probe.call(Reset, "/told/reset", state=True, spawned=True))
        for text in ("added sphere 'ball'", "removed 'ball'", "saved.xml", "reset: state, spawned"):
            probe.spin_until(said(text), text)
    node.end()


def test_refused_joint_commands_are_told_apart(start_node, probe):
    node = start_node(namespace="/refusing", paused=True)
    fields = {"name": "arm", "file": robot("arm")}
    ok(probe.call(SpawnArticulatedSystem, "/refusing/spawn_articulated_system", **fields))
    with probe.publisher(JointState, "/refusing/arm/joint_cmd") as commands:
        for _ in range(3):
            commands.publish(JointState(name=["nobody"], position=[0.0]))
            commands.publish(JointState(name=["elbow"], position=[0.0, 1.0]))
            commands.publish(JointState(name=["elbow"], position=[0.5]))
        for text in ("no joint is named 'nobody'", "position has 2 numbers", "has no position gain"):
            node.wait_for_output(text)
    node.end()


def test_another_node_of_that_name_and_another_clock_are_warned_about(start_node):
    first = start_node(paused=True)
    first.wait_for_output("stop with Ctrl-C")
    second = start_node(paused=True)
    second.wait_for_output("another node is called '/world_node'")
    second.wait_for_output("somebody else publishes /clock")
    assert second.output.count("another node is called") == 1
    for node in (first, second):
        node.end()
