"""What goes to the log, and to /rosout: the start, changes of the world, and neighbours that get in the way."""

import re

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("simulation_interfaces", reason="needs simulation_interfaces")

from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_calls import robot
from sensor_msgs.msg import JointState
from service_calls import ok
from simulation_interfaces import srv as standard
from simulation_interfaces.msg import Resource

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


@pytest.mark.parametrize("meshes", ["hull", "convexify"])  # read here, and in a process of its own
def test_what_is_not_read_of_a_robot_is_said_once(start_node, probe, meshes):
    node = start_node(namespace="/unread", paused=True)
    plugin = f'<gazebo><plugin name="stove" filename="lib{meshes}_stove.so"/></gazebo>'
    text = f'<robot name="cook"><link name="world"/>{plugin}</robot>'
    fields = {"name": "cook", "text": text, "collision_meshes": meshes}
    ok(probe.call(SpawnArticulatedSystem, "/unread/spawn_articulated_system", **fields))
    node.wait_for_output("added articulated_system 'cook'")
    assert node.output.count("not read") == 1, node.output
    assert re.search(r"\[WARN\].*not read: <gazebo> plugin 'stove'", node.output)
    node.end()


def in_its_layout(service, fields):
    """The fields as the installed version of the standard has them: newer ones keep a resource in a field of its own."""
    own = {name: value for name, value in fields.items() if hasattr(service.Request, name)}
    rest = {name: value for name, value in fields.items() if name not in own}
    holder = next((name for name in ("entity_resource", "world_resource") if hasattr(service.Request, name)), None)
    return own | ({holder: Resource(**rest)} if rest else {})


def test_changes_by_the_standard_services_are_told_too(start_node, probe):
    node = start_node(namespace="/standard", paused=True)
    ball = '<sphere mass="1"><dim radius="0.1"/></sphere>'
    for service, fields, text in (
        (standard.SpawnEntity, {"name": "ball", "resource_string": ball}, "added sphere 'ball'"),
        (standard.DeleteEntity, {"entity": "ball"}, "removed 'ball'"),
        (standard.ResetSimulation, {"scope": standard.ResetSimulation.Request.SCOPE_STATE}, "reset: state"),
        (standard.LoadWorld, {"uri": "newtons_cradle.xml"}, "world 'newtons_cradle' loaded"),
        (standard.UnloadWorld, {}, "the world is empty"),
    ):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", service.__name__).lower()
        assert probe.call(service, f"/standard/{name}", **in_its_layout(service, fields)).result.result == 1
        node.wait_for_output(text)
    node.end()


OVERLAPPING = """<robot name="twins"><link name="a">{0}</link><link name="b">{0}</link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="c">{0}</link><joint name="k" type="revolute"><parent link="b"/><child link="c"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>""".format(
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    '<collision><geometry><box size="1 1 1"/></geometry></collision>'
)


def test_what_the_engine_warns_of_is_told_in_the_log(start_node, probe):
    node = start_node(namespace="/warned", paused=True)
    with probe.subscribed(Log, "/rosout", ROSOUT) as lines:
        fields = {"name": "twins", "text": OVERLAPPING}
        ok(probe.call(SpawnArticulatedSystem, "/warned/spawn_articulated_system", **fields))
        probe.spin_until(lambda: any("links that overlap" in line.msg for line in lines), "the warning")
    assert "RuntimeWarning" not in node.output  # with a file and a line of this package
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
