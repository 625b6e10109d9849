"""Requests to the thread that steps the world: applied between steps, in the order of their arrival."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class QueueClosedError(RuntimeError):
    """The stepping thread has ended; the request was not carried out."""


@dataclass(eq=False)
class Origin:
    """Whose wish an action is: what kind of request, of what name, and the message. Equal only to itself."""

    kind: str
    name: str
    message: Any
    number: int = 0  # in a recording


_origin: ContextVar[Origin | None] = ContextVar("origin", default=None)


@contextmanager
def acting_for(origin: Origin | None) -> Iterator[None]:
    """What is queued inside, and by threads that run in a copy of this context, is the wish of `origin`."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


@dataclass(frozen=True, eq=False)
class Action:
    """Something that waits for the stepping thread."""

    function: Callable[[], Any]
    future: Future[Any]
    origin: Origin | None

    def run(self) -> None:
        """Carries it out; the future receives result or exception."""
        try:
            self.future.set_result(self.function())
        except Exception as error:
            self.future.set_exception(error)


class RequestQueue:
    """Functions that other threads hand to the stepping thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._actions: deque[Action] = deque()
        self._closed = False
        # Told of every action with an origin before it is carried out, on the stepping thread.
        self.listeners: list[Callable[[Origin], None]] = []
        # Takes actions that must wait for their time: True, and `carry_out` comes later.
        self.holding: Callable[[Action], bool] = lambda action: False

    def post(self, function: Callable[[], T]) -> Future[T]:
        """Queues `function`; the future receives its result or its exception."""
        future: Future[T] = Future()
        with self._condition:
            if self._closed:
                future.set_exception(QueueClosedError("the simulation has ended"))
            else:
                self._actions.append(Action(function, future, _origin.get()))
                self._condition.notify()
        return future

    def call(self, function: Callable[[], T]) -> T:
        """Queues `function` and waits for its result. Never call it on the stepping thread itself."""
        return self.post(function).result()

    def run_pending(self) -> int:
        """Carries out what has arrived; how much it was. For the stepping thread."""
        count = 0
        while True:
            with self._condition:
                if not self._actions:
                    return count
                action = self._actions.popleft()
            count += 1
            if not self.holding(action):
                self.carry_out(action)

    def carry_out(self, action: Action) -> None:
        """Runs one action. For the stepping thread."""
        if action.origin is not None:
            for tell in self.listeners:
                tell(action.origin)
        action.run()

    def wait(self, timeout: float) -> bool:
        """Sleeps until a request is there, the queue is closed, or `timeout` seconds have passed; whether one is."""
        with self._condition:
            if not self._actions and not self._closed:
                self._condition.wait(timeout)
            return bool(self._actions)

    def wake(self) -> None:
        """Ends a `wait`."""
        with self._condition:
            self._condition.notify_all()

    def close(self) -> None:
        """Refuses what is queued and what will come."""
        with self._condition:
            self._closed = True
            refused = list(self._actions)
            self._actions.clear()
            self._condition.notify_all()
        for action in refused:
            action.future.set_exception(QueueClosedError("the simulation has ended"))
