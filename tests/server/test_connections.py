"""Who sends half a head keeps nobody else out, and not for ever."""

import socket
import threading
from contextlib import ExitStack, suppress
from functools import partial

import pytest
import uvicorn

from equipoise.apps.server import connections
from serving import WAITS_S, wait_until

HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


async def app(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def address():
    listening = socket.create_server(("127.0.0.1", 0))
    protocol = partial(connections.Connection, most=40)
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, lifespan="off", log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_until(lambda: server.started)
    yield listening.getsockname()
    server.should_exit = True
    thread.join()


def answered(client, sent):
    client.sendall(sent)
    heard = b""
    while not heard.endswith(b"ok"):
        heard += client.recv(4096)
    return heard


def test_whole_requests_are_answered_beside_many_half_ones(address):
    with ExitStack() as held:
        slow = []
        for _ in range(100):
            slow.append(held.enter_context(socket.create_connection(address, timeout=WAITS_S)))
            slow[-1].sendall(HALF)
        for _ in range(6):
            with socket.create_connection(address, timeout=WAITS_S) as client:
                assert answered(client, WHOLE).startswith(b"HTTP/1.1 200 ")
        with suppress(ConnectionResetError):
            assert not slow[0].recv(1)


@pytest.mark.parametrize("first", [b"", WHOLE], ids=["at once", "after an answer"])
def test_half_a_head_is_given_up(address, monkeypatch, first):
    with socket.create_connection(address, timeout=WAITS_S) as client:
        if first:
            assert answered(client, first).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(connections, "HEAD_S", 0.1)
        with suppress(ConnectionError):
            client.sendall(HALF)
            assert not client.recv(1)
