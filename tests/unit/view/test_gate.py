"""Who may talk to the 3D page, asked over raw sockets: what a browser would send for its own page and for others."""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Iterator

import pytest

import dynarm

viser = pytest.importorskip("viser", reason="viser is not installed (the extra 'view')")

from dynarm.view import viewer as module  # noqa: E402
from dynarm.view.gate import admitted  # noqa: E402
from dynarm.view.viewer import ArmViewer, ViewError  # noqa: E402


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    viewer = ArmViewer(dynarm.load("two_link"))
    yield viewer.server.get_port()
    viewer.close()


def answer(port: int, *headers: str, socket_wanted: bool = False) -> str:
    """The first line of what the page's server answers to these headers."""
    lines = ["GET / HTTP/1.1", *(h.format(port=port) for h in headers)]
    if socket_wanted:
        lines += [
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: viser-v{viser.__version__}",
        ]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as talk:
        talk.sendall("\r\n".join([*lines, "", ""]).encode())
        return talk.recv(4096).split(b"\r\n")[0].decode()


OWN = ("Host: 127.0.0.1:{port}", "Origin: http://127.0.0.1:{port}")
ADMITTED = {
    "the page itself": OWN,
    "by the machine's other name": ("Host: localhost:{port}", "Origin: http://localhost:{port}"),
    "a program that is no browser": ("Host: 127.0.0.1:{port}",),
    "through a tunnel": ("Host: localhost:9000", "Origin: http://localhost:9000"),
}
REFUSED = {
    "another site": ("Host: 127.0.0.1:{port}", "Origin: https://evil.example"),
    "another site on that port": ("Host: 127.0.0.1:{port}", "Origin: http://evil.example:{port}"),
    "another page of this machine": ("Host: 127.0.0.1:{port}", "Origin: http://127.0.0.1:1"),
    "this machine by its other name": (
        "Host: 127.0.0.1:{port}",
        "Origin: http://localhost:{port}",
    ),
    "a file or a frame without rights": ("Host: 127.0.0.1:{port}", "Origin: null"),
    "a name that begins alike": (
        "Host: 127.0.0.1:{port}",
        "Origin: http://127.0.0.1:{port}.evil.example",
    ),
    "a name that resolves to this machine": (
        "Host: evil.example:{port}",
        "Origin: http://evil.example:{port}",
    ),
    "such a name without an origin": ("Host: evil.example:{port}",),
    "a longer name": ("Host: 127.0.0.1.evil.example:{port}",),
    "a host with a user": ("Host: 127.0.0.1:80@evil.example",),
    "an empty host": ("Host:",),
    "no host": (),
    "two hosts": ("Host: 127.0.0.1:{port}", "Host: evil.example"),
    "two origins": (*OWN, "Origin: http://evil.example"),
}


@pytest.mark.parametrize("case", ADMITTED)
def test_its_own_page_is_served_and_connected(case, port):
    assert answer(port, *ADMITTED[case]) == "HTTP/1.1 200 OK"
    assert answer(port, *ADMITTED[case], socket_wanted=True).startswith("HTTP/1.1 101 ")


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("socket_wanted", [False, True], ids=["page", "socket"])
def test_others_are_refused(case, socket_wanted, port):
    assert answer(port, *REFUSED[case], socket_wanted=socket_wanted).startswith("HTTP/1.1 403 ")


def test_only_names_of_this_machine_are_its_own():
    assert admitted(["LOCALHOST:8080"], ["http://localhost:8080"])
    assert admitted(["localhost"], ["http://localhost"])
    assert not admitted(["localhost:８０８０"], [])
    assert not admitted(["0.0.0.0:8080"], [])
    assert not admitted(["localhost:8080"], ["http://localhost:8080/"])
    assert not admitted(["localhost:8080"], ["ftp://localhost:8080"])


def test_a_server_that_cannot_be_gated_is_not_left_open(monkeypatch):
    import contextlib

    monkeypatch.setattr(module, "gated", contextlib.nullcontext)
    with pytest.raises(ViewError, match="cannot be kept from foreign sites"):
        ArmViewer(dynarm.load("two_link"))


def test_other_servers_of_the_program_are_left_alone(port):
    from websockets.asyncio import server

    assert server.serve.__module__ == "websockets.asyncio.server"
