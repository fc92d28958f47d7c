"""What a client hears that is turned away while it still sends."""

import json
import socket
from urllib.parse import urlsplit

import pytest

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
