"""Requests in two parts: preparation, in a process of its own when it is long, then the change of the world."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

from rclpy.node import Node

from raisim_ros.ros.node import preparation
from raisim_ros.ros.node.long_work import LongWork

IS_LONG: dict[str, Callable[[Any], bool]] = {
    "body": preparation.body_is_long,
    "robot": preparation.robot_is_long,
    "terrain": preparation.terrain_is_long,
    "granular": preparation.granular_is_long,
    "deformable": preparation.deformable_is_long,
    "world": preparation.world_is_long,
    "world_text": preparation.world_text_is_long,
    "entry": preparation.entry_is_long,
}


# A look at a request whose work is still to be done: what it warns of will be said then.
looking_ahead: ContextVar[bool] = ContextVar("looking_ahead", default=False)


def _is_long(function: str, argument: Any) -> bool:
    token = looking_ahead.set(True)
    try:
        return IS_LONG[function](argument)
    finally:
        looking_ahead.reset(token)


class ExecutorTasks:
    """Functions for the executor thread, from any thread; each acts for whom its sender acts."""

    def __init__(self, node: Node) -> None:
        self._tasks: deque[Callable[[], None]] = deque()
        self._guard = node.create_guard_condition(self._run)

    def post(self, task: Callable[[], None]) -> None:
        """Runs `task` on the executor thread, soon."""
        self._tasks.append(partial(copy_context().run, task))
        self._guard.trigger()

    def _run(self) -> None:
        for _ in range(len(self._tasks)):  # those that they post come after other work of the executor
            self._tasks.popleft()()


class Preparing:
    """Carries out requests; those that are long do not hold up the others. For the executor thread."""

    def __init__(self, work: LongWork, tasks: ExecutorTasks) -> None:
        self._work = work
        self._tasks = tasks
        self.busy: dict[str, int] = dict.fromkeys(IS_LONG, 0)  # long work under way, by function
        self._threads: set[threading.Thread] = set()

    def carry_out(
        self,
        function: str,
        argument: Any,
        what: str,
        apply: Callable[[Any], Any],
        done: Callable[[Any, Exception | None], None],
    ) -> None:
        """Prepares with a function of `preparation`, applies what comes of it, and tells `done` value or error.

        `done` is called on this thread. A long preparation, and then `apply`, have a thread of their own.
        """
        if not _is_long(function, argument):
            try:
                prepared = getattr(preparation, function)(argument)
                held = preparation.assets(prepared)
                value = apply(prepared)
                del held
            except Exception as error:
                done(None, error)
            else:
                done(value, None)
            return
        self.busy[function] += 1

        def finish(value: Any, error: Exception | None) -> None:
            self.busy[function] -= 1
            done(value, error)

        def work() -> Any:
            with self._work.prepared(function, argument, what) as prepared:
                held = preparation.assets(prepared)  # as long as it takes to add the objects
                value = apply(prepared)
                del held
                return value

        self.beside(work, what, finish)

    def beside(self, work: Callable[[], Any], what: str, done: Callable[[Any, Exception | None], None]) -> None:
        """Gives `work` a thread of its own, and tells `done`, on this one, its value or its error."""

        def run() -> None:
            value, failure = None, None
            try:
                value = work()
            except Exception as error:
                failure = error
            self._tasks.post(lambda: done(value, failure))

        self._threads = {thread for thread in self._threads if thread.is_alive()}
        thread = threading.Thread(target=copy_context().run, args=(run,), name=f"preparing {what}", daemon=True)
        self._threads.add(thread)
        thread.start()

    def later(self, task: Callable[[], None]) -> None:
        """Carries out `task` on this thread, after what waits already."""
        self._tasks.post(task)

    def wait_for_end(self, timeout: float) -> None:
        """Waits until the processes of stopped work are gone, at most so long [s]."""
        end = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
