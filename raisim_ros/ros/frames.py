"""`/tf` and `/tf_static`: the frame of every object in the world frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from raisim_ros.engine.types import StateBuffer
from raisim_ros.msg import ObjectState
from raisim_ros.ros.frozen_message import FrozenElement, FrozenSequence
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.object_table import ObjectEntry
from raisim_ros.ros.pacing import period_in_steps, steps_until_multiple

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


class _TransformGroup:
    """Transforms of some of the objects in one message."""

    def __init__(self, frames: FrameNames, publisher: Any) -> None:
        self._frames = frames
        self._publisher = publisher
        self._elements: dict[int, FrozenElement] = {}
        self._members: list[tuple[int, ObjectEntry]] = []
        self._rows = np.zeros(0, np.int64)
        self._message: FrozenSequence | None = None

    def rebuild(self, members: list[tuple[int, ObjectEntry]]) -> None:
        self._members = members
        self._message = None

    @property
    def has_listeners(self) -> bool:
        return len(self._members) > 0 and self._publisher.get_subscription_count() > 0

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        if self._message is None:
            self._message = self._assemble()
        self._message.write_stamp(moment.stamp)
        self._message.write(_FIRST, _LAST, states.poses[self._rows])
        self._publisher.publish(self._message.to_bytes())

    def _assemble(self) -> FrozenSequence:
        self._rows = np.array([row for row, _ in self._members], np.int64)
        self._elements = {entry.id: self._elements.get(entry.id) or self._freeze(entry) for _, entry in self._members}
        return FrozenSequence(TFMessage(), list(self._elements.values()))

    def _freeze(self, entry: ObjectEntry) -> FrozenElement:
        header = Header(frame_id=self._frames.world)
        transform = TransformStamped(header=header, child_frame_id=self._frames.of(entry.name))
        return FrozenElement(transform, TFMessage, "transforms")


class FrameTopics:
    """Moving objects go to `/tf` at a rate [Hz of simulation time], static ones once to `/tf_static`."""

    def __init__(self, frames: FrameNames, rate_hz: float, publisher: Any, static_publisher: Any) -> None:
        self._rate_hz = rate_hz
        self._moving = _TransformGroup(frames, publisher)
        self._static = _TransformGroup(frames, static_publisher)
        self._period = 1
        self._static_changed = False

    def rebuild(self, rows: list[ObjectEntry], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._period = period_in_steps(self._rate_hz, time_step)
        shown = [(row, entry) for row, entry in enumerate(rows) if entry.options.tf]
        self._moving.rebuild([(row, entry) for row, entry in shown if entry.body_type != ObjectState.STATIC])
        self._static.rebuild([(row, entry) for row, entry in shown if entry.body_type == ObjectState.STATIC])
        # Those who come later get the last message: it must be there, also when nobody listens now.
        self._static_changed = True

    def steps_until_due(self, step: int) -> int:
        """Steps until the next transforms must go out."""
        return steps_until_multiple(step, self._period)

    def due(self, moment: Moment) -> bool:
        """Whether transforms must go out at this moment."""
        on_time = moment.everything or moment.step % self._period == 0
        return self._static_changed or (on_time and self._moving.has_listeners)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what is due."""
        if self._static_changed:
            self._static_changed = False
            self._static.publish(moment, states)
        if (moment.everything or moment.step % self._period == 0) and self._moving.has_listeners:
            self._moving.publish(moment, states)
