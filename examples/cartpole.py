"""A pole balanced on a cart by state feedback."""

import numpy as np

from raisim_ros import ArticulatedSystem, View, World
from raisim_ros.description.resources import resource

VIEW = View((1.3, -2.5, 1.75), (0.0, 0.0, 1.42), 0.8)
SECONDS = 0.3


def build() -> World:
    """The pole starts a little aside; only the cart is driven."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground(-0.6)
    robot = world.add_articulated_system(resource("robots/cartpole.urdf"))
    robot.set_name("cartpole")
    robot.set_generalized_coordinate([0.0, 0.15])
    return world


def control(world: World) -> None:
    """The linear model about the upright pose gives the force; M and h come from the engine."""
    robot = world.get_object("cartpole")
    assert isinstance(robot, ArticulatedSystem)
    (x, angle), (v, rate) = robot.get_state()
    mass = robot.get_mass_matrix()
    push = -np.sign(mass[0, 1])  # which way the pole leans when the cart goes forward
    wanted = 30.0 * push * -angle + 6.0 * push * -rate + 1.0 * x + 2.0 * v
    robot.set_generalized_force([float(np.clip(mass[0, 0] * wanted, -100.0, 100.0)), 0.0])


if __name__ == "__main__":
    from raisim_ros import Viewer

    world = build()
    Viewer(world, open_browser=True).run(control=lambda: control(world))
