"""raisim_ros: a rigid-body simulator with hard contacts, and its ROS 2 node.

``from raisim_ros import World`` needs no ROS; only ``raisim_ros.ros`` imports rclpy. ``import raisim_ros`` alone is
quick: its names are those of ``raisim_ros.api``, which is imported when the first of them is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raisim_ros.api import *  # noqa: F403
    from raisim_ros.viewer.viewer import Viewer as Viewer

    __version__: str

_PACKAGES = ("client", "description", "distributed", "engine", "envs", "ros", "viewer")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("raisim_ros.description.resources").package_version()
    elif name == "Viewer":  # needs the package viser: not among the names of a star import
        value = import_module("raisim_ros.viewer.viewer").Viewer
    elif name in _PACKAGES:
        value = import_module(f"raisim_ros.{name}")
    elif name == "__all__":
        value = ["__version__", *(known for known in vars(import_module("raisim_ros.api")) if known[0] != "_")]
    elif not name.startswith("_") and hasattr(api := import_module("raisim_ros.api"), name):
        value = getattr(api, name)
    else:
        raise AttributeError(f"module 'raisim_ros' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__"), "Viewer"})
