"""Requests that make no sense are refused with a code and a reason, whatever service they go to; nothing changes."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose
from robot_calls import robot
from service_calls import ok

from raisim_ros.msg import MaterialPair, ResultCode
from raisim_ros.srv import (
    GetMaterialPair,
    ListObjects,
    LoadWorld,
    Reset,
    SetMaterialPair,
    SetObjectMaterial,
    SpawnArticulatedSystem,
    SpawnHeightMap,
    SpawnLidar,
    SpawnWire,
)

WIRE = {"name": "wire", "object1": "box_0", "object2": "box_1", "length": 1.0, "type": "compliant"}
LIDAR = {"object": "box_0", "name": "lidar", "update_rate": 10.0}
CHAIN = {"name": "chain", "file": robot("chain")}
PAIR = MaterialPair(friction=0.5)
INVALID = ResultCode.INVALID_VALUE

CASES = {
    "wire without stiffness": (SpawnWire, "spawn_wire", WIRE, INVALID, "stiffness"),
    "wire with negative stiffness": (SpawnWire, "spawn_wire", {**WIRE, "stiffness": -1.0}, INVALID, "stiffness"),
    "lidar upside down": (SpawnLidar, "spawn_lidar", {**LIDAR, "pitch_min": 0.3, "pitch_max": -0.3}, INVALID, "pitch_min"),
    "pair without a name": (SetMaterialPair, "set_material_pair", {"material_2": "b", "properties": PAIR}, INVALID, "material_1"),
    "pair without a second": (SetMaterialPair, "set_material_pair", {"material_1": "b", "properties": PAIR}, INVALID, "material_2"),
    "question without names": (GetMaterialPair, "get_material_pair", {}, INVALID, "material_1"),
    "material without a name": (SetObjectMaterial, "set_object_material", {"name": "box_0", "material": " "}, INVALID, "material"),
    "unknown type": (ListObjects, "list_objects", {"type": "spher"}, INVALID, "sphere"),
    "reset of nothing": (Reset, "reset", {"state": False}, INVALID, "at least one"),
    "misspelt template parameter": (
        SpawnArticulatedSystem,
        "spawn_articulated_system",
        {**CHAIN, "parameter_names": ["lnks"], "parameter_values": ["3"]},
        INVALID,
        "parameter 'lnks' is unknown",
    ),
    "misspelt world parameter": (
        LoadWorld,
        "load_world_file",
        {"file": "default.xml", "parameter_names": ["layer_"], "parameter_values": ["3"]},
        INVALID,
        "did you mean 'layers'",
    ),
    "relative file": (LoadWorld, "load_world_file", {"file": "no/such.xml"}, ResultCode.MISSING_FILE, "looked for in"),
    "package file": (
        LoadWorld,
        "load_world_file",
        {"file": "package://raisim_ros/rsc/gone.xml"},
        ResultCode.MISSING_FILE,
        "package://raisim_ros/rsc/gone.xml",
    ),
    "far robot": (
        SpawnArticulatedSystem,
        "spawn_articulated_system",
        {**CHAIN, "pose": Pose(position=Point(z=-1e300))},
        INVALID,
        "pose.position",
    ),
    "terrain of an unknown look": (
        SpawnHeightMap,
        "spawn_height_map",
        {"name": "hills", "source": "values", "x_samples": 2, "y_samples": 2, "heights": [0.0] * 4, "appearance": "gras"},
        INVALID,
        "appearance",
    ),
}


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize("case", CASES)
def test_a_wrong_request_is_refused_and_changes_nothing(probe, case):
    service_type, service, fields, code, text = CASES[case]
    before = ok(probe.call(ListObjects, "list_objects"))
    answer = probe.call(service_type, service, **fields)
    assert answer.result == code, answer.message
    assert text in answer.message
    assert probe.call(ListObjects, "list_objects") == before


def test_a_thousand_requests_at_once_are_all_answered(start_node, probe):
    from rclpy.qos import QoSProfile

    start_node(namespace="/burst", paused=True)
    client = probe.node.create_client(ListObjects, "/burst/list_objects", qos_profile=QoSProfile(depth=1000))
    probe.spin_until(client.service_is_ready, "the service")
    futures = [client.call_async(ListObjects.Request()) for _ in range(1000)]
    probe.spin_until(lambda: all(future.done() for future in futures), "all answers", timeout=60.0)
    assert {future.result().result for future in futures} == {ResultCode.OK}


@pytest.mark.usefixtures("fresh_world")
def test_a_robot_may_have_a_name_with_levels(probe):
    answer = ok(probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="robot_a/panda", file=robot("arm")))
    assert answer.name == "robot_a/panda"
    probe.spin_until(lambda: "/robot_a/panda/joint_states" in probe.topics(), "its topics")
    fields = {"file": robot("chain")}
    below = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="robot_a/panda/tool", **fields)
    assert below.result == ResultCode.NAME_TAKEN
    beside = ok(probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="robot_a/base", **fields))
    assert beside.name == "robot_a/base"
