"""Objects of a world, seen through a client."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3, Wrench
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from raisim_ros.client.errors import ConnectionLostError
from raisim_ros.description.checked import mapping, number, numbers, shown, text
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.msg import ObjectCmd, ObjectState

if TYPE_CHECKING:
    from raisim_ros.client.connection import Client

Vector = Sequence[float]

# A command is renewed this often while it is held [s]; the node's watchdog drops it after half a second.
RENEWAL = 0.05


def pose_message(position: Vector, quaternion: Vector) -> Pose:
    """A pose from x y z [m] and w x y z."""
    x, y, z = numbers("position", position, 3)
    qw, qx, qy, qz = numbers("quaternion", quaternion, 4)
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=qw, x=qx, y=qy, z=qz))


def _vector(name: str, values: Vector) -> Vector3:
    x, y, z = numbers(name, values, 3)
    return Vector3(x=x, y=y, z=z)


def _point(pair: Any) -> tuple[float, dict[str, float]]:
    """A time within what messages can hold, and positions by name."""
    if not isinstance(pair, Sequence) or len(pair) != 2:
        raise InvalidValueError(f"a point is {shown(pair)}; expected a time and positions by name")
    (seconds,) = numbers("time of a point", pair[:1], 1)
    if not 0.0 <= seconds < 2**31:
        raise InvalidValueError(f"time of a point is {seconds:g}; expected 0 to {2**31 - 1} s")
    return seconds, _by_name("positions", pair[1])


def _by_name(what: str, values: Mapping[str, float] | None) -> dict[str, float]:
    return {text(what, name): number(f"{what} of '{name}'", one) for name, one in mapping(what, values).items()}


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
        self._gone = False

    def __repr__(self) -> str:
        return f"<{self.type} '{self.name}'>"

    def close(self) -> None:
        """Listens and sends no more."""
        self.release()
        self._gone = True
        node = self._client.node
        node.destroy_subscription(self._subscription)
        node.destroy_publisher(self._commands)

    def _on_state(self, message: Any) -> None:
        with self._client._news:
            if message.id == self.id:
                self._state = message
            else:  # another object has the name by now
                self._gone = True
            self._client._news.notify_all()

    # ---- reading ----

    @property
    def state(self) -> ObjectState:
        """The whole state; ConnectionLostError when the object, or the node, is gone."""
        client = self._client
        client._wait_for_news(
            lambda: self._gone or client._is_new(self._state), None, f"no state of '{self.name}'"
        )
        client._check_life()
        self._check_presence()
        return self._state

    def _check_presence(self) -> None:
        """Others may have removed it: then nobody publishes its state."""
        if self._gone or not self._client.node.count_publishers(self._subscription.topic_name):
            raise ConnectionLostError(f"'{self.name}' was removed, or its connection closed")

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
        """Puts it elsewhere, at once; quaternion w x y z."""
        self._client.call("set_object_state", name=self.name, set_pose=True, pose=pose_message(position, quaternion))

    def push(self, force: Vector, torque: Vector = (0.0, 0.0, 0.0)) -> None:
        """Lets a force [N] and a torque [N m] act at its centre of mass until release(); renewed while this lives."""
        self._hold(ObjectCmd(wrench=Wrench(force=_vector("force", force), torque=_vector("torque", torque))))

    def drive_to(self, position: Vector, quaternion: Vector = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Lets its controller bring it to a pose (quaternion w x y z), and hold it there until release()."""
        self._hold(
            ObjectCmd(
                enable_position_controller=True,
                cartesian_cmd_type=ObjectCmd.POSITION,
                pose=pose_message(position, quaternion),
            )
        )

    def move(self, linear: Vector, angular: Vector = (0.0, 0.0, 0.0)) -> None:
        """Lets it move with a velocity [m/s], [rad/s] until release()."""
        twist = Twist(linear=_vector("linear", linear), angular=_vector("angular", angular))
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
        self._wait_for_subscriber(self._commands)
        self._held = message
        self._commands.publish(message)
        if self._timer is None:
            self._timer = self._client.node.create_timer(RENEWAL, self._renew)

    def _renew(self) -> None:
        if self._held is not None:
            self._commands.publish(self._held)

    def _wait_for_subscriber(self, publisher: Any) -> None:
        self._check_presence()
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
        given = {
            "position": _by_name("positions", positions),
            "velocity": _by_name("velocities", velocities),
            "effort": _by_name("efforts", efforts),
        }
        names: Iterable[str] = dict.fromkeys(name for values in given.values() for name in values)
        message = JointState(name=list(names))
        for field, values in given.items():
            if values:
                setattr(message, field, [values.get(name, math.nan) for name in message.name])
        self._wait_for_subscriber(self._joint_commands)
        self._held_joints = message
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
        pairs = [_point(pair) for pair in points] if isinstance(points, Sequence) else []
        if not pairs or any(positions.keys() != pairs[0][1].keys() for _, positions in pairs):
            raise InvalidValueError("points are not pairs of a time and positions, of the same joints each")
        names = list(pairs[0][1])
        message = JointTrajectory(joint_names=names)
        for seconds, positions in pairs:
            point = JointTrajectoryPoint(positions=[positions[name] for name in names])
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(seconds * 1e9), 10**9)
            message.points.append(point)
        self._wait_for_subscriber(self._trajectories)
        self._trajectories.publish(message)
