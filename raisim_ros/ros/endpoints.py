"""Topics of single objects: made and destroyed by the executor thread, used by the stepping thread.

The stepping thread gets an endpoint after it was made, and has let go of it before it is destroyed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from raisim_ros.msg import ObjectCmd, ObjectState
from raisim_ros.ros import qos
from raisim_ros.ros.command_inbox import CommandInbox, CommandTopic, HiddenGroup
from raisim_ros.ros.joint_topics import JointTopics
from raisim_ros.ros.object_table import LinkEntry, ObjectTable
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.state_topics import StateTopics


class _Wanted(NamedTuple):
    """An object that shall have endpoints."""

    name: str
    robot_description: str | None = None  # of robots
    links: tuple[LinkEntry, ...] = ()


class _Endpoints(NamedTuple):
    """All endpoints of one object."""

    state: Any
    joint_states: Any | None  # publishers of robots
    robot_description: Any | None
    links: dict[int, Any]  # states of links, by body
    subscriptions: dict[CommandTopic | int, Any]  # an integer is the body of a link

    @property
    def publishers(self) -> list[Any]:
        own = (self.state, self.joint_states, self.robot_description)
        return [*(publisher for publisher in own if publisher is not None), *self.links.values()]


def _never_called(message: Any) -> None:
    """Commands are taken by the stepping thread, not by a callback."""


class ObjectEndpoints:
    """State and command topics of every object, and the topics of robots. For the executor thread."""

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
    ) -> None:
        self._node = node
        self._queue = queue
        self._table = table
        self._states = states
        self._joints = joints
        self._links = links
        self._attached_links: dict[int, list[int]] = {}  # bodies, by robot
        self._inbox = inbox
        self._state_profile = state_profile
        self._group = HiddenGroup()
        self._endpoints: dict[int, _Endpoints] = {}

    def follow(self) -> None:
        """Brings the endpoints in line with the objects of the world. The stepping thread must be running."""
        self._apply(self._queue.call(self._wanted), threaded=True)

    def begin(self) -> None:
        """The same before the stepping thread runs."""
        self._apply(self._wanted(), threaded=False)

    def let_go(self, object_id: int) -> None:
        """The object leaves the world: use its endpoints no more. For the stepping thread."""
        self._states.detach(object_id)
        self._joints.detach(object_id)
        for topic in CommandTopic:
            self._inbox.detach((object_id, topic))
        for body in self._attached_links.pop(object_id, ()):
            self._links.detach((object_id, body))
            self._inbox.detach((object_id, body))

    def close(self) -> None:
        """Destroys all endpoints; the stepping thread has ended.

        Subscriptions first: FastDDS tells every local reader of every writer that goes, which with a thousand of
        each would take seconds.
        """
        for endpoints in self._endpoints.values():
            self._destroy_subscriptions(endpoints)
        for endpoints in self._endpoints.values():
            self._destroy_publishers(endpoints)
        self._endpoints.clear()

    def _destroy_subscriptions(self, endpoints: _Endpoints) -> None:
        for subscription in endpoints.subscriptions.values():
            self._node.destroy_subscription(subscription)

    def _destroy_publishers(self, endpoints: _Endpoints) -> None:
        for publisher in endpoints.publishers:
            self._node.destroy_publisher(publisher)

    def _wanted(self) -> dict[int, _Wanted]:
        return {
            entry.id: _Wanted(entry.name)
            if entry.joints is None
            else _Wanted(entry.name, entry.handle.get_robot_description(), entry.links)
            for entry in self._table
        }

    def _apply(self, wanted: dict[int, _Wanted], threaded: bool) -> None:
        for object_id in self._endpoints.keys() - wanted.keys():
            endpoints = self._endpoints.pop(object_id)
            self._destroy_subscriptions(endpoints)
            self._destroy_publishers(endpoints)
        made = {object_id: self._make(one) for object_id, one in wanted.items() if object_id not in self._endpoints}
        self._endpoints.update(made)
        if not made:
            return
        if threaded:
            self._queue.call(lambda: self._attach(made))
        else:
            self._attach(made)

    def _make(self, wanted: _Wanted) -> _Endpoints:
        name = wanted.name
        state = self._publisher(ObjectState, f"{name}/state", self._state_profile)
        types: dict[CommandTopic, Any] = {CommandTopic.OBJECT: ObjectCmd}
        joint_states = description = None
        if wanted.robot_description is not None:
            joint_states = self._publisher(JointState, f"{name}/joint_states", self._state_profile)
            description = self._publisher(String, f"{name}/robot_description", qos.LATCHED)
            description.publish(String(data=wanted.robot_description))
            types |= {CommandTopic.JOINTS: JointState, CommandTopic.TRAJECTORY: JointTrajectory}
        subscriptions: dict[CommandTopic | int, Any] = {
            topic: self._subscription(kind, f"{name}/{topic.value}") for topic, kind in types.items()
        }
        links = {}
        for link in wanted.links:
            links[link.body] = self._publisher(ObjectState, f"{link.name}/state", self._state_profile)
            subscriptions[link.body] = self._subscription(ObjectCmd, f"{link.name}/cmd")
        return _Endpoints(state, joint_states, description, links, subscriptions)

    # No event callbacks: each would cost the executor time at every wake-up.

    def _publisher(self, message_type: Any, topic: str, profile: QoSProfile) -> Any:
        callbacks = PublisherEventCallbacks(use_default_callbacks=False)
        return self._node.create_publisher(message_type, topic, profile, event_callbacks=callbacks)

    def _subscription(self, message_type: Any, topic: str) -> Any:
        return self._node.create_subscription(
            message_type,
            topic,
            _never_called,
            qos.COMMAND,
            callback_group=self._group,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )

    def _attach(self, made: dict[int, _Endpoints]) -> None:
        for object_id, endpoints in made.items():
            self._states.attach(object_id, endpoints.state)
            if endpoints.joint_states is not None:
                self._joints.attach(object_id, endpoints.joint_states)
            for body, publisher in endpoints.links.items():
                self._links.attach((object_id, body), publisher)
            self._attached_links[object_id] = list(endpoints.links)
            for topic, subscription in endpoints.subscriptions.items():
                self._inbox.attach((object_id, topic), subscription)
