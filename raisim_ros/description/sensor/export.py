"""Sensor sets as XML: what sensor/file.py reads back to the same sensors."""

from __future__ import annotations

from typing import Any

from lxml import etree

from raisim_ros.description.robot.model import Pose
from raisim_ros.description.rotation import rpy_from_matrix
from raisim_ros.description.sensor.table import SENSORS, SensorElement
from raisim_ros.description.sensor.types import SensorSetModel
from raisim_ros.description.xml.literal_text import add_element, escaped, mark_literal

_TYPES = {sensor.model: sensor for sensor in SENSORS.values()}


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
        known = _TYPES[type(sensor)]
        element = _add(root, "sensor", name=sensor.name, type=known.name, update_rate=sensor.update_rate)
        _add_origin(element, sensor.origin)
        for child in known.elements:
            _write(element, child, sensor)
    return root


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else escaped(str(value))


def _add(parent: etree._Element, tag: str, **attributes: Any) -> etree._Element:
    return etree.SubElement(parent, tag, {name: _text(value) for name, value in attributes.items()})


def _add_origin(parent: etree._Element, pose: Pose) -> None:
    position, rotation = pose.arrays()
    xyz, rpy = (" ".join(_text(float(number)) for number in part) for part in (position, rpy_from_matrix(rotation)))
    _add(parent, "origin", xyz=xyz, rpy=rpy)


def _write(parent: etree._Element, known: SensorElement, model: Any) -> None:
    """Add an element; one that says nothing beyond the defaults is left out."""
    if known.model:
        model = getattr(model, known.field)
        if model == known.model():
            return
    written = {one.name: one.write(getattr(model, one.field)) for one in known.attributes}
    given = {name: value for name, value in written.items() if value is not None}
    if given:
        element = _add(parent, known.tag, **given)
        for child in known.children:
            _write(element, child, model)
