"""A quadruped trots in place on its PD controllers."""

import numpy as np

from raisim_ros import ArticulatedSystem, View, World
from raisim_ros.description.resources import resource

VIEW = View((1.5, -1.7, 0.95), (0.0, 0.0, 0.35))
SECONDS = 3.0
STANCE = np.array([0, 0, 0.57, 1, 0, 0, 0, *[0.0, 0.5, -1.0] * 4])


def build() -> World:
    """q is the pose of the base, then the twelve joints; gains are per degree of freedom."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    robot.set_name("robot")
    robot.set_generalized_coordinate(STANCE)
    robot.set_pd_gains(np.r_[np.zeros(6), np.full(12, 200.0)], np.r_[np.zeros(6), np.full(12, 8.0)])
    robot.set_pd_target(STANCE, np.zeros(18))
    return world


def control(world: World) -> None:
    """Diagonal legs are lifted in turn."""
    robot = world.get_object("robot")
    assert isinstance(robot, ArticulatedSystem)
    swing = np.sin(2.0 * np.pi * 2.0 * world.get_world_time())
    target = STANCE.copy()
    for leg, sign in enumerate((1.0, -1.0, -1.0, 1.0)):
        lift = 0.25 * max(0.0, sign * swing)
        target[7 + 3 * leg + 1] += lift
        target[7 + 3 * leg + 2] -= 2.0 * lift
    robot.set_pd_target(target, np.zeros(18))


if __name__ == "__main__":
    from raisim_ros import Viewer

    world = build()
    Viewer(world, open_browser=True).run(control=lambda: control(world))
