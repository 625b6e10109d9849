"""Start and end of the node: what it prints, wrong parameters, signals, nothing left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import ReliabilityPolicy
from victims import assert_quick

from raisim_ros.msg import ResultCode, WorldState
from raisim_ros.srv import ListObjects, Play, SpawnObject, Step


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("paused", [True, False])
def test_a_signal_ends_it_cleanly_within_a_second(start_node, probe, number, paused):
    def end():
        node = start_node(paused=paused)
        assert probe.call(ListObjects, "list_objects").result == ResultCode.OK
        code, duration = node.interrupt(number)
        assert code == 0, node.output
        assert "Traceback" not in node.output
        assert "rror" not in node.output
        return duration

    assert_quick(end)


def test_it_ends_within_a_second_while_it_serves_a_long_step(start_node, probe):
    def end():
        node = start_node(paused=True)
        answer = probe.call_async(Step, "step", steps=1_000_000_000)
        with probe.subscribed(WorldState, "world/state") as worlds:
            probe.spin_until(lambda: worlds and worlds[-1].sim_step > 10, "the steps to begin")
        code, duration = node.interrupt()
        assert (code, "Traceback" in node.output) == (0, False), node.output
        assert not answer.done() or answer.result().result == ResultCode.WRONG_STATE
        return duration

    assert_quick(end)


def test_it_ends_when_its_launcher_was_killed(start_node, probe):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as launcher:
        code = (
            f"import os, sys; os.environ['RAISIM_ROS_LAUNCHER_PID'] = '{launcher.pid}'\n"
            "from raisim_ros.ros.world_node import main; sys.exit(main())"
        )
        node = start_node(program=("-c", code))
        assert probe.call(ListObjects, "list_objects").result == ResultCode.OK
        launcher.kill()
    assert node.process.wait(30) == 0
    node.end()


def test_what_must_not_get_lost_is_written_before_the_end(tmp_path):
    """On a busy machine a node was gone before its recording was written: so long after a signal it ended, come what may."""
    file = tmp_path / "kept"
    code = f"""
import os, pathlib, signal, time
from raisim_ros.ros.node.signals import PATIENCE, Life, watch_signals
life = Life()
watch_signals("test", life, lambda: None)
life.serving.set()
with life.writing:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(2.0 * PATIENCE)
    pathlib.Path({str(file)!r}).write_text("kept")
time.sleep(1e6)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, timeout=60.0)
    assert ended.returncode == 0
    assert file.read_text() == "kept"


def test_it_leaves_no_process_and_no_name_behind(start_node, probe):
    node = start_node()
    assert probe.call(ListObjects, "list_objects").result == ResultCode.OK
    children = Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children").read_text().split()
    assert children == []
    node.interrupt()
    probe.spin_until(lambda: "world_node" not in probe.node.get_node_names(), "the node to leave the graph")
    probe.wait_for_topics_to_go(lambda topic: topic == "/states")


def test_it_tells_what_runs_and_how_to_stop(start_node):
    node = start_node(namespace="/arena", paused=True, real_time_factor=0.5)
    node.wait_for_output("stop with Ctrl-C")
    for text in ("node_world.xml, 10 objects", "0.5 x real time, paused", "/arena/spawn_object", "/clock"):
        assert text in node.output
    node.end()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"real_time_factor": -1.0}, "real_time_factor"),
        ({"clock_rate_hz": 0.0}, "clock_rate_hz"),
        ({"command_watchdog_action": "panic"}, "'release' or 'hold'"),
        ({"world": "/no/such/world.xml"}, "/no/such/world.xml"),
        ({"world_frame": "''"}, "world_frame is empty"),
        ({"world_frame": "/map"}, "world_frame is '/map'"),
        ({"frame_prefix": "a b/"}, "frame_prefix is 'a b/'"),
        ({"qos_overrides./states.publisher.reliability": "relaible"}, "relaible"),
        ({"qos_overrides./states.publisher.depth": -3}, "depth is -3"),
        ({"broken:": 1}, "broken"),
    ],
)
def test_a_wrong_parameter_is_named_in_one_line(start_node, parameters, text):
    node = start_node(**parameters)
    assert node.wait_for_exit() == 2
    lines = [line for line in node.output.splitlines() if line.strip() and "] [rcl]: " not in line]
    assert len(lines) == 1, node.output
    assert lines[0].startswith("world_node: ")
    assert text in lines[0]


