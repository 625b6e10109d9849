"""Notes the commands and requests that are carried out, in a recording of the world. For the stepping thread."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from raisim_ros.description.recording_file import INPUTS
from raisim_ros.engine.errors import WrongStateError
from raisim_ros.ros.node import inputs
from raisim_ros.ros.node.inputs import Input, Noted, pack_inputs
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.objects.command_inbox import CommandTopic
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.request_queue import Origin, RequestQueue

# What was noted is handed to the thread that writes after so much wall time [s], or when so much waits.
_FLUSH_PERIOD, _FLUSH_COUNT = 0.5, 500
# The hash of all states is noted every so often [s of simulation time].
_CHECK_PERIOD = 1.0


class Journal:
    """Follows one loop from its first step on, and writes while it is recorded."""

    def __init__(self, loop: SteppingLoop, queue: RequestQueue) -> None:
        self._loop = loop
        self._untouched = True
        self._next_number = self._first_number = 1
        self._noted: list[Noted] = []
        self._flushed = self._begun_at = self._checked = 0.0
        self._first_step = 0
        self.file: Path | None = None
        queue.listeners.append(self._note_action)
        loop.command_listeners.append(self._note_command)
        loop.between_steps.append(self._between_steps)

    def start(self, file: Path, rate_hz: float, settings: Any, *, sensors: bool) -> None:
        """Records from now on; `settings` is a request that sets the parameters on which commands depend."""
        loop = self._loop
        if self.file is not None:
            raise WrongStateError(f"'{self.file}' is being recorded; stop that first")
        loop.world.start_recording(file, rate_hz, sensors=sensors)
        self.file, self._first_step = file, loop.taken
        self._begun_at = self._checked = loop.world.get_world_time()
        self._first_number = self._next_number
        fresh = self._untouched and loop.taken == 0
        self._note(inputs.START, "fresh" if fresh else "later")
        self._note_action(Origin(inputs.PARAMETERS, "", settings))
        self._check()

    def stop(self) -> tuple[Path, float]:
        """Notes the end; the file, which World.stop_recording() completes, and the simulated time in it [s]."""
        if self.file is None:
            raise WrongStateError("nothing is being recorded")
        file, self.file = self.file, None
        self._check()
        self._note(inputs.END)
        self._flush()
        return file, self._loop.world.get_world_time() - self._begun_at

    # ---- told by the loop and the queue ----

    def _note_action(self, origin: Origin) -> None:
        self._untouched = False
        if self.file is None:
            return
        message = None
        if origin.number < self._first_number:
            origin.number, message = self._next_number, origin.message
            self._next_number += 1
        self._note(origin.kind, origin.name, request=origin.number, message=message)

    def _note_command(self, entry: ObjectRow, topic: CommandTopic | int, message: Any) -> None:
        self._untouched = False
        if self.file is not None:
            detail = topic.value if isinstance(topic, CommandTopic) else str(topic)
            self._note(inputs.COMMAND, entry.name, f"{type(message).__name__} {detail}", message=message)

    def _between_steps(self) -> None:
        if self.file is None:
            return
        if abs(self._loop.world.get_world_time() - self._checked) >= _CHECK_PERIOD:
            self._check()
        if len(self._noted) >= _FLUSH_COUNT or time.monotonic() - self._flushed > _FLUSH_PERIOD:
            self._flush()

    # ---- writing ----

    def _note(self, kind: str, name: str = "", detail: str = "", request: int = 0, message: Any = None) -> None:
        at = self._loop.taken - self._first_step
        self._noted.append(Noted(Input(at, kind, name, detail, request), message))

    def _check(self) -> None:
        self._checked = self._loop.world.get_world_time()
        self._note(inputs.CHECK, f"{self._loop.world.get_state_hash():016x}")

    def _flush(self) -> None:
        self._flushed = time.monotonic()
        if self._noted:
            self._loop.world.add_to_recording(INPUTS, partial(pack_inputs, self._noted))
            self._noted = []
