"""`start_recording` and `stop_recording`. For the executor thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node

import raisim_ros.srv as srv
from raisim_ros.description.file_access import check_allowed
from raisim_ros.engine.world.world import World
from raisim_ros.ros.node import requests
from raisim_ros.ros.node.journal import Journal
from raisim_ros.ros.node.written_files import check_target
from raisim_ros.ros.request_queue import RequestQueue

# Parameters on which it depends what becomes of a command; those of the world are in its file.
_SETTINGS = ("command_watchdog_s", "command_watchdog_action")


class RecordingServices:
    """Handlers for `Services`: they raise what is wrong and return what was done."""

    def __init__(self, node: Node, queue: RequestQueue, world: World, journal: Journal) -> None:
        self._node = node
        self._queue = queue
        self._world = world
        self._journal = journal
        self.plain: dict[str, tuple[Any, Callable[[Any, Any], str]]] = {
            "start_recording": (srv.StartRecording, self._start),
            "stop_recording": (srv.StopRecording, self._stop),
        }

    def begin(self, file: str, rate_hz: float) -> None:
        """Records from the start of the node on, before anything has happened; the file is replaced."""
        target = check_target(requests.new_file(file, "record"), overwrite=True)
        self._journal.start(target, rate_hz, self._settings(), sensors=self._wants_sensors())

    def _start(self, request: Any, response: Any) -> str:
        file = requests.new_file(request.file, "file")
        check_allowed(file, "recording")
        check_target(file, request.overwrite)
        settings, sensors = self._settings(), self._wants_sensors()
        self._queue.call(lambda: self._journal.start(file, request.rate_hz, settings, sensors=sensors))
        return f"recording to '{file}'"

    def _stop(self, request: Any, response: Any) -> str:
        file, response.duration = self._queue.call(self._journal.stop)
        response.file = str(file)
        self._world.stop_recording()
        return f"'{file}' is complete, {response.duration:g} s"

    def is_on(self) -> bool:
        """Whether something is being recorded."""
        return self._journal.file is not None

    def end(self) -> None:
        """The node ends, and the stepping thread has ended: finish what is being recorded."""
        if self.is_on():
            self._journal.stop()
            self._world.stop_recording()

    def _wants_sensors(self) -> bool:
        return bool(self._node.get_parameter("record_sensors").value)

    def _settings(self) -> Any:
        values = self._node.get_parameters(_SETTINGS)
        return SetParametersAtomically.Request(parameters=[value.to_parameter_msg() for value in values])
