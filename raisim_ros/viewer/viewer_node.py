"""A viewer for a running world_node, as a process of its own."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.signals import SignalHandlerOptions

from raisim_ros.ros.attentive_node import AttentiveNode

PARAMETERS = {
    "host": ("127.0.0.1", "Address that the page is served on; 0.0.0.0 lets other machines in."),
    "port": (8080, "Port of the page; when it is taken, the next free one."),
    "open_browser": (False, "Open the page in the browser of this machine."),
}


def main(args: Sequence[str] | None = None) -> int:
    """Entry point of the console script; the exit code."""
    try:
        from raisim_ros.viewer.viewer import Page
    except ImportError as error:
        print(f"viewer_node: {error}", file=sys.stderr)
        return 3
    from raisim_ros.viewer.ros_feed import RosFeed

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(args=list(args) if args is not None else None, signal_handler_options=SignalHandlerOptions.NO)
    node = AttentiveNode("viewer_node")
    values = {
        name: node.declare_parameter(name, default, ParameterDescriptor(description=text, read_only=True)).value
        for name, (default, text) in PARAMETERS.items()
    }
    node.warn_of_unread_parameters()
    page = Page(RosFeed(node), str(values["host"]), int(values["port"]), open_browser=bool(values["open_browser"]))
    stop.wait()
    page.close()
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
