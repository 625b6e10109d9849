"""Sensors in world files and URDF files that were written: those of files, of code, changed ones and none."""

import numpy as np
import pytest

from raisim_ros import (
    FileWriteError,
    ImuModel,
    LidarModel,
    NoiseModel,
    ParseError,
    Pose,
    SensorSetModel,
    World,
)

ROBOT = """
<robot name="arm">
  <link name="world"/>
  <link name="arm"><inertial><mass value="2"/><origin xyz="0 0 -0.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial></link>
  <link name="head" sensor="head.xml" serial_number="7"/>
  <joint name="hinge" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="100" velocity="100"/></joint>
  <joint name="weld" type="fixed"><parent link="arm"/><child link="head"/><origin xyz="0.1 0 -0.8" rpy="0.3 0 0"/></joint>
</robot>"""
HEAD = """<sensor_set name="any"><origin xyz="0 0 0.1" rpy="0 0.2 0"/>
  <link><inertial><mass value="0.5"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
  <sensor name="imu" type="imu" update_rate="100"><origin xyz="0.2 0 0"/></sensor></sensor_set>"""
ASKEW = Pose((0.1, -0.2, 0.3), ((0.36, 0.48, -0.8), (-0.8, 0.6, 0.0), (0.48, 0.64, 0.6)))


@pytest.fixture
def robot_file(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "head.xml").write_text(HEAD)
    (tmp_path / "source" / "arm.urdf").write_text(ROBOT)
    return tmp_path / "source" / "arm.urdf"


def lidar_set(name="code"):
    noise = NoiseModel("gaussian", 0.01, 0.02, 0.1, 3)
    return SensorSetModel(name, ASKEW, (LidarModel("lidar", 12.5, ASKEW, clockwise=True, noise=noise),))


def mounts(world, obj):
    """Every sensor of an object: type, rate, serial number and world pose."""
    return {
        (one.get_name(), sensor.get_name()): (
            type(sensor).__name__,
            sensor.get_update_rate(),
            one.get_serial_number(),
            *np.round(sensor.mount.world_pose()[0], 12),
            *np.round(sensor.mount.world_pose()[1].ravel(), 12),
        )
        for one in world.get_sensor_sets(obj)
        for sensor in one
    }


def through_world_file(world, tmp_path):
    world.export_to_xml(tmp_path / "written" / "world.xml")
    return World(tmp_path / "written" / "world.xml")


def test_sensors_mounted_in_code_are_in_the_world_file(world, robot_file, tmp_path):
    ground = world.add_ground()
    box = world.add_box(1, 1, 1, 2.0)
    box.set_pose((1, 2, 3), (0.5, 0.5, -0.5, 0.5))
    robot = world.add_articulated_system(robot_file)
    robot.set_generalized_coordinate([0.7])
    world.add_sensor_set(ground, lidar_set("tower"))
    world.add_sensor_set(box, lidar_set("first")).set_serial_number("s1")
    world.add_sensor_set(box, SensorSetModel("second", sensors=(ImuModel("imu", 200.0, acc_limit=40.0),)))
    world.add_sensor_set(robot, lidar_set("on_arm"), "arm")
    world.add_sensor_set(robot, lidar_set("on_base"))
    copy = through_world_file(world, tmp_path)
    for original, other in zip(world.get_obj_list(), copy.get_obj_list(), strict=True):
        assert mounts(copy, other) == mounts(world, original)
        assert mounts(world, original)
    model = copy.get_sensor_set(copy.get_obj_list()[1], "first").get_sensor("lidar").model
    assert (model.noise, model.clockwise) == (lidar_set().sensors[0].noise, True)
    np.testing.assert_allclose(copy.get_obj_list()[2].get_mass(1), robot.get_mass(1), rtol=1e-12)


def test_the_robot_file_keeps_its_own_sensors(world, robot_file, tmp_path):
    robot = world.add_articulated_system(robot_file)
    copy = through_world_file(world, tmp_path)
    assert mounts(copy, copy.get_obj_list()[0]) == mounts(world, robot) != {}
    assert "sensor_set" not in (tmp_path / "written" / "world.xml").read_text()
    assert 'sensor="' in (tmp_path / "written" / "world_robot_0.urdf").read_text()


def test_changed_sensors_of_a_robot_file_are_written_as_they_are(world, robot_file, tmp_path):
    robot = world.add_articulated_system(robot_file)
    robot.get_sensor_set("head").get_sensor("imu").set_update_rate(33.0)
    copy = through_world_file(world, tmp_path)
    assert mounts(copy, copy.get_obj_list()[0]) == mounts(world, robot)
    assert copy.get_obj_list()[0].get_sensor_set("head").get_sensor("imu").get_update_rate() == 33.0
    np.testing.assert_allclose(copy.get_obj_list()[0].get_mass(1), 2.5, rtol=1e-12)


def test_sensors_that_were_taken_off_stay_off(world, robot_file, tmp_path):
    robot = world.add_articulated_system(robot_file)
    world.remove_sensor_set(robot.get_sensor_set("head"))
    copy = through_world_file(world, tmp_path)
    assert copy.get_sensor_sets() == []
    np.testing.assert_allclose(copy.get_obj_list()[0].get_mass(1), 2.5, rtol=1e-12)  # the link is still there


def test_urdf_export_brings_all_sensors_along(world, robot_file, tmp_path):
    robot = world.add_articulated_system(robot_file)
    robot.set_generalized_coordinate([-0.4])
    world.add_sensor_set(robot, lidar_set("on_arm"), "arm").set_serial_number("s1")
    world.add_sensor_set(robot, lidar_set("arm"), "head")  # a link is named so already
    robot.export_robot_description_to_urdf(tmp_path / "copy.urdf")
    other = World()
    copy = other.add_articulated_system(tmp_path / "copy.urdf")
    copy.set_generalized_coordinate([-0.4])
    expected = mounts(world, robot)
    expected["arm_1", "lidar"] = expected.pop(("arm", "lidar"))
    assert mounts(other, copy) == expected
    np.testing.assert_allclose(copy.get_mass(1), robot.get_mass(1), rtol=1e-12)


@pytest.mark.parametrize("folder", ["/", ".", "made"])
def test_a_folder_is_no_urdf_file(world, robot_file, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir()
    robot = world.add_articulated_system(robot_file)
    world.add_sensor_set(robot, lidar_set("on_arm"), "arm")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileWriteError, match="it is a folder"):
        robot.export_robot_description_to_urdf(folder)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_world_file_tells_what_is_wrong_with_its_sensors(tmp_path):
    file = tmp_path / "world.xml"
    file.write_text("""<raisim><objects>
      <sphere mass="1"><dim radius="1"/>
        <sensor_set name="s">
          <sensor name="imu" type="imu" update_rate="0"/></sensor_set></sphere></objects></raisim>""")
    with pytest.raises(ParseError, match=r"world.xml:4: .*update_rate"):
        World(file)
    file.write_text("""<raisim><objects>
      <sphere mass="1"><dim radius="1"/><sensor_set name="s" link="arm"/></sphere></objects></raisim>""")
    with pytest.raises(ParseError, match=r"world.xml:2: .*arm"):
        World(file)
