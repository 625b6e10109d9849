"""What can go wrong between a program and a world."""

from __future__ import annotations

from raisim_ros.description.errors import RaisimError


class ConnectionLostError(RaisimError):
    """The node is not there, or does not answer."""


class RequestRefusedError(RaisimError):
    """The node refused a request; `code` is one of raisim_ros.msg.ResultCode."""

    def __init__(self, service: str, code: int, message: str) -> None:
        self.service = service
        self.code = code
        super().__init__(f"{service}: {message}")
