"""Poles balanced on carts by state feedback, each from another lean."""

import numpy as np

from raisim_ros import ArticulatedSystem, View, World
from raisim_ros.description.resources import resource

VIEW = View((2.4, -2.6, 2.3), (0.0, 1.1, 1.3), 0.8)
SECONDS = 0.2
ROBOTS = 5


def build() -> World:
    """The poles start aside; only the carts are driven."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground(-0.6)
    for number in range(ROBOTS):
        robot = world.add_articulated_system(resource("robots/cartpole.urdf"))
        robot.set_name(f"cartpole_{number}")
        robot.set_base_pos((0.0, 0.6 * number, 0.0))
        robot.set_generalized_coordinate([0.0, 0.45 - 0.225 * number])
    return world


def control(world: World) -> None:
    """The linear model about the upright pose gives the force; M and h come from the engine."""
    for robot in world.get_obj_list():
        if not isinstance(robot, ArticulatedSystem):
            continue
        (x, angle), (v, rate) = robot.get_state()
        mass = robot.get_mass_matrix()
        push = -np.sign(mass[0, 1])  # which way the pole leans when the cart goes forward
        wanted = 30.0 * push * -angle + 6.0 * push * -rate + 1.0 * x + 2.0 * v
        robot.set_generalized_force([float(np.clip(mass[0, 0] * wanted, -100.0, 100.0)), 0.0])


if __name__ == "__main__":
    from raisim_ros import Viewer

    world = build()
    Viewer(world, open_browser=True).run(control=lambda: control(world))
