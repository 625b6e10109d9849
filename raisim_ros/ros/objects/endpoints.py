"""Topics of single objects: state and commands, and more of robots."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NamedTuple

from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from raisim_ros.msg import ObjectCmd, ObjectState
from raisim_ros.ros import qos
from raisim_ros.ros.following_endpoints import FollowingEndpoints
from raisim_ros.ros.objects.command_inbox import CommandInbox, CommandTopic, HiddenGroup
from raisim_ros.ros.objects.object_table import LinkRow, ObjectTable
from raisim_ros.ros.objects.state_topics import StateTopics
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.robots.joint_topics import JointTopics
from raisim_ros.ros.robots.odometry import OdometryTopics


class _Wanted(NamedTuple):
    """An object that shall have endpoints."""

    id: int
    name: str
    robot_description: str | None = None  # of robots
    links: tuple[LinkRow, ...] = ()
    driven: bool = False
    odometry: bool = False


class _Endpoints(NamedTuple):
    """All endpoints of one object."""

    state: Any
    joint_states: Any | None  # publishers of robots
    robot_description: Any | None
    links: dict[int, Any]  # states of links, by body
    subscriptions: dict[CommandTopic | int, Any]  # an integer is the body of a link
    odometry: Any | None
    action: Any | None

    @property
    def publishers(self) -> list[Any]:
        own = (self.state, self.joint_states, self.robot_description, self.odometry)
        return [*(publisher for publisher in own if publisher is not None), *self.links.values()]


def _never_called(message: Any) -> None:
    """Commands are taken by the stepping thread, not by a callback."""


class ObjectEndpoints(FollowingEndpoints[int, _Wanted, _Endpoints]):
    """State and command topics of every object, and the topics of robots, by stable id. For the executor thread."""

    def __init__(
        self,
        node: Node,
        queue: RequestQueue,
        table: ObjectTable,
        states: StateTopics,
        joints: JointTopics,
        links: StateTopics,
        inbox: CommandInbox,
        state_profile: QoSProfile,
        odometry: OdometryTopics,
        velocity_type: Any,
    ) -> None:
        """`velocity_type`: of cmd_vel, Twist or TwistStamped."""
        self._odometry = odometry
        self._velocity_type = velocity_type
        # Makes the action of a robot, given its name and id; None: there is none.
        self.make_action: Callable[[str, int], Any] | None = None
        super().__init__(node, queue)
        self._table = table
        self._states = states
        self._joints = joints
        self._links = links
        self._attached_links: dict[int, list[int]] = {}  # bodies, by robot
        self._inbox = inbox
        self._state_profile = state_profile
        self._group = HiddenGroup()

    def let_go(self, object_id: int) -> None:
        """The object leaves the world: use its endpoints no more. For the stepping thread."""
        self._states.detach(object_id)
        self._joints.detach(object_id)
        self._odometry.detach(object_id)
        for topic in CommandTopic:
            self._inbox.detach((object_id, topic))
        for body in self._attached_links.pop(object_id, ()):
            self._links.detach((object_id, body))
            self._inbox.detach((object_id, body))

    def close(self) -> None:
        """Destroys all endpoints; the stepping thread has ended."""
        for destroy in (self._begin_to_destroy, self._destroy):
            for endpoints in self._made.values():
                destroy(endpoints)
        self._made.clear()

    def _begin_to_destroy(self, made: _Endpoints) -> None:
        """Subscriptions first: FastDDS tells every local reader of every writer that goes, which with a thousand of
        each would take seconds."""
        for subscription in made.subscriptions.values():
            self._node.destroy_subscription(subscription)
        made.subscriptions.clear()

    def _destroy(self, made: _Endpoints) -> None:
        self._begin_to_destroy(made)  # of one that was never used
        if made.action is not None:
            made.action.close()
        for publisher in made.publishers:
            self._node.destroy_publisher(publisher)

    def _wanted(self) -> dict[int, _Wanted]:
        return {
            entry.id: _Wanted(entry.id, entry.name, odometry=entry.interface.odometry != "none")
            if entry.joints is None
            else _Wanted(
                entry.id,
                entry.name,
                entry.handle.get_robot_description(),
                entry.links,
                entry.interface.drive is not None,
                entry.interface.odometry != "none",
            )
            for entry in self._table
        }

    def _detach(self, gone: Set[int]) -> None:
        for object_id in gone:
            self.let_go(object_id)

    def _make(self, thing: _Wanted) -> _Endpoints:
        name = thing.name
        state = self._publisher(ObjectState, f"{name}/state", self._state_profile)
        types: dict[CommandTopic, Any] = {CommandTopic.OBJECT: ObjectCmd}
        joint_states = description = odometry = action = None
        if thing.robot_description is not None:
            joint_states = self._publisher(JointState, f"{name}/joint_states", self._state_profile)
            description = self._publisher(String, f"{name}/robot_description", qos.LATCHED)
            description.publish(String(data=thing.robot_description))
            types |= {CommandTopic.JOINTS: JointState, CommandTopic.TRAJECTORY: JointTrajectory}
            if self.make_action is not None:
                action = self.make_action(name, thing.id)
        if thing.driven:
            types[CommandTopic.VELOCITY] = self._velocity_type
        if thing.odometry:
            odometry = self._publisher(Odometry, f"{name}/odom", qos.STATE)
        subscriptions: dict[CommandTopic | int, Any] = {
            topic: self._commands(kind, f"{name}/{topic.value}") for topic, kind in types.items()
        }
        links = {}
        for link in thing.links:
            links[link.body] = self._publisher(ObjectState, f"{link.name}/state", self._state_profile)
            subscriptions[link.body] = self._commands(ObjectCmd, f"{link.name}/cmd")
        return _Endpoints(state, joint_states, description, links, subscriptions, odometry, action)

    def _commands(self, message_type: Any, topic: str) -> Any:
        return self._subscription(message_type, topic, _never_called, qos.COMMAND, callback_group=self._group)

    def _attach(self, new: dict[int, _Endpoints]) -> None:
        for object_id, endpoints in new.items():
            self._states.attach(object_id, endpoints.state)
            if endpoints.joint_states is not None:
                self._joints.attach(object_id, endpoints.joint_states)
            if endpoints.odometry is not None:
                self._odometry.attach(object_id, endpoints.odometry)
            for body, publisher in endpoints.links.items():
                self._links.attach((object_id, body), publisher)
            self._attached_links[object_id] = list(endpoints.links)
            for topic, subscription in endpoints.subscriptions.items():
                self._inbox.attach((object_id, topic), subscription)
