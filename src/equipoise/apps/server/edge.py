"""The outermost layer: limits the size and time of every request, checks where it comes from, and adds headers."""

import asyncio
import logging
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from time import perf_counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from equipoise.apps.server.errors import FAILED, ApiError, draining

LOG = logging.getLogger("equipoise")
TOKEN = "X-Challenge"
"""The header with the token by which a visitor shows that a CAPTCHA was passed (`visitors.passed`)."""
BODY_S = 30.0
"""Seconds to receive a small body; a larger one has as many more for each megabyte that was received."""
HEARD = 10_000_000
"""Bytes above the limit that are read and dropped of a request that was refused."""
ALWAYS = ("/healthz", "/readyz")
UPLOAD = "/v1/documents"
ANYWHERE = ("/widget.js", "/logo")
"""Files that any website may load; what its pages may do with them depends on `origins`."""
SHARED = {"/v1/ask": "POST", "/v1/feedback": "POST", "/v1/page": "GET"}
"""Routes, with their method, that pages of `origins` may use, as visitors: such pages can send no key."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}; require-trusted-types-for 'script';"
    " trusted-types 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)

Seen = Callable[[str, str, int, float], None]
"""Told of every request: method, route, status, seconds."""


@dataclass(frozen=True, slots=True)
class Edge:
    """ASGI middleware. Pages of `origins` may show the page in a frame and use what is `SHARED`. `is_draining` says
    whether new requests are to be turned away, `is_open` whether there is no key yet: then only this machine may ask,
    under one of its own names."""

    app: ASGIApp
    body: int
    upload: int
    origins: frozenset[str]
    is_draining: Callable[[], bool]
    is_open: Callable[[], bool]
    seen: Seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        began, status, closing = perf_counter(), 0, False
        body = _Body(receive, self._limit(scope))
        more = self._headers(scope["path"], headers)

        async def sent(message: Message) -> None:
            nonlocal status, closing
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message, more | {"X-Request-Id": request_id})
                closing = Headers(raw=message["headers"]).get("connection") == "close"
            elif closing and not message.get("more_body", False):
                await send({**message, "more_body": True})
                # Closing with unread bytes resets the connection, and the client may lose the answer.
                await body.drop()
                message = {"type": "http.response.body"}
            await send(message)

        try:
            if refused := self._refused(scope, headers):
                await refused.response()(scope, body.receive, sent)
                return
            if scope["method"] == "OPTIONS" and "Access-Control-Allow-Origin" in more:
                await Response(status_code=204, headers=_preflight(scope["path"]))(scope, body.receive, sent)
                return
            await self._passed_on(scope, body.receive, sent, lambda: status)
        finally:
            route = scope.get("route")
            self.seen(scope["method"], getattr(route, "path", "other"), status, perf_counter() - began)

    async def _passed_on(self, scope: Scope, receive: Receive, send: Send, status: Callable[[], int]) -> None:
        """Call the inner application; if it raises before it has sent anything, send an error."""
        error: ApiError
        try:
            await self.app(scope, receive, send)
        except ApiError as early:
            error = early
        except Exception:  # the last resort: nobody gets a stack trace
            LOG.exception("a request failed")
            error = ApiError(500, FAILED, code="failed")
        else:
            return
        if not status():
            await error.response()(scope, receive, send)

    def _limit(self, scope: Scope) -> int:
        return self.upload if scope["path"] == UPLOAD else self.body

    def _headers(self, path: str, headers: Headers) -> dict[str, str]:
        """The headers to add to an answer, with those of CORS if a page of another host may read it."""
        more = dict(HEADERS)
        more["Content-Security-Policy"] = POLICY.format(ancestors=" ".join(sorted(self.origins)) or "'none'")
        if not self.origins:
            more["X-Frame-Options"] = "DENY"
        origin = headers.get("origin", "")
        if path in ANYWHERE:
            more["Cross-Origin-Resource-Policy"] = "cross-origin"
        elif path in SHARED and self.origins:
            more["Vary"] = "Origin"
            if origin in self.origins:
                more |= {
                    "Access-Control-Allow-Origin": origin,
                    "Cross-Origin-Resource-Policy": "cross-origin",
                }
                more["Access-Control-Expose-Headers"] = "Retry-After, X-Request-Id"
        return more

    def _is_foreign(self, path: str, headers: Headers) -> bool:
        """Whether a browser sent this for a page of another host that may not use it."""
        origin = headers.get("origin")
        if origin is None:
            own = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
            return not own and path not in ANYWHERE and not self._is_visit(path, headers)
        own = urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
        return not own and not (path in SHARED and origin in self.origins and not self.is_open())

    def _is_visit(self, path: str, headers: Headers) -> bool:
        """Whether somebody followed a link to the page, or a page of `origins` shows it: the browser sees to it which
        do (frame-ancestors)."""
        shown = headers.get("sec-fetch-dest")
        framed = shown == "iframe" and path == "/" and bool(self.origins)
        return headers.get("sec-fetch-mode") == "navigate" and (shown == "document" or framed)

    def _refused(self, scope: Scope, headers: Headers) -> ApiError | None:
        """The error for a request that is refused before the application sees it; None for others."""
        if scope["path"] in ALWAYS:
            return None
        if self.is_draining():
            return draining()
        if self._is_foreign(scope["path"], headers):
            return ApiError(403, "Pages of other hosts may not use this server.", code="foreign_origin")
        if self.is_open() and not is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or ""):
            said = "This server has no keys, so it answers on this machine only, as 127.0.0.1 or localhost."
            return ApiError(403, said, code="not_local")
        limit = self._limit(scope)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > limit:
            return _too_large(limit)
        return None


class _Body:
    """A request's body as it comes in: not above `limit` bytes, and not too slowly."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit, self._left, self._done = receive, limit, limit, False
        self._deadline = _now() + BODY_S

    async def receive(self) -> Message:
        """See ASGI. Raises ApiError where the body is larger than the limit, or too slow."""
        if self._done:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            said, closing = "The request came too slowly.", {"Connection": "close"}
            raise ApiError(408, said, code="timeout", headers=closing) from None
        came = len(message.get("body", b""))
        self._left -= came
        self._deadline += BODY_S * came / 1_000_000
        self._done = not message.get("more_body", False)
        if self._left < 0:
            raise _too_large(self._limit)
        return message

    async def drop(self) -> None:
        """Read the rest of the body and drop it, up to a limit of bytes and seconds."""
        self._left, self._deadline = self._left + HEARD, min(self._deadline, _now() + BODY_S)
        with suppress(ApiError):
            while not self._done:
                await self.receive()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _too_large(limit: int) -> ApiError:
    said = f"The request is larger than {limit:,} bytes."
    return ApiError(413, said, code="too_large", headers={"Connection": "close"})


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


def _add_headers(message: Message, more: dict[str, str]) -> None:
    headers = MutableHeaders(raw=message.setdefault("headers", []))
    for name, value in more.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "no-store")


def _preflight(path: str) -> dict[str, str]:
    """The headers that answer a preflight request: whether a page of another host may send the actual one."""
    allowed = {"Access-Control-Allow-Methods": SHARED[path], "Access-Control-Max-Age": "600"}
    return allowed | {"Access-Control-Allow-Headers": f"Content-Type, {TOKEN}"}


def is_loopback(name: str) -> bool:
    """Whether `name` can only mean this machine."""
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
