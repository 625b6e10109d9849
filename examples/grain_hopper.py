"""A hopper empties 1300 grains into a box."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((1.5, -1.9, 1.1), (0.0, 0.0, 0.55))
SECONDS = 1.0


def build() -> World:
    """The world of a file that comes with the package."""
    return World(resource("worlds/grain_hopper.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
