"""How a node is told to end: by signals, or by the end of the process that started it."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import NoReturn

# The process that started a node: killed or terminated, it leaves its nodes behind, so they watch it.
LAUNCHER_VARIABLE = "RAISIM_ROS_LAUNCHER_PID"
# So long after a signal a process is gone, with or without its threads and its farewell [s].
PATIENCE = 0.8
# So much longer when a recording is not written yet: on a machine that is too busy, losing it would be worse [s].
PATIENCE_WITH_FILES = 5.0
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


@cache
def watch_launcher() -> None:
    """As by SIGTERM when the process is gone that started this one, if it said that it wants that.

    Called before anything is imported that takes long: a launcher may be killed while its nodes start.
    """
    launcher = os.environ.get(LAUNCHER_VARIABLE)
    if launcher:
        threading.Thread(target=_end_with_process, args=(int(launcher),), name="launcher", daemon=True).start()


def _end_with_process(pid: int) -> None:
    with suppress(ProcessLookupError):  # it is gone already
        select.select([os.pidfd_open(pid)], [], [])
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(frozen=True)
class Life:
    """How far a node is, for its threads: it serves, it is told to end, it says farewell.

    Whoever writes what must not get lost holds `writing`.
    """

    serving: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    leaving: threading.Event = field(default_factory=threading.Event)
    writing: threading.Lock = field(default_factory=threading.Lock)


def watch_signals(program: str, life: Life, clean_up: Callable[[], None]) -> None:
    """Tells `life.stop` of SIGINT, SIGTERM and the end of the launcher, even while the main thread computes.

    Python's own handlers wait for the main thread. A node that does not serve yet has nothing to bring to an end: it
    cleans up and is gone at once. Else the process is gone soon after, come what may: nobody shall have to kill it.
    When it has not begun to leave by then, some thread was stuck, and that is told.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)

    def watch() -> None:
        os.read(read, 1)
        life.stop.set()
        if not life.serving.is_set():
            clean_up()
            os._exit(0)
        asked = time.monotonic()
        time.sleep(PATIENCE)
        life.writing.acquire(timeout=PATIENCE_WITH_FILES)
        if not life.leaving.is_set():
            text = f"{program}: ended without its threads, {time.monotonic() - asked:.1f} s after the signal\n"
            os.write(sys.stderr.fileno(), text.encode())  # past the locks that a stuck thread may hold
        os._exit(0)

    threading.Thread(target=watch, name="signals", daemon=True).start()
    watch_launcher()
