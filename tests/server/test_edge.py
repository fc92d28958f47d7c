"""What a client hears that is turned away while it still sends."""

import asyncio
import json
import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from equipoise.apps.server import edge
from serving import WAITS_S

PIECE = b"a" * 5_000
LENGTH = f"Content-Length: {len(PIECE) * 41}"


@pytest.mark.parametrize(
    ("told", "framed"),
    [
        (LENGTH, lambda piece: piece),
        ("Transfer-Encoding: chunked", lambda piece: b"1388\r\n" + piece + b"\r\n"),
    ],
    ids=["length", "chunked"],
)
def test_a_refusal_reaches_a_client_that_goes_on_sending(live, told, framed):
    url, _ = live(body=20_000)
    address = urlsplit(url)
    head = (
        f"POST /v1/ask HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n{told}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=WAITS_S) as client:
        client.sendall(head.encode() + framed(PIECE) * 5)
        heard = b""
        while b'"code":"too_large"' not in heard:
            more = client.recv(4096)
            assert more
            heard += more
        for _ in range(36):
            client.sendall(framed(PIECE))
        client.sendall(b"0\r\n\r\n" if told != LENGTH else b"")
        while more := client.recv(4096):
            heard += more
    headers, _, body = heard.partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 413 ") and b"connection: close" in headers.lower()
    assert "larger than 20,000 bytes" in json.loads(body)["error"]["message"]


def test_a_body_that_drips_in_is_given_up_however_large_it_may_be(live, monkeypatch):
    monkeypatch.setattr(edge, "BODY_S", 0.3)
    url, _ = live(upload=500_000_000)
    address = urlsplit(url)
    head = f"POST /v1/documents?name=a.txt HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 400000000\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=WAITS_S) as client:
        client.sendall(head.encode())
        client.setblocking(False)
        heard, last = b"", time.monotonic() + WAITS_S
        while not heard and time.monotonic() < last:
            with suppress(BlockingIOError, ConnectionError):
                client.send(b"a")
            time.sleep(0.02)
            with suppress(BlockingIOError):
                heard = client.recv(4096)
    assert heard.startswith(b"HTTP/1.1 408 ")


def test_what_comes_fast_enough_has_time_for_more():
    async def receive():
        return {"type": "http.request", "body": b"a" * 1_000_000, "more_body": True}

    async def more():
        body = edge._Body(receive, 10_000_000)
        first = body._deadline
        for _ in range(3):
            await body.receive()
        return body._deadline - first

    assert asyncio.run(more()) == pytest.approx(3 * edge.BODY_S)
