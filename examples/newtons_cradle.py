"""Newton's cradle: stiff wires, and contacts that lose no energy."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((0.95, -1.75, 0.98), (0.27, 0.0, 0.86), 0.8)
SECONDS = 0.05


def build() -> World:
    """One ball is let go, the last one flies off."""
    return World(resource("worlds/newtons_cradle.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
