"""Drives a base by cmd_vel and maps what its lidar sees, placed by its odometry."""

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, Vector3
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan

from raisim_ros.client import Client
from raisim_ros.description.resources import resource
from raisim_ros.msg import Drive, MaterialPair

CELL = 0.1  # [m]
WALLS = {"north": (3.0, 0.0), "west": (0.0, 3.0)}


class Mapper:
    """Cells that a ray ended in, in the frame of the odometry."""

    def __init__(self) -> None:
        self.pose = (0.0, 0.0, 0.0)  # x, y, yaw
        self.cells: set[tuple[int, int]] = set()
        self.scans = 0

    def on_odometry(self, message: Any) -> None:
        """Where the base is."""
        place = message.pose.pose
        self.pose = (place.position.x, place.position.y, 2.0 * math.atan2(place.orientation.z, place.orientation.w))

    def on_scan(self, message: Any) -> None:
        """What stands around it."""
        ranges = np.array(message.ranges)
        angles = message.angle_min + message.angle_increment * np.arange(len(ranges)) + self.pose[2]
        seen = np.isfinite(ranges) & (ranges < 5.0)
        points = np.stack((np.cos(angles), np.sin(angles)), axis=1)[seen] * ranges[seen, None] + self.pose[:2]
        self.cells |= {(int(x), int(y)) for x, y in np.floor(points / CELL)}
        self.scans += 1


def run(world: Client, seconds: float = 2.0) -> Mapper:
    """Drives an arc between two walls."""
    world.pause()
    low = MaterialPair(friction=0.01)
    world.call("set_material_pair", material_1="caster", material_2="default", properties=low)
    for name, (x, y) in WALLS.items():
        size = [0.2, 4.0, 1.0] if x else [4.0, 0.2, 1.0]
        world.spawn(f"wall_{name}", "box", position=(x, y, 0.5), size=size, body_type="static")
    wheels = {"left_joints": ["left_wheel_joint"], "right_joints": ["right_wheel_joint"]}
    drive = Drive(type="differential", wheel_radius=0.1, wheel_separation=0.4, **wheels)
    world.spawn_robot(
        "base",
        str(resource("robots/wheeled_base.urdf")),
        position=(0.0, 0.0, 0.1),
        d_gains=[0.0] * 6 + [20.0] * 2,
        drive=drive,
        odometry="wheels",
    )
    lidar = {"yaw_samples": 180, "pitch_samples": 1, "pitch_min": 0.0, "pitch_max": 0.0, "update_rate": 10.0}
    world.call("spawn_lidar", object="base", link="lidar_link", name="lidar", range_min=0.3, **lidar)
    mapper = Mapper()
    node, prefix = world.node, world.prefix
    node.create_subscription(Odometry, f"{prefix}base/odom", mapper.on_odometry, 10)
    node.create_subscription(LaserScan, f"{prefix}base/lidar/scan", mapper.on_scan, qos_profile_sensor_data)
    commands = node.create_publisher(Twist, f"{prefix}base/cmd_vel", 10)
    world.wait_until(commands.get_subscription_count, timeout=10.0)
    every = max(1, round(0.05 / world.state.time_step))
    start = world.time
    while world.time - start < seconds:
        commands.publish(Twist(linear=Vector3(x=0.4), angular=Vector3(z=0.4)))
        world.step(every)
    world.wait_until(lambda: mapper.scans > 3, timeout=10.0)
    return mapper


if __name__ == "__main__":
    with Client() as client:
        result = run(client)
        x, y, _ = result.pose
        print(f"{len(result.cells)} cells from {result.scans} scans; the base is at {x:.2f}, {y:.2f}")
