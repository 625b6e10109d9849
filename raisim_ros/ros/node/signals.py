"""How a node is told to end: by signals, or by the end of the process that started it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

# The process that started a node: killed or terminated, it leaves its nodes behind, so they watch it.
LAUNCHER_VARIABLE = "RAISIM_ROS_LAUNCHER_PID"
_LAUNCHER_CHECK_PERIOD = 0.5  # [s]
# So long after a signal a process is gone, with or without its threads and its farewell [s].
PATIENCE = 0.8
# So long the middleware may take to say farewell [s].
PATIENCE_WITH_MIDDLEWARE = 0.45


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


def leave(exit_code: int) -> NoReturn:
    """Ends the process here.

    Python would first take everything down: of a large world that takes seconds, and the thread that would put an end
    to it is the first to go.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


def _end_with_process(pid: int) -> None:
    """As by SIGTERM when that process of this user is gone."""
    try:
        while True:
            time.sleep(_LAUNCHER_CHECK_PERIOD)
            os.kill(pid, 0)
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGTERM)


def watch_signals(program: str, stop: threading.Event, leaving: threading.Event) -> None:
    """Sets `stop` at SIGINT and SIGTERM, and at the end of the launcher, even while the main thread computes.

    Python's own handlers wait for the main thread. The process is gone soon after, come what may: nobody shall have to
    kill it. When `leaving` was not set by then, some thread was stuck, and that is told.
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
        time.sleep(PATIENCE)
        if not leaving.is_set():
            text = f"{program}: ended without its threads, {time.monotonic() - asked:.1f} s after the signal\n"
            os.write(sys.stderr.fileno(), text.encode())  # past the locks that a stuck thread may hold
        os._exit(0)

    threading.Thread(target=watch, name="signals", daemon=True).start()
    if launcher := os.environ.get(LAUNCHER_VARIABLE):
        threading.Thread(target=_end_with_process, args=(int(launcher),), name="launcher", daemon=True).start()
