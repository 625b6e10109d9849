"""What `/diagnostics` says about a world that runs, lags, or stands still."""

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from raisim_ros.engine.world.world import World
from raisim_ros.msg import ResultCode
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.node.diagnostics import DiagnosticsTopic
from raisim_ros.srv import Play


class Publisher:
    def __init__(self, listeners=1):
        self.listeners = listeners
        self.messages = []

    def get_subscription_count(self):
        return self.listeners

    def publish(self, message):
        self.messages.append(message)


def make_loop(factor=1.0, wanted=1.0, paused=False, throttled=False):
    """A loop as the topic sees it: a ball rests on the ground."""
    world = World()
    world.add_ground()
    world.add_sphere(0.1, 1.0).set_position(0.0, 0.0, 0.1)
    world.integrate()
    meters = SimpleNamespace(sim_time=SimpleNamespace(rate=lambda: factor), step_duration=0.00025)
    pacer = SimpleNamespace(real_time_factor=wanted, overruns=0)
    free = not paused and not throttled
    return SimpleNamespace(
        world=world, meters=meters, pacer=pacer, paused=paused, throttled=throttled, free_running=free, table=[1, 2]
    )


def status_of(topic, publisher):
    topic.publish(Moment.now(7, 2.5, False), None)
    message = publisher.messages[-1]
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (2, 500_000_000)
    (status,) = message.status
    return status, {pair.key: pair.value for pair in status.values}


def test_a_world_that_keeps_up_is_well():
    publisher = Publisher()
    status, values = status_of(DiagnosticsTopic(make_loop(0.998), "a/world_node", publisher), publisher)
    assert (status.level, status.message) == (DiagnosticStatus.OK, "running")
    assert (status.name, status.hardware_id) == ("a/world_node: simulation", "raisim_ros")
    assert float(values["real-time factor"]) == pytest.approx(0.998)
    assert values["step time [ms]"] == "0.25"
    assert values["time step [ms]"] == "5"
    assert (values["steps"], values["objects"], values["overruns"], values["contacts"]) == ("7", "2", "0", "1")
    assert int(values["solver iterations"]) >= 1


def test_a_slow_world_and_new_overruns_give_a_warning():
    publisher = Publisher()
    loop = make_loop(0.5)
    status, _ = status_of(DiagnosticsTopic(loop, "n", publisher), publisher)
    assert (status.level, "0.5 instead of 1" in status.message) == (DiagnosticStatus.WARN, True)
    loop = make_loop(1.0)
    topic = DiagnosticsTopic(loop, "n", publisher)
    loop.pacer.overruns = 3
    assert status_of(topic, publisher)[0].level == DiagnosticStatus.WARN
    status, values = status_of(topic, publisher)  # no new ones
    assert (status.level, values["overruns"]) == (DiagnosticStatus.OK, "3")


@pytest.mark.parametrize(
    ("state", "message"), [({"paused": True}, "paused"), ({"throttled": True}, "stepped by a client")]
)
def test_a_world_that_stands_still_is_well(state, message):
    publisher = Publisher()
    status, values = status_of(DiagnosticsTopic(make_loop(0.0, **state), "n", publisher), publisher)
    assert (status.level, status.message, values["real-time factor"]) == (DiagnosticStatus.OK, message, "0")


def test_as_fast_as_possible_is_never_too_slow():
    publisher = Publisher()
    status, values = status_of(DiagnosticsTopic(make_loop(0.01, wanted=0.0), "n", publisher), publisher)
    assert (status.level, values["wanted real-time factor"]) == (DiagnosticStatus.OK, "as fast as possible")


def test_it_is_due_once_a_second_and_only_for_listeners():
    topic = DiagnosticsTopic(make_loop(), "n", Publisher())
    now = Moment.now(0, 0.0, True)
    assert topic.due(now)
    assert not topic.due(now)
    assert not DiagnosticsTopic(make_loop(), "n", Publisher(listeners=0)).due(now)


def test_old_overruns_are_not_told_as_new_ones():
    publisher, loop = Publisher(listeners=0), make_loop()
    topic = DiagnosticsTopic(loop, "n", publisher)
    loop.pacer.overruns = 5
    assert not topic.due(Moment.now(0, 0.0, True))
    publisher.listeners = 1
    status, values = status_of(topic, publisher)
    assert (status.level, values["overruns"]) == (DiagnosticStatus.OK, "5")


def test_a_node_publishes_it_paused_and_playing(fresh_world, probe):
    with probe.subscribed(DiagnosticArray, "/diagnostics") as messages:
        probe.spin_until(lambda: messages, "diagnostics")
        assert messages[0].status[0].name == "world_node: simulation"
        assert messages[0].status[0].message == "paused"
        assert probe.call(Play, "play").result == ResultCode.OK
        probe.spin_until(lambda: messages[-1].status[0].message != "paused", "diagnostics of the playing world")
