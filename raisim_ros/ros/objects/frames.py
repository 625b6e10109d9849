"""`/tf` and `/tf_static`: the frame of every object and of every link of a robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from geometry_msgs.msg import TransformStamped
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from raisim_ros.engine.types import ArticulationBuffer, StateBuffer
from raisim_ros.msg import ObjectState
from raisim_ros.ros.conversions import Vector
from raisim_ros.ros.frozen_message import FrozenElement, FrozenSequence
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import period_in_steps, steps_until_multiple
from raisim_ros.ros.robots.link_frames import LinkFrames, LinkTransform, RobotLinks

_FIRST, _LAST = "transform.translation.x", "transform.rotation.w"


@dataclass(frozen=True)
class FrameNames:
    """Frames of one world; with several worlds each has a prefix of its own."""

    world_frame: str
    prefix: str = ""

    @property
    def world(self) -> str:
        """The frame that everything is given in."""
        return self.prefix + self.world_frame

    def of(self, object_name: str) -> str:
        """The frame of an object."""
        return self.prefix + object_name

    def of_odom(self, object_name: str) -> str:
        """The frame that an object's odometry is given in."""
        return f"{self.prefix}{object_name}/odom"

    def of_link(self, robot_name: str, link: str) -> str:
        """The frame of a robot's link."""
        return f"{self.prefix}{robot_name}/{link}"


@dataclass(frozen=True)
class _Frame:
    """A frame and the one that it is given in."""

    parent: str
    child: str


class Odometry(Protocol):
    """What frames ask of odometry."""

    def begin_new(self, states: StateBuffer) -> None:
        """Objects that were not seen before begin their way here."""

    def origin(self, object_id: int) -> Vector:
        """Where the frame `odom` of an object is in the world."""

    def in_odom(self, object_id: int, states: StateBuffer) -> Vector:
        """Where an object is in its frame `odom`."""


class _TransformGroup:
    """Transforms in one message."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._elements: dict[_Frame, FrozenElement] = {}
        self._frames: list[_Frame] = []
        self._message: FrozenSequence | None = None

    def rebuild(self, frames: list[_Frame]) -> None:
        self._frames = frames
        self._message = None

    @property
    def has_listeners(self) -> bool:
        return len(self._frames) > 0 and self._publisher.get_subscription_count() > 0

    def publish(self, moment: Moment, poses: Vector) -> None:
        """`poses` are those of the frames, in their order."""
        if self._message is None:
            self._message = self._assemble()
        self._message.write_stamp(moment.stamp)
        self._message.write(_FIRST, _LAST, poses)
        self._publisher.publish(self._message.to_bytes())

    def _assemble(self) -> FrozenSequence:
        self._elements = {frame: self._elements.get(frame) or _freeze(frame) for frame in self._frames}
        return FrozenSequence(TFMessage(), list(self._elements.values()))


def _freeze(frame: _Frame) -> FrozenElement:
    header = Header(frame_id=frame.parent)
    return FrozenElement(TransformStamped(header=header, child_frame_id=frame.child), TFMessage, "transforms")


class FrameTopics:
    """Everything that moves goes to `/tf` at a rate [Hz of simulation time], the rest once to `/tf_static`.

    Objects are given in the world frame, links of robots in the frames of their parent links.
    """

    def __init__(
        self,
        names: FrameNames,
        read_articulations: Callable[[], ArticulationBuffer],
        rate_hz: float,
        publisher: Any,
        static_publisher: Any,
        odometry: Odometry,
    ) -> None:
        """`odometry` knows the objects whose frames are given in a frame `odom`."""
        self._odometry = odometry
        self._tracked: list[tuple[int, int]] = []  # place among the moving frames, and id, of those
        self._names = names
        self._read_articulations = read_articulations
        self.rate_hz = rate_hz
        self._moving = _TransformGroup(publisher)
        self._static = _TransformGroup(static_publisher)
        self._robots: dict[int, RobotLinks] = {}
        self._links: LinkFrames | None = None
        self._moving_rows = self._static_rows = np.zeros(0, np.int64)
        self._fixed_poses = np.zeros((0, 7))
        self._period = 1
        self._static_changed = False

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._period = period_in_steps(self.rate_hz, time_step)
        shown = [(row, entry) for row, entry in enumerate(rows) if entry.interface.publish_tf in ("all", "base")]
        moving = [(row, entry) for row, entry in shown if entry.body_type != ObjectState.STATIC]
        static = [(row, entry) for row, entry in shown if entry.body_type == ObjectState.STATIC]
        trees = [entry for entry in rows if entry.interface.publish_tf in ("all", "links")]
        robots = [entry for entry in trees if entry.joints is not None]
        self._robots = {entry.id: self._robots.get(entry.id) or RobotLinks(entry) for entry in robots}
        links = list(self._robots.values())
        self._links = LinkFrames(links, self._read_articulations()) if links else None
        self._moving_rows = np.array([row for row, _ in moving], np.int64)
        self._static_rows = np.array([row for row, _ in static], np.int64)
        self._fixed_poses = np.concatenate([np.zeros((0, 7)), *(robot.fixed_poses for robot in links)])
        of_links = [(entry, self._robots[entry.id]) for entry in robots]
        self._tracked = [
            (place, entry.id) for place, (_, entry) in enumerate(moving) if entry.interface.odom_tf
        ]
        tracked = [entry for _, entry in moving if entry.interface.odom_tf]
        self._moving.rebuild(
            [self._object_frame(entry) for _, entry in moving]
            + [self._link_frame(entry, link) for entry, robot in of_links for link in robot.moving]
        )
        self._static.rebuild(
            [self._object_frame(entry) for _, entry in static]
            + [_Frame(self._names.world, self._names.of_odom(entry.name)) for entry in tracked]
            + [self._link_frame(entry, link) for entry, robot in of_links for link in robot.fixed]
        )
        # Those who come later get the last message: it must be there, also when nobody listens now.
        self._static_changed = True

    def _object_frame(self, entry: ObjectRow) -> _Frame:
        names = self._names
        parent = names.of_odom(entry.name) if entry.interface.odom_tf else names.world
        return _Frame(parent, names.of(entry.name))

    def _link_frame(self, entry: ObjectRow, link: LinkTransform) -> _Frame:
        names = self._names
        parent = names.of_link(entry.name, link.parent) if link.parent else names.of(entry.name)
        return _Frame(parent, names.of_link(entry.name, link.child))

    def steps_until_due(self, step: int) -> int:
        """Steps until the next transforms must go out."""
        return steps_until_multiple(step, self._period)

    def due(self, moment: Moment) -> bool:
        """Whether transforms must go out at this moment."""
        on_time = moment.everything or moment.step % self._period == 0
        return self._static_changed or (on_time and self._moving.has_listeners)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what is due."""
        self._odometry.begin_new(states)
        if self._static_changed:
            self._static_changed = False
            origins = np.array([self._odometry.origin(object_id) for _, object_id in self._tracked]).reshape(-1, 7)
            self._static.publish(moment, np.vstack((states.poses[self._static_rows], origins, self._fixed_poses)))
        if (moment.everything or moment.step % self._period == 0) and self._moving.has_listeners:
            poses = states.poses[self._moving_rows]
            for place, object_id in self._tracked:
                poses[place] = self._odometry.in_odom(object_id, states)
            if self._links is not None:
                poses = np.vstack((poses, self._links.poses(self._read_articulations())))
            self._moving.publish(moment, poses)
