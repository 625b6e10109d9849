"""A quadruped stands with one foot on a cube of jelly: a body of tetrahedra."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((1.75, -1.6, 0.75), (0.05, 0.0, 0.36), 0.8)
SECONDS = 1.0


def build() -> World:
    """The world of a file that comes with the package."""
    return World(resource("worlds/jelly_foot.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
