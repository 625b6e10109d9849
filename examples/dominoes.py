"""A spiral of dominoes that falls over."""

import numpy as np

from raisim_ros import View, World

VIEW = View((2.0, -2.6, 2.1), (0.0, 0.0, 0.0))
SECONDS = 2.5
COUNT = 90


def build() -> World:
    """The first domino is pushed; all others stand still until they are hit."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    angle = 0.0
    for number in range(COUNT):
        radius = 0.45 + 0.055 * angle
        domino = world.add_box(0.03, 0.14, 0.3, mass=0.2)
        place = radius * np.cos(angle), radius * np.sin(angle), 0.15
        heading = angle + np.pi / 2 + np.arctan2(0.055, radius)
        domino.set_pose(place, (np.cos(heading / 2), 0.0, 0.0, np.sin(heading / 2)))
        share = number / COUNT
        domino.set_appearance(f"{0.9 - 0.7 * share:.2f} {0.3 + 0.3 * share:.2f} {0.15 + 0.7 * share:.2f} 1")
        if number == 0:
            ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
            domino.set_velocity(0.6 * ahead, 4.0 * np.cross((0.0, 0.0, 1.0), ahead))
        angle += 0.13 / radius
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
