"""A running world from Python, over ROS 2: connect, find, spawn, command, step, wait.

    from raisim_ros.client import Client

    with Client() as world:
        ball = world.spawn("ball", "sphere", radius=0.1, position=(0, 0, 2))
        world.pause()
        world.step(100)
        print(ball.position, ball.velocity)

Calls wait for their answers and raise `RequestRefusedError` with the node's reason, or `ConnectionLostError` when the
node does not answer. Each has a twin `…_async` through `call_async`, which gives a future. SI units, world axes,
quaternions w x y z.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import Any

import rclpy
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3, Wrench
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import raisim_ros.srv as srv
from raisim_ros.description.errors import RaisimError
from raisim_ros.msg import ObjectCmd, ObjectState, ResultCode, WorldState

Vector = Sequence[float]

# As deep as the node's own: a burst of requests loses nothing.
SERVICE_DEPTH = 1000
# The node tells about itself at least this often, paused or not; a longer silence means that it is gone [s].
SILENCE = 2.0
# A command is renewed this often while it is held [s]; the node's watchdog drops it after half a second.
RENEWAL = 0.05

# Services whose types are not called as they are.
_TYPES = {"load_world_file": srv.LoadWorld}


class ConnectionLostError(RaisimError):
    """The node is not there, or does not answer."""


class RequestRefusedError(RaisimError):
    """The node refused a request; `code` is one of raisim_ros.msg.ResultCode."""

    def __init__(self, service: str, code: int, message: str) -> None:
        self.service = service
        self.code = code
        super().__init__(f"{service}: {message}")


def _type_of(service: str) -> Any:
    name = "".join(part.capitalize() for part in service.split("_"))
    kind = _TYPES.get(service) or getattr(srv, name, None)
    if kind is None:
        raise AttributeError(f"there is no service '{service}'")
    return kind


def _pose(position: Vector, quaternion: Vector) -> Pose:
    x, y, z = map(float, position)
    qw, qx, qy, qz = map(float, quaternion)
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=qw, x=qx, y=qy, z=qz))


def _vector(values: Vector) -> Vector3:
    x, y, z = map(float, values)
    return Vector3(x=x, y=y, z=z)


class Client:
    """A connection to one world. Methods may be called from several threads."""

    def __init__(self, namespace: str = "", timeout: float = 10.0, domain_id: int | None = None) -> None:
        """Connects to the node in a namespace; `timeout`: of this and, unless they say otherwise, of all calls [s]."""
        self.timeout = timeout
        # What the names of the node's topics and services begin with; and the node that everything here goes through.
        self.prefix = f"/{namespace.strip('/')}/".replace("//", "/")
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self.node = Node(f"raisim_client_{id(self) % 10**8}", context=self._context, start_parameter_services=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._lock = threading.RLock()
        self._clients: dict[str, Any] = {}
        self._objects: dict[str, Object] = {}
        self._news = threading.Condition()
        self._state: Any = None
        self._heard = 0.0
        self._step = -1
        self.node.create_subscription(WorldState, f"{self.prefix}world/state", self._on_state, 10)
        self._thread = threading.Thread(target=self._spin, name="raisim client", daemon=True)
        self._thread.start()
        try:
            self._wait_for_news(lambda: self._state is not None, timeout, "no world is heard")
        except ConnectionLostError:
            self.close()
            raise

    def close(self) -> None:
        """Ends the connection; the world goes on."""
        self._executor.shutdown(timeout_sec=1.0)
        self._context.try_shutdown()
        self._thread.join(2.0)
        with contextlib.suppress(Exception):
            self.node.destroy_node()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException, Exception):
            self._executor.spin()

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
            if not self._news.wait_for(lambda: self._state.sim_step >= self._step or not self.is_alive, SILENCE):
                raise ConnectionLostError(f"the world at '{self.prefix}' tells an old state")
        if not self.is_alive:
            raise ConnectionLostError(f"the world at '{self.prefix}' has fallen silent")
        return self._state

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

        client.call_async(kind.Request(**fields)).add_done_callback(done)
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
        """Adds a body; `fields` are those of SpawnObject: radius, height, size, mass, material, …"""
        answer = self.call("spawn_object", name=name, shape=shape, pose=_pose(position, quaternion), **fields)
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
        """Adds a robot from a URDF file or `text`; `fields` are those of SpawnArticulatedSystem."""
        pose = _pose(position, quaternion)
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
        """Adds whatever simulation_interfaces can: URDF, xacro, MJCF, or an object of a world file; file or text."""
        from simulation_interfaces.srv import SpawnEntity

        request = SpawnEntity.Request()
        resource = request.entity_resource if hasattr(request, "entity_resource") else request
        resource.uri, resource.resource_string = str(uri), text
        request.initial_pose.pose = _pose(position, quaternion)
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
        name = thing if isinstance(thing, str) else thing.name
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
        self.call("reset", state=state, spawned=spawned, time=time)
        self._step = -1

    def load(self, file: str = "", timeout: float | None = None, **parameters: object) -> None:
        """Replaces the world by that of a file; keyword arguments are values of its parameters."""
        names, values = list(parameters), [str(value) for value in parameters.values()]
        self.call("load_world_file", timeout, file=str(file), parameter_names=names, parameter_values=values)
        self._step = -1

    def wait(self, seconds: float, timeout: float | None = None) -> None:
        """Waits until so much simulation time has passed in a world that plays."""
        end = self.time + seconds
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


class Object:
    """An object of the world. Its state is that of the last message; after Client.step(), that behind the step."""

    def __init__(self, client: Client, info: Any) -> None:
        self._client = client
        self.name: str = info.name
        self.id: int = info.id
        self.type: str = info.type
        self._state: ObjectState | None = None
        node = client.node
        self._subscription = node.create_subscription(ObjectState, info.state_topic, self._on_state, 10)
        self._commands = node.create_publisher(ObjectCmd, info.command_topic, 10)
        self._held: Any = None
        self._timer: Any = None

    def __repr__(self) -> str:
        return f"<{self.type} '{self.name}'>"

    def close(self) -> None:
        """Listens and sends no more."""
        self.release()
        node = self._client.node
        node.destroy_subscription(self._subscription)
        node.destroy_publisher(self._commands)

    def _on_state(self, message: Any) -> None:
        with self._client._news:
            self._state = message
            self._client._news.notify_all()

    # ---- reading ----

    @property
    def state(self) -> ObjectState:
        """The whole state."""
        wanted = self._client._step
        self._client._wait_for_news(
            lambda: self._state is not None and self._state.sim_step >= wanted,
            None,
            f"no state of '{self.name}'",
        )
        return self._state

    @property
    def position(self) -> tuple[float, float, float]:
        """Of its origin [m]."""
        place = self.state.pose.position
        return place.x, place.y, place.z

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """Orientation w x y z."""
        turn = self.state.pose.orientation
        return turn.w, turn.x, turn.y, turn.z

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Of its origin [m/s]."""
        linear = self.state.twist.linear
        return linear.x, linear.y, linear.z

    @property
    def angular_velocity(self) -> tuple[float, float, float]:
        """[rad/s]."""
        angular = self.state.twist.angular
        return angular.x, angular.y, angular.z

    # ---- commanding ----

    def place(self, position: Vector, quaternion: Vector = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Puts it elsewhere, at once."""
        self._client.call("set_object_state", name=self.name, set_pose=True, pose=_pose(position, quaternion))

    def push(self, force: Vector, torque: Vector = (0.0, 0.0, 0.0)) -> None:
        """Lets a force [N] and a torque [N m] act at its centre of mass until release(); renewed while this lives."""
        self._hold(ObjectCmd(wrench=Wrench(force=_vector(force), torque=_vector(torque))))

    def drive_to(self, position: Vector, quaternion: Vector = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Lets its controller bring it to a pose, and hold it there until release()."""
        self._hold(
            ObjectCmd(
                enable_position_controller=True,
                cartesian_cmd_type=ObjectCmd.POSITION,
                pose=_pose(position, quaternion),
            )
        )

    def move(self, linear: Vector, angular: Vector = (0.0, 0.0, 0.0)) -> None:
        """Lets it move with a velocity [m/s], [rad/s] until release()."""
        twist = Twist(linear=_vector(linear), angular=_vector(angular))
        self._hold(
            ObjectCmd(enable_position_controller=True, cartesian_cmd_type=ObjectCmd.VELOCITY, twist=twist)
        )

    def release(self) -> None:
        """Ends what push(), drive_to() or move() began: nothing is renewed, and the node's watchdog drops it."""
        self._held = None
        if self._timer is not None:
            self._client.node.destroy_timer(self._timer)
            self._timer = None

    def _hold(self, message: Any) -> None:
        self._held = message
        self._wait_for_subscriber(self._commands)
        self._commands.publish(message)
        if self._timer is None:
            self._timer = self._client.node.create_timer(RENEWAL, self._renew)

    def _renew(self) -> None:
        if self._held is not None:
            self._commands.publish(self._held)

    def _wait_for_subscriber(self, publisher: Any) -> None:
        self._client.wait_until(publisher.get_subscription_count, self._client.timeout)


class Robot(Object):
    """An articulated system."""

    def __init__(self, client: Client, info: Any) -> None:
        super().__init__(client, info)
        self.joint_names: list[str] = list(info.joint_names)
        self.link_names: list[str] = list(info.link_names)
        node = client.node
        topic = info.state_topic.removesuffix("/state")
        self._joints: JointState | None = None
        self._joint_states = node.create_subscription(JointState, f"{topic}/joint_states", self._on_joints, 10)
        self._joint_commands = node.create_publisher(JointState, f"{topic}/joint_cmd", 10)
        self._trajectories = node.create_publisher(JointTrajectory, f"{topic}/joint_trajectory", 10)
        self._held_joints: Any = None
        self._joint_timer: Any = None

    def close(self) -> None:
        """Listens and sends no more."""
        super().close()
        node = self._client.node
        node.destroy_subscription(self._joint_states)
        for publisher in (self._joint_commands, self._trajectories):
            node.destroy_publisher(publisher)

    def _on_joints(self, message: Any) -> None:
        with self._client._news:
            self._joints = message
            self._client._news.notify_all()

    def _joint_values(self, field: str) -> dict[str, float]:
        state = self.state  # waits until the node has come so far
        stamp = (state.header.stamp.sec, state.header.stamp.nanosec)

        def is_new() -> bool:
            joints = self._joints
            return joints is not None and (joints.header.stamp.sec, joints.header.stamp.nanosec) >= stamp

        with contextlib.suppress(ConnectionLostError):  # joints come at a rate of their own
            self._client._wait_for_news(is_new, 0.2, "no joints")
        self._client._wait_for_news(lambda: self._joints is not None, None, f"no joints of '{self.name}'")
        joints: Any = self._joints
        return dict(zip(joints.name, getattr(joints, field), strict=True))

    @property
    def joint_positions(self) -> dict[str, float]:
        """By name [rad, m]."""
        return self._joint_values("position")

    @property
    def joint_velocities(self) -> dict[str, float]:
        """By name [rad/s, m/s]."""
        return self._joint_values("velocity")

    def command(
        self,
        positions: Mapping[str, float] | None = None,
        velocities: Mapping[str, float] | None = None,
        efforts: Mapping[str, float] | None = None,
    ) -> None:
        """Drives joints, by name, until release(); renewed while this lives. What is not named goes on as it does."""
        given = {"position": positions or {}, "velocity": velocities or {}, "effort": efforts or {}}
        names: Iterable[str] = dict.fromkeys(name for values in given.values() for name in values)
        message = JointState(name=list(names))
        for field, values in given.items():
            if values:
                setattr(message, field, [float(values.get(name, float("nan"))) for name in message.name])
        self._held_joints = message
        self._wait_for_subscriber(self._joint_commands)
        self._joint_commands.publish(message)
        if self._joint_timer is None:
            self._joint_timer = self._client.node.create_timer(RENEWAL, self._renew_joints)

    def _renew_joints(self) -> None:
        if self._held_joints is not None:
            self._joint_commands.publish(self._held_joints)

    def release(self) -> None:
        """Ends commands."""
        super().release()
        self._held_joints = None
        if self._joint_timer is not None:
            self._client.node.destroy_timer(self._joint_timer)
            self._joint_timer = None

    def follow(self, points: Sequence[tuple[float, Mapping[str, float]]]) -> None:
        """Lets joints pass positions at times [s] from now: pairs of a time and positions by name."""
        names = list(points[0][1])
        message = JointTrajectory(joint_names=names)
        for seconds, positions in points:
            point = JointTrajectoryPoint(positions=[float(positions[name]) for name in names])
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(seconds * 1e9), 10**9)
            message.points.append(point)
        self._wait_for_subscriber(self._trajectories)
        self._trajectories.publish(message)
