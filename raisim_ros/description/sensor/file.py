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

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from raisim_ros.description import checked
from raisim_ros.description.errors import Place
from raisim_ros.description.robot.checks import fail
from raisim_ros.description.sensor.table import SENSORS, Rule, SensorElement
from raisim_ros.description.sensor.types import MAX_RATE, SensorModel, SensorSetModel
from raisim_ros.description.urdf.fields import Fields
from raisim_ros.description.xml.source import parse_xml, read_text
from raisim_ros.description.xml.template import Parameters, expand_template


def load_sensor_set(path: str | Path, params: Parameters = None) -> SensorSetModel:
    """Read a sensor file. Raises FileMissingError, or ParseError that names file and line."""
    file = checked.path("path", path)
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
    names = Counter(sensor.name for sensor in sensors)
    for element, sensor in zip(root.findall("sensor"), sensors, strict=True):
        if (times := names[sensor.name]) > 1:
            fail(fields.place(element), f"sensor name '{sensor.name}' occurs {times} times; expected once")
    return SensorSetModel(fields.optional_text(root, "name"), fields.pose(root), tuple(sensors), source)


def _sensor(element: etree._Element, fields: Fields) -> SensorModel:
    kind = fields.text(element, "type")
    if kind not in SENSORS:
        fail(fields.place(element), f"sensor type '{kind}'; expected {', '.join(SENSORS)}")
    sensor, rate, name = SENSORS[kind], fields.number(element, "update_rate"), fields.text(element, "name")
    if not 0.0 < rate <= MAX_RATE:
        expected = f"expected more than 0, at most {MAX_RATE:g} [Hz]"
        fail(fields.place(element), f"<{element.tag} update_rate=\"{rate:g}\">; {expected}")
    common = {"name": name, "update_rate": rate, "origin": fields.pose(element), "line": element.sourceline}
    values = _children(element, sensor.elements, fields, f"sensor '{name}'")
    for rule in sensor.rules:
        _check(rule, values, fields.place(element), lambda given: f"sensor '{name}' has {given}")
    values = {field: common[other] for field, other in sensor.like} | values
    return sensor.model(**common, **values)


def _children(parent: etree._Element, children: Sequence[SensorElement], fields: Fields, what: str) -> dict[str, Any]:
    """Fields of the model that the children of an element give."""
    values: dict[str, Any] = {}
    for child in children:
        element = fields.child(parent, child.tag, what) if child.required else parent.find(child.tag)
        if element is not None:
            values |= _element(element, child, fields, what)
    return values


def _element(element: etree._Element, known: SensorElement, fields: Fields, what: str) -> dict[str, Any]:
    given = {
        one.name: one.read(fields, element, one.name)
        for one in known.attributes
        if one.required or (element.get(one.name) or "").strip()
    }
    for rule in known.rules:
        _check(rule, given, fields.place(element), lambda text: f"<{element.tag} {text}>")
    values = {one.field: given[one.name] for one in known.attributes if one.name in given}
    values |= _children(element, known.children, fields, f"<{element.tag}> of {what}")
    return {known.field: known.model(**values)} if known.model else values


def _check(rule: Rule, given: dict[str, Any], place: Place, told: Callable[[str], str]) -> None:
    """Fail where a rule about values that were given does not hold."""
    if all(name in given for name in rule.names) and not rule.holds(*(given[name] for name in rule.names)):
        text = " ".join(f'{name}="{given[name]:g}"' for name in rule.names)
        fail(place, f"{told(text)}; expected {rule.expected}")
