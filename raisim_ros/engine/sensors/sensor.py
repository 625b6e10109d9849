"""What all sensors share: where they are mounted, when they measure, and sets of them."""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from raisim_ros.description.declared import check_values
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.sensor.types import MAX_RATE, SensorModel, SensorSetModel
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.errors import check
from raisim_ros.engine.objects.body_owner import BodyOwner

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

# Part of a period by which rounding may shift the moment of a measurement.
_TIMING_SLACK = 1e-6
_MOST_STEPS = 2.0**31


class MeasurementSource(enum.IntEnum):
    """Who writes the measurements: the world while it steps, a visualizer, or the user."""

    RAISIM = 0
    VISUALIZER = 1
    MANUAL = 2


class SensorType(enum.IntEnum):
    """What a sensor measures."""

    UNKNOWN = 0
    RGB = 1
    DEPTH = 2
    IMU = 3
    SPINNING_LIDAR = 4
    CONTACT = 5
    FORCE_TORQUE = 6


@dataclass(frozen=True)
class Mount:
    """A frame fixed to a body: `pose` is given in the frame of body `body_idx` of the object."""

    object: BodyOwner
    body_idx: int
    pose: Pose

    def world_pose(self) -> tuple[Vector, Vector]:
        """Position [m] and rotation matrix (to world)."""
        position, rotation = self.pose.arrays()
        turn = self.object.get_orientation(self.body_idx)
        return self.object.get_position(self.body_idx) + turn @ position, turn @ rotation

    def angular_velocity(self) -> Vector:
        """World frame [rad/s]."""
        return self.object.get_angular_velocity(self.body_idx)

    def acceleration(self) -> Vector:
        """Acceleration of the frame's origin in the last step, world frame [m/s^2]."""
        point = self.world_pose()[0]
        if isinstance(self.object, ArticulatedSystem):
            return _link_acceleration(self.object, self.body_idx, point)
        linear, angular = ffi.new("double[3]"), ffi.new("double[3]")
        check(lib.rs_body_get_acceleration(self.object._c, self.object._engine_id, linear, angular))
        arm, omega = point - self.object.get_com_position(), self.angular_velocity()
        turning = np.cross(np.array(list(angular)), arm) + np.cross(omega, np.cross(omega, arm))
        acceleration: Vector = np.array(list(linear)) + turning
        return acceleration


def _link_acceleration(robot: ArticulatedSystem, body_idx: int, point: Vector) -> Vector:
    u, udot = robot.get_generalized_velocity(), robot.get_generalized_acceleration()
    jacobian = robot.get_sparse_jacobian(body_idx, point)
    rate = robot.get_time_derivative_of_sparse_jacobian(body_idx, point)
    acceleration: Vector = jacobian.v @ udot[jacobian.idx] + rate.v @ u[rate.idx]
    return acceleration


class _StructBytes:
    """A struct of the engine without pointers, as it is copied and pickled."""

    _type: str
    _bytes: bytes

    def __init__(self, struct: Any) -> None:
        self._type = ffi.typeof(struct).cname
        self._bytes = bytes(ffi.buffer(struct))

    def struct(self) -> Any:
        if self._type not in ("rs_lidar *", "rs_depth_camera *"):
            raise InvalidValueError(f"{self._type} is no struct of a sensor")
        made = ffi.new(self._type)
        if len(self._bytes) != ffi.sizeof(made[0]):
            raise InvalidValueError(f"{self._type} has {len(self._bytes)} bytes; expected {ffi.sizeof(made[0])}")
        ffi.memmove(made, self._bytes, len(self._bytes))
        return made


