"""Skid, mecanum and holonomic bases follow cmd_vel, and their odometry says where they are (differential: controllers)."""

import math

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from geometry_msgs.msg import Point, Pose, Twist, Vector3
from nav_msgs.msg import Odometry
from robot_calls import state, step
from service_calls import ok

from raisim_ros.msg import Drive
from raisim_ros.srv import SetJointGains, SpawnArticulatedSystem

RADIUS, HALF_TRACK, HALF_BASE, ROLLERS = 0.1, 0.25, 0.2, 12
LEFT, RIGHT = ["left_front", "left_rear"], ["right_front", "right_rear"]
FORWARD, SIDEWAYS, TURNING, SECONDS = 0.3, 0.2, 0.3, 2.0


def link(name, mass, size, shape=""):
    inertia = mass * size * size
    collision = f"<collision><geometry>{shape}</geometry></collision>" if shape else ""
    numbers = f'<mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial>{numbers}</inertial>{collision}</link>'


def joint(name, parent, child, place, turn, axis):
    x, y, z = place
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{x} {y} {z}" rpy="0 {turn} 0"/>'
    return f'<joint name="{name}" type="continuous">{ends}<axis xyz="{axis}"/></joint>'


def rollers(wheel, slant):
    """Balls around a wheel that roll freely about an axis at 45 degrees to the wheel's."""
    ball = 0.03
    for number in range(ROLLERS):
        name, angle = f"{wheel}_roller_{number}", 2.0 * math.pi * number / ROLLERS
        place = ((RADIUS - ball) * math.sin(angle), 0.0, (RADIUS - ball) * math.cos(angle))
        yield link(name, 0.02, 0.02, f'<sphere radius="{ball}"/>')
        yield joint(f"{name}_joint", wheel, name, place, angle, f"{slant} 1 0")


def base(kind):
    """A box on four wheels; of a mecanum base with rollers, of a holonomic one without wheels, and just above the ground."""
    parts = [link("chassis", 10.0, 0.2, '<box size="0.3 0.3 0.05"/>')]
    for wheel in LEFT + RIGHT if kind != "holonomic" else []:
        place = (HALF_BASE if "front" in wheel else -HALF_BASE, HALF_TRACK if "left" in wheel else -HALF_TRACK, 0.0)
        ball = '<sphere radius="0.1"/>' if kind == "skid" else ""
        parts += [link(wheel, 0.5, 0.07, ball), joint(f"{wheel}_joint", "chassis", wheel, place, 0.0, "0 1 0")]
        if kind == "mecanum":
            parts += rollers(wheel, 1 if wheel in ("left_front", "right_rear") else -1)
    return f'<robot name="base">{"".join(parts)}</robot>'


def drive(kind):
    if kind == "holonomic":
        return Drive(type=kind)
    sides = {"left_joints": [f"{one}_joint" for one in LEFT], "right_joints": [f"{one}_joint" for one in RIGHT]}
    lengths = {"wheel_radius": RADIUS, "wheel_separation": 2 * HALF_TRACK, "wheel_base": 2 * HALF_BASE}
    return Drive(type=kind, **sides, **lengths)


def spawn_base(probe, kind, odometry):
    answer = ok(probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="base", text=base(kind), drive=drive(kind),
                           odometry=odometry, pose=Pose(position=Point(x=20.0, y=-5.0, z=RADIUS))))  # fmt: skip
    return list(answer.joint_names)


def driven(probe, kind, odometry, forward, left, turning):
    """Where the base is after SECONDS, seen from where it was, and where its odometry believes it to be: x, y, yaw."""
    joints = spawn_base(probe, kind, odometry)
    wheels = [name for name in joints if name.removesuffix("_joint") in LEFT + RIGHT]
    if wheels:
        ok(probe.call(SetJointGains, "set_joint_gains", name="base", joint_names=wheels, d_gains=[20.0] * len(wheels), p_gains=[0.0] * len(wheels)))
    with probe.subscribed(Odometry, "base/odom") as odoms, probe.publisher(Twist, "base/cmd_vel") as commands:
        step(probe, 20)
        begin = state(probe, "base").pose
        for _ in range(round(SECONDS / 0.05)):
            commands.publish(Twist(linear=Vector3(x=forward, y=left), angular=Vector3(z=turning)))
            step(probe, 10)
        last = state(probe, "base")
        probe.spin_until(lambda: odoms and odoms[-1].header.stamp == last.header.stamp, "the last odometry")
    told = odoms[-1].pose.pose
    true = (last.pose.position.x - begin.position.x, last.pose.position.y - begin.position.y, yaw(last.pose))
    origin = begin.position if odometry == "truth" else Point()
    return true, (told.position.x - origin.x, told.position.y - origin.y, yaw(told))


def yaw(pose):
    return 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)


def arc(forward, left, turning):
    """Where a base is that has had a constant velocity in its own axes."""
    angle = turning * SECONDS
    sine, versine = (math.sin(angle) / turning, (1.0 - math.cos(angle)) / turning) if turning else (SECONDS, 0.0)
    return forward * sine - left * versine, forward * versine + left * sine, angle


@pytest.mark.usefixtures("fresh_world")
@pytest.mark.parametrize("motion", [(FORWARD, SIDEWAYS, TURNING), (0.0, SIDEWAYS, 0.0), (0.0, 0.0, -TURNING)])
@pytest.mark.parametrize(("kind", "odometry"), [("mecanum", "wheels"), ("holonomic", "truth")])
def test_a_base_goes_in_any_direction(probe, kind, odometry, motion):
    true, told = driven(probe, kind, odometry, *motion)
    assert true == pytest.approx(arc(*motion), abs=0.06)
    assert told == pytest.approx(true, abs=0.06)


@pytest.mark.usefixtures("fresh_world")
def test_a_skid_base_goes_straight_whatever_is_asked_of_it_sideways(probe):
    true, told = driven(probe, "skid", "wheels", FORWARD, SIDEWAYS, 0.0)
    assert true == pytest.approx(arc(FORWARD, 0.0, 0.0), abs=0.05)
    assert told == pytest.approx(true, abs=0.05)


@pytest.mark.usefixtures("fresh_world")
def test_a_skid_base_turns_by_less_than_its_wheels_tell(probe):
    true, told = driven(probe, "skid", "wheels", 0.0, 0.0, 1.0)
    assert 0.2 < true[2] < told[2] <= SECONDS
