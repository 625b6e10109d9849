"""Sensor sets as XML: what sensor/file.py reads back to the same sensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from lxml import etree

from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import rpy_from_matrix
from raisim_ros.description.sensor.types import (
    CameraModel,
    ContactModel,
    DepthCameraModel,
    ForceTorqueModel,
    ImuModel,
    LidarModel,
    NoiseModel,
    RGBCameraModel,
    SensorModel,
    SensorSetModel,
)
from raisim_ros.description.xml.literal_text import add_element, escaped, mark_literal


def sensor_set_text(model: SensorSetModel) -> str:
    """A sensor file, numbers with all their digits."""
    root = sensor_set_element(model)
    mark_literal(root)
    etree.indent(root)
    return str(etree.tostring(root, encoding="unicode")) + "\n"


def sensor_set_element(model: SensorSetModel) -> etree._Element:
    """The element ``<sensor_set>``."""
    root = add_element(None, "sensor_set", name=model.name)
    _add_origin(root, model.origin)
    for sensor in model.sensors:
        kind, write = _WRITERS[type(sensor)]
        element = _add(root, "sensor", name=sensor.name, type=kind, update_rate=sensor.update_rate)
        _add_origin(element, sensor.origin)
        write(element, sensor)
    return root


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else escaped(str(value))


def _add(parent: etree._Element, tag: str, **attributes: Any) -> etree._Element:
    return etree.SubElement(parent, tag, {name: _text(value) for name, value in attributes.items()})


def _add_origin(parent: etree._Element, pose: Pose) -> None:
    position, rotation = pose.arrays()
    xyz, rpy = (" ".join(_text(float(number)) for number in part) for part in (position, rpy_from_matrix(rotation)))
    _add(parent, "origin", xyz=xyz, rpy=rpy)


def _add_noise(parent: etree._Element, noise: NoiseModel, tag: str = "noise") -> None:
    if noise != NoiseModel():
        _add(parent, tag, **asdict(noise))


def _write_camera(element: etree._Element, model: CameraModel) -> None:
    camera = _add(element, "camera", horizontal_fov=model.horizontal_fov)
    _add(camera, "image", width=model.width, height=model.height)
    _add(camera, "clip", near=model.near, far=model.far)
    _add_noise(camera, model.noise)
    if isinstance(model, DepthCameraModel):
        _add(element, "data", type=model.data_type)


def _write_imu(element: etree._Element, model: ImuModel) -> None:
    limits = {"acc_limit": model.acc_limit, "ang_vel_limit": model.ang_vel_limit}
    finite = {name: limit for name, limit in limits.items() if math.isfinite(limit)}
    if finite:
        _add(element, "limit", **finite)
    _add_noise(element, model.acc_noise, "acc_noise")
    _add_noise(element, model.ang_vel_noise, "ang_vel_noise")


def _write_lidar(element: etree._Element, model: LidarModel) -> None:
    if model.model:
        _add(element, "model", name=model.model)
    _add(element, "yaw", samples=model.yaw_samples)
    _add(element, "pitch", samples=model.pitch_samples, min_angle=model.pitch_min, max_angle=model.pitch_max)
    direction = "clockwise" if model.clockwise else "counter_clockwise"
    _add(element, "spin", direction=direction, rate=model.spin_rate)
    _add(element, "range", min=model.range_min, max=model.range_max)
    _add_noise(element, model.noise)


def _write_nothing(element: etree._Element, model: SensorModel) -> None:
    """Some sensors have no settings."""


_WRITERS: dict[type[SensorModel], tuple[str, Callable[[etree._Element, Any], None]]] = {
    RGBCameraModel: ("rgb", _write_camera),
    DepthCameraModel: ("depth", _write_camera),
    ImuModel: ("imu", _write_imu),
    LidarModel: ("spinning_lidar", _write_lidar),
    ContactModel: ("contact", _write_nothing),
    ForceTorqueModel: ("force_torque", _write_nothing),
}
