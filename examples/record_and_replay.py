"""A run is recorded, read back and played in the browser."""

import sys
from pathlib import Path

import numpy as np

from raisim_ros import Recording, View, World

VIEW = View((3.4, -3.4, 1.7), (0.0, 0.0, 0.5))
SECONDS = 0.5  # of the picture
RECORDED = 2.0


def build() -> World:
    """A wall of boxes and a heavy ball."""
    world = World()
    world.set_time_step(0.002)
    world.add_ground()
    for row in range(5):
        for column in range(5):
            box = world.add_box(0.2, 0.3, 0.2, 0.5)
            box.set_position(0.0, 0.31 * (column - 2 + 0.25 * (-1) ** row), 0.1 + 0.2 * row)
            box.set_appearance(("orange", "yellow")[(row + column) % 2])
    ball = world.add_sphere(0.2, 8.0)
    ball.set_name("ball")
    ball.set_position(-2.0, 0.0, 0.6)
    ball.set_linear_velocity((6.0, 0.0, 1.0))
    ball.set_appearance("black")
    return world


def record(file: Path) -> Recording:
    """Two seconds at 60 frames per second."""
    world = build()
    world.start_recording(file)
    world.integrate(round(RECORDED / world.get_time_step()))
    world.stop_recording()
    return Recording(file)


if __name__ == "__main__":
    recording = record(Path(sys.argv[1] if len(sys.argv) > 1 else "wall.raisim"))
    ball = list(recording.world(0).get_obj_list()).index(recording.world(0).get_object("ball"))
    path = np.array([recording.array("poses", frame)[ball, :3] for frame in range(len(recording))])
    print(f"{len(recording)} frames; the ball went {np.linalg.norm(path[-1] - path[0]):.2f} m")
    print(f"watch it: raisim_ros view {recording.path}")
