"""Sensors of a robot for MuJoCo: the reverse of sensors.py."""

from __future__ import annotations

import math

import numpy as np

from raisim_ros.description.mjcf.document import add
from raisim_ros.description.mjcf.export_robot import RobotWriter
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.sensor.table import SENSORS
from raisim_ros.description.sensor.types import LidarModel, SensorModel

# A rangefinder looks along z of its site, sensors here along x.
_ALONG_X = Pose(rotation=np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
_MJCF = {sensor.model: sensor.mjcf for sensor in SENSORS.values()}


def write_sensors(writer: RobotWriter) -> None:
    """Write those that MuJoCo has; the others are noted."""
    writer.document.notes.add("sensors of sensor files", bool(writer.tree.sensors))
    for entry in writer.entry.sensor_sets:
        for sensor in entry.model.sensors:
            kinds = _kinds(sensor)
            if not kinds:
                writer.document.notes.add(f"the sensor '{entry.model.name}/{sensor.name}'")
                continue
            inner = entry.model.origin @ sensor.origin
            if isinstance(sensor, LidarModel):
                inner = inner @ _ALONG_X
            site = writer.site_on(entry.link, inner)
            for kind, limit in kinds.items():
                name = writer.document.name("sensor", f"{entry.model.name}_{kind}", writer.entry.name)
                cutoff = limit if math.isfinite(limit) else None
                add(writer.document["sensor"], kind, name=name, site=site, cutoff=cutoff)


def _kinds(sensor: SensorModel) -> dict[str, float]:
    """MuJoCo's sensors in the place of one of ours, with the largest value that they tell."""
    if isinstance(sensor, LidarModel) and sensor.yaw_samples * sensor.pitch_samples != 1:
        return {}
    return {kind: getattr(sensor, field) if field else math.inf for kind, field in _MJCF.get(type(sensor), ())}
