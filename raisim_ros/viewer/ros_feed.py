"""A running world_node, through its topics and services: a slow browser never slows the world."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from raisim_ros.client.spinning import spin
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.mjcf.file import is_mjcf
from raisim_ros.msg import ContactArray, Pull, ResultCode, WorldCmd, WorldState
from raisim_ros.ros import qos
from raisim_ros.srv import (
    GetObjectInfo,
    ListObjects,
    LoadWorld,
    Pause,
    Play,
    RemoveObject,
    Reset,
    RestoreSnapshot,
    SaveSnapshot,
    SaveWorld,
    SetJointGains,
    SetObjectState,
    SpawnArticulatedSystem,
    SpawnObject,
    Step,
)
from raisim_ros.viewer.describe import contact_rows, literal, numbers, table
from raisim_ros.viewer.marker_scene import MarkerScene
from raisim_ros.viewer.ros_contacts import Touches
from raisim_ros.viewer.ros_layers import RobotLayers
from raisim_ros.viewer.ros_objects import RobotStream, StateStream
from raisim_ros.viewer.ros_streams import CloudStream, ImageStream
from raisim_ros.viewer.scene import (
    FLOATING,
    ROBOT_KIND,
    SHAPES,
    Joint,
    Moment,
    NewObject,
    Quantities,
    SceneModel,
    Stance,
    Vector,
    Wanted,
    to_world,
)
from raisim_ros.viewer.spawn import ROBOT_SUFFIXES

# How long an answer may take [s]: loading a large world takes its time.
PATIENCE = 20.0
PATIENCE_WITH_DISCOVERY = 5.0
# Contacts are listened to for so long after an object was described [s].
DESCRIBED_FOR = 2.0
# How often it is checked whether the node is still there [s].
PRESENCE_PERIOD = 1.0


class NodeGoneError(RaisimError):
    """No world_node answers."""


class RosFeed:
    """See Feed."""

    def __init__(self, node: Node, stop: threading.Event | None = None) -> None:
        """`node` is in the namespace of the world_node; it is spun here. `stop` ends all waiting for answers."""
        self._node = node
        self._stop = threading.Event() if stop is None else stop
        self._closed = threading.Event()
        self._scene = MarkerScene()
        self._state = WorldState()
        self._contacts: bytes = b""
        self._described = -DESCRIBED_FOR  # when somebody last asked for an object
        self._kept: list[str] = []
        self._held: _Held | None = None
        self._publishers: dict[str, Any] = {}
        self._service_clients: dict[str, Any] = {}
        self._optional: dict[str, Any] = {}  # subscriptions that somebody wants at the moment
        self._checked = 0.0
        self._static: frozenset[str] = frozenset()
        self._kinematic: frozenset[str] = frozenset()
        self._asked: tuple[int, int] | None = None  # for which numbers lists were asked
        self._robots: dict[str, RobotStream] = {}
        self._states: StateStream | None = None
        self._viewpoint: PoseStamped | None = None
        self._stages: dict[str, float] = {}  # of a step [µs]
        self._layers = RobotLayers(node, self._scene)
        self._clouds = CloudStream(node, self._scene)
        self._images = ImageStream(node)
        several = qos.LATCHED_BY_SEVERAL
        node.create_subscription(MarkerArray, "markers", self._scene.take_markers, several, raw=True)
        node.create_subscription(WorldState, "world/state", self._take_state, 10)
        node.create_subscription(PoseStamped, "world/viewpoint", self._take_viewpoint, qos.LATCHED)
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        self._thread = threading.Thread(
            target=spin, args=(self._executor, self._closed), name="raisim_ros viewer ROS", daemon=True
        )
        self._thread.start()
        # Python ends threads that still run by a means that the middleware's C++ answers with abort().
        atexit.register(self._end_thread)

    def _end_thread(self) -> None:
        self._closed.set()
        self._executor.wake()
        self._thread.join()

    # ---- messages ----

    def _take_state(self, state: WorldState) -> None:
        self._state = state

    def _take_viewpoint(self, viewpoint: PoseStamped) -> None:
        self._viewpoint = viewpoint

    def _take_profile(self, status: DiagnosticStatus) -> None:
        self._stages = {pair.key: float(pair.value) for pair in status.values}

    def _take_contacts(self, message: bytes) -> None:
        self._contacts = message

    def _want(
        self, name: str, wanted: bool, message_type: Any, topic: str, callback: Any, profile: Any, raw: bool = True
    ) -> None:
        """Subscribe to what somebody looks at, and only then."""
        if wanted and name not in self._optional:
            self._optional[name] = self._node.create_subscription(message_type, topic, callback, profile, raw=raw)
        elif not wanted and name in self._optional:
            self._node.destroy_subscription(self._optional.pop(name))

    def _client(self, service_type: Any, service: str) -> Any:
        if service not in self._service_clients:
            self._service_clients[service] = self._node.create_client(service_type, service)
        return self._service_clients[service]

    def _call(self, service_type: Any, service: str, **fields: Any) -> Any:
        """The answer of a service; what it refuses raises."""
        client = self._client(service_type, service)
        if not self._wait_for(client.service_is_ready, PATIENCE_WITH_DISCOVERY):
            raise NodeGoneError(f"no node offers the service '{service}'")
        future = client.call_async(service_type.Request(**fields))
        if not self._wait_for(future.done, PATIENCE):
            raise NodeGoneError(f"the service '{service}' did not answer within {PATIENCE:g} s")
        answer = future.result()
        if answer.result != ResultCode.OK:
            raise InvalidValueError(answer.message)
        return answer

    def _wait_for(self, condition: Callable[[], Any], seconds: float) -> bool:
        """Whether it came true in time, and before the end was wanted."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end or self._stop.wait(0.005):
                return False
        return True

    def _publish(self, message_type: Any, topic: str, message: Any) -> None:
        publisher = self._publishers.get(topic)
        if publisher is None:
            publisher = self._publishers[topic] = self._node.create_publisher(message_type, topic, 10)
            self._wait_for(publisher.get_subscription_count, 1.0)  # what is published before anybody listens is lost
        publisher.publish(message)

    # ---- the scene ----

    def _model_number(self) -> Hashable:
        """Changes with the markers, and with objects."""
        if time.monotonic() - self._checked > PRESENCE_PERIOD:
            self._checked = time.monotonic()
            if not self._node.count_publishers("markers") and self._scene.model(()).items:
                self._scene.clear()
                self._asked = None
        self._ask_for_list()
        return self._scene.number, self._state.configuration_number, self._static, self._layers.number

    def _ask_for_list(self) -> None:
        """What is static: nobody waits for the answer, which comes with the next model."""
        present = self._scene.number, self._state.configuration_number
        service = self._client(ListObjects, "list_objects")
        if present == self._asked or not service.service_is_ready():
            return
        self._asked = present
        service.call_async(ListObjects.Request()).add_done_callback(self._take_objects)

    def _take_objects(self, future: Any) -> None:
        answer = future.result()
        kinds = list(zip(answer.names, answer.body_types, strict=True))
        self._static = frozenset(name for name, kind in kinds if kind == "static")
        self._kinematic = frozenset(name for name, kind in kinds if kind == "kinematic")

    def model(self) -> SceneModel:
        """See Feed."""
        for robot in self._robots.values():
            robot.close()
        self._robots.clear()
        return self._layers.extend(self._scene.model(self._static))

    def _poses(self) -> Vector:
        return np.vstack((self._scene.poses(), self._layers.poses()))

    def viewpoint(self) -> tuple[str, tuple[float, ...]] | None:
        """That of the node's world."""
        view = self._viewpoint
        if view is None:
            return None
        offset = view.pose.position
        followed = self._scene.object_of_frame(view.header.frame_id)
        return followed, (offset.x, offset.y, offset.z)

    def moment(self, wanted: Wanted) -> Moment:
        """See Feed."""
        touches = wanted.contacts or time.monotonic() - self._described < DESCRIBED_FOR
        self._want("contacts", touches, ContactArray, "contacts", self._take_contacts, 10)
        self._want("profile", wanted.profile, DiagnosticStatus, "world/profile", self._take_profile, 10, raw=False)
        self._clouds.listen(wanted.points)
        layers = wanted.layers or wanted.centres
        frames = self._scene.needs_frames or self._clouds.active or layers
        self._want("tf", frames, TFMessage, "/tf", self._scene.take_frames, qos.TF)
        self._want("tf_static", frames, TFMessage, "/tf_static", self._scene.take_frames, qos.LATCHED_BY_SEVERAL)
        self._layers.listen(layers)
        number, poses, state = self._model_number(), self._poses(), self._state
        held = self._static | self._kinematic
        points, forces = Touches(self._contacts if wanted.contacts else b"").on_movable(held)
        self._images.listen(wanted.images)
        return Moment(
            state.sim_time,
            poses,
            state.paused,
            state.real_time_factor,
            points,
            forces,
            self._scene.wires(),
            self._clouds.points() if wanted.points else np.zeros((0, 3)),
            self._images.images(),
            self._layers.centres(poses) if wanted.centres else np.zeros((0, 3)),
            profile=self._profile(state) if wanted.profile else {},
            soft=self._scene.soft_shapes(),
            number=number,
        )

    def _profile(self, state: WorldState) -> dict[str, float]:
        return {**self._stages, "whole step": 1e6 * state.step_duration}

    # ---- time ----

    def play(self) -> None:
        """See Feed."""
        self._call(Play, "play")

    def pause(self) -> None:
        """See Feed."""
        self._call(Pause, "pause")

    def step(self, steps: int) -> None:
        """See Feed."""
        self.pause()
        self._call(Step, "step", steps=steps)

    def reset(self) -> None:
        """The world as it was loaded; /clock goes on."""
        self._call(Reset, "reset", state=True, spawned=True)

    def set_speed(self, factor: float) -> None:
        """See Feed."""
        if factor < 0.0:
            raise InvalidValueError(f"speed is {factor}; expected a number of at least 0")
        self._publish(WorldCmd, "world/cmd", WorldCmd(real_time_factor=float(factor)))

    def timeline(self) -> None:
        """A node does not go back in time; it keeps snapshots."""
        return

    def seek(self, time_: float) -> None:
        """Refused."""
        raise InvalidValueError("a node does not go back in time; keep a snapshot instead")

    def can_go_on(self) -> bool:
        """It does so by itself."""
        return False

    def go_on(self) -> RosFeed:
        """The same."""
        return self

    # ---- one object ----

    def describe(self, name: str) -> str:
        """See Feed."""
        self._described = time.monotonic()
        answer = self._call(GetObjectInfo, "get_object_info", name=name)
        info, state = answer.info, answer.state
        place, turn = state.pose.position, state.pose.orientation
        linear, angular = state.twist.linear, state.twist.angular
        rows = [
            ("type", literal(info.type.replace("_", " "))),
            ("body type", literal(info.body_type)),
            ("mass [kg]", f"{info.mass:g}"),
            ("material", literal(info.material)),
            ("position [m]", numbers((place.x, place.y, place.z))),
            ("orientation (w x y z)", numbers((turn.w, turn.x, turn.y, turn.z))),
            ("velocity [m/s]", numbers((linear.x, linear.y, linear.z))),
            ("angular velocity [rad/s]", numbers((angular.x, angular.y, angular.z))),
            ("state", f"`{info.state_topic}`"),
            ("command", f"`{info.command_topic}`"),
            *contact_rows(Touches(self._contacts).with_forces(name)),
        ]
        return f"**{literal(name)}**\n\n{table(rows)}"

    def _robot(self, name: str) -> RobotStream:
        if name not in self._robots:
            self._robots[name] = RobotStream(self._node, name)
        return self._robots[name]

    def quantities(self, name: str) -> Quantities:
        """What its topics tell: velocities, and of a robot its joints."""
        if self._states is None or self._states.name != name:
            if self._states is not None:
                self._states.close()
            self._states = StateStream(self._node, name)
        joints = self._robot(name).quantities() if self._scene.kind_of(name) == ROBOT_KIND else {}
        return self._states.quantities() | joints

    def joints(self, name: str) -> list[Joint]:
        """See Feed."""
        return self._robot(name).joints() if self._scene.kind_of(name) == ROBOT_KIND else []

    def set_joint(self, name: str, joint: str, position: float) -> None:
        """See Feed."""
        if self._state.paused:
            fields = {"set_pose": False, "set_twist": False, "joint_names": [joint], "joint_positions": [position]}
            self._call(SetObjectState, "set_object_state", name=name, **fields)
        self._publish(JointState, f"{name}/joint_cmd", JointState(name=[joint], position=[position]))

    def set_gains(self, name: str, p_gain: float, d_gain: float) -> None:
        """See Feed."""
        held = self._robot(name).positions()
        self._call(SetJointGains, "set_joint_gains", name=name, p_gains=[p_gain], d_gains=[d_gain])
        if p_gain > 0.0 and held:
            command = JointState(name=list(held), position=list(held.values()))
            self._publish(JointState, f"{name}/joint_cmd", command)

    def pull(self, name: str, body: int, point: Vector, target: Vector) -> None:
        """See Feed; the node computes the spring, and its watchdog lets go when this viewer dies."""
        held, first = self._held, self._scene.first_frame(name)
        if first is None:
            return
        if held is None or held.name != name or held.body != body or not np.array_equal(held.point, point):
            poses = self._poses()
            beyond = first + body - (len(poses) - self._layers.count())
            link = self._scene.link_at(first + body) if beyond < 0 else self._layers.link_at(beyond)
            held = self._held = _Held(name, body, point, to_world(poses[first + body], point), link)
        self._publish(Pull, "world/pull", held.message(target))

    def release(self) -> None:
        """See Feed."""
        held, self._held = self._held, None
        if held is not None:
            self._publish(Pull, "world/pull", Pull(name=held.name, release=True))

    def move(self, name: str, shift: Vector) -> None:
        """See Feed."""
        pose = self._call(GetObjectInfo, "get_object_info", name=name).state.pose
        place = Point(x=pose.position.x + shift[0], y=pose.position.y + shift[1], z=pose.position.z + shift[2])
        moved = Pose(position=place, orientation=pose.orientation)
        self._call(SetObjectState, "set_object_state", name=name, pose=moved, set_twist=False)

    def remove(self, name: str) -> None:
        """See Feed."""
        self._call(RemoveObject, "remove_object", name=name)

    # ---- the world ----

    def add(self, new: NewObject) -> str:
        """See Feed."""
        x, y, z = (float(value) for value in new.position)
        common: dict[str, Any] = {
            "name": new.name or new.shape or Path(new.file).stem,
            "allow_renaming": True,
            "pose": Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=1.0)),
        }
        if new.file and Path(new.file).suffix.lower() in ROBOT_SUFFIXES:
            fields: dict[str, Any] = _standing(new.stance, (x, y, z)) if new.stance is not None else {}
            if new.stance is not None and not is_mjcf(new.file):  # which tells it
                fields["base"] = new.stance.base
            answer = self._call(SpawnArticulatedSystem, "spawn_articulated_system", file=new.file, **common | fields)
            return str(answer.name)
        fields = {"mass": new.mass, "appearance": new.appearance, "material": new.material, **common}
        if new.file:
            fields |= {"shape": "mesh", "mesh_file": new.file}
        elif new.shape == "box":
            fields |= {"shape": "box", "size": [float(value) for value in new.size]}
        else:
            names = SHAPES.get(new.shape, ())
            fields |= {"shape": new.shape, **dict(zip(names, new.size, strict=False))}
        return str(self._call(SpawnObject, "spawn_object", **fields).name)

    def load(self, file: str) -> None:
        """See Feed."""
        self._call(LoadWorld, "load_world_file", file=file)
        self._kept.clear()

    def save(self, file: str) -> None:
        """See Feed."""
        self._call(SaveWorld, "save_world", file=file, overwrite=True)

    def keep(self, label: str) -> None:
        """See Feed."""
        self._call(SaveSnapshot, "save_snapshot", name=label)
        self._kept = [*(one for one in self._kept if one != label), label]

    def bring_back(self, label: str) -> None:
        """See Feed."""
        self._call(RestoreSnapshot, "restore_snapshot", name=label)

    def kept(self) -> list[str]:
        """See Feed."""
        return list(self._kept)

    def close(self) -> None:
        """Leave the graph."""
        self.release()
        self._end_thread()
        atexit.unregister(self._end_thread)
        self._executor.shutdown()
        self._node.destroy_node()


@dataclass(frozen=True, eq=False)
class _Held:
    """What a hand holds: the point of a body in its frame, and where that was then (world)."""

    name: str
    body: int
    point: Vector
    grip: Vector
    link: str

    def message(self, target: Vector) -> Pull:
        """Tells the node where the hand is."""
        grip, place = (Point(x=float(p[0]), y=float(p[1]), z=float(p[2])) for p in (self.grip, target))
        return Pull(name=self.name, link=self.link, grip=grip, target=place)


def _standing(stance: Stance, place: tuple[float, float, float]) -> dict[str, Any]:
    """Fields of a request for a robot that stands."""
    x, y, z = place
    q = stance.coordinates.copy()
    pose = Pose(position=Point(x=x, y=y, z=z + stance.height), orientation=Quaternion(w=1.0))
    if stance.base == FLOATING:
        q[:3] = x, y, z + stance.height
    gains = {"p_gains": stance.p_gains.tolist(), "d_gains": stance.d_gains.tolist()} if stance.p_gains.any() else {}
    return {"pose": pose, "state": stance.state, "coordinates": q.tolist(), **gains}
