"""Sensors as plain data. Frames: x forward, y left, z up; angles [rad], lengths [m], rates [Hz of simulation time]."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from raisim_ros.description import checked
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.model import Pose

MAX_RATE = 1e9  # [Hz]; the times of ROS messages are whole nanoseconds
MAX_NOISE = 1e50  # as the engine's greatest number: squares and sums stay finite


@dataclass(frozen=True)
class NoiseModel:
    """Noise of each measured number.

    "gaussian" with `mean` and `stddev`, "uniform" within `mean` ± `stddev`, or "none"; `dropout` is the share of
    returns that are lost. The same `seed` gives the same noise.
    """

    type: str = "none"
    mean: float = 0.0
    stddev: float = 0.0
    dropout: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        checked.check_fields(self)
        if not (abs(self.mean) <= MAX_NOISE and 0.0 <= self.stddev <= MAX_NOISE and 0.0 <= self.dropout <= 1.0):
            raise InvalidValueError(
                f"mean, stddev and dropout of the noise are {self.mean}, {self.stddev} and {self.dropout}; expected "
                f"numbers of at most {MAX_NOISE:g}, stddev not negative, dropout from 0 to 1"
            )


@dataclass(frozen=True)
class SensorModel:
    """What every sensor has: a name, a rate, a pose in the frame of its set."""

    name: str
    update_rate: float = 10.0
    origin: Pose = field(default_factory=Pose)
    line: int | None = None  # of the file that it was read from

    def __post_init__(self) -> None:
        checked.check_fields(self)
        for one in fields(self):
            kind = {"Pose": Pose, "NoiseModel": NoiseModel}.get(str(one.type))
            if kind is not None and not isinstance(getattr(self, one.name), kind):
                raise InvalidValueError(f"{one.name} is {checked.shown(getattr(self, one.name))}; expected {one.type}")


@dataclass(frozen=True)
class CameraModel(SensorModel):
    """A pinhole camera: full horizontal angle, square pixels."""

    width: int = 640
    height: int = 480
    horizontal_fov: float = 1.0
    near: float = 0.05
    far: float = 20.0
    noise: NoiseModel = field(default_factory=NoiseModel)


@dataclass(frozen=True)
class DepthCameraModel(CameraModel):
    """Distances along the optical axis; `data_type` is what users of the file want: depth or coordinates."""

    data_type: str = "depth"


@dataclass(frozen=True)
class RGBCameraModel(CameraModel):
    """Shaded colours."""


@dataclass(frozen=True)
class LidarModel(SensorModel):
    """A spinning lidar: `yaw_samples` columns a revolution, `spin_rate` revolutions a second."""

    model: str = ""
    yaw_samples: int = 1024
    pitch_samples: int = 16
    pitch_min: float = -math.pi / 12
    pitch_max: float = math.pi / 12
    clockwise: bool = False
    spin_rate: float = 10.0
    range_min: float = 0.1
    range_max: float = 100.0
    noise: NoiseModel = field(default_factory=NoiseModel)


@dataclass(frozen=True)
class ImuModel(SensorModel):
    """Specific force and angular velocity, cut off at the limits."""

    acc_limit: float = math.inf
    ang_vel_limit: float = math.inf
    acc_noise: NoiseModel = field(default_factory=NoiseModel)
    ang_vel_noise: NoiseModel = field(default_factory=NoiseModel)


@dataclass(frozen=True)
class ContactModel(SensorModel):
    """The contacts of the body that carries the sensor."""


@dataclass(frozen=True)
class ForceTorqueModel(SensorModel):
    """Force and torque through the joint that carries the link."""


@dataclass(frozen=True)
class SensorSetModel:
    """Sensors that are mounted together; `origin` is the pose of the set on its link."""

    name: str
    origin: Pose = field(default_factory=Pose)
    sensors: tuple[SensorModel, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        checked.check_fields(self)
        if not isinstance(self.sensors, (tuple, list)):
            raise InvalidValueError(f"sensors is {checked.shown(self.sensors)}; expected models of sensors")
        for sensor in self.sensors:
            if not isinstance(sensor, SensorModel):
                raise InvalidValueError(f"a sensor is {checked.shown(sensor)}; expected a model of a sensor")
