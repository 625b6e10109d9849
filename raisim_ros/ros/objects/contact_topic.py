"""`contacts`: every contact point of the last step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from std_msgs.msg import Header

from raisim_ros.engine.types import StateBuffer
from raisim_ros.msg import Contact, ContactArray
from raisim_ros.ros.frozen_message import FrozenElement, FrozenSequence
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import period_in_steps, steps_until_multiple

_FIRST, _LAST = "position.x", "depth"
# Pairs that touched once and will not again are forgotten when there are this many.
_MAX_PAIRS = 20_000


class ContactTopic:
    """Publishes ContactArray at a rate in Hz of simulation time, when somebody listens."""

    def __init__(self, read_contacts: Callable[[], Any], world_frame: str, rate_hz: float, publisher: Any) -> None:
        self._read_contacts = read_contacts
        self._header = Header(frame_id=world_frame)
        self.rate_hz = rate_hz
        self._publisher = publisher
        self._names: dict[int, str] = {}
        self._pairs: dict[tuple[int, int], FrozenElement] = {}
        self._period, self._time_step = 1, 0.0

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over the names of the objects."""
        self._period, self._time_step = period_in_steps(self.rate_hz, time_step), time_step
        names = {entry.id: entry.name for entry in rows}
        if not self._names.keys() <= names.keys():
            self._pairs = {pair: element for pair, element in self._pairs.items() if names.keys() >= set(pair)}
        self._names = names

    def steps_until_due(self, step: int) -> int:
        """Steps until the next message must go out."""
        return steps_until_multiple(step, self._period)

    def due(self, moment: Moment) -> bool:
        """Whether a message must go out and somebody listens."""
        on_time = moment.everything or moment.step % self._period == 0
        return on_time and self._publisher.get_subscription_count() > 0

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes the contacts of the last step."""
        contacts = self._read_contacts()
        if len(self._pairs) > _MAX_PAIRS:
            self._pairs.clear()
        pairs = zip(contacts["object_a"].tolist(), contacts["object_b"].tolist(), strict=True)
        empty = ContactArray(header=self._header, time_step=self._time_step)
        message = FrozenSequence(empty, [self._element(a, b) for a, b in pairs])
        frames = contacts["frame"]
        numbers = np.hstack(
            (
                contacts["position"],
                frames[:, 2],
                np.einsum("kij,ki->kj", frames, contacts["impulse"]),
                contacts["depth"][:, None],
            )
        )
        message.write(_FIRST, _LAST, np.ascontiguousarray(numbers))
        message.numbers("header.stamp.sec", "header.stamp.nanosec").view(np.uint32)[:] = moment.stamp
        self._publisher.publish(message.to_bytes())

    def _element(self, a: int, b: int) -> FrozenElement:
        element = self._pairs.get((a, b))
        if element is None:
            contact = Contact(object_a=self._names[a], object_b=self._names[b], id_a=a, id_b=b)
            element = self._pairs[(a, b)] = FrozenElement(contact, ContactArray, "contacts")
        return element
