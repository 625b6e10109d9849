"""Friction: boxes of different materials on one slope."""

import numpy as np

from raisim_ros import BodyType, View, World

VIEW = View((4.6, -4.4, 2.8), (0.2, 0.0, 0.5))
SECONDS = 0.9
FRICTION = {"ice": 0.05, "wood": 0.35, "rubber": 0.9}
COLORS = {"ice": "0.6 0.85 0.95 1", "wood": "brown", "rubber": "black"}


def build() -> World:
    """On a slope of 20 degrees, what has a friction below tan 20° = 0.36 slides."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    half = np.radians(20.0) / 2
    slope = world.add_box(4.0, 3.0, 0.1, 1.0, material="slope")
    slope.set_body_type(BodyType.STATIC)
    slope.set_pose((0.0, 0.0, 0.8), (np.cos(half), 0.0, np.sin(half), 0.0))
    slope.set_appearance("grey")
    for number, (name, friction) in enumerate(FRICTION.items()):
        world.set_material_pair_prop(name, "slope", friction=friction, restitution=0.0, res_threshold=0.0)
        box = world.add_box(0.4, 0.4, 0.4, 2.0, material=name)
        offset = (-1.2, number - 1.0, 0.251)  # in the frame of the slope
        box.set_pose(slope.get_position(0, offset), slope.get_quaternion())
        box.set_appearance(COLORS[name])
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
