"""Wires over ROS, seen from another process: services, state and command topics, markers."""

import math

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from pathlib import Path

from geometry_msgs.msg import Point, Pose
from service_calls import caller_in_fresh_world
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.description.resources import resource
from raisim_ros.msg import ResultCode, WireCmd, WireState
from raisim_ros.ros import qos
from raisim_ros.srv import (
    ListWires,
    LoadWorld,
    RemoveObject,
    RemoveWire,
    Reset,
    RestoreSnapshot,
    SaveSnapshot,
    SpawnObject,
    SpawnWire,
    Step,
)

G = 9.81
WORLD = Path(__file__).parents[1] / "wire_world.xml"


@pytest.fixture(scope="module")
def node(start_node):
    return start_node(namespace="/wires", paused=True, world=WORLD)


@pytest.fixture
def call(node, probe):
    return caller_in_fresh_world(probe, "/wires")


def listed(call):
    return call(ListWires, "list_wires").names


def last_state(probe, call, wire, steps):
    """The state of a wire after some steps of the paused world."""
    with probe.subscribed(WireState, f"/wires/{wire}/state") as states:
        answer = call(Step, "step", steps=steps)
        probe.spin_until(lambda: states and states[-1].sim_step == answer.sim_step, "the state after the last step")
        return states[-1]


def test_wires_of_the_file_have_topics(probe, call):
    response = call(ListWires, "list_wires")
    assert response.names == ["rope", "spring", "pull"]
    assert response.types == ["stiff", "compliant", "custom"]
    assert response.objects1 == ["post", "post", "post"]
    assert response.objects2 == ["ball_a", "ball_b", "ball_c"]
    probe.spin_until(
        lambda: {f"/wires/{name}/{end}" for name in response.names for end in ("state", "cmd")} <= probe.topics(),
        "the topics of all wires",
    )


def test_state_of_a_hanging_ball(probe, call):
    state = last_state(probe, call, "rope", 1000)
    assert (state.name, state.type, state.stretch_type) == ("rope", "stiff", "stretch_only")
    assert (state.object1, state.object2, state.header.frame_id) == ("post", "ball_a", "world")
    assert state.tension == pytest.approx(2.0 * G, rel=1e-6)
    assert state.length == 1.0
    assert state.distance == pytest.approx(1.0, abs=1e-6)
    assert state.stretch == pytest.approx(state.distance - state.length, abs=1e-12)
    assert state.sim_time == pytest.approx(state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec, abs=1e-8)
    assert (state.point1.x, state.point1.z) == pytest.approx((0.0, 3.0))
    assert (state.point2.x, state.point2.z) == pytest.approx((0.0, 2.0), abs=1e-6)
    assert last_state(probe, call, "spring", 1).stiffness == 100.0


def test_a_spawned_wire_carries_its_load_and_can_be_removed(probe, call):
    pose = Pose(position=Point(x=0.0, y=2.0, z=2.0))
    call(SpawnObject, "spawn_object", name="load", shape="sphere", radius=0.05, mass=3.0, pose=pose)
    made = call(
        SpawnWire,
        "spawn_wire",
        name="my rope",
        object1="post",
        object2="load",
        position1=Point(y=2.0),
        length=1.0,
    )
    assert made.name == "my_rope"
    assert made.id > 0
    state = last_state(probe, call, "my_rope", 500)
    assert state.tension == pytest.approx(3.0 * G, rel=1e-6)
    assert state.id == made.id
    call(RemoveWire, "remove_wire", name="my_rope")
    assert listed(call) == ["rope", "spring", "pull"]
    probe.spin_until(lambda: "/wires/my_rope/state" not in probe.topics(), "the end of the topic")
    call(RemoveWire, "remove_wire", ResultCode.UNKNOWN_OBJECT, name="my_rope")


def test_wires_go_with_their_objects_and_come_back_with_snapshots(probe, call):
    call(SaveSnapshot, "save_snapshot", name="all")
    call(RemoveObject, "remove_object", name="ball_b")
    assert listed(call) == ["rope", "pull"]
    call(RestoreSnapshot, "restore_snapshot", name="all")
    assert listed(call) == ["rope", "spring", "pull"]
    assert last_state(probe, call, "spring", 10).object2 == "ball_b"
    call(SpawnWire, "spawn_wire", name="extra", object1="post", object2="ball_b", length=5.0)
    call(Reset, "reset", state=False, spawned=True)
    assert listed(call) == ["rope", "spring", "pull"]


