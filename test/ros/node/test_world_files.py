"""Worlds are loaded and saved while the node runs; a refused request changes nothing."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from service_calls import ok

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.resources import resource
from raisim_ros.engine.world.world import World
from raisim_ros.msg import ResultCode
from raisim_ros.ros.node.parameters import world_parameters
from raisim_ros.srv import (
    GetObjectInfo,
    ListObjects,
    LoadWorld,
    Pause,
    RemoveObject,
    Reset,
    SaveWorld,
    SpawnArticulatedSystem,
    SpawnObject,
    Step,
)

TEMPLATE = """<raisim><params><count value="2"/><size value="0.1"/></params>
  <objects><ground name="floor"/>
    <array idx="@@i" start="1" end="@@count" increment="1">
      <sphere name="ball_@@i" mass="1"><dim radius="@@size"/><state pos="{2*@@i} 0 5"/></sphere>
    </array></objects></raisim>"""


@pytest.fixture(autouse=True)
def paused(shared_node, probe):
    assert probe.call(Pause, "pause").result == ResultCode.OK


@pytest.fixture
def template(tmp_path):
    file = tmp_path / "template.xml"
    file.write_text(TEMPLATE)
    return str(file)


def load(probe, file, **fields):
    return ok(probe.call(LoadWorld, "load_world_file", file=file, **fields))


def listed(probe):
    return ok(probe.call(ListObjects, "list_objects"))


def state(probe, name):
    return ok(probe.call(GetObjectInfo, "get_object_info", name=name)).state


def test_a_loaded_world_replaces_the_old_one_with_its_topics(probe, template):
    ok(probe.call(SpawnObject, "spawn_object", name="old", shape="sphere", radius=0.1, allow_renaming=True))
    probe.spin_until(lambda: "/old/state" in probe.topics(), "the old topics")
    fields = {"parameter_names": ["count", "size"], "parameter_values": ["4", "0.25"]}
    answer = load(probe, template, **fields)
    assert answer.names == ["floor", "ball_1", "ball_2", "ball_3", "ball_4"] == listed(probe).names
    assert ok(probe.call(GetObjectInfo, "get_object_info", name="ball_3")).info.radius == 0.25
    probe.spin_until(lambda: "/ball_4/state" in probe.topics(), "the new topics")
    probe.wait_for_topics_to_go(lambda topic: topic == "/old/state")


def test_reset_returns_to_the_world_loaded_last(probe, template):
    load(probe, template)
    ok(probe.call(Step, "step", steps=20))
    ok(probe.call(RemoveObject, "remove_object", name="ball_2"))
    ok(probe.call(SpawnObject, "spawn_object", name="more", shape="sphere", radius=0.1))
    ok(probe.call(Reset, "reset", state=True, spawned=True))
    assert listed(probe).names == ["floor", "ball_1", "ball_2"]
    assert state(probe, "ball_1").pose.position.z == 5.0


def test_time_goes_on_unless_asked_to_begin_again(probe, template):
    load(probe, template, time=True)
    assert state(probe, "ball_1").sim_step == 0
    before = ok(probe.call(Step, "step", steps=50))
    load(probe, template)
    after = state(probe, "ball_1")
    assert (after.sim_time, after.sim_step) == (before.sim_time, before.sim_step)
    with probe.subscribed(Clock, "/clock", qos_profile_sensor_data) as clocks:
        ok(probe.call(Step, "step", steps=1))
        probe.spin_until(lambda: clocks, "/clock")
    seconds = [clock.clock.sec + 1e-9 * clock.clock.nanosec for clock in clocks]
    assert min(seconds) >= before.sim_time - 1e-9
    load(probe, template, time=True)
    assert state(probe, "ball_1").sim_time == 0.0


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (None, ResultCode.MISSING_FILE, "missing.xml"),
        ("<raisim><objects>", ResultCode.PARSE_ERROR, "world.xml:1"),
        ("<raisim>\n<objects><sphere mass='-1'><dim radius='1'/></sphere></objects></raisim>", ResultCode.PARSE_ERROR, ":2"),
        ("<raisim><objects><mesh file_name='gone.obj' mass='1'/></objects></raisim>", ResultCode.MISSING_FILE, "gone.obj"),
        ("<raisim><objects><sphere mass='@@m'><dim radius='1'/></sphere></objects></raisim>", ResultCode.PARSE_ERROR, "m"),
    ],
)
def test_a_file_with_a_mistake_is_refused_and_changes_nothing(probe, template, tmp_path, text, code, words):
    load(probe, template)
    ok(probe.call(Step, "step", steps=7))
    before, height = listed(probe), state(probe, "ball_1").pose.position.z
    file = tmp_path / ("missing.xml" if text is None else "world.xml")
    if text is not None:
        file.write_text(text)
    answer = probe.call(LoadWorld, "load_world_file", file=str(file))
    assert (answer.result, words in answer.message) == (code, True), answer.message
    assert (listed(probe).names, listed(probe).ids) == (before.names, before.ids)
    assert state(probe, "ball_1").pose.position.z == height


def test_a_saved_world_is_the_same_when_it_is_loaded(probe, template, tmp_path):
    load(probe, template, time=True)
    robot = {"name": "arm", "file": str(resource("robots/arm.urdf")), "coordinates": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    ok(probe.call(SpawnArticulatedSystem, "spawn_articulated_system", **robot))
    ok(probe.call(Step, "step", steps=30))
    file = tmp_path / "saved.xml"
    ok(probe.call(SaveWorld, "save_world", file=str(file)))
    ball, arm = state(probe, "ball_1"), state(probe, "arm")
    loaded = World(file)
    assert [handle.get_name() for handle in loaded.get_obj_list()] == listed(probe).names
    assert loaded.get_object("arm").get_generalized_coordinate().tolist() == list(arm.joint_positions)
    load(probe, str(file))
    assert (state(probe, "ball_1").pose, state(probe, "ball_1").twist) == (ball.pose, ball.twist)
    assert state(probe, "arm").joint_velocities == arm.joint_velocities


def test_a_file_is_overwritten_only_on_request(probe, tmp_path):
    file = tmp_path / "mine.xml"
    file.write_text("precious")
    answer = probe.call(SaveWorld, "save_world", file=str(file))
    assert (answer.result, file.read_text()) == (ResultCode.WRONG_STATE, "precious")
    ok(probe.call(SaveWorld, "save_world", file=str(file), overwrite=True))
    assert "raisim" in file.read_text()
    assert probe.call(SaveWorld, "save_world", file="").result == ResultCode.INVALID_VALUE
    assert probe.call(SaveWorld, "save_world", file=str(tmp_path)).result == ResultCode.INVALID_VALUE
    assert probe.call(SaveWorld, "save_world", file=str(tmp_path / "no" / "a.xml")).result == ResultCode.MISSING_FILE


def test_the_node_starts_with_parameters_of_the_world(start_node, probe, template):
    start_node(namespace="/params", world=template, world_params="count:=3 size:=0.4", publish_clock=False)
    names = ok(probe.call(ListObjects, "params/list_objects")).names
    assert names == ["floor", "ball_1", "ball_2", "ball_3"]


def test_parameters_of_a_world_are_read_like_launch_arguments():
    assert world_parameters("") == {}
    assert world_parameters("a:=1  b:=two 'c:=x y'") == {"a": "1", "b": "two", "c": "x y"}
    for wrong in ("a=1", ":=1", "a:=1 b", "'a:=1"):
        with pytest.raises(InvalidValueError, match="world_params"):
            world_parameters(wrong)
