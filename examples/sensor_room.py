"""A robot looks around in a room: lidar, depth camera, colour camera."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((-3.2, -3.4, 3.4), (0.9, 0.1, 0.3), 1.1)
SECONDS = 0.5
POINTS = True  # draw what the sensors see


def build() -> World:
    """The room is a world file; the robot's file names its sensors."""
    return World(resource("worlds/sensor_room.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    world = build()
    robot = world.get_object("scout")
    assert robot is not None
    world.integrate(500)
    for sensors in robot.get_sensor_sets():
        for sensor in sensors:
            print(sensor.get_full_name(), sensor.get_type().name, sensor.get_position())
    Viewer(world, open_browser=True).run()
