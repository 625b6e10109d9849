"""A cloth falls over a ball and a box."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((2.1, -1.9, 1.5), (0.2, 0.0, 0.25))
SECONDS = 1.2


def build() -> World:
    """The world of a file that comes with the package."""
    return World(resource("worlds/cloth_over_ball.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
