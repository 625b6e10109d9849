"""A crane: a load of 200 kg on four wires, carried along by a trolley."""

from raisim_ros import View, World
from raisim_ros.description.resources import resource

VIEW = View((6.6, -9.6, 3.4), (0.2, 0.0, 2.0), 0.85)
SECONDS = 6.0


def build() -> World:
    """The trolley is kinematic: it moves with the speed it is given, whatever hangs on it."""
    return World(resource("worlds/crane.xml"))


if __name__ == "__main__":
    from raisim_ros import Viewer

    Viewer(build(), open_browser=True).run()
