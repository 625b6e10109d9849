"""A rover drives through a bed of gravel."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((1.15, -1.55, 0.95), (-0.05, 0.0, 0.2))
SECONDS = 2.2


def build() -> World:
    """The world of a file that comes with the package."""
    return World(resource("worlds/rover_in_gravel.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
