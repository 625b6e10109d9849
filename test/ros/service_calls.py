"""Calls of services that must succeed."""

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.msg import ResultCode
from raisim_ros.srv import LoadWorld, Reset


def ok(response):
    assert response.result == ResultCode.OK, response.message
    return response


def caller_in_fresh_world(probe, namespace):
    """call(type, "service", field=...): the answer of a node that has just been reset, which must be OK unless `result` says
    otherwise."""

    def call(service_type, service, result=ResultCode.OK, /, **fields):
        response = probe.call(service_type, f"{namespace}/{service}", **fields)
        assert response.result == result, response.message
        return response

    call(Reset, "reset", state=True, spawned=True, time=True)
    return call


def load_text(probe, folder, text):
    """The node's world becomes that of a world file with this text."""
    file = folder / "world.xml"
    file.write_text(text)
    ok(probe.call(LoadWorld, "load_world_file", file=str(file)))
