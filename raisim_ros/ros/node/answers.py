"""Answers of services that wait until their client can be reached.

A request can arrive before the node has discovered where its answer must go: right after either side has started, or
on a busy machine. rclpy then waits a tenth of a second, warns, and drops the answer: the client would wait for ever.
Here such an answer is kept, and sent again until it gets through.
"""

from __future__ import annotations

import re
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from raisim_ros.ros.pacing import Clock

Send = Callable[[Any, Any], None]

# How rclpy says that it has dropped an answer; it has no other way to tell.
_DROPPED = "failed to send response (timeout)"


class _DropNotice(threading.local):
    """Whether the answer that this thread is sending was dropped."""

    dropped = False


_notice = _DropNotice()


def _hear_of_dropped_answers() -> None:
    """From now on rclpy's warning sets the notice of the thread that sends, and nothing is printed."""
    show = warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if category is RuntimeWarning and str(message).startswith(_DROPPED):
            _notice.dropped = True
        else:
            show(message, category, *place, **more)

    warnings.showwarning = hear
    warnings.filterwarnings("always", message=re.escape(_DROPPED), category=RuntimeWarning)


def _arrives(send: Send, response: Any, address: Any) -> bool:
    """Sends an answer; False when its client was not found."""
    _notice.dropped = False
    send(response, address)
    return not _notice.dropped


@dataclass
class _KeptAnswer:
    service: str
    send: Callable[[], bool]
    since: float
    pause: float
    next_try: float


class Answers:
    """Sends the answers of services, and keeps those whose client is not discovered yet."""

    # A try that fails holds the interpreter for a tenth of a second: the pauses between them grow [s].
    FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
    # After this long the client is taken to be gone [s].
    PATIENCE = 20.0

    def __init__(self, warn: Callable[[str], object], clock: Clock = time.monotonic) -> None:
        self._warn = warn
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: list[_KeptAnswer] = []
        _hear_of_dropped_answers()

    def take_over(self, service: Any) -> None:
        """From now on the answers of this rclpy service are sent here."""
        service.send_response = partial(self._send, service.srv_name, service.send_response)

    def _send(self, service: str, send: Send, response: Any, address: Any) -> None:
        attempt = partial(_arrives, send, response, address)
        if attempt():
            return
        now = self._clock()
        with self._lock:
            self._kept.append(_KeptAnswer(service, attempt, now, self.FIRST_PAUSE, now + self.FIRST_PAUSE))

    def send_again(self) -> None:
        """Tries the kept answers whose time has come. Call it often; without kept answers it costs nothing."""
        if not self._kept:
            return
        now = self._clock()
        for answer in [kept for kept in self._kept if kept.next_try <= now]:
            if answer.send():
                self._forget(answer)
            elif now - answer.since >= self.PATIENCE:
                self._forget(answer)
                waited = f"its client was not discovered within {self.PATIENCE:g} s"
                self._warn(f"an answer of '{answer.service}' is dropped: {waited}")
            else:
                answer.pause = min(2.0 * answer.pause, self.LONGEST_PAUSE)
                answer.next_try = now + answer.pause

    def _forget(self, answer: _KeptAnswer) -> None:
        with self._lock:
            self._kept.remove(answer)
