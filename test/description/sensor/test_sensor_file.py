"""Sensor files: every element, and what is wrong with one."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from raisim_ros.description.errors import FileMissingError, ParseError
from raisim_ros.description.resources import resource
from raisim_ros.description.sensor.export import sensor_set_text
from raisim_ros.description.sensor.file import load_sensor_set, sensor_set_of_text
from raisim_ros.description.sensor.table import SENSORS
from raisim_ros.description.sensor.types import (
    ContactModel,
    DepthCameraModel,
    ForceTorqueModel,
    ImuModel,
    LidarModel,
    RGBCameraModel,
    SensorModel,
)

WHOLE = """<sensor_set name="head">
  <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/>
  <sensor name="eye" type="rgb" update_rate="30"><update_rate>60</update_rate>
    <camera horizontal_fov="1.2"><image width="320" height="240"/><clip near="0.1" far="50"/></camera></sensor>
  <sensor name="depth" type="depth" update_rate="15"><origin xyz="0.1 0 0"/>
    <camera horizontal_fov="1.0"><image width="64" height="48"/><clip near="0.2" far="9"/>
      <noise type="gaussian" mean="0.1" stddev="0.02" dropout="0.05" seed="9"/></camera>
    <data type="coordinates"/></sensor>
  <sensor name="imu" type="imu" update_rate="400"><limit acc_limit="160" ang_vel_limit="35"/></sensor>
  <sensor name="lidar" type="spinning_lidar" update_rate="20">
    <model name="sixteen"/><yaw samples="900"/><pitch samples="16" min_angle="-0.3" max_angle="0.2"/>
    <spin direction="clockwise" rate="10"/><range min="0.4" max="80"/></sensor>
  <sensor name="feet" type="contact" update_rate="100"/>
  <sensor name="wrench" type="force_torque" update_rate="100"/>
