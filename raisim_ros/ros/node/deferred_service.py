"""A service whose answer comes later than its callback returns.

rclpy sends an answer when the callback returns. A callback that waits would stop every other service, and a
coroutine that waits makes rclpy's executor spin. So the callback returns a ticket in place of an answer, and
sending is taken over here: the ticket keeps the address of the client until there is an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Ticket:
    """Answer and address of one request; whichever comes second sends."""

    def __init__(self, send: Callable[[Any, Any], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._response: Any = None
        self._address: Any = None

    def respond(self, response: Any) -> None:
        """Sends the answer, from any thread."""
        with self._lock:
            self._response = response
            ready = self._address is not None
        if ready:
            self._send(self._response, self._address)

    def answer_to(self, listener: Callable[[], None]) -> None:
        """Nobody waits for the answer but `listener`, who wants to know that it has come."""
        self._send = lambda response, address: listener()
        self.set_address(listener)

    def set_address(self, address: Any) -> None:
        """The client that waits."""
        with self._lock:
            self._address = address
            ready = self._response is not None
        if ready:
            self._send(self._response, self._address)


class DeferredService:
    """A service whose handler gets the request and a function to answer with, at any time and thread."""

    def __init__(
        self,
        create_service: Callable[[Any, str, Callable[[Any, Any], Any]], Any],
        service_type: Any,
        name: str,
        handler: Callable[[Any, Callable[[Any], None]], None],
    ) -> None:
        self._handler = handler
        service = create_service(service_type, name, self._on_request)
        self._send = service.send_response
        service.send_response = self._keep_address

    def _on_request(self, request: Any, response: Any) -> Ticket:
        ticket = Ticket(self._send)
        self._handler(request, ticket.respond)
        return ticket

    def _keep_address(self, ticket: Ticket, address: Any) -> None:
        ticket.set_address(address)
