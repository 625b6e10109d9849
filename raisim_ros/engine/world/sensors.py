"""The part of World that carries sensors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.sensor.file import load_sensor_set
from raisim_ros.description.sensor.types import (
    ContactModel,
    DepthCameraModel,
    ForceTorqueModel,
    ImuModel,
    LidarModel,
    RGBCameraModel,
    SensorModel,
    SensorSetModel,
)
from raisim_ros.description.world.types import ArticulatedEntry, WorldDescription
from raisim_ros.description.xml.template import Parameters
from raisim_ros.engine import arguments
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.home import Home
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.sensors.motion import IMU, ContactSensor, ForceTorque
from raisim_ros.engine.sensors.sensor import MeasurementSource, Mount, Sensor, SensorSet
from raisim_ros.engine.sensors.vision import DepthCamera, RGBCamera, SpinningLidar
from raisim_ros.engine.world.core import Saver, WorldCore

_CLASSES: dict[type[SensorModel], Any] = {
    DepthCameraModel: DepthCamera,
    RGBCameraModel: RGBCamera,
    LidarModel: SpinningLidar,
    ImuModel: IMU,
    ContactModel: ContactSensor,
    ForceTorqueModel: ForceTorque,
}


@dataclass(frozen=True)
class SensorPhases:
    """What a snapshot keeps of sensors."""

    sets: list[SensorSet]
    phases: list[tuple[Sensor, dict[str, Any]]]

    def _check_read(self) -> None:
        for sensor, phase in self.phases:
            sensor._check_phase(phase)


class Sensors(WorldCore):
    """Sensor sets on objects and links. A failed call leaves the world as it was."""

    def __init__(self) -> None:
        super().__init__()
        self._savers.append(Saver(self._save_sensors, self._restore_sensors))
        self._adders.append(self._mount_sensors)
        self._equippers.append(self._mount_described)
        self._cloners.append(self._clone_sensors)
        self._removers.append(self._drop_sensors)

    def _mount_sensors(self, obj: Object, params: Parameters) -> None:
        """Give a new robot the sensors of its links."""
        if isinstance(obj, ArticulatedSystem):
            for sensor in obj.get_kinematic_tree().sensors:
                made = self.add_sensor_set(obj, sensor.file, sensor.link, sensor.link, params)
                made.set_serial_number(sensor.serial_number)

    def _mount_described(self, obj: Object, entry: ArticulatedEntry, _: WorldDescription) -> None:
        for one in entry.sensor_sets:
            self.add_sensor_set(obj, one.model, one.link)

    def add_sensor_set(
        self,
        obj: Object,
        sensors: SensorSetModel | str | Path,
        link: str = "",
        name: str = "",
        params: Parameters = None,
    ) -> SensorSet:
        """Mount a sensor set (a model or a sensor file) on an object, or on a link of a robot.

        `name` is by default that of the file's set, or of the link.
        """
        self._own(obj)
        if isinstance(sensors, SensorSetModel):
            model = sensors
        else:
            model = load_sensor_set(arguments.path("sensors", sensors), params)
        arguments.text("name", name)
        arguments.text("link", link)
        mount = self._mount(obj, link)
        on_body = Mount(mount.object, mount.body_idx, mount.pose @ model.origin)
        set_name = name or model.name or link or "sensors"
        if any(other.get_name() == set_name for other in self.get_sensor_sets(obj)):
            raise InvalidValueError(f"{obj!r} has a sensor set named '{set_name}' already")
        with self.locked():
            made = [_make(self, one, on_body, set_name) for one in model.sensors]
            sensor_set = SensorSet(model, set_name, link, on_body, made)
            self._sensor_sets.append(sensor_set)
        return sensor_set

    def _clone_sensors(self, source: BodyOwner, clone: BodyOwner) -> None:
        self._sensor_sets += [self._copy_sensors(one, clone) for one in self.get_sensor_sets(source)]

    def _drop_sensors(self) -> None:
        """Forget the sensors of objects that have gone."""
        self._sensor_sets = [one for one in self._sensor_sets if self.is_object_alive(one.mount.object.get_id())]

    def _copy_sensors(self, source: SensorSet, onto: BodyOwner) -> SensorSet:
        """The same sensors on a copy of the object that carries them; they begin to measure now."""

        def moved(mount: Mount) -> Mount:
            return replace(mount, object=onto)

        sensors = []
        for one in source:
            sensor: Sensor = _CLASSES[type(one.model)](self, one.model, moved(one.mount), source.get_name())
            sensor.set_serial_number(one.get_serial_number())
            sensor.set_update_rate(one.get_update_rate())
            sensor.set_measurement_source(one.get_measurement_source())
            sensors.append(sensor)
        made = SensorSet(source.model, source.get_name(), source.link, moved(source.mount), sensors)
        made.set_serial_number(source.get_serial_number())
        return made

    def _mount(self, obj: Object, link: str) -> Mount:
        if isinstance(obj, SingleBodyObject):
            if link:
                raise InvalidValueError(f"{obj!r} is one body; expected no link, got '{link}'")
            return Mount(obj, 0, Pose())
        if not isinstance(obj, ArticulatedSystem):
            raise WrongTypeError(f"{obj!r} cannot carry sensors")
        if not link:
            return Mount(obj, 0, Pose())
        body = obj.get_body_idx(link)
        if body < 0:
            raise InvalidValueError(f"'{obj.get_name()}' has no link named '{link}'")
        frame = obj.get_frame_idx_by_link_name(link)
        if frame < 0:
            return Mount(obj, body, Pose())
        at = obj.get_frame_by_idx(frame)
        return Mount(obj, body, Pose(at.position, at.rotation))

    def remove_sensor_set(self, sensor_set: SensorSet) -> None:
        """Take a sensor set off its object."""
        arguments.instance("sensor_set", sensor_set, SensorSet)
        with self.locked():
            if sensor_set not in self._sensor_sets:
                raise InvalidValueError(f"sensor set '{sensor_set.get_name()}' is not in this world")
            self._sensor_sets.remove(sensor_set)

    # ---- measuring while stepping ----

    def _automatic_sensors(self) -> list[Sensor]:
        return [
            sensor
            for one in self.get_sensor_sets()
            for sensor in one
            if sensor.get_measurement_source() == MeasurementSource.RAISIM
        ]

    def update_sensors(self) -> None:
        """Take the measurements that are due now, of the sensors whose source is RAISIM."""
        time = self.get_world_time()
        for sensor in self._automatic_sensors():
            if isinstance(sensor, SpinningLidar):
                sensor.follow()
            if sensor.is_due(time):
                sensor._update()

    def _integrate_with_sensors(self, steps: int) -> None:
        """Step, and stop at every step at which a measurement is due."""
        left = steps
        while left > 0:
            time, time_step = self.get_world_time(), self.get_time_step()
            sensors = self._automatic_sensors()
            part = min((max(1, sensor.steps_until_due(time, time_step)) for sensor in sensors), default=left)
            part = min(part, left)
            self._step(part)
            self.update_sensors()
            left -= part

    # ---- snapshots ----

    def _save_sensors(self) -> SensorPhases:
        sets = list(self._sensor_sets)
        return SensorPhases(sets, [(sensor, sensor._phase()) for one in sets for sensor in one])

    def _restore_sensors(self, kept: SensorPhases) -> None:
        self._sensor_sets = list(kept.sets)
        for sensor, phase in kept.phases:
            sensor._set_phase(phase)


def _make(world: Home, model: SensorModel, on_body: Mount, set_name: str) -> Sensor:
    mount = Mount(on_body.object, on_body.body_idx, on_body.pose @ model.origin)
    sensor: Sensor = _CLASSES[type(model)](world, model, mount, set_name)
    return sensor
