"""Parameters changed while the node runs: checked, all or none, with events; they follow the world."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from robot_calls import state, step
from service_calls import load_text, ok

from raisim_ros.msg import ObjectState, ObjectStateArray, ResultCode
from raisim_ros.ros import qos
from raisim_ros.ros.node.live_parameters import list_of
from raisim_ros.srv import GetObjectInfo, Reset, SetObjectRates, SetWorldSettings, Step


def change(probe, **values):
    parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
    return probe.call(SetParametersAtomically, "world_node/set_parameters_atomically", parameters=parameters).result


def read(probe, *names):
    values = probe.call(GetParameters, "world_node/get_parameters", names=list(names)).values
    return [list_of(value) for value in map(parameter_value_to_python, values)]


@pytest.mark.usefixtures("fresh_world")
def test_gravity_and_time_step_act_at_once_and_are_told(probe):
    with probe.subscribed(ParameterEvent, "/parameter_events") as events:
        assert change(probe, gravity=[0.0, 0.0, 2.0], time_step=0.001).successful
        probe.spin_until(lambda: any(p.name == "gravity" for e in events for p in e.changed_parameters), "the event")
    before = state(probe, "ball_0")
    step(probe, 10)
    after = state(probe, "ball_0")
    assert after.sim_time - before.sim_time == pytest.approx(0.01, abs=1e-12)
    assert after.twist.linear.z - before.twist.linear.z == pytest.approx(0.02, abs=1e-12)
    assert change(probe, gravity=[0.0, 0.0, -9.81], time_step=0.005).successful


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"time_step": 0.003, "gravity": [1.0, 2.0]}, "gravity"),
        ({"gravity": [0.0, 0.0, 1.0], "command_watchdog_action": "panic"}, "'release' or 'hold'"),
        ({"gravity": [0.0, 0.0, 1.0], "state_min_rate_hz": 5000.0}, "state_max_rate_hz"),
        ({"gravity": [0.0, 0.0, 1.0], "time_step": 7.0}, "time_step"),
        ({"gravity": [0.0, 0.0, 1.0], "solver_iterations": 0}, "solver_iterations"),
    ],
)
def test_one_wrong_value_leaves_all_as_they_were(probe, values, text):
    before = read(probe, "gravity", "time_step", "state_min_rate_hz")
    result = change(probe, **values)
    assert not result.successful
    assert text in result.reason
    assert read(probe, "gravity", "time_step", "state_min_rate_hz") == before
    begin = state(probe, "ball_0")
    step(probe, 1)
    end = state(probe, "ball_0")
    assert end.sim_time - begin.sim_time == pytest.approx(0.005, abs=1e-12)
    assert end.twist.linear.z < begin.twist.linear.z


@pytest.mark.usefixtures("fresh_world")
def test_rates_of_topics_can_be_changed(probe):
    with probe.subscribed(ObjectStateArray, "states", qos.STATE_ARRAY) as arrays:
        assert change(probe, states_rate_hz=20.0).successful
        arrays.clear()
        step(probe, 100)
        probe.spin_until(lambda: arrays and arrays[-1].states[0].sim_step == 100, "the last states")
        slow = len({message.states[0].sim_step for message in arrays})
        assert change(probe, states_rate_hz=200.0).successful
        arrays.clear()
        step(probe, 100)
        probe.spin_until(lambda: arrays and arrays[-1].states[0].sim_step == 200, "the last states")
        fast = len({message.states[0].sim_step for message in arrays})
    assert change(probe, states_rate_hz=50.0).successful
    assert slow <= 13
    assert fast > 3 * slow


def states_of_50_steps(probe, states):
    """How many states of 50 steps, of 5 ms each, are published."""
    before = state(probe, "ball_0").sim_step
    states.clear()
    for end in range(before + 10, before + 60, 10):  # no more at once than the queue of the publisher holds
        step(probe, 10)
        probe.spin_until(lambda end=end: states and states[-1].sim_step == end, "the last state")
    return len({message.sim_step for message in states} - {before})  # that of the paused world is repeated


@pytest.mark.usefixtures("fresh_world")
def test_rates_of_one_object_can_be_changed(probe):
    with probe.subscribed(ObjectState, "ball_0/state", qos.STATE) as states:
        usual = states_of_50_steps(probe, states)
        ok(probe.call(SetObjectRates, "set_object_rates", name="ball_0", min_rate_hz=200.0))
        assert states_of_50_steps(probe, states) > 2 * usual
        ok(probe.call(SetObjectRates, "set_object_rates", name="ball_0", min_rate_hz=10.0))
        assert states_of_50_steps(probe, states) <= 6  # the last one of each request is always published
        ok(probe.call(SetObjectRates, "set_object_rates", name="ball_0"))
        assert states_of_50_steps(probe, states) == pytest.approx(usual, abs=3)  # as the requests fall between the rates


@pytest.mark.usefixtures("fresh_world")
def test_parameters_follow_the_service_and_a_loaded_world(probe, tmp_path):
    ok(probe.call(SetWorldSettings, "set_world_settings", gravity=[0.0, 0.0, -1.5], real_time_factor=2.0))
    assert read(probe, "gravity", "real_time_factor") == [[0.0, 0.0, -1.5], 2.0]
    load_text(probe, tmp_path, '<raisim><gravity value="0 0 -3"/><time_step value="0.002"/></raisim>')
    assert read(probe, "gravity", "time_step") == [[0.0, 0.0, -3.0], 0.002]


@pytest.mark.usefixtures("fresh_world")
def test_rates_watchdogs_and_threads_are_set_by_the_service_too(probe):
    given = {"state_min_rate_hz": 2000.0, "state_max_rate_hz": 3000.0, "tf_rate_hz": 25.0, "marker_rate_hz": 7.0}
    given |= {"command_watchdog_s": 0.25, "command_watchdog_action": "hold", "world_watchdog_s": 0.0, "threads": 2}
    before = dict(zip(given, read(probe, *given), strict=True))
    ok(probe.call(SetWorldSettings, "set_world_settings", **given))
    assert read(probe, *given) == list(given.values())
    wrong = probe.call(SetWorldSettings, "set_world_settings", threads=1, state_max_rate_hz=100.0)
    assert (wrong.result, "state_min_rate_hz" in wrong.message) == (ResultCode.INVALID_VALUE, True)
    assert read(probe, *given) == list(given.values())
    assert change(probe, **before).successful


def test_settings_can_be_given_at_the_start(start_node, probe):
    start_node(namespace="/moon", paused=True, gravity="[0.0, 0.0, -1.62]", time_step=0.002)
    values = probe.call(GetParameters, "/moon/world_node/get_parameters", names=["gravity", "time_step"]).values
    assert list(values[0].double_array_value) == [0.0, 0.0, -1.62]
    ok(probe.call(Step, "/moon/step", steps=10))
    falling = ok(probe.call(GetObjectInfo, "/moon/get_object_info", name="ball_0")).state
    assert falling.sim_time == pytest.approx(0.02, abs=1e-12)
    assert falling.twist.linear.z == pytest.approx(-1.62 * 0.02, abs=1e-12)
    ok(probe.call(Reset, "/moon/reset", state=True, spawned=True, time=True))
    values = probe.call(GetParameters, "/moon/world_node/get_parameters", names=["gravity"]).values
    assert list(values[0].double_array_value) == [0.0, 0.0, -1.62]
