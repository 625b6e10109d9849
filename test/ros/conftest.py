"""Nodes for the tests: processes of their own, talked to over topics and services, always ended."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

# A ground, a stack of three boxes and six falling balls: what the tests expect, whatever the default world shows.
WORLD = Path(__file__).with_name("node_world.xml")

WORLD_NODE = ("-m", "raisim_ros.ros.world_node")

# Generous: only reached when something is broken, or the machine is very busy.
PATIENCE = 20.0


# Each module has a domain of its own: what an earlier one left behind, be it a node that was never ended or one that
# was killed and is still believed to live, answers nobody.
_DOMAINS = 100
_domains = (1 + (os.getpid() + number) % _DOMAINS for number in itertools.count())


@pytest.fixture(scope="module")
def domain_id() -> Iterator[int]:
    """A ROS domain that no other test process on this machine uses: each holds a port as a sign."""
    for number in itertools.islice(_domains, _DOMAINS):
        with socket.socket() as sign:
            try:
                sign.bind(("127.0.0.1", 23400 + number))
            except OSError:
                continue
            yield number
            return
    pytest.fail("all 100 test domains are in use")


@pytest.fixture(scope="module")
def ros_environment(domain_id: int) -> Iterator[dict[str, str]]:
    """The environment of every process the tests start."""
    own = {"ROS_DOMAIN_ID": str(domain_id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            patch.setenv(name, value)
        yield {**os.environ, "PYTHONUNBUFFERED": "1"}


class NodeProcess:
    """A running world_node."""

    running: ClassVar[list[NodeProcess]] = []  # those that nobody has ended yet

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.running.append(self)

    def assert_alive(self) -> None:
        """Fails, with what the node has printed, when it has ended by itself."""
        assert self.process.poll() is None, f"the node ended ({self.process.returncode}):\n{self.output}"

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self._log.read_text(errors="replace")

    def wait_for_output(self, text: str, timeout: float = PATIENCE) -> None:
        """Waits until it has printed `text`."""
        end = time.monotonic() + timeout
        while text not in self.output:
            self.assert_alive()
            assert time.monotonic() < end, f"'{text}' was not printed:\n{self.output}"
            time.sleep(0.01)

    def wait_for_exit(self, timeout: float = PATIENCE) -> int:
        """Waits until it ends by itself; the exit code."""
        self.running.remove(self)
        return self.process.wait(timeout)

    def interrupt(self, number: int = signal.SIGINT, timeout: float = PATIENCE) -> tuple[int, float]:
        """Sends a signal; the exit code and the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        return self.wait_for_exit(timeout), time.monotonic() - started

    def end(self) -> None:
        """Ends it, whatever state it is in."""
        if self in self.running:
            self.running.remove(self)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5.0)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def resident_bytes(self) -> int:
        """Memory it occupies."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


StartNode = Callable[..., NodeProcess]


@pytest.fixture(scope="module")
def start_node(ros_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartNode]:
    """Starts nodes with WORLD: `start_node(namespace="/a", paused=True)`; keyword arguments are parameters."""
    pytest.importorskip("rclpy", reason="needs rclpy")
    nodes: list[NodeProcess] = []

    def start(namespace: str = "/", program: tuple[str, ...] = WORLD_NODE, **parameters: Any) -> NodeProcess:
        command = [sys.executable, *program, "--ros-args", "-r", f"__ns:={namespace}"]
        files = {"allowed_folders": f"default:{tempfile.gettempdir()}"}  # where tests put theirs
        for name, value in {"world": WORLD, **files, **parameters}.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            command += ["-p", f"{name}:={text}"]
        node = NodeProcess(command, ros_environment, tmp_path_factory.mktemp("node") / "log.txt")
        nodes.append(node)
        return node

    yield start
    for node in nodes:
        node.end()


@pytest.fixture
def make_node(ros_environment: dict[str, str]) -> Iterator[Callable[..., Any]]:
    """Nodes in the process of the test, ended with it: `make_node(Node, "name")`."""
    import rclpy

    nodes: list[Any] = []

    def make(node_type: Any, name: str) -> Any:
        nodes.append(node_type(name))
        return nodes[-1]

    rclpy.init()
    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


QUEUE_DEPTH = 1000  # messages


def _deepened(qos: Any) -> Any:
    from rclpy.qos import QoSProfile

    if isinstance(qos, int):
        return max(qos, QUEUE_DEPTH)
    return QoSProfile(depth=QUEUE_DEPTH, reliability=qos.reliability, durability=qos.durability)


class Probe:
    """The other side: a node of the test that subscribes, publishes and calls."""

    OBJECTS = 10  # in WORLD

    def __init__(self, domain_id: int) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain_id)
        self.node = Node("probe", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self._action_clients: list[Any] = []

    def close(self) -> None:
        """Leaves the graph."""
        self._executor.shutdown()
        for client in self._action_clients:
            client.destroy()  # a node that is destroyed leaves them in the graph
        self.node.destroy_node()
        self.context.try_shutdown()

    def spin_until(self, condition: Callable[[], Any], what: str, timeout: float = PATIENCE) -> None:
        """Serves callbacks until `condition()` holds; fails, naming `what`, when it never does."""
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"waited {timeout:g} s for {what}"
            for node in NodeProcess.running:
                node.assert_alive()
            self._executor.spin_once(timeout_sec=0.02)

    def call(self, service_type: Any, service: str, /, **fields: Any) -> Any:
        """Calls a service and waits for its answer.

        A busy machine can keep a client unknown to the node for good, which then never gets its request: a client that
        is not answered is replaced, once.
        """
        future = self.call_async(service_type, service, **fields)
        with contextlib.suppress(AssertionError):
            self.spin_until(future.done, f"the answer of {service}")
        if not future.done():
            self.node.destroy_client(self._clients.pop(service))
            future = self.call_async(service_type, service, **fields)
            self.spin_until(future.done, f"the answer of {service}")
        return future.result()

    def call_async(self, service_type: Any, service: str, /, **fields: Any) -> Any:
        """Calls a service that exists, or comes to exist; the future of its answer."""
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = self.node.create_client(service_type, service)
        self.spin_until(client.service_is_ready, f"service {service}")
        return client.call_async(service_type.Request(**fields))

    def action_client(self, action_type: Any, action: str) -> Any:
        """A client of an action, which leaves the graph with the probe."""
        from rclpy.action import ActionClient

        client = ActionClient(self.node, action_type, action)
        self._action_clients.append(client)
        return client

    @contextlib.contextmanager
    def subscribed(self, message_type: Any, topic: str, qos: Any = QUEUE_DEPTH) -> Iterator[list[Any]]:
        """All messages of a topic, collected in a list; the publisher is already matched.

        The queue is deep whatever `qos` says: on a busy machine a message must not push out one that still waits.
        """
        messages: list[Any] = []
        subscription = self.node.create_subscription(message_type, topic, messages.append, _deepened(qos))
        try:
            self.spin_until(lambda: subscription.get_publisher_count() > 0, f"a publisher of {topic}")
            yield messages
        finally:
            self.node.destroy_subscription(subscription)

    @contextlib.contextmanager
    def publisher(self, message_type: Any, topic: str) -> Iterator[Any]:
        """A publisher that is already matched."""
        publisher = self.node.create_publisher(message_type, topic, 10)
        try:
            self.spin_until(lambda: publisher.get_subscription_count() > 0, f"a subscriber of {topic}")
            yield publisher
        finally:
            self.node.destroy_publisher(publisher)

    @staticmethod
    def deliver(publisher: Any, message: Any) -> None:
        """Publishes a message and waits, seconds maybe, until it has arrived: a step that is asked for then finds it.

        It is sent twice: the other side may meet this publisher after the first.
        """
        from rclpy.duration import Duration

        for _ in range(2):
            publisher.publish(message)
            arrived = publisher.wait_for_all_acked(Duration(seconds=PATIENCE))
            assert arrived, f"a message of {publisher.topic_name} never arrived"

    def topics(self) -> set[str]:
        """Names of all topics that somebody else publishes or subscribes."""
        return {name for name, _ in self.node.get_topic_names_and_types()}

    def wait_for_topics_to_go(self, gone: Callable[[str], bool]) -> None:
        """Waits until no topic has a name for which `gone` holds.

        A busy machine can lose the notice of a topic's end for good; then a newcomer, who learns what there is now,
        decides.
        """
        end = time.monotonic() + PATIENCE / 2
        while any(map(gone, self.topics())):
            if time.monotonic() > end:
                self._newcomer_waits_for_topics_to_go(gone)
                return
            self._executor.spin_once(timeout_sec=0.02)

    def _newcomer_waits_for_topics_to_go(self, gone: Callable[[str], bool]) -> None:
        newcomer = Probe(self.context.get_domain_id())
        try:
            newcomer.learn_what_there_is()
            newcomer.spin_until(lambda: not any(map(gone, newcomer.topics())), "the topics to go")
        except AssertionError as error:
            raise AssertionError(f"{error}; left: {newcomer.owners(gone)}") from None
        finally:
            newcomer.close()

    def owners(self, chosen: Callable[[str], bool]) -> dict[str, list[str]]:
        """Which nodes publish or subscribe the chosen topics."""
        node = self.node
        return {
            topic: [
                f"{end.node_namespace} {end.node_name} {end.endpoint_type.name}"
                for end in [*node.get_publishers_info_by_topic(topic), *node.get_subscriptions_info_by_topic(topic)]
            ]
            for topic in sorted(filter(chosen, self.topics()))
        }

    def learn_what_there_is(self) -> None:
        """Waits until no new topic has shown up for three seconds."""
        known, since = self.topics(), time.monotonic()
        while time.monotonic() - since < 3.0:
            self._executor.spin_once(timeout_sec=0.02)
            if self.topics() != known:
                known, since = self.topics(), time.monotonic()


@pytest.fixture(scope="module")
def probe(domain_id: int, ros_environment: dict[str, str]) -> Iterator[Probe]:
    """The test's own node."""
    pytest.importorskip("rclpy", reason="needs rclpy")
    probe = Probe(domain_id)
    yield probe
    probe.close()


@pytest.fixture(scope="module")
def shared_node(start_node: StartNode) -> NodeProcess:
    """A paused node for all tests of a module."""
    return start_node(paused=True)


@pytest.fixture
def fresh_world(shared_node: NodeProcess, probe: Probe) -> None:
    """The shared node is paused, with the world as it was loaded, at time zero."""
    from raisim_ros.msg import ResultCode
    from raisim_ros.srv import Pause, Reset

    assert probe.call(Pause, "pause").result == ResultCode.OK
    assert probe.call(Reset, "reset", state=True, spawned=True, time=True).result == ResultCode.OK
