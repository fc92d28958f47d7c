"""The HTTP client under `openai`: it follows no redirect, reads no more than a bound, and says no more than it must."""

import os
import ssl
from functools import cache
from importlib import import_module
from typing import Any

import openai

MOST_BYTES = 2 << 20
"""Most bytes of an answer. 512 tokens with 20 alternatives each: 1 MB. Reading hostile JSON takes 50 times its size."""

MOST_ERROR_BYTES = 64 << 10
"""Most bytes of the answer to a request that failed: only its first words are shown."""

_ALWAYS = frozenset({"host", "accept", "connection", "content-type", "content-length", "user-agent"})
ACCOUNT = frozenset({"openai-organization", "openai-project"})
"""Headers that `openai` reads from the environment; they are meant for OpenAI's own endpoint only."""


HTTPX: Any = import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
"""httpx or httpx2, as `openai` has it."""


@cache
def _authorities(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The certificates to trust (SSL_CERT_FILE, SSL_CERT_DIR): read once, in 70 ms, not for each event loop anew."""
    context: ssl.SSLContext = HTTPX.create_ssl_context()
    return context


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """Sends requests with `headers` (the credentials), and of those that `openai` adds only _ALWAYS and `also`.

    `openai` also adds headers of the environment (OPENAI_CUSTOM_HEADERS, the organisation), whatever the endpoint;
    these are not sent unless `also` names them. Proxies are those of the environment.
    """

    def __init__(
        self, *, timeout_s: float, headers: dict[str, str], also: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(
            timeout=timeout_s, verify=_authorities(*map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))
        )
        self._sent = dict(headers)
        self._kept = _ALWAYS | also

    async def send(self, request: Any, **how: Any) -> Any:  # noqa: ANN401 (httpx or httpx2, as openai has it)
        """The answer to `request` with its body cut one byte after the bound; see `too_long`."""
        kept = {name: value for name, value in request.headers.items() if name.lower() in self._kept}
        headers = kept | {"Accept-Encoding": "identity"} | self._sent
        sent = type(request)(
            request.method,
            request.url,
            headers=headers,
            content=request.content,
            extensions=request.extensions,
        )
        answer = await super().send(sent, **how | {"stream": True, "follow_redirects": False})
        try:
            content = await _read(answer, MOST_BYTES if answer.is_success else MOST_ERROR_BYTES)
        finally:
            await answer.aclose()
        told = [(k, v) for k, v in answer.headers.multi_items() if k.lower() not in _OF_THE_BODY]
        return type(answer)(answer.status_code, headers=told, content=content, request=request)


_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})


async def _read(answer: Any, most: int) -> bytes:  # noqa: ANN401 (httpx or httpx2)
    """The decoded body, at most `most` bytes and one."""
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > most:
            break
    return bytes(body[: most + 1])


def too_long(body: bytes) -> bool:
    """Whether `body`, of an answer that is no error, was cut: it is longer than MOST_BYTES."""
    return len(body) > MOST_BYTES
