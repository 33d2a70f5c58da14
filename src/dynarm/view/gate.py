"""Who may talk to the 3D page: its own page on this machine, and nobody whom a browser brings along.

Other sites that are open in the same browser can reach this machine's ports, by a WebSocket to 127.0.0.1 or by a name
of their own that resolves to it. A browser tells in Host whom it believes to talk to and in Origin on whose behalf.
"""

from __future__ import annotations

import contextlib
import http
import socket
import threading
from collections.abc import Callable, Iterator, Sequence

from ..border.kinds import Foreign, Maker

NAMES = frozenset(("127.0.0.1", "localhost"))
_lock = threading.Lock()


def admitted(hosts: Sequence[str], origins: Sequence[str]) -> bool:
    """Whether a request with these Host and Origin headers comes from the page itself, or from no browser.

    Host must name this machine; its port may be another where a tunnel leads here. Origin, which browsers send with
    every WebSocket and which other programs leave out, must be the page at that very Host.
    """
    if len(hosts) != 1 or len(origins) > 1:
        return False
    host = hosts[0].strip().lower()
    name, _, port = host.partition(":")
    if name not in NAMES or not (port == "" or (port.isascii() and port.isdigit())):
        return False
    return all(o.strip().lower() in (f"http://{host}", f"https://{host}") for o in origins)


@contextlib.contextmanager
def gated() -> Iterator[None]:
    """Whatever server viser starts meanwhile asks `admitted` first and answers others 403."""
    from websockets.asyncio import server

    with _lock:
        before: Foreign = server.serve

        def serve(handler: Maker, *args: Foreign, **options: Foreign) -> Foreign:
            if getattr(handler, "__module__", "").split(".")[0] == "viser":
                options["process_request"] = _asked(options.get("process_request"))
            return before(handler, *args, **options)

        server.serve = serve  # type: ignore[misc,assignment]
        try:
            yield
        finally:
            server.serve = before  # type: ignore[misc]


def _asked(
    then: Callable[[Foreign, Foreign], Foreign] | None,
) -> Callable[[Foreign, Foreign], Foreign]:
    def process(connection: Foreign, request: Foreign) -> Foreign:
        headers = request.headers
        if not admitted(headers.get_all("Host"), headers.get_all("Origin")):
            return connection.respond(
                http.HTTPStatus.FORBIDDEN, "This page is for its own address only.\n"
            )
        return None if then is None else then(connection, request)

    return process


def is_gated(host: str, port: int) -> bool:
    """Whether the server there refuses a foreign Host: asked of it, whatever its version does inside."""
    request = f"GET / HTTP/1.1\r\nHost: dynarm.invalid:{port}\r\nConnection: close\r\n\r\n"
    try:
        with socket.create_connection((host, port), timeout=10) as talk:
            talk.sendall(request.encode())
            return talk.recv(64).startswith(b"HTTP/1.1 403")
    except OSError:
        return False
