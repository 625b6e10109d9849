"""The connection to a running world."""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import Any

import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.validate_full_topic_name import validate_full_topic_name

import raisim_ros.srv as srv
from raisim_ros.client import shared_memory
from raisim_ros.client.errors import ConnectionLostError, RequestRefusedError
from raisim_ros.client.objects import Object, Robot, Vector, pose_message
from raisim_ros.client.requests import checked_request
from raisim_ros.client.spinning import spin
from raisim_ros.description.checked import is_whole, numbers, shown, text
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.msg import ResultCode, WorldState

# As deep as the node's own: a burst of requests loses nothing.
SERVICE_DEPTH = 1000
# The node tells about itself at least this often, paused or not; a longer silence means that it is gone [s].
SILENCE = 2.0
MOST_DOMAINS = 232  # that the ports of DDS allow

# Services whose types are not called as they are.
_TYPES = {"load_world_file": srv.LoadWorld}


def _type_of(service: str) -> Any:
    name = "".join(part.capitalize() for part in text("service", service).split("_"))
    kind = _TYPES.get(service) or getattr(srv, name, None)
    if kind is None:
        raise InvalidValueError(f"there is no service '{service}'")
    return kind


class Client:
    """A connection to one world. Methods may be called from several threads."""

    def __init__(self, namespace: str = "", timeout: float = 10.0, domain_id: int | None = None) -> None:
        """Connects to the node in a namespace; `timeout`: of this and, unless they say otherwise, of all calls [s]."""
        self.timeout = numbers("timeout", (timeout,), 1)[0]
        # What the names of the node's topics and services begin with; and the node that everything here goes through.
        self.prefix = f"/{text('namespace', namespace).strip('/')}/".replace("//", "/")
        topic = f"{self.prefix}world/state"
        if domain_id is not None and not (is_whole(domain_id) and 0 <= domain_id <= MOST_DOMAINS):
            raise InvalidValueError(f"domain_id is {shown(domain_id)}; expected 0 to {MOST_DOMAINS}")
        try:
            validate_full_topic_name(topic)
        except InvalidTopicNameException as error:
            raise InvalidValueError(f"namespace is {shown(namespace)}; {error}") from error
        shared_memory.remove_stale()
        shared_memory.announce()
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self.node = Node(f"raisim_client_{id(self) % 10**8}", context=self._context, start_parameter_services=False)
        shared_memory.remember()
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._closed = threading.Event()
        self._lock = threading.RLock()
        self._clients: dict[str, Any] = {}
        self._objects: dict[str, Object] = {}
        self._news = threading.Condition()
        self._state: Any = None
        self._heard = 0.0
        self._step = -1
        self._since = 0.0  # [s] wall time of the node; what it told before is of another time
        self.node.create_subscription(WorldState, topic, self._on_state, 10)
        self._thread = threading.Thread(
            target=spin, args=(self._executor, self._closed), name="raisim client", daemon=True
        )
        self._thread.start()
        # Python ends threads that still run by a means that the middleware's C++ answers with abort().
        atexit.register(self.close)
        try:
            self._wait_for_news(lambda: self._state is not None, timeout, "no world is heard")
        except ConnectionLostError:
            self.close()
            raise

    def close(self) -> None:
        """Ends the connection; the world goes on. It also ends with the program."""
        atexit.unregister(self.close)
        self._closed.set()
        self._executor.wake()
        self._thread.join(2.0)
        self._executor.shutdown(timeout_sec=1.0)
        self._context.try_shutdown()
        with contextlib.suppress(Exception):
            self.node.destroy_node()
        shared_memory.remember()  # what other connections of this process still have

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- what is heard ----

    def _on_state(self, message: Any) -> None:
        with self._news:
            self._state, self._heard = message, time.monotonic()
            self._news.notify_all()

    def _wait_for_news(self, condition: Callable[[], Any], timeout: float | None, what: str) -> None:
        limit = self.timeout if timeout is None else timeout
        with self._news:
            if not self._news.wait_for(condition, limit):
                raise ConnectionLostError(f"{what} at '{self.prefix}' for {limit:g} s")

    @property
    def is_alive(self) -> bool:
        """Whether the node was heard just now. A paused world is alive; one that is gone is not, after two seconds."""
        return time.monotonic() - self._heard < SILENCE

    @property
    def state(self) -> WorldState:
        """What the node told about itself, behind the last step(); ConnectionLostError when it has fallen silent."""
        with self._news:
            if not self._news.wait_for(lambda: self._is_new(self._state) or not self.is_alive, SILENCE):
                raise ConnectionLostError(f"the world at '{self.prefix}' tells an old state")
        self._check_life()
        return self._state

    def _is_new(self, state: Any) -> bool:
        """Whether a state, if there is one, is of the time behind the last step() and reset()."""
        return state is not None and state.sim_step >= self._step and state.wall_time >= self._since

    def _check_life(self) -> None:
        if not self.is_alive:
            raise ConnectionLostError(f"the world at '{self.prefix}' has fallen silent")

    @property
    def time(self) -> float:
        """Simulation time [s]."""
        return float(self.state.sim_time)

    # ---- requests ----

    def call_async(self, service: str, **fields: Any) -> Future[Any]:
        """Sends a request; the future receives the answer, or RequestRefusedError. Nothing is waited for."""
        return self._send(service, _type_of(service), fields, lambda answer: (answer.result, answer.message))

    def _send(
        self, service: str, kind: Any, fields: dict[str, Any], outcome: Callable[[Any], tuple[int, str]]
    ) -> Future[Any]:
        """`outcome` reads code and message of an answer; 1 is success, here and in simulation_interfaces."""
        request = checked_request(service, kind, fields)
        if not self._context.ok():
            raise ConnectionLostError("the connection was closed")
        with self._lock:
            client = self._clients.get(service)
            if client is None:
                profile = QoSProfile(depth=SERVICE_DEPTH)
                client = self.node.create_client(kind, f"{self.prefix}{service}", qos_profile=profile)
                self._clients[service] = client
        result: Future[Any] = Future()
        if not client.wait_for_service(self.timeout):
            result.set_exception(ConnectionLostError(f"service '{self.prefix}{service}' is not there"))
            return result

        def done(answered: Any) -> None:
            answer = answered.result()
            if answer is None:
                result.set_exception(ConnectionLostError(f"{service}: no answer"))
            elif outcome(answer)[0] != ResultCode.OK:
                result.set_exception(RequestRefusedError(service, *outcome(answer)))
            else:
                result.set_result(answer)

        client.call_async(request).add_done_callback(done)
        return result

    def call(self, service: str, timeout: float | None = None, **fields: Any) -> Any:
        """Sends a request and waits for its answer."""
        return self._await(service, self.call_async(service, **fields), timeout)

    def _await(self, service: str, future: Future[Any], timeout: float | None) -> Any:
        limit = self.timeout if timeout is None else timeout
        try:
            return future.result(limit)
        except FutureTimeoutError:
            alive = "it is alive, and busy" if self.is_alive else "it has fallen silent"
            raise ConnectionLostError(f"{service}: no answer for {limit:g} s; {alive}") from None

    # ---- objects ----

    def names(self, kind: str = "") -> list[str]:
        """Names of the objects, all or of one type."""
        return list(self.call("list_objects", type=kind).names)

    def find(self, name: str) -> Object:
        """The object of that name; RequestRefusedError when there is none."""
        info = self.call("get_object_info", name=name).info
        with self._lock:
            known = self._objects.get(name)
            if known is None or known.id != info.id:
                kind = Robot if info.type == "articulated_system" else Object
                known = self._objects[name] = kind(self, info)
        return known

    def spawn(
        self,
        name: str,
        shape: str,
        position: Vector = (0.0, 0.0, 0.0),
        quaternion: Vector = (1.0, 0.0, 0.0, 0.0),
        **fields: Any,
    ) -> Object:
        """Adds a body; quaternion w x y z; `fields` are those of SpawnObject: radius, size, mass, material, …"""
        answer = self.call("spawn_object", name=name, shape=shape, pose=pose_message(position, quaternion), **fields)
        return self.find(answer.name)

    def spawn_robot(
        self,
        name: str,
        file: str = "",
        position: Vector = (0.0, 0.0, 0.0),
        quaternion: Vector = (1.0, 0.0, 0.0, 0.0),
        timeout: float | None = None,
        **fields: Any,
    ) -> Robot:
        """Adds a robot from a URDF file or `text`; quaternion w x y z; `fields` are those of SpawnArticulatedSystem."""
        pose = pose_message(position, quaternion)
        answer = self.call("spawn_articulated_system", timeout, name=name, file=str(file), pose=pose, **fields)
        robot = self.find(answer.name)
        assert isinstance(robot, Robot)
        return robot

    def spawn_entity(
        self,
        name: str,
        uri: str = "",
        position: Vector = (0.0, 0.0, 0.0),
        quaternion: Vector = (1.0, 0.0, 0.0, 0.0),
        text: str = "",
        timeout: float | None = None,
    ) -> Object:
        """Adds whatever simulation_interfaces can: URDF, xacro, MJCF, or an object of a world file; file or text.

        Quaternion w x y z.
        """
        from simulation_interfaces.srv import SpawnEntity

        request = SpawnEntity.Request()
        resource = request.entity_resource if hasattr(request, "entity_resource") else request
        resource.uri, resource.resource_string = str(uri), text
        request.initial_pose.pose = pose_message(position, quaternion)
        fields = {field: getattr(request, field) for field in request.get_fields_and_field_types()}
        future = self._send(
            "spawn_entity",
            SpawnEntity,
            {**fields, "name": name},
            lambda answer: (answer.result.result, answer.result.error_message),
        )
        return self.find(self._await("spawn_entity", future, timeout).entity_name)

    def remove(self, thing: Object | str) -> None:
        """Takes an object out of the world."""
        name = thing.name if isinstance(thing, Object) else text("thing", thing)
        self.call("remove_object", name=name)
        with self._lock:
            gone = self._objects.pop(name, None)
        if gone is not None:
            gone.close()

    # ---- time ----

    def pause(self) -> None:
        """Stops time."""
        self.call("pause")

    def play(self) -> None:
        """Lets time run."""
        self.call("play")

    def step(self, steps: int = 1, timeout: float | None = None) -> None:
        """Takes steps in a paused world; states read afterwards are those behind the last one."""
        self._step = self.call("step", timeout, steps=steps).sim_step

    def reset(self, state: bool = True, spawned: bool = False, time: bool = False) -> None:
        """Returns to the world as it was loaded: its states, its objects, its time."""
        self._since = self.call("reset", state=state, spawned=spawned, time=time).wall_time
        self._step = -1

    def load(self, file: str = "", timeout: float | None = None, **parameters: object) -> None:
        """Replaces the world by that of a file; keyword arguments are values of its parameters."""
        names, values = list(parameters), [str(value) for value in parameters.values()]
        self.call("load_world_file", timeout, file=str(file), parameter_names=names, parameter_values=values)
        self._step = -1

    def wait(self, seconds: float, timeout: float | None = None) -> None:
        """Waits until so much simulation time has passed in a world that plays."""
        end = self.time + numbers("seconds", (seconds,), 1)[0]
        self.wait_until(lambda: self.time >= end, timeout)

    def wait_until(self, condition: Callable[[], Any], timeout: float | None = None) -> None:
        """Waits until a condition holds; ConnectionLostError when the node falls silent, TimeoutError at the end."""
        limit = None if timeout is None else time.monotonic() + timeout
        while not condition():
            _ = self.state  # raises when nobody is there any more
            if limit is not None and time.monotonic() > limit:
                raise TimeoutError(f"waited {timeout:g} s")
            with self._news:
                self._news.wait(0.05)
