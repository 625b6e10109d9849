"""Topics and static frames of all sensors. Used by the stepping thread alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any

from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.rotation import quaternion_from_matrix
from raisim_ros.engine.sensors.sensor import Sensor
from raisim_ros.engine.sensors.vision import DepthCamera, RGBCamera
from raisim_ros.engine.types import StateBuffer
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import NEVER, is_time, periods, steps_until_time
from raisim_ros.ros.sensors.messages import Channel, LidarChannel
from raisim_ros.ros.sensors.table import SensorRow, SensorTable

# From x forward, y left, z up to z forward, x right, y down: roll -90 degrees, yaw -90 degrees.
_OPTICAL_XYZW = (-0.5, 0.5, -0.5, 0.5)


class _KeepingPublisher:
    """Publishes, and keeps the bytes of the last message."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self.last: bytes | None = None

    @property
    def has_listeners(self) -> bool:
        return bool(self._publisher.get_subscription_count())

    def publish(self, message: bytes) -> None:
        self.last = message
        self._publisher.publish(message)

    def repeat(self) -> None:
        if self.last is not None:
            self._publisher.publish(self.last)


class _Attached:
    """A sensor whose endpoints exist."""

    def __init__(self, channel: Channel, publishers: Mapping[str, Any]) -> None:
        self.channel = channel
        self.publishers = {topic: _KeepingPublisher(one) for topic, one in publishers.items()}

    @property
    def is_rolling(self) -> bool:
        """Whether it shows what fired since the last message: sent twice, that would be wrong."""
        return isinstance(self.channel, LidarChannel) and self.channel.is_rolling

    def listened(self) -> dict[str, _KeepingPublisher]:
        return {topic: one for topic, one in self.publishers.items() if one.has_listeners}

    def measure(
        self, publishers: Mapping[str, _KeepingPublisher], moment: Moment, time_step: float, keep: bool = False
    ) -> None:
        """Measures, under the number of the period that the moment lies in: noise does not depend on who listens."""
        sensor = self.channel.sensor
        sensor.number_next(max(0, periods(sensor.get_update_rate(), moment.sim_time, time_step)))
        self.channel.publish(publishers, moment.stamp, keep)

    def repeat(self, moment: Moment, time_step: float) -> None:
        """Sends the last messages again; those that nobody listened to before are measured now."""
        listened = self.listened()
        new = {topic: one for topic, one in listened.items() if one.last is None}
        for topic, publisher in listened.items():
            if topic not in new:
                publisher.repeat()
        if new:
            self.measure(new, moment, time_step)

    def forget(self) -> None:
        """What was measured is no longer true."""
        for publisher in self.publishers.values():
            publisher.last = None


class SensorTopics:
    """Publishes every sensor at its rate, to those who listen and to a recording; nothing is computed for nobody."""

    def __init__(self, table: SensorTable, warn: Callable[[Hashable, str], object]) -> None:
        self._table = table
        self._warn = warn
        self._attached: dict[Sensor, _Attached] = {}
        self._time_step = 1.0

    def attach(self, channel: Channel, publishers: Mapping[str, Any]) -> None:
        """From now on the sensor's messages go out through `publishers`, by topic."""
        self._attached[channel.sensor] = _Attached(channel, publishers)

    def detach(self, sensors: Set[Sensor]) -> None:
        """Lets go of the publishers of some sensors."""
        for sensor in sensors:
            self._attached.pop(sensor, None)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Forgets sensors that left the world; takes over a new time step."""
        self._time_step = time_step
        for attached in self._attached.values():
            attached.forget()
        present = {entry.sensor for entry in self._table.entries()}
        self.detach(self._attached.keys() - present)

    def steps_until_due(self, step: int) -> int:
        """Steps until the next measurement must go out."""
        if any(listened for _, listened in self._rolling()):
            return 1
        time, time_step = self._table.sim_time(), self._time_step
        waits = (steps_until_time(sensor.get_update_rate(), time, time_step) for sensor in self._attached)
        return min(waits, default=NEVER)

    def _rolling(self) -> list[tuple[LidarChannel, bool]]:
        """Lidars that fire in every step, and whether somebody listens, or they are recorded."""
        recorded = self._table.is_recorded()
        return [
            (one.channel, recorded or bool(one.listened()))
            for one in self._attached.values()
            if isinstance(one.channel, LidarChannel) and one.channel.is_rolling
        ]

    def due(self, moment: Moment) -> bool:
        """Whether a measurement is due that somebody waits for."""
        recorded = self._table.is_recorded() and not moment.standing
        return bool(self._rolling()) or any(recorded or attached.listened() for attached in self._due(moment))

    def _due(self, moment: Moment) -> list[_Attached]:
        return [
            one
            for sensor, one in self._attached.items()
            if moment.standing or is_time(sensor.get_update_rate(), moment.sim_time, self._time_step)
        ]

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Measures and publishes what is due; while time stands still, the last messages again."""
        recorded = self._table.is_recorded() and not moment.standing
        for channel, listened in self._rolling():
            with self._telling(channel.sensor):
                channel.follow(listened)
        for attached in self._due(moment):
            with self._telling(attached.channel.sensor):
                if moment.standing and not attached.is_rolling:
                    attached.repeat(moment, self._time_step)
                elif (publishers := attached.listened()) or recorded:
                    attached.measure(publishers, moment, self._time_step, recorded)
        if recorded:
            self._table.note_measured()

    @contextmanager
    def _telling(self, sensor: Sensor) -> Iterator[None]:
        """What a sensor cannot measure goes to the log: the world and the other sensors go on."""
        try:
            yield
        except RaisimError as error:
            self._warn((sensor, "measure"), f"sensor '{sensor.get_name()}' could not measure: {error}")


class SensorFrames:
    """`/tf_static`: where sensors are mounted, and the optical frames of cameras."""

    def __init__(self, table: SensorTable, publisher: Any) -> None:
        self._table = table
        self._publisher = publisher
        self._shown: list[SensorRow] = []
        self._changed = False

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over the sensors that there are."""
        present = [entry for entry in self._table.entries() if entry.object.interface.publish_tf != "none"]
        self._changed = self._changed or present != self._shown
        self._shown = present

    def steps_until_due(self, step: int) -> int:
        """Frames never ask for a stop."""
        return NEVER

    def due(self, moment: Moment) -> bool:
        """Whether frames changed."""
        return self._changed

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Sends all frames; the last message waits for those who come later."""
        self._changed = False
        message = TFMessage()
        for entry in self._shown:
            message.transforms.append(_mounting(entry))
            if isinstance(entry.sensor, (DepthCamera, RGBCamera)):
                message.transforms.append(_transform(entry.frame, entry.optical_frame, (0.0, 0.0, 0.0), _OPTICAL_XYZW))
        for transform in message.transforms:
            transform.header.stamp.sec, transform.header.stamp.nanosec = moment.stamp
        self._publisher.publish(message)


def _mounting(entry: SensorRow) -> TransformStamped:
    w, x, y, z = quaternion_from_matrix(entry.sensor.get_ori_in_sensor_frame())
    return _transform(entry.parent_frame, entry.frame, tuple(entry.sensor.get_pos_in_sensor_frame()), (x, y, z, w))


def _transform(parent: str, child: str, position: tuple[float, ...], xyzw: tuple[float, ...]) -> TransformStamped:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    translation, rotation = transform.transform.translation, transform.transform.rotation
    translation.x, translation.y, translation.z = map(float, position)
    rotation.x, rotation.y, rotation.z, rotation.w = map(float, xyzw)
    return transform
