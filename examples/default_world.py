"""A world file: the pyramid under a rain of balls that `make run` shows."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((4.6, -4.4, 2.4), (0.0, 0.0, 1.1))
SECONDS = 1.5


def build() -> World:
    """The file has parameters; here the pyramid has five layers."""
    return World(resource("worlds/default.xml"), params={"layers": 5})


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
