"""Newton's cradle: stiff wires, and contacts that lose no energy."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((1.35, -2.7, 1.15), (0.62, 0.0, 0.84), 0.85)
SECONDS = 4.0


def build() -> World:
    """One ball is let go, the last one flies off."""
    return World(resource("worlds/newtons_cradle.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
