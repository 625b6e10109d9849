"""Time: /clock, real-time factor, pause, step, reset, throttling. Each test has a node of its own."""

import time

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Twist, Vector3
from rosgraph_msgs.msg import Clock

from raisim_ros.msg import ObjectState, ResultCode, WorldCmd, WorldState
from raisim_ros.ros import qos
from raisim_ros.srv import ListObjects, Pause, Play, RemoveObject, Reset, SpawnObject, Step

GRAVITY = 9.81


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def clock_ratio(probe, wall_seconds):
    """Simulated seconds per wall second, as a subscriber of /clock sees them."""
    arrivals = []
    with probe.subscribed(Clock, "/clock", qos.CLOCK) as clocks:
        probe.spin_until(lambda: clocks, "/clock")
        started = time.monotonic()
        while time.monotonic() - started < wall_seconds:
            seen = len(clocks)
            probe.spin_until(lambda seen=seen: len(clocks) > seen, "/clock to advance")
            arrivals.append((time.monotonic(), seconds(clocks[-1].clock)))
    (first_wall, first_sim), (last_wall, last_sim) = arrivals[0], arrivals[-1]
    return (last_sim - first_sim) / (last_wall - first_wall)


@pytest.fixture
def empty_node(start_node, probe):
    """A node with an empty world: however slow the machine, the engine keeps up."""
    node = start_node(paused=True)
    for name in probe.call(ListObjects, "list_objects").names:
        assert probe.call(RemoveObject, "remove_object", name=name).result == ResultCode.OK
    yield node
    node.end()


@pytest.mark.usefixtures("empty_node")
def test_clock_advances_at_the_real_time_factor(probe):
    assert probe.call(Play, "play").result == ResultCode.OK
    with probe.publisher(WorldCmd, "world/cmd") as commands:
        for factor in (0.5, 1.0, 2.0):
            commands.publish(WorldCmd(real_time_factor=factor))
            # A busy machine may disturb one measurement; a wrong factor disturbs all.
            ratios = []
            while not ratios or ratios[-1] != pytest.approx(factor, rel=0.05):
                assert len(ratios) < 6, f"real-time factor {factor}, measured {ratios}"
                ratios.append(clock_ratio(probe, 0.7))
        commands.publish(WorldCmd(real_time_factor=0.0))
        ratios = [clock_ratio(probe, 0.7) for _ in range(2)]
        assert max(ratios) > 5.0, "factor 0 is as fast as possible"


@pytest.fixture
def paused_node(shared_node, probe):
    """A paused node with the loaded world at time zero."""
    for service, name, fields in ((Pause, "pause", {}), (Reset, "reset", {"spawned": True, "time": True})):
        assert probe.call(service, name, **fields).result == ResultCode.OK
    return shared_node


@pytest.fixture
def ball(paused_node, probe):
    """A ball far from everything, thrown upwards, in a paused world."""
    pose = Pose(position=Point(x=100.0, z=1000.0))
    twist = Twist(linear=Vector3(x=1.0, y=-2.0, z=3.0))
    response = probe.call(
        SpawnObject, "spawn_object", name="thrown", shape="sphere", radius=0.1, mass=2.0, pose=pose, twist=twist
    )
    assert (response.result, response.name) == (ResultCode.OK, "thrown"), response.message


def step(probe, steps):
    response = probe.call(Step, "step", steps=steps)
    assert response.result == ResultCode.OK, response.message
    return response


@pytest.mark.usefixtures("ball")
def test_a_thrown_ball_follows_the_parabola(probe):
    with probe.subscribed(ObjectState, "thrown/state") as states:
        for _ in range(20):
            step(probe, 10)
        probe.spin_until(lambda: states and states[-1].sim_step == 200, "the last state")
    assert len(states) > 40
    for state in states:
        t = state.sim_time
        position, velocity = state.pose.position, state.twist.linear
        assert t == pytest.approx(0.005 * state.sim_step, abs=1e-12)
        assert seconds(state.header.stamp) == pytest.approx(t, abs=1e-9)
        assert position.x == pytest.approx(100.0 + t, abs=1e-9)
        assert position.y == pytest.approx(-2.0 * t, abs=1e-9)
        assert position.z == pytest.approx(1000.0 + 3.0 * t - 0.5 * GRAVITY * t * t, abs=1e-9)
        assert velocity.z == pytest.approx(3.0 - GRAVITY * t, abs=1e-9)
        assert (state.type, state.body_type, state.mass) == ("sphere", "dynamic", 2.0)
        moments = [state.principal_inertia.x, state.principal_inertia.y, state.principal_inertia.z]
        assert moments == pytest.approx([0.4 * 2.0 * 0.1**2] * 3, rel=1e-12)


@pytest.mark.usefixtures("paused_node")
def test_time_stands_still_while_paused_and_clock_goes_on(probe):
    with probe.subscribed(Clock, "/clock", qos.CLOCK) as clocks:
        probe.spin_until(lambda: len(clocks) >= 5, "/clock while paused")
    assert {seconds(clock.clock) for clock in clocks} == {0.0}


