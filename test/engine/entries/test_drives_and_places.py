"""What a world file says about drives, odometry and named poses is read, kept, and written again."""

import math

import numpy as np
import pytest

from raisim_ros import InterfaceSettings, NamedPose, World
from raisim_ros.description.errors import InvalidValueError, ParseError
from raisim_ros.description.resources import resource
from raisim_ros.description.robot.drive import DriveSettings

ROBOT = resource("robots/wheeled_base.urdf")
WHEELS = 'left_joints="left_wheel_joint" right_joints="right_wheel_joint" wheel_radius="0.1" wheel_separation="0.4"'


def world_file(folder, drive=f'<drive type="differential" {WHEELS} max_linear_speed="2"/>', attributes='odometry="wheels" odom_tf="true"', more=""):
    file = folder / "world.xml"
    file.write_text(
        f'<raisim><objects><articulated_system name="base" urdf_path="{ROBOT}" {attributes}>{drive}</articulated_system>'
        f"</objects>{more}</raisim>"
    )
    return file


def test_they_survive_saving(tmp_path):
    poses = '<named_pose name="dock" pos="1 2 3" tags="a, b" size="1 1 2" description="x"/><named_pose name="goal"/>'
    world = World(world_file(tmp_path, more=poses))
    settings = world.get_object("base").get_interface()
    assert settings.drive == DriveSettings("differential", ("left_wheel_joint",), ("right_wheel_joint",), 0.1, 0.4, max_linear_speed=2.0)
    assert (settings.odometry, settings.odom_tf) == ("wheels", True)
    dock = NamedPose("dock", (1.0, 2.0, 3.0), description="x", tags=("a", "b"), size=(1.0, 1.0, 2.0))
    assert world.get_named_poses() == (dock, NamedPose("goal"))
    world.export_to_xml(tmp_path / "again.xml")
    again = World(tmp_path / "again.xml")
    assert again.get_object("base").get_interface() == settings
    assert again.get_named_poses() == world.get_named_poses()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"drive": '<drive type="differential"/>'}, "<drive>: drive: wheel_radius"),
        ({"drive": f'<drive type="differential" {WHEELS.replace("left_wheel_joint", "gone")}/>'}, "no joint 'gone'"),
        ({"drive": ""}, "needs a drive with wheels"),
        ({"attributes": 'odom_tf="true"'}, "odom_tf needs odometry"),
        ({"attributes": 'min_rate_hz="9" max_rate_hz="3"'}, "min_rate_hz"),
        ({"more": '<named_pose name="a"/><named_pose name="a"/>'}, "taken by another"),
        ({"more": '<named_pose name="a" size="1 0 1"/>'}, "above 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, change, text):
    with pytest.raises(ParseError, match=r"world\.xml:1") as caught:
        World(world_file(tmp_path, **change))
    assert text in str(caught.value)


@pytest.mark.parametrize("kind", ["differential", "skid", "mecanum"])
def test_wheels_and_base_belong_together(kind):
    left, right = (("fl", "rl"), ("fr", "rr")) if kind != "differential" else (("l",), ("r",))
    drive = DriveSettings(kind, left, right, 0.1, 0.5, wheel_base=0.6)
    sideways = 0.3 if kind == "mecanum" else 0.0
    motion = (0.7, sideways, -0.4)
    np.testing.assert_allclose(drive.base_motion(drive.wheel_speeds(*motion)), motion, atol=1e-12)
    forward = drive.wheel_speeds(1.0, 0.0, 0.0)
    np.testing.assert_allclose(forward, 10.0)
    turning = drive.wheel_speeds(0.0, 0.0, 1.0)
    assert (turning[: len(left)] < 0.0).all()
    assert (turning[len(left) :] > 0.0).all()


def test_speeds_are_limited_in_their_direction():
    drive = DriveSettings("holonomic", max_linear_speed=1.0, max_angular_speed=0.5)
    forward, left, turning = drive.limited(3.0, 4.0, -2.0)
    assert (forward, left, turning) == pytest.approx((0.6, 0.8, -0.5))
    assert DriveSettings("holonomic").limited(3.0, 4.0, -2.0) == (3.0, 4.0, -2.0)
    with pytest.raises(InvalidValueError, match="max_linear_speed"):
        DriveSettings("holonomic", max_linear_speed=math.nan)


def test_only_robots_can_be_driven():
    world = World()
    with pytest.raises(InvalidValueError, match="articulated"):
        world.add_sphere(1.0, 1.0).set_interface(InterfaceSettings(drive=DriveSettings("holonomic")))
