"""Every sensor of the world with its ROS name and frames. Belongs to the stepping thread."""

from __future__ import annotations

from dataclasses import dataclass

from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.sensors.sensor import MeasurementSource, Sensor, SensorSet
from raisim_ros.engine.world.world import World
from raisim_ros.ros import names
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable, UnknownObjectError

# Behind the name of an object there is less room in a topic.
_MAX_LENGTH = names.MAX_LENGTH // 2


@dataclass(frozen=True)
class SensorRow:
    """One sensor: topics below `<object>/<name>`, measured in `frame`, images in `optical_frame`."""

    sensor: Sensor
    sensor_set: SensorSet
    object: ObjectRow
    name: str
    parent_frame: str
    frame: str

    @property
    def optical_frame(self) -> str:
        """The frame of images: z forward, x right, y down."""
        return f"{self.frame}_optical_frame"

    @property
    def topic(self) -> str:
        """What its topics begin with."""
        return f"{self.object.name}/{self.name}"


class SensorTable:
    """Finds the sensors of the world and gives each a name that it keeps."""

    def __init__(self, world: World, objects: ObjectTable, frames: FrameNames) -> None:
        self._world = world
        self._objects = objects
        self._frames = frames
        self._entries: dict[Sensor, SensorRow] = {}

    def entries(self) -> list[SensorRow]:
        """All sensors. New ones are named; from now on they measure when their topics ask."""
        present: dict[Sensor, SensorRow] = {}
        for sensor_set in self._world.get_sensor_sets():
            entry = self._objects.by_id(sensor_set.mount.object.get_id())
            for sensor in sensor_set:
                known = self._entries.get(sensor)
                taken = {other.name for other in present.values() if other.object is entry}
                present[sensor] = known or self._name(entry, sensor_set, sensor, taken)
        self._entries = present
        return list(present.values())

    def is_recorded(self) -> bool:
        """Whether measurements go into a file."""
        return self._world._records_sensors()

    def note_measured(self) -> None:
        """Measurements were taken now that shall go into the file."""
        self._world._note_measured()

    def sim_time(self) -> float:
        """Simulation time of now [s]."""
        return self._world.get_world_time()

    def get(self, object_name: str, sensor_name: str) -> SensorRow:
        """A sensor by the name of its object and its own."""
        owner = self._objects.get(object_name)
        own = [entry for entry in self.entries() if entry.object.id == owner.id]
        for entry in own:
            if entry.name == sensor_name:
                return entry
        known = ", ".join(entry.name for entry in own) or "none"
        raise UnknownObjectError(f"'{object_name}' has no sensor named '{sensor_name}'; there are: {known}")

    def entry_of(self, sensor: Sensor) -> SensorRow:
        """The entry of a sensor that is in the world."""
        return next(entry for entry in self.entries() if entry.sensor is sensor)

    def _name(self, owner: ObjectRow, sensor_set: SensorSet, sensor: Sensor, taken: set[str]) -> SensorRow:
        sensor.set_measurement_source(MeasurementSource.MANUAL)
        others = {entry.name for entry in self._entries.values() if entry.object is owner}
        wanted = names.sanitise(sensor.get_name()).replace("/", "_")[:_MAX_LENGTH].rstrip("_") or "sensor"
        name = names.unique(wanted, taken | others | {"state", "cmd"})
        parent, frame = self._frames.of(owner.name), self._frames.of_link(owner.name, name)
        robot, body = sensor.mount.object, sensor.mount.body_idx
        if isinstance(robot, ArticulatedSystem):
            parent = self._frames.of_link(owner.name, robot.get_body_names()[body]) if body > 0 else parent
            frame = frame if robot.get_body_idx(name) < 0 else f"{frame}_sensor"  # a link has that frame
        return SensorRow(sensor, sensor_set, owner, name, parent, frame)
