"""An answer whose client is not discovered yet is kept and sent again, and given up in the end."""

import warnings

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from rcl_interfaces.srv import GetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from raisim_ros.ros.node.answers import Answers
from raisim_ros.srv import ListObjects, Step


class Server:
    """A service on the probe's node, with a clock and a log of its own."""

    def __init__(self, probe):
        self.now, self.calls, self.log = 0.0, 0, []
        self.answers = Answers(self.log.append, clock=lambda: self.now)
        self.service = probe.node.create_service(Trigger, "late_answers", self._answer)

    def _answer(self, request, response):
        self.calls += 1
        response.message = f"answer {self.calls}"
        return response

    def wait_and_send(self, seconds):
        self.now += seconds
        self.answers.send_again()


@pytest.fixture
def server(probe):
    server = Server(probe)
    yield server
    probe.node.destroy_service(server.service)


def drop_answers(service, count):
    """The first `count` tries to send find no client, as rclpy tells it."""
    tries, send = [], service.send_response

    def send_or_drop(response, address):
        tries.append(response.message)
        if len(tries) <= count:
            warnings.warn("failed to send response (timeout): client will not receive response", RuntimeWarning, stacklevel=1)
        else:
            send(response, address)

    service.send_response = send_or_drop
    return tries


def test_answer_arrives_after_the_client_is_discovered(probe, server):
    tries = drop_answers(server.service, count=3)
    server.answers.take_over(server.service)
    future = probe.call_async(Trigger, "late_answers")
    probe.spin_until(lambda: tries, "the first try")
    server.wait_and_send(0.05)
    assert len(tries) == 1  # too early
    for pause, count in ((0.06, 2), (0.1, 2), (0.11, 3)):
        server.wait_and_send(pause)
        assert len(tries) == count  # the pauses grow
    assert not future.done()
    server.wait_and_send(0.5)
    probe.spin_until(future.done, "the kept answer")
    assert future.result().message == "answer 1"
    server.wait_and_send(100.0)
    assert len(tries) == 4
    assert server.log == []


def test_other_answers_go_out_while_one_is_kept(probe, server):
    tries = drop_answers(server.service, count=1)
    server.answers.take_over(server.service)
    first = probe.call_async(Trigger, "late_answers")
    probe.spin_until(lambda: tries, "the first try")
    assert probe.call(Trigger, "late_answers").message == "answer 2"
    assert not first.done()
    server.wait_and_send(1.0)
    probe.spin_until(first.done, "the kept answer")
    assert first.result().message == "answer 1"


def test_a_client_that_never_shows_up_is_given_up(probe, server):
    """A real one: its requests match the service, but what it reads answers with does not."""
    tries = drop_answers(server.service, count=0)
    server.answers.take_over(server.service)
    qos = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    client = probe.node.create_client(Trigger, "late_answers", qos_profile=qos)
    client.call_async(Trigger.Request())
    probe.spin_until(lambda: tries, "the first try")
    server.wait_and_send(Answers.PATIENCE / 2)
    assert (len(tries), server.log) == (2, [])
    server.wait_and_send(Answers.PATIENCE)
    assert (len(tries), len(server.log)) == (3, 1)
    assert "late_answers" in server.log[0]
    assert "20 s" in server.log[0]
    server.wait_and_send(Answers.PATIENCE)
    assert (len(tries), len(server.log)) == (3, 1)
    probe.node.destroy_client(client)


def test_other_warnings_are_shown(monkeypatch):
    shown = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    Answers(print)
    warnings.warn("something else", UserWarning, stacklevel=1)
    assert shown == ["something else"]


# A node that finds no client for the first answer of each of its services.
FORGETFUL_NODE = """
import sys, warnings
from rclpy.service import Service
from raisim_ros.ros.world_node import main

send, forgotten = Service.send_response, set()

def send_but_the_first(service, response, address):
    if service.srv_name in forgotten:
        return send(service, response, address)
    forgotten.add(service.srv_name)
    warnings.warn("failed to send response (timeout): client will not receive response", RuntimeWarning)

Service.send_response = send_but_the_first
sys.exit(main())
"""


def test_the_node_sends_the_answers_of_all_its_services_again(start_node, probe):
    node = start_node(paused=True, program=("-c", FORGETFUL_NODE))
    assert len(probe.call(ListObjects, "list_objects").names) == probe.OBJECTS
    assert probe.call(Step, "step", steps=3).sim_step == 3  # answers from another thread, later
    values = probe.call(GetParameters, "world_node/get_parameters", names=["paused"]).values
    assert [value.bool_value for value in values] == [True]
    assert "RuntimeWarning" not in node.output