def test_parameters_that_nobody_reads_are_told_with_the_nearest_name(start_node):
    given = {"paussed": True, "gravty": "[0.0, 0.0, -1.0]", "publish_tf": False, "frame_prefix": "a/", "arm.p_gains": 3.0}
    topics = {"states": "is no warning", "stats": "is one", "ball/state": "cannot be chosen"}
    qos = {f"qos_overrides./told/{topic}.publisher.depth": 7 for topic in topics}
    node = start_node(namespace="/told", paused=True, **given, **qos)
    node.wait_for_output("'paussed' is ignored")
    node.interrupt()
    warned = {line.split("parameter '", 1)[1] for line in node.output.splitlines() if "WARN" in line and "parameter '" in line}
    told = {line.split("'", 1)[0]: line for line in warned}
    assert set(told) == {"paussed", "gravty", "arm.p_gains", *(name for name in qos if "told/states" not in name)}
    assert "did you mean 'paused'" in told["paussed"]
    assert "did you mean 'gravity'" in told["gravty"]
    assert "/told/states.publisher.depth'" in told["qos_overrides./told/stats.publisher.depth"]
    assert told["arm.p_gains"].endswith("acts on nothing that is here yet")


def test_parameters_are_described_and_guarded(start_node, probe):
    start_node(namespace="/described", paused=True)
    names = probe.call(ListParameters, "/described/world_node/list_parameters").result.names
    own = [name for name in names if not name.startswith(("qos_overrides.", "use_sim_time", "start_type"))]
    assert "real_time_factor" in own
    described = probe.call(DescribeParameters, "/described/world_node/describe_parameters", names=own).descriptors
    for descriptor in described:
        assert descriptor.description, descriptor.name
        if descriptor.name.endswith(("_hz", "_s", "_factor")):
            assert descriptor.floating_point_range, descriptor.name

    def change(name, value):
        parameter = Parameter(name, value=value).to_parameter_msg()
        (result,) = probe.call(SetParameters, "/described/world_node/set_parameters", parameters=[parameter]).results
        return result.successful

    assert change("real_time_factor", 4.0)
    assert not change("real_time_factor", -4.0)
    assert not change("command_watchdog_action", "panic")
    assert change("command_watchdog_action", "hold")
    assert not change("publish_tf", False), "it cannot change while the node runs"
    with probe.subscribed(WorldState, "/described/world/state") as worlds:
        probe.spin_until(lambda: worlds and worlds[-1].target_real_time_factor == 4.0, "the new factor")
    values = probe.call(GetParameters, "/described/world_node/get_parameters", names=["real_time_factor"]).values
    assert values[0].double_value == 4.0


def test_quality_of_service_can_be_chosen(start_node, probe):
    overrides = {"qos_overrides./chosen/states.publisher.depth": 7, "state_best_effort": True}
    start_node(namespace="/chosen", paused=True, **overrides)
    assert probe.call(ListObjects, "/chosen/list_objects").result == ResultCode.OK
    profiles = {}
    for topic in ("/chosen/states", "/chosen/ball_0/state"):
        probe.spin_until(lambda topic=topic: probe.node.get_publishers_info_by_topic(topic), topic)
        (end,) = probe.node.get_publishers_info_by_topic(topic)
        profiles[topic] = end.qos_profile.reliability
    assert profiles["/chosen/states"] == ReliabilityPolicy.RELIABLE
    assert profiles["/chosen/ball_0/state"] == ReliabilityPolicy.BEST_EFFORT
    values = probe.call(
        GetParameters, "/chosen/world_node/get_parameters", names=["qos_overrides./chosen/states.publisher.depth"]
    ).values
    assert values[0].integer_value == 7


def test_worlds_side_by_side_keep_their_names_apart(start_node, probe):
    start_node(namespace="/left", paused=True, frame_prefix="left/")
    start_node(namespace="/right", paused=True, frame_prefix="right/", publish_clock=False)
    sphere = {"name": "same", "shape": "sphere", "radius": 0.1}
    for side in ("left", "right"):
        assert probe.call(SpawnObject, f"/{side}/spawn_object", **sphere).result == ResultCode.OK
    probe.spin_until(lambda: {"/left/same/state", "/right/same/state"} <= probe.topics(), "both topics")
    assert probe.call(Play, "/left/play").result == ResultCode.OK
    with probe.subscribed(WorldState, "/right/world/state") as right:
        probe.spin_until(lambda: len(right) > 5, "the other world's state")
        assert all(state.paused for state in right)


def test_without_an_engine_error_nothing_is_printed_after_the_start(start_node, probe):
    node = start_node(namespace="/quiet", publish_clock=False)  # others of this file may have one
    node.wait_for_output("stop with Ctrl-C")
    printed = node.output
    with probe.subscribed(WorldState, "/quiet/world/state") as worlds:
        probe.spin_until(lambda: len(worlds) > 10, "some states")
    assert node.output == printed
    node.end()


def test_it_does_not_wait_for_its_own_simulation_time(start_node, probe):
    start_node(namespace="/own_time", use_sim_time=True)
    with probe.subscribed(WorldState, "/own_time/world/state") as worlds:
        probe.spin_until(lambda: worlds and worlds[-1].sim_step > 50, "the world to run")


def test_the_module_can_be_imported_without_starting_anything():
    code = "import raisim_ros.ros.world_node, rclpy; assert not rclpy.ok()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=dict(os.environ))
