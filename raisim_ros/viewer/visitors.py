"""Who may talk to the page's web socket.

Browsers let every page of every site open a web socket to this machine. Whoever reaches this one can load and save
files, so only the page that this server itself gave out is let in.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import viser


def let_in_own_pages(server: viser.ViserServer) -> None:
    """Refuse connections that a page from elsewhere opened."""
    sockets = server._websock_server

    async def look(visitor: Any) -> None:
        connection = sockets._live_connections[visitor.client_id]
        headers = connection.request.headers
        if not is_own_page(headers.get("Origin"), headers.get("Host", ""), sockets._host):
            for known in (sockets._live_connections, sockets._client_state_from_id):
                known.pop(visitor.client_id, None)
            raise ConnectionRefusedError(f"a page of {headers['Origin']} wanted to steer the viewer")

    sockets._client_connect_cb.insert(0, look)  # before anything is sent


def is_own_page(origin: str | None, host: str, address: str) -> bool:
    """Whether a browser shows the page of this server. Programs that are no browsers name no origin, and may come.

    On a server for this machine alone, the page has the name of this machine: other names lead here only by a trick.
    """
    if origin is None:
        return True
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    return page.netloc == host and (not _is_loopback(address) or _is_loopback(page.hostname))


def _is_loopback(name: str | None) -> bool:
    if name == "localhost":
        return True
    try:
        return ip_address(name or "").is_loopback
    except ValueError:
        return False
