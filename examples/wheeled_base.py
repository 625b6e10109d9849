"""A cart on wheels drives through boxes."""

import numpy as np

from raisim_ros import ControlMode, View, World
from raisim_ros.description.resources import resource

VIEW = View((2.0, -1.9, 1.1), (0.65, 0.0, 0.15))
SECONDS = 2.3


def build() -> World:
    """The wheels follow a speed: velocity gains without position gains."""
    world = World()
    world.set_time_step(0.002)
    world.set_material_pair_prop("default", "caster", friction=0.02, restitution=0.0, res_threshold=0.0)
    world.add_ground()
    cart = world.add_articulated_system(resource("robots/wheeled_base.urdf"))
    cart.set_name("cart")
    cart.set_generalized_coordinate([-1.0, 0.0, 0.1, 1, 0, 0, 0, 0, 0])
    cart.set_control_mode(ControlMode.PD_PLUS_FEEDFORWARD_TORQUE)
    cart.set_pd_gains(np.zeros(8), np.r_[np.zeros(6), 10.0, 10.0])
    cart.set_d_target(np.r_[np.zeros(6), 9.0, 8.5])
    for row in range(3):
        for column in range(3 - row):
            box = world.add_box(0.18, 0.18, 0.18, 0.3)
            box.set_position(0.9, 0.19 * (column - (2 - row) / 2), 0.09 + 0.18 * row)
            box.set_appearance(("orange", "yellow", "red")[row])
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
