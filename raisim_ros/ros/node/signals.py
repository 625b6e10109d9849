"""How the node is told to end: by signals, or by the end of the process that started it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LAUNCHER_CHECK_PERIOD = 0.5  # [s]
# A thread that has not ended so long after a signal is stuck: the process then ends without it [s].
PATIENCE_WITH_THREADS = 0.8
# So long the middleware may take to say farewell [s].
PATIENCE_WITH_MIDDLEWARE = 0.5


@contextmanager
def ending_soon(exit_code: Callable[[], int]) -> Iterator[None]:
    """What takes longer inside is left to the operating system: the process ends with the code, come what may.

    Thousands of topics are taken down one by one; others notice that the process is gone all the same, a little later.
    """
    timer = threading.Timer(PATIENCE_WITH_MIDDLEWARE, lambda: os._exit(exit_code()))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def stop_with_process(pid: int, stop: threading.Event) -> None:
    """Set `stop` when that process of this user is gone."""
    while not stop.wait(_LAUNCHER_CHECK_PERIOD):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            stop.set()


def watch_signals(stop: threading.Event, leaving: threading.Event) -> None:
    """Sets `stop` at SIGINT and SIGTERM, even while the main thread is deep in a computation.

    Python's own handlers wait for the main thread. When `leaving` is not set soon after, some thread is stuck, and the
    process ends as it is: nobody shall have to kill it.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)

    def watch() -> None:
        os.read(read, 1)
        stop.set()
        asked = time.monotonic()
        if not leaving.wait(PATIENCE_WITH_THREADS):
            late = time.monotonic() - asked
            print(f"world_node: ended without its threads, {late:.1f} s after the signal", flush=True)
            os._exit(0)

    threading.Thread(target=watch, name="signals", daemon=True).start()