class Sensor(ABC):
    """A sensor on a body. Frame: x forward, y left, z up.

    A measurement is due when 1 / update rate of simulation time has passed. With the source RAISIM the world takes it
    while it steps; with MANUAL, the user calls update() or sets the numbers.
    """

    type = SensorType.UNKNOWN
    needs_inverse_dynamics = False
    model: SensorModel
    mount: Mount
    _world: Home
    _set_name: str
    _serial_number: str
    _source: MeasurementSource
    _rate: float
    _start: float
    _measured: int  # measurements that were due since `_start`
    _frame: int  # measurements ever taken: each has its own noise
    _stamp: float
    _position: Vector
    _rotation: Vector

    def __init__(self, world: Home, model: SensorModel, mount: Mount, set_name: str) -> None:
        self.model = model
        self.mount = mount
        self._world = world
        self._set_name = set_name
        self._serial_number = ""
        self._source = MeasurementSource.RAISIM
        self._rate = self._checked_rate(model.update_rate)
        self._start = world.get_world_time()
        self._measured = self._frame = 0
        self._stamp = -1.0
        self.update_pose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.get_name()}' on {self.mount.object!r}>"

    # ---- identity ----

    def get_name(self) -> str:
        """Name within the set."""
        return self.model.name

    def get_full_name(self) -> str:
        """``set/sensor``."""
        return f"{self._set_name}/{self.model.name}" if self._set_name else self.model.name

    def get_type(self) -> SensorType:
        """What it measures."""
        return self.type

    def get_serial_number(self) -> str:
        """Serial number, empty when none was given."""
        return self._serial_number

    def set_serial_number(self, serial_number: str) -> None:
        """Give the sensor a serial number."""
        self._serial_number = arguments.text("serial_number", serial_number)

    def get_frame_id(self) -> int:
        """Index of the body that carries the sensor."""
        return self.mount.body_idx

    # ---- place ----

    def update_pose(self) -> None:
        """Take over the present pose of the body."""
        self._position, self._rotation = self.mount.world_pose()

    def get_position(self) -> Vector:
        """World position at the last update [m]."""
        return self._position.copy()

    def get_orientation(self) -> Vector:
        """Rotation matrix (sensor to world) at the last update."""
        return self._rotation.copy()

    def get_frame_position(self) -> Vector:
        """World position of the body that carries the sensor [m]."""
        return self.mount.object.get_position(self.mount.body_idx)

    def get_frame_orientation(self) -> Vector:
        """Rotation matrix of the body that carries the sensor."""
        return self.mount.object.get_orientation(self.mount.body_idx)

    def get_pos_in_sensor_frame(self) -> Vector:
        """Position of the sensor in the frame of its body [m]."""
        return self.mount.pose.arrays()[0].copy()

    def get_ori_in_sensor_frame(self) -> Vector:
        """Rotation matrix of the sensor in the frame of its body."""
        return self.mount.pose.arrays()[1].copy()

    # ---- time ----

    @staticmethod
    def _checked_rate(rate: float) -> float:
        number = arguments.number("update_rate", rate)
        if not 0.0 < number <= MAX_RATE:
            raise InvalidValueError(f"update_rate is {number:g}; expected more than 0, at most {MAX_RATE:g} [Hz]")
        return number

    def get_update_rate(self) -> float:
        """Measurements a second of simulation time [Hz]."""
        return self._rate

    def set_update_rate(self, rate: float) -> None:
        """Set the rate [Hz]; the next measurement is due now."""
        self._rate = self._checked_rate(rate)
        self._start, self._measured = self._world.get_world_time(), 0
        self._touch()

    def get_update_time_stamp(self) -> float:
        """Simulation time of the last measurement [s]; -1 before the first."""
        return self._stamp

    def set_update_time_stamp(self, time: float) -> None:
        """Set the time of the last measurement [s]: for measurements that the user sets."""
        self._stamp = arguments.number("time", time)
        self._touch()

    def is_due(self, time: float) -> bool:
        """Whether a measurement is due at a simulation time [s]."""
        now = arguments.number("time", time)
        return (now - self._start) * self._rate >= self._measured - _TIMING_SLACK or now < self._start

    def steps_until_due(self, time: float, time_step: float) -> int:
        """Steps until the next measurement is due; 0: now."""
        if self.is_due(time):
            return 0
        step = arguments.number("time_step", time_step)
        if not (step > 0.0 and math.isfinite(step) and math.isfinite(time)):
            raise InvalidValueError(f"time is {time}, time_step {step}; expected finite numbers, the step above 0")
        wait = self._start + self._measured / self._rate - time
        return max(1, math.ceil(min(wait / step - _TIMING_SLACK, _MOST_STEPS)))

    def get_measurement_source(self) -> MeasurementSource:
        """Who writes the measurements."""
        return self._source

    def set_measurement_source(self, source: MeasurementSource | int) -> None:
        """Say who writes the measurements."""
        self._source = arguments.choice("source", MeasurementSource, source)
        self._touch()

    # ---- measuring ----

    def note_update(self) -> None:
        """Take over pose and time of a measurement that is taken now, and count it."""
        time = self._world.get_world_time()
        self.update_pose()
        if time < self._start:  # time was set back
            self._start, self._measured = time, 0
        self._measured = math.floor((time - self._start) * self._rate + _TIMING_SLACK) + 1
        self._stamp = time
        self._frame += 1

    def number_next(self, number: int) -> None:
        """Give the next measurement a number; its noise depends on that and on the seed alone."""
        if self._frame != arguments.count("number", number) - 1:  # else it has that number anyway
            self._frame = number - 1
            self._touch()

    def update(self) -> None:
        """Measure now."""
        self._touch()
        self._update()

    def _touch(self) -> None:
        """Tell that somebody changed the sensor: the world does not do so by itself while it steps."""
        check(lib.rs_world_touch(self._world._world))

    def _update(self) -> None:
        with self._world.locked():
            before = self._phase()
            try:
                self.note_update()
                self._measure()
            except BaseException:
                self._set_phase(before)
                raise

    @abstractmethod
    def _measure(self) -> None:
        """Take the measurement at the pose and time of now."""

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        """Structs of the engine become their bytes."""
        return {
            key: _StructBytes(value) if isinstance(value, ffi.CData) else value for key, value in vars(self).items()
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            setattr(self, key, value.struct() if isinstance(value, _StructBytes) else value)

    # ---- phases, for snapshots ----

    # What it shows: kept with the phase, so that a restored world shows what it showed.
    _READINGS: ClassVar[tuple[str, ...]] = ("_position", "_rotation")

    def _phase(self) -> dict[str, Any]:
        kept = ("_rate", "_start", "_measured", "_frame", "_stamp", "_source", *self._READINGS)
        return {name: copy(getattr(self, name)) for name in kept}

    def _check_phase(self, phase: dict[str, Any]) -> None:
        """Raises InvalidValueError for what is no phase of such a sensor."""
        own = self._phase()
        for name, value in own.items():
            here = phase.get(name)
            if isinstance(value, np.ndarray) and isinstance(here, np.ndarray) and here.shape[1:] != value.shape[1:]:
                raise InvalidValueError(f"{name} of sensor '{self.get_full_name()}' has shape {here.shape}")
        if phase.keys() != own.keys():
            raise InvalidValueError(f"the phase of sensor '{self.get_full_name()}' has other parts than the sensor")
        check_values(self, {name: value for name, value in phase.items() if name.startswith("_")})

    def _set_phase(self, phase: dict[str, Any]) -> None:
        for name, value in phase.items():
            setattr(self, name, copy(value))


class SensorSet:
    """Sensors that are mounted together. Made by World.add_sensor_set() or with a robot."""

    model: SensorSetModel
    link: str  # of a robot; empty: its first one
    mount: Mount
    _name: str
    _serial_number: str
    _sensors: dict[str, Sensor]

    def __init__(self, model: SensorSetModel, name: str, link: str, mount: Mount, sensors: list[Sensor]) -> None:
        self.model = model
        self.link = link
        self.mount = mount
        self._name = name
        self._serial_number = ""
        self._sensors = {sensor.get_name(): sensor for sensor in sensors}

    def __repr__(self) -> str:
        return f"<SensorSet '{self._name}' on {self.mount.object!r} with {', '.join(self._sensors) or 'nothing'}>"

    def __iter__(self) -> Iterator[Sensor]:
        return iter(self._sensors.values())

    def __len__(self) -> int:
        return len(self._sensors)

    def get_name(self) -> str:
        """Name of the set: that of its link, when it belongs to a robot."""
        return self._name

    def get_sensor(self, name: str, kind: type[Sensor] = Sensor) -> Any:
        """The sensor of that name; InvalidValueError when there is none, or it is of another kind."""
        sensor = self._sensors.get(arguments.text("name", name))
        if sensor is None:
            raise InvalidValueError(f"no sensor named '{name}' in '{self._name}'; there are {list(self._sensors)}")
        if not isinstance(kind, type):
            raise InvalidValueError(f"kind is {arguments.shown(kind)}; expected a class of sensors")
        if not isinstance(sensor, kind):
            raise InvalidValueError(f"sensor '{name}' is a {type(sensor).__name__}; expected {kind.__name__}")
        return sensor

    def get_sensors(self) -> list[Sensor]:
        """All sensors in the order of the file."""
        return list(self._sensors.values())

    def describe(self) -> SensorSetModel:
        """The set as it is now, under its own name: with the update rates of the sensors."""
        sensors = (replace(sensor.model, update_rate=sensor.get_update_rate()) for sensor in self)
        return replace(self.model, name=self._name, sensors=tuple(sensors))

    def get_serial_number(self) -> str:
        """Serial number of the set."""
        return self._serial_number

    def set_serial_number(self, serial_number: str) -> None:
        """Give the set a serial number."""
        self._serial_number = arguments.text("serial_number", serial_number)

    def get_position(self) -> Vector:
        """Present world position of the set's frame [m]."""
        return self.mount.world_pose()[0]

    def get_orientation(self) -> Vector:
        """Present rotation matrix of the set's frame."""
        return self.mount.world_pose()[1]
