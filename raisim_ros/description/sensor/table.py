"""What sensor files say about each type of sensor: file.py reads by this table, export.py writes by it, and those of
MuJoCo's sensors that have an equal here are found in it.

Adding a type touches its model in types.py, this table and its class in the engine (engine/world/sensors.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree

from raisim_ros.description.robot.checks import fail
from raisim_ros.description.sensor.types import (
    MAX_NOISE,
    MAX_RATE,
    ContactModel,
    DepthCameraModel,
    ForceTorqueModel,
    ImuModel,
    LidarModel,
    NoiseModel,
    RGBCameraModel,
    SensorModel,
)
from raisim_ros.description.urdf.fields import Fields

MAX_RAYS = 100_000_000  # of one measurement
NOISE_TYPES = ("none", "gaussian", "uniform")


@dataclass(frozen=True)
class SensorAttribute:
    """An attribute of an element, and the field of the model that it fills; where it is missing, the default stays."""

    name: str
    field: str
    read: Callable[[Fields, etree._Element, str], Any]
    required: bool = False
    write: Callable[[Any], Any] = lambda value: value  # None: it is left out


@dataclass(frozen=True)
class Rule:
    """What attributes of an element, or fields of a sensor, must be together."""

    names: tuple[str, ...]
    holds: Callable[..., bool]
    expected: str


@dataclass(frozen=True)
class SensorElement:
    """An element of a sensor, or of another element. With `model` it fills that field with a model of its own."""

    tag: str
    attributes: tuple[SensorAttribute, ...]
    children: tuple[SensorElement, ...] = ()
    rules: tuple[Rule, ...] = ()
    required: bool = False
    field: str = ""
    model: Callable[..., Any] | None = None


@dataclass(frozen=True)
class SensorKind:
    """A type of sensor. `mjcf`: MuJoCo's sensors that make one together, with the fields of their largest values."""

    name: str
    model: type[SensorModel]
    elements: tuple[SensorElement, ...] = ()
    rules: tuple[Rule, ...] = ()  # about fields, in files
    like: tuple[tuple[str, str], ...] = ()  # a field that a file does not give, and the one that it is like then
    mjcf: tuple[tuple[str, str], ...] = ()


# ---- kinds of attributes ----


def _number(name: str, field: str, required: bool = False) -> SensorAttribute:
    return SensorAttribute(name, field, lambda fields, element, name: fields.number(element, name), required)


def _count(name: str, field: str, least: int = 1, required: bool = True) -> SensorAttribute:
    def read(fields: Fields, element: etree._Element, name: str) -> int:
        value = fields.number(element, name)
        if value != int(value) or not least <= value <= MAX_RAYS:
            expected = f"a whole number from {least} to {MAX_RAYS}"
            fail(fields.place(element), f"<{element.tag} {name}=\"{value:g}\">; expected {expected}")
        return int(value)

    return SensorAttribute(name, field, read, required)


def _choice(name: str, field: str, choices: Sequence[str]) -> SensorAttribute:
    def read(fields: Fields, element: etree._Element, name: str) -> str:
        value = str(element.get(name)).strip().lower()
        if value not in choices:
            fail(fields.place(element), f"<{element.tag} {name}=\"{value}\">; expected {', '.join(choices)}")
        return value

    return SensorAttribute(name, field, read)


def _limit(name: str, field: str) -> SensorAttribute:
    def read(fields: Fields, element: etree._Element, name: str) -> float:
        return fields.limit(element, name, math.inf)

    return SensorAttribute(name, field, read, write=lambda value: value if math.isfinite(value) else None)


def _text(name: str, field: str) -> SensorAttribute:
    def read(fields: Fields, element: etree._Element, name: str) -> str:
        return fields.optional_text(element, name)

    return SensorAttribute(name, field, read, write=lambda value: value or None)


def _direction(name: str, field: str) -> SensorAttribute:
    return SensorAttribute(
        name,
        field,
        lambda fields, element, name: str(element.get(name)).strip().lower() == "clockwise",
        write=lambda clockwise: "clockwise" if clockwise else "counter_clockwise",
    )


def _ascending(low: str, high: str) -> Rule:
    return Rule((low, high), lambda low, high: 0.0 <= low < high, f"0 ≤ {low} < {high}")


