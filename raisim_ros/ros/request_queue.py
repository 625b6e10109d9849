"""Requests to the thread that steps the world: applied between steps, in the order of their arrival."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class QueueClosedError(RuntimeError):
    """The stepping thread has ended; the request was not carried out."""


class RequestQueue:
    """Functions that other threads hand to the stepping thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._closed = False

    def post(self, action: Callable[[], T]) -> Future[T]:
        """Queues `action`; the future receives its result or its exception."""
        future: Future[T] = Future()
        with self._condition:
            if self._closed:
                future.set_exception(QueueClosedError("the simulation has ended"))
            else:
                self._requests.append((action, future))
                self._condition.notify()
        return future

    def call(self, action: Callable[[], T]) -> T:
        """Queues `action` and waits for its result. Never call it on the stepping thread itself."""
        return self.post(action).result()

    def run_pending(self) -> None:
        """Carries out what has arrived. For the stepping thread."""
        while True:
            with self._condition:
                if not self._requests:
                    return
                action, future = self._requests.popleft()
            try:
                future.set_result(action())
            except Exception as error:
                future.set_exception(error)

    def wait(self, timeout: float) -> None:
        """Sleeps until a request arrives, the queue is closed, or `timeout` seconds have passed."""
        with self._condition:
            if not self._requests and not self._closed:
                self._condition.wait(timeout)

    def close(self) -> None:
        """Refuses what is queued and what will come."""
        with self._condition:
            self._closed = True
            refused = list(self._requests)
            self._requests.clear()
            self._condition.notify_all()
        for _, future in refused:
            future.set_exception(QueueClosedError("the simulation has ended"))
