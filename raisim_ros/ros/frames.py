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

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._rows = np.zeros(0, np.int64)
        self._message = FrozenSequence(TFMessage(), [])

    def rebuild(self, rows: list[int], elements: list[FrozenElement]) -> None:
        self._rows = np.array(rows, np.int64)
        self._message = FrozenSequence(TFMessage(), elements)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        self._message.write_stamp(moment.stamp)
        self._message.write(_FIRST, _LAST, states.poses[self._rows])
        self._publisher.publish(self._message.to_bytes())

    @property
    def has_listeners(self) -> bool:
        return len(self._rows) > 0 and self._publisher.get_subscription_count() > 0


class FrameTopics:
    """Moving objects go to `/tf` at a rate [Hz of simulation time], static ones once to `/tf_static`."""

    def __init__(self, frames: FrameNames, rate_hz: float, publisher: Any, static_publisher: Any) -> None:
        self._frames = frames
        self._rate_hz = rate_hz
        self._moving = _TransformGroup(publisher)
        self._static = _TransformGroup(static_publisher)
        self._elements: dict[int, FrozenElement] = {}
        self._period = 1
        self._static_changed = False
        self._static_ids: list[int] = []

    def _freeze(self, entry: ObjectEntry) -> FrozenElement:
        header = Header(frame_id=self._frames.world)
        transform = TransformStamped(header=header, child_frame_id=self._frames.of(entry.name))
        return FrozenElement(transform, TFMessage, "transforms")

    def rebuild(self, rows: list[ObjectEntry], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._period = period_in_steps(self._rate_hz, time_step)
        self._elements = {
            entry.id: self._elements.get(entry.id) or self._freeze(entry) for entry in rows if entry.options.tf
        }
        moving: list[tuple[int, int]] = []
        static: list[tuple[int, int]] = []
        for row, entry in enumerate(rows):
            if entry.options.tf:
                (static if entry.body_type == ObjectState.STATIC else moving).append((row, entry.id))
        for group, members in ((self._moving, moving), (self._static, static)):
            group.rebuild([row for row, _ in members], [self._elements[object_id] for _, object_id in members])
        # A static object may also have been moved by a service: send them whenever anything was rebuilt.
        self._static_changed = bool(static) or bool(self._static_ids)
        self._static_ids = [object_id for _, object_id in static]

    def steps_until_due(self, step: int) -> int:
        """Steps until the next transforms must go out."""
        return steps_until_multiple(step, self._period)

    def due(self, moment: Moment) -> bool:
        """Whether transforms must go out at this moment."""
        return moment.everything or self._static_changed or moment.step % self._period == 0

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what is due."""
        if self._static_changed:
            self._static_changed = False
            self._static.publish(moment, states)
        if (moment.everything or moment.step % self._period == 0) and self._moving.has_listeners:
            self._moving.publish(moment, states)
