"""Sensor files: the ``<sensor_set>`` that a link carries.

    <sensor_set name="head">
      <origin xyz="0 0 0.1" rpy="0 0 0"/>            pose of the set on its link
      <link> inertial, visual, collision </link>     read with the robot
      <sensor name="front" type="depth" update_rate="30">
        <origin xyz="0.05 0 0"/>                     pose of the sensor in the set
        <camera horizontal_fov="1.2"><image width="640" height="480"/><clip near="0.1" far="10"/>
          <noise type="gaussian" mean="0" stddev="0.01" dropout="0.02" seed="1"/></camera>
      </sensor>
    </sensor_set>
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from raisim_ros.description.robot.checks import fail
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
from raisim_ros.description.urdf.fields import Fields
from raisim_ros.description.xml.source import parse_xml, read_text
from raisim_ros.description.xml.template import Parameters, expand_template

MAX_RAYS = 100_000_000  # of one measurement
NOISE_TYPES = ("none", "gaussian", "uniform")


def load_sensor_set(path: str | Path, params: Parameters = None) -> SensorSetModel:
    """Read a sensor file. Raises FileMissingError, or ParseError that names file and line."""
    file = Path(path)
    return sensor_set_of_text(read_text(file, "sensor file"), str(file), file.parent, params)


def sensor_set_of_text(
    text: str,
    source: str = "text",
    directory: str | Path = ".",
    params: Parameters = None,
) -> SensorSetModel:
    """Read a sensor set from text; `source` names it in errors."""
    root = parse_xml(text, source)
    expand_template(root, source, directory, params)
    return sensor_set_of_element(root, source)


def sensor_set_of_element(root: etree._Element, source: str) -> SensorSetModel:
    """Read a ``<sensor_set>`` whose template is expanded; `source` names its file in errors."""
    fields = Fields(source)
    if root.tag != "sensor_set":
        fail(fields.place(root), f"root element is <{root.tag}>; expected <sensor_set>")
    sensors = [_sensor(element, fields) for element in root.findall("sensor")]
    names = [sensor.name for sensor in sensors]
    for element, name in zip(root.findall("sensor"), names, strict=True):
        if names.count(name) > 1:
            fail(fields.place(element), f"sensor name '{name}' occurs {names.count(name)} times; expected once")
    return SensorSetModel(fields.optional_text(root, "name"), fields.pose(root), tuple(sensors), source)


def _sensor(element: etree._Element, fields: Fields) -> SensorModel:
    kind = fields.text(element, "type")
    if kind not in _READERS:
        fail(fields.place(element), f"sensor type '{kind}'; expected {', '.join(_READERS)}")
    rate = _positive(element, "update_rate", fields)
    common = SensorModel(fields.text(element, "name"), rate, fields.pose(element), element.sourceline)
    return _READERS[kind](element, fields, common)


def _common(model: SensorModel) -> dict[str, object]:
    return {"name": model.name, "update_rate": model.update_rate, "origin": model.origin, "line": model.line}


# ---- numbers with limits ----


def _positive(element: etree._Element, attribute: str, fields: Fields, default: float | None = None) -> float:
    value = fields.number(element, attribute, default)
    if value <= 0.0:
        fail(fields.place(element), f"<{element.tag} {attribute}=\"{value:g}\">; expected more than 0")
    return value


def _count(element: etree._Element, attribute: str, fields: Fields, minimum: int, default: int | None = None) -> int:
    value = fields.number(element, attribute, default)
    if value != int(value) or not minimum <= value <= MAX_RAYS:
        expected = f"a whole number from {minimum} to {MAX_RAYS}"
        fail(fields.place(element), f"<{element.tag} {attribute}=\"{value:g}\">; expected {expected}")
    return int(value)


def _ascending(element: etree._Element, low: str, high: str, fields: Fields) -> tuple[float, float]:
    """Two numbers of an element, 0 <= low < high."""
    first, second = fields.number(element, low), fields.number(element, high)
    if not 0.0 <= first < second:
        fail(
            fields.place(element),
            f"<{element.tag} {low}=\"{first:g}\" {high}=\"{second:g}\">; expected 0 ≤ {low} < {high}",
        )
    return first, second


def _noise(parent: etree._Element, fields: Fields, tag: str = "noise") -> NoiseModel:
    element = parent.find(tag)
    if element is None:
        return NoiseModel()
    kind = (element.get("type") or "none").strip().lower()
    if kind not in NOISE_TYPES:
        fail(fields.place(element), f"noise type '{kind}'; expected {', '.join(NOISE_TYPES)}")
    stddev, dropout = fields.number(element, "stddev", 0.0), fields.number(element, "dropout", 0.0)
    if stddev < 0.0:
        fail(fields.place(element), f"<{tag} stddev=\"{stddev:g}\">; expected 0 or more")
    if not 0.0 <= dropout <= 1.0:
        fail(fields.place(element), f"<{tag} dropout=\"{dropout:g}\">; expected 0 to 1")
    return NoiseModel(kind, fields.number(element, "mean", 0.0), stddev, dropout, _count(element, "seed", fields, 0, 0))


# ---- sensor types ----


def _camera(element: etree._Element, fields: Fields, common: SensorModel) -> dict[str, object]:
    camera = fields.child(element, "camera", f"sensor '{common.name}'")
    image = fields.child(camera, "image", f"<camera> of sensor '{common.name}'")
    clip = camera.find("clip")
    fov = fields.number(camera, "horizontal_fov")
    if not 0.0 < fov < math.pi:
        fail(fields.place(camera), f"<camera horizontal_fov=\"{fov:g}\">; expected more than 0, less than pi [rad]")
    width, height = _count(image, "width", fields, 1), _count(image, "height", fields, 1)
    if width * height > MAX_RAYS:
        fail(fields.place(image), f"image of {width} x {height}; expected at most {MAX_RAYS} pixels")
    default = CameraModel("")
    near, far = _ascending(clip, "near", "far", fields) if clip is not None else (default.near, default.far)
    return {
        **_common(common),
        "width": width,
        "height": height,
        "horizontal_fov": fov,
        "near": near,
        "far": far,
        "noise": _noise(camera, fields),
    }


def _depth(element: etree._Element, fields: Fields, common: SensorModel) -> SensorModel:
    data = element.find("data")
    kind = data.get("type", "depth") if data is not None else "depth"
    if data is not None and kind not in ("depth", "coordinates"):
        fail(fields.place(data), f"<data type=\"{kind}\">; expected depth or coordinates")
    return DepthCameraModel(**_camera(element, fields, common), data_type=kind)  # type: ignore[arg-type]


def _rgb(element: etree._Element, fields: Fields, common: SensorModel) -> SensorModel:
    return RGBCameraModel(**_camera(element, fields, common))  # type: ignore[arg-type]


def _imu(element: etree._Element, fields: Fields, common: SensorModel) -> SensorModel:
    limit = element.find("limit")
    limits = [fields.limit(limit, name, math.inf) for name in ("acc_limit", "ang_vel_limit")]
    if min(limits) <= 0.0:
        place = fields.place(element if limit is None else limit)
        fail(place, f"limits of sensor '{common.name}' are {limits}; expected more than 0")
    return ImuModel(
        **_common(common),  # type: ignore[arg-type]
        acc_limit=limits[0],
        ang_vel_limit=limits[1],
        acc_noise=_noise(element, fields, "acc_noise"),
        ang_vel_noise=_noise(element, fields, "ang_vel_noise"),
    )


def _lidar(element: etree._Element, fields: Fields, common: SensorModel) -> SensorModel:
    what = f"sensor '{common.name}'"
    yaw, pitch = fields.child(element, "yaw", what), fields.child(element, "pitch", what)
    limits, spin, model = fields.child(element, "range", what), element.find("spin"), element.find("model")
    yaws, pitches = _count(yaw, "samples", fields, 1), _count(pitch, "samples", fields, 1)
    if yaws * pitches > MAX_RAYS:
        fail(fields.place(element), f"{what} has {yaws} x {pitches} rays; expected at most {MAX_RAYS}")
    low, high = fields.number(pitch, "min_angle"), fields.number(pitch, "max_angle")
    if not -math.pi / 2 <= low <= high <= math.pi / 2:
        fail(
            fields.place(pitch),
            f"<pitch min_angle=\"{low:g}\" max_angle=\"{high:g}\">; expected -pi/2 ≤ min ≤ max ≤ pi/2 [rad]",
        )
    range_min, range_max = _ascending(limits, "min", "max", fields)
    rate = fields.number(spin, "rate", common.update_rate) if spin is not None else common.update_rate
    if rate < 0.0:
        fail(fields.place(element if spin is None else spin), f"<spin rate=\"{rate:g}\">; expected 0 or more [Hz]")
    return LidarModel(
        **_common(common),  # type: ignore[arg-type]
        model="" if model is None else fields.optional_text(model, "name"),
        yaw_samples=yaws,
        pitch_samples=pitches,
        pitch_min=low,
        pitch_max=high,
        clockwise=spin is not None and (spin.get("direction") or "").strip().lower() == "clockwise",
        spin_rate=rate,
        range_min=range_min,
        range_max=range_max,
        noise=_noise(element, fields),
    )


def _contact(element: etree._Element, fields: Fields, common: SensorModel) -> SensorModel:
    return ContactModel(**_common(common))  # type: ignore[arg-type]


def _force_torque(element: etree._Element, fields: Fields, common: SensorModel) -> SensorModel:
    return ForceTorqueModel(**_common(common))  # type: ignore[arg-type]


_READERS: dict[str, Callable[[etree._Element, Fields, SensorModel], SensorModel]] = {
    "rgb": _rgb,
    "depth": _depth,
    "imu": _imu,
    "spinning_lidar": _lidar,
    "contact": _contact,
    "force_torque": _force_torque,
}
