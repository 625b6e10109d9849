"""A viewer for a running world_node, as a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.signals import SignalHandlerOptions

from raisim_ros.client import shared_memory
from raisim_ros.description.errors import RaisimError
from raisim_ros.ros.attentive_node import AttentiveNode
from raisim_ros.ros.node.signals import Life, ending_soon, leave, watch_signals

PARAMETERS = {
    "host": ("127.0.0.1", "Address that the page is served on; 0.0.0.0 lets other machines in."),
    "port": (8080, "Port of the page; when it is taken, the next free one."),
    "open_browser": (False, "Open the page in the browser of this machine."),
}


def main(args: Sequence[str] | None = None) -> int:
    """Entry point of the console script; the exit code."""
    life = Life()
    watch_signals("viewer_node", life, shared_memory.remove_own)
    shared_memory.remove_stale()
    shared_memory.announce()
    code = 0
    try:
        code = _show(args, life)
    except (RaisimError, ParameterException, RuntimeError, OSError) as error:  # also of rclpy and viser
        code = 0 if life.stop.is_set() else 2
        if code:
            print(f"viewer_node: {error}", file=sys.stderr)
    finally:
        life.leaving.set()
        with ending_soon(lambda: code):
            rclpy.try_shutdown()
        shared_memory.remove_own()
    return code


def _show(args: Sequence[str] | None, life: Life) -> int:
    """Serve the page until the end is wanted; the exit code."""
    try:
        from raisim_ros.viewer.viewer import Page
    except ImportError as error:
        print(f"viewer_node: {error}", file=sys.stderr)
        return 3
    from raisim_ros.viewer.ros_feed import RosFeed

    rclpy.init(args=list(args) if args is not None else None, signal_handler_options=SignalHandlerOptions.NO)
    node = AttentiveNode("viewer_node")
    shared_memory.remember()
    values = {
        name: node.declare_parameter(name, default, ParameterDescriptor(description=text, read_only=True)).value
        for name, (default, text) in PARAMETERS.items()
    }
    node.warn_of_unread_parameters()
    feed = RosFeed(node, life.stop)
    page = Page(feed, str(values["host"]), int(values["port"]), open_browser=bool(values["open_browser"]))
    life.serving.set()
    life.stop.wait()
    life.leaving.set()
    with ending_soon(lambda: 0):  # browsers are told, if they listen
        page.close()
    return 0


if __name__ == "__main__":
    leave(main())
