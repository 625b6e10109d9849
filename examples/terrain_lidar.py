"""Robots stand on a landscape, and one of them looks around with its lidar."""

import numpy as np

from raisim_ros import LidarModel, Pose, SensorSetModel, TerrainProperties, View, World
from raisim_ros.description.resources import resource

VIEW = View((3.6, -3.9, 2.6), (0.3, 0.2, 0.4))
SECONDS = 1.0
POINTS = True  # draw what the lidar sees


def build() -> World:
    """Two quadrupeds, boxes and balls; the first robot carries a lidar of 16 rows."""
    world = World()
    world.set_time_step(0.002)
    size = {"x_size": 12.0, "y_size": 12.0, "x_samples": 80, "y_samples": 80}
    terrain = world.add_height_map(TerrainProperties(frequency=0.3, z_scale=0.5, seed=11, **size))
    for number, (x, y) in enumerate(((0.0, 0.0), (-1.6, 1.5))):
        robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
        robot.set_name(f"robot_{number}")
        stance = np.array([x, y, terrain.get_height(x, y) + 0.62, 1, 0, 0, 0, *[0.0, 0.5, -1.0] * 4])
        robot.set_generalized_coordinate(stance)
        robot.set_pd_gains(np.r_[np.zeros(6), np.full(12, 200.0)], np.r_[np.zeros(6), np.full(12, 8.0)])
        robot.set_pd_target(stance, np.zeros(18))
        if number == 0:
            lidar = LidarModel(
                "lidar", yaw_samples=240, pitch_samples=16, pitch_min=-0.5, pitch_max=0.15, range_max=8.0, spin_rate=0.0
            )
            mount = Pose(position=np.array([0.0, 0.0, 0.25]))
            world.add_sensor_set(robot, SensorSetModel("head", mount, (lidar,)), robot.get_body_names()[0])
    for number, (x, y) in enumerate(((1.6, 0.4), (1.2, -1.4), (-0.6, -1.6), (0.4, 1.8))):
        box = world.add_box(0.4, 0.4, 0.4, 3.0)
        box.set_position(x, y, terrain.get_height(x, y) + 0.3)
        box.set_appearance(("orange", "red", "purple", "blue")[number])
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