</sensor_set>"""


def test_every_element_is_read():
    sensors = sensor_set_of_text(WHOLE)
    assert sensors.name == "head"
    np.testing.assert_allclose(sensors.origin.arrays()[1] @ (1, 0, 0), (0, 1, 0), atol=1e-12)
    eye, depth, imu, lidar, feet, wrench = sensors.sensors
    assert isinstance(eye, RGBCameraModel)
    assert eye.update_rate == 30
    assert (eye.near, eye.far) == (0.1, 50)
    assert isinstance(depth, DepthCameraModel)
    assert depth.data_type == "coordinates"
    assert tuple(depth.origin.position) == (0.1, 0, 0)
    noise = depth.noise
    assert (noise.type, noise.mean, noise.stddev, noise.dropout, noise.seed) == ("gaussian", 0.1, 0.02, 0.05, 9)
    assert isinstance(imu, ImuModel)
    assert (imu.acc_limit, imu.ang_vel_limit) == (160, 35)
    assert isinstance(lidar, LidarModel)
    assert lidar.clockwise
    assert lidar.model == "sixteen"
    assert (lidar.yaw_samples, lidar.pitch_samples, lidar.spin_rate) == (900, 16, 10)
    assert (lidar.pitch_min, lidar.pitch_max, lidar.range_min, lidar.range_max) == (-0.3, 0.2, 0.4, 80)
    assert isinstance(feet, ContactModel)
    assert isinstance(wrench, ForceTorqueModel)


def test_anything_but_clockwise_is_counter_clockwise():
    lidar = sensor_set_of_text(WHOLE.replace('"clockwise"', '"widdershins"')).sensors[3]
    assert not lidar.clockwise


def test_an_imu_without_limits_has_none():
    imu = sensor_set_of_text(WHOLE.replace('<limit acc_limit="160" ang_vel_limit="35"/>', "")).sensors[2]
    assert imu.acc_limit == imu.ang_vel_limit == math.inf


def test_parameters_and_loops(tmp_path):
    file = tmp_path / "set.xml"
    file.write_text("""<sensor_set name="ring"><params><n value="3"/></params>
      <array idx="@@i" start="1" end="@@n"><sensor name="imu_@@i" type="imu" update_rate="{100*@@i}"/></array>
    </sensor_set>""")
    assert [(s.name, s.update_rate) for s in load_sensor_set(file).sensors] == [
        ("imu_1", 100),
        ("imu_2", 200),
        ("imu_3", 300),
    ]
    assert len(load_sensor_set(file, {"n": 5}).sensors) == 5


SHIPPED = ["lidar_16.xml", "depth_camera.xml", "imu.xml", "head.xml"]


@pytest.mark.parametrize("file", SHIPPED)
def test_the_sensors_that_come_with_the_package_can_be_read(file):
    assert load_sensor_set(resource(f"sensors/{file}")).sensors


@pytest.mark.parametrize(
    ("old", "new", "line", "named"),
    [
        ("<sensor_set ", "<sensors ", 1, "sensor_set"),
        ('type="rgb"', 'type="radar"', 3, "radar"),
        ('update_rate="30"', 'update_rate="0"', 3, "update_rate"),
        ('update_rate="30"', "", 3, "update_rate"),
        ('update_rate="30"', 'update_rate="nan"', 3, "nan"),
        ('name="eye"', "", 3, "name"),
        ('name="eye"', 'name="depth"', 3, "occurs 2 times"),
        ('horizontal_fov="1.2"', 'horizontal_fov="0"', 4, "horizontal_fov"),
        ('horizontal_fov="1.2"', 'horizontal_fov="4"', 4, "horizontal_fov"),
        ('width="320"', 'width="0"', 4, "width"),
        ('width="320"', 'width="1e9"', 4, "width"),
        ('width="320" height="240"', 'width="1e5" height="1e5"', 4, "pixels"),
        ('near="0.1" far="50"', 'near="5" far="1"', 4, "near"),
        ('type="gaussian"', 'type="pink"', 7, "pink"),
        ('stddev="0.02"', 'stddev="-1"', 7, "stddev"),
        ('dropout="0.05"', 'dropout="7"', 7, "dropout"),
        ('type="coordinates"', 'type="smell"', 8, "smell"),
        ('acc_limit="160"', 'acc_limit="-1"', 9, "limits"),
        ('<yaw samples="900"/>', "", 10, "yaw"),
        ('samples="900"', 'samples="1.5"', 11, "samples"),
        ('samples="16"', 'samples="900000"', 10, "rays"),
        ('min_angle="-0.3"', 'min_angle="0.3"', 11, "min_angle"),
        ('min="0.4" max="80"', 'min="0.4" max="0.1"', 12, "max"),
        ('rate="10"', 'rate="-3"', 12, "rate"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old, new, line, named):
    assert old in WHOLE
    text = WHOLE.replace(old, new, 1)
    text = text.replace("</sensor_set>", "</sensors>") if "<sensors " in text else text
    with pytest.raises(ParseError, match=named) as caught:
        sensor_set_of_text(text, "head.xml")
    assert str(caught.value).startswith(f"head.xml:{line}: ")


def test_what_is_written_reads_back_the_same():
    noisy = WHOLE.replace("<limit ", '<acc_noise type="uniform" stddev="0.3" seed="5"/><limit ')
    for text in (noisy, *(resource(f"sensors/{file}").read_text() for file in SHIPPED)):
        original = sensor_set_of_text(text)
        copy = sensor_set_of_text(sensor_set_text(original))
        assert copy.name == original.name
        for one, other in zip((original, *original.sensors), (copy, *copy.sensors), strict=True):
            for part, same in zip(one.origin.arrays(), other.origin.arrays(), strict=True):
                np.testing.assert_allclose(same, part, rtol=0, atol=1e-15)
        for one, other in zip(original.sensors, copy.sensors, strict=True):
            assert type(other) is type(one)
            assert replace(other, origin=one.origin, line=one.line) == one


def test_missing_file():
    with pytest.raises(FileMissingError, match="nowhere"):
        load_sensor_set("nowhere.xml")


def fields_of(element):
    own = [element.field] if element.field else [attribute.field for attribute in element.attributes]
    return own + [field for child in element.children for field in fields_of(child)]


@pytest.mark.parametrize("kind", SENSORS)
def test_the_table_has_every_setting_once(kind):
    sensor = SENSORS[kind]
    common = {one.name for one in fields(SensorModel)}
    told = [field for element in sensor.elements for field in fields_of(element)]
    assert sorted(told) == sorted(one.name for one in fields(sensor.model) if one.name not in common)


def test_the_table_has_every_model():
    def leaves(model):
        return [leaf for below in model.__subclasses__() for leaf in leaves(below)] or [model]

    assert {sensor.model for sensor in SENSORS.values()} == set(leaves(SensorModel))
