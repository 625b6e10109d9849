"""What a page tells people in a corner: what went wrong, and what takes its time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import viser

from raisim_ros.description.errors import RaisimError

# What is done within this time is not announced [s].
SOON = 0.5


class Notices:
    """To everybody who looks."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server

    def attempt(self, action: Callable[[], Any]) -> Any:
        """What people began; None when it went wrong, which they are told."""
        try:
            return action()
        except (RaisimError, OSError, ValueError) as error:
            self.tell(error)
            return None

    def tell(self, error: Exception) -> None:
        """What went wrong."""
        for client in self._server.get_clients().values():
            client.add_notification("That did not work", str(error), color="red", auto_close_seconds=8.0)

    def say(self, title: str, text: str) -> None:
        """What was done and is not to be seen otherwise."""
        for client in self._server.get_clients().values():
            client.add_notification(title, text, color="green", auto_close_seconds=4.0)

    @contextmanager
    def busy(self, title: str, text: str) -> Iterator[None]:
        """While it lasts, what is being done."""
        shown: list[Any] = []

        def show() -> None:
            for client in self._server.get_clients().values():
                shown.append(client.add_notification(title, text, loading=True, with_close_button=False))

        timer = threading.Timer(SOON, show)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            for notice in shown:
                notice.remove()