@pytest.mark.usefixtures("paused_node")
def test_step_answers_after_its_state_was_published(probe):
    with (
        probe.subscribed(ObjectState, "ball_0/state") as states,
        probe.subscribed(WorldState, "world/state") as worlds,
    ):
        for count in range(1, 6):
            response = step(probe, 1)
            assert response.sim_step == count
            assert response.sim_time == pytest.approx(0.005 * count, abs=1e-12)
            probe.spin_until(lambda count=count: states and states[-1].sim_step == count, "the state of the step")
            probe.spin_until(lambda count=count: worlds and worlds[-1].sim_step == count, "the world's state")
    assert worlds[-1].paused
    assert worlds[-1].num_objects == probe.OBJECTS


@pytest.mark.usefixtures("paused_node")
def test_step_is_refused_while_playing_and_zero_steps_always(probe):
    assert probe.call(Step, "step", steps=0).result == ResultCode.INVALID_VALUE
    assert probe.call(Play, "play").result == ResultCode.OK
    response = probe.call(Step, "step", steps=1)
    assert response.result == ResultCode.WRONG_STATE
    assert "pause" in response.message
    assert probe.call(Pause, "pause").result == ResultCode.OK
    step(probe, 1)


@pytest.mark.usefixtures("paused_node")
def test_other_services_answer_during_a_long_step_and_pause_ends_it(probe):
    long_step = probe.call_async(Step, "step", steps=4_000_000_000)
    assert probe.call(RemoveObject, "remove_object", name="ball_1").result == ResultCode.OK
    assert not long_step.done()
    assert probe.call(Pause, "pause").result == ResultCode.OK
    probe.spin_until(long_step.done, "the answer of the cancelled step")
    assert long_step.result().result == ResultCode.WRONG_STATE
    assert "cancelled" in long_step.result().message


@pytest.mark.usefixtures("ball")
def test_reset_of_the_state_keeps_time_and_spawned_objects(probe):
    with probe.subscribed(ObjectState, "thrown/state") as states:
        step(probe, 100)
        probe.spin_until(lambda: states and states[-1].sim_step == 100, "the state")
        assert states[-1].pose.position.z != 1000.0
        assert probe.call(Reset, "reset").result == ResultCode.OK
        probe.spin_until(lambda: states[-1].pose.position.z == 1000.0, "the first state again")
    assert states[-1].sim_step == 100
    assert states[-1].sim_time == pytest.approx(0.5, abs=1e-12)
    assert states[-1].twist.linear.z == 3.0


@pytest.mark.usefixtures("ball")
def test_full_reset_returns_to_the_loaded_world_at_time_zero(probe):
    assert probe.call(RemoveObject, "remove_object", name="ball_3").result == ResultCode.OK
    step(probe, 50)
    assert probe.call(Reset, "reset", state=True, spawned=True, time=True).result == ResultCode.OK
    probe.wait_for_topics_to_go(lambda topic: topic == "/thrown/state")
    with probe.subscribed(ObjectState, "ball_3/state") as states:
        probe.spin_until(lambda: states, "the removed ball's state")
    assert (states[-1].sim_step, states[-1].sim_time) == (0, 0.0)


@pytest.mark.usefixtures("paused_node")
def test_two_runs_give_the_same_bits(probe):
    with probe.subscribed(ObjectState, "box_2/state") as states:
        ends = []
        for _ in range(2):
            assert probe.call(Reset, "reset", state=True, spawned=True, time=True).result == ResultCode.OK
            step(probe, 400)
            states.clear()
            probe.spin_until(lambda: states and states[-1].sim_step == 400, "the last state")
            ends.append((str(states[-1].pose), str(states[-1].twist)))
    assert ends[0] == ends[1]


@pytest.mark.usefixtures("paused_node")
def test_throttled_world_follows_its_client_and_pauses_when_it_dies(probe):
    with (
        probe.subscribed(WorldState, "world/state") as worlds,
        probe.publisher(WorldCmd, "world/cmd") as commands,
    ):
        commands.publish(WorldCmd(run_state=WorldCmd.PLAY, step_throttling=WorldCmd.ON, step_count=7))
        probe.spin_until(lambda: worlds and worlds[-1].sim_step == 7, "seven steps")
        assert worlds[-1].step_throttling
        assert not worlds[-1].paused
        commands.publish(WorldCmd(step_count=3))
        probe.spin_until(lambda: worlds[-1].sim_step == 10, "three steps more")
        # The client falls silent.
        probe.spin_until(lambda: worlds[-1].paused, "the world to pause")
        assert worlds[-1].sim_step == 10
        assert not worlds[-1].step_throttling


def test_bad_world_commands_are_refused_with_one_line(paused_node, probe):
    with (
        probe.subscribed(WorldState, "world/state") as worlds,
        probe.publisher(WorldCmd, "world/cmd") as commands,
    ):
        for _ in range(5):
            commands.publish(WorldCmd(run_state=9))
            commands.publish(WorldCmd(real_time_factor=float("nan")))
        commands.publish(WorldCmd(real_time_factor=3.0))
        probe.spin_until(lambda: worlds and worlds[-1].target_real_time_factor == 3.0, "the new factor")
        commands.publish(WorldCmd(run_state=WorldCmd.PLAY, step_count=5))
        paused_node.wait_for_output("step_count needs a world that is paused or throttled")
    assert worlds[-1].paused
    assert paused_node.output.count("run_state is 9") == 1
    assert paused_node.output.count("real_time_factor is nan") == 1
