"""A flag on a pole in the wind: cloth with drag."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((1.2, 2.9, 3.0), (0.75, 0.0, 2.35))
SECONDS = 2.2


def build() -> World:
    """The world of a file that comes with the package."""
    return World(resource("worlds/flag.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
