"""A thousand balls roll down a landscape."""

import numpy as np

from raisim_ros import TerrainProperties, View, World

VIEW = View((9.0, -9.0, 7.0), (0.0, 0.0, 0.5))
SECONDS = 4.0
COUNT = 1000


def build() -> World:
    """A fractal landscape, and balls in a grid above it."""
    world = World()
    world.set_time_step(0.004)
    size = {"x_size": 16.0, "y_size": 16.0, "x_samples": 96, "y_samples": 96}
    terrain = world.add_height_map(TerrainProperties(frequency=0.25, z_scale=2.5, seed=4, **size))
    random = np.random.default_rng(1)
    for number in range(COUNT):
        x, y = random.uniform(-5.0, 5.0, 2)
        ball = world.add_sphere(0.12, mass=1.0)
        ball.set_position(x, y, terrain.get_height(x, y) + 1.0 + 2.0 * number / COUNT)
    return world


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