def _few(columns: str, rows: str, what: str) -> Rule:
    return Rule((columns, rows), lambda columns, rows: columns * rows <= MAX_RAYS, f"at most {MAX_RAYS} {what}")


def _noise(tag: str = "noise") -> SensorElement:
    return SensorElement(
        tag,
        (
            _choice("type", "type", NOISE_TYPES),
            _number("mean", "mean"),
            _number("stddev", "stddev"),
            _number("dropout", "dropout"),
            _count("seed", "seed", 0, required=False),
        ),
        rules=(
            Rule(("mean",), lambda value: abs(value) <= MAX_NOISE, f"at most {MAX_NOISE:g}"),
            Rule(("stddev",), lambda value: 0.0 <= value <= MAX_NOISE, f"0 to {MAX_NOISE:g}"),
            Rule(("dropout",), lambda value: 0.0 <= value <= 1.0, "0 to 1"),
        ),
        field=tag,
        model=NoiseModel,
    )


# ---- the table ----

_CAMERA = SensorElement(
    "camera",
    (_number("horizontal_fov", "horizontal_fov", required=True),),
    children=(
        SensorElement(
            "image",
            (_count("width", "width"), _count("height", "height")),
            rules=(_few("width", "height", "pixels"),),
            required=True,
        ),
        SensorElement(
            "clip",
            (_number("near", "near", required=True), _number("far", "far", required=True)),
            rules=(_ascending("near", "far"),),
        ),
        _noise(),
    ),
    rules=(Rule(("horizontal_fov",), lambda angle: 0.0 < angle < math.pi, "more than 0, less than pi [rad]"),),
    required=True,
)

SENSORS = {
    sensor.name: sensor
    for sensor in (
        SensorKind("rgb", RGBCameraModel, (_CAMERA,)),
        SensorKind(
            "depth",
            DepthCameraModel,
            (_CAMERA, SensorElement("data", (_choice("type", "data_type", ("depth", "coordinates")),))),
        ),
        SensorKind(
            "imu",
            ImuModel,
            (
                SensorElement(
                    "limit",
                    (_limit("acc_limit", "acc_limit"), _limit("ang_vel_limit", "ang_vel_limit")),
                    rules=tuple(
                        Rule((name,), lambda limit: limit > 0.0, "limits of more than 0")
                        for name in ("acc_limit", "ang_vel_limit")
                    ),
                ),
                _noise("acc_noise"),
                _noise("ang_vel_noise"),
            ),
            mjcf=(("gyro", "ang_vel_limit"), ("accelerometer", "acc_limit")),
        ),
        SensorKind(
            "spinning_lidar",
            LidarModel,
            (
                SensorElement("model", (_text("name", "model"),)),
                SensorElement("yaw", (_count("samples", "yaw_samples"),), required=True),
                SensorElement(
                    "pitch",
                    (
                        _count("samples", "pitch_samples"),
                        _number("min_angle", "pitch_min", required=True),
                        _number("max_angle", "pitch_max", required=True),
                    ),
                    rules=(
                        Rule(
                            ("min_angle", "max_angle"),
                            lambda low, high: -math.pi / 2 <= low <= high <= math.pi / 2,
                            "-pi/2 ≤ min ≤ max ≤ pi/2 [rad]",
                        ),
                    ),
                    required=True,
                ),
                SensorElement(
                    "spin",
                    (_direction("direction", "clockwise"), _number("rate", "spin_rate")),
                    rules=(Rule(("rate",), lambda rate: 0.0 <= rate <= MAX_RATE, f"0 to {MAX_RATE:g} [Hz]"),),
                ),
                SensorElement(
                    "range",
                    (_number("min", "range_min", required=True), _number("max", "range_max", required=True)),
                    rules=(_ascending("min", "max"),),
                    required=True,
                ),
                _noise(),
            ),
            rules=(_few("yaw_samples", "pitch_samples", "rays"),),
            like=(("spin_rate", "update_rate"),),
            mjcf=(("rangefinder", "range_max"),),
        ),
        SensorKind("contact", ContactModel),
        SensorKind("force_torque", ForceTorqueModel, mjcf=(("force", ""), ("torque", ""))),
    )
}
