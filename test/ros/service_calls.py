"""Calls of services that must succeed."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.msg import ResultCode
from raisim_ros.srv import LoadWorld


def ok(response):
    assert response.result == ResultCode.OK, response.message
    return response


def load_text(probe, folder, text):
    """The node's world becomes that of a world file with this text."""
    file = folder / "world.xml"
    file.write_text(text)
    ok(probe.call(LoadWorld, "load_world_file", file=str(file)))