def test_a_command_sets_the_tension_of_a_custom_wire(probe, call):
    with probe.publisher(WireCmd, "/wires/pull/cmd") as publisher:
        publisher.publish(WireCmd(set_tension=True, tension=12.5))
        probe.spin_until(lambda: last_state(probe, call, "pull", 1).tension == 12.5, "the new tension")
        publisher.publish(WireCmd(set_tension=True, tension=math.nan))
        publisher.publish(WireCmd(set_length=True, length=-1.0))
        publisher.publish(WireCmd(set_tension=True, tension=3.0, set_length=True, length=0.7))
        probe.spin_until(lambda: last_state(probe, call, "pull", 1).tension == 3.0, "the last tension")
        assert last_state(probe, call, "pull", 1).length == 0.7


def test_a_command_winds_a_wire_in(probe, call):
    with probe.publisher(WireCmd, "/wires/rope/cmd") as publisher:
        publisher.publish(WireCmd(set_tension=True, tension=1.0, set_length=True, length=0.5))  # refused: not custom
        publisher.publish(WireCmd(set_length=True, length=0.9))
        probe.spin_until(lambda: last_state(probe, call, "rope", 1).length == 0.9, "the new length")
    assert last_state(probe, call, "rope", 1000).distance < 0.9 + 1e-4


@pytest.mark.parametrize(
    ("result", "fields"),
    [
        (ResultCode.NAME_TAKEN, {"name": "rope"}),
        (ResultCode.NAME_TAKEN, {"name": "ball_a"}),
        (ResultCode.NAME_TAKEN, {"name": ""}),
        (ResultCode.UNKNOWN_OBJECT, {"object2": "nobody"}),
        (ResultCode.INVALID_VALUE, {"object2": "ball_a", "object1": "ball_a"}),
        (ResultCode.INVALID_VALUE, {"type": "elastic"}),
        (ResultCode.INVALID_VALUE, {"stretch_type": "none"}),
        (ResultCode.INVALID_VALUE, {"length": -1.0}),
        (ResultCode.INVALID_VALUE, {"length": math.nan}),
        (ResultCode.INVALID_VALUE, {"type": "compliant", "stiffness": -1.0}),
        (ResultCode.INVALID_VALUE, {"type": "custom", "tension": math.inf}),
        (ResultCode.INVALID_VALUE, {"local_index2": 1}),
        (ResultCode.INVALID_VALUE, {"local_index2": -1}),
        (ResultCode.INVALID_VALUE, {"position1": Point(x=math.nan)}),
        (ResultCode.INVALID_VALUE, {"width": 0.0}),
        (ResultCode.UNSUPPORTED, {"frame2": "tip"}),
    ],
)
def test_bad_requests_are_refused_and_change_nothing(call, result, fields):
    request = {"name": "new", "object1": "post", "object2": "ball_a", "length": 1.0} | fields
    assert call(SpawnWire, "spawn_wire", result, **request).message
    assert listed(call) == ["rope", "spring", "pull"]


def test_an_object_does_not_take_the_name_of_a_wire(call):
    request = {"name": "rope", "shape": "sphere", "radius": 0.1, "mass": 1.0}
    call(SpawnObject, "spawn_object", ResultCode.NAME_TAKEN, **request)
    assert call(SpawnObject, "spawn_object", allow_renaming=True, **request).name == "rope_1"
    assert call(SpawnWire, "spawn_wire", allow_renaming=True, object1="post", object2="ball_a", length=1.0).name == "wire"


def test_wires_are_lines_in_the_markers_and_deleted_when_gone(probe, call):
    with probe.subscribed(MarkerArray, "/wires/markers", qos.LATCHED) as arrays:

        def drawn(action):
            found = [marker for array in arrays for marker in array.markers if marker.ns == "wires"]
            return [marker for marker in found if marker.action == action]

        probe.spin_until(lambda: drawn(Marker.ADD), "markers of wires")
        marker = drawn(Marker.ADD)[0]
        assert marker.type == Marker.LINE_LIST
        assert (marker.points[0].z, marker.points[1].z) == pytest.approx((3.0, 2.0), abs=1e-6)
        assert marker.scale.x == pytest.approx(0.02)
        call(RemoveWire, "remove_wire", name="rope")
        probe.spin_until(lambda: any(one.id == marker.id for one in drawn(Marker.DELETE)), "the deletion")


def test_another_world_brings_its_own_wires(probe, call):
    call(LoadWorld, "load_world_file", file=str(resource("worlds/crane.xml")))
    assert listed(call) == ["rope_1_1", "rope_1_1_1", "rope_1_1_2", "rope_1_1_3", "tether"]
    assert last_state(probe, call, "tether", 1).object1 == "load"
    call(LoadWorld, "load_world_file", file=str(WORLD))
    assert listed(call) == ["rope", "spring", "pull"]
