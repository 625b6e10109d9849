"""Sensors of a compiled model that have an equal here.

Those of a site are a sensor set on its frame: gyroscope and accelerometer are one IMU, force and torque one sensor of
the joint, touch a contact sensor of the link, a rangefinder a lidar with one ray. What can be asked of a robot at any
time (joints, tendons, frames) needs no sensor. As in MuJoCo, `noise` is only a note of the file's author.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from raisim_ros.description.mjcf.compiler import CompiledModel
from raisim_ros.description.mjcf.notes import Notes
from raisim_ros.description.robot.model import Pose
from raisim_ros.description.sensor.table import SENSORS
from raisim_ros.description.sensor.types import ContactModel, LidarModel, SensorModel, SensorSetModel
from raisim_ros.description.world.types import SensorSetEntry

_RATE = 100.0  # Hz; MuJoCo's sensors measure in every step
_FAR = 1000.0  # of rangefinders without a cutoff [m]
# A rangefinder looks along z of its site, sensors here along x.
_ALONG_Z = Pose(rotation=np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
_ONE_RAY = LidarModel(
    "rangefinder",
    _RATE,
    _ALONG_Z,
    yaw_samples=1,
    pitch_samples=1,
    pitch_min=0.0,
    pitch_max=0.0,
    spin_rate=0.0,
    range_min=0.0,
)
_ASKED = frozenset(
    ("jointpos", "jointvel", "jointactfrc", "jointlimitpos", "jointlimitvel", "ballquat", "ballangvel",
     "tendonpos", "tendonvel", "actuatorpos", "actuatorvel", "framepos", "framequat", "framexaxis", "frameyaxis",
     "framezaxis", "framelinvel", "frameangvel", "subtreecom", "velocimeter", "clock")
)  # fmt: skip
_ON_SITES = frozenset(("gyro", "accelerometer", "force", "torque", "touch", "rangefinder"))


def sensor_sets(model: CompiledModel, sites: dict[int, str]) -> list[SensorSetEntry]:
    """The sensors of a robot, whose sites have these frames."""
    by_site: dict[int, dict[str, int]] = {}  # sensors by kind
    for sensor, kind in enumerate(model.kinds["sensor_type"]):
        site = int(model["sensor_objid"][sensor])
        if kind in _ON_SITES and model.kind("sensor_objtype", sensor) == "site" and site in sites:
            by_site.setdefault(site, {}).setdefault(kind, sensor)
    entries = []
    for site, found in by_site.items():
        made = SensorSetModel(sites[site], sensors=tuple(_sensors(model, found)))
        entries.append(SensorSetEntry(made, link=sites[site]))
    return entries


def note_sensors(model: CompiledModel, made: int, notes: Notes) -> None:
    """Note kinds without an equal, and those of sites that no robot has; `made` is the number of sets."""
    kinds = set(model.kinds["sensor_type"])
    others = sorted(kinds - _ASKED - _ON_SITES)
    notes.add(f"sensors ({' '.join(others)})", bool(others))
    notes.add("sensors of single bodies", bool(kinds & _ON_SITES) and not made)


def _sensors(model: CompiledModel, found: dict[str, int]) -> Iterable[SensorModel]:
    for sensor in SENSORS.values():
        kinds = [(kind, field) for kind, field in sensor.mjcf if kind in found]
        limits: dict[str, Any] = {field: _cutoff(model, found[kind]) for kind, field in kinds if field}
        if kinds and sensor.name == "spinning_lidar":
            reach = limits["range_max"]
            yield replace(_ONE_RAY, range_max=reach if math.isfinite(reach) else _FAR)
        elif kinds:
            yield sensor.model(sensor.name, _RATE, **limits)
    if "touch" in found:  # of a part of the link there, of the whole link here: one of ours is not written as one
        yield ContactModel("touch", _RATE)


def _cutoff(model: CompiledModel, sensor: int) -> float:
    return float(model["sensor_cutoff"][sensor]) or math.inf
