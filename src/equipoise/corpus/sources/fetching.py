"""Fetches the pages of one site: politely, and within limits of size and time.

No other host is ever asked: a redirect is an answer, and the caller decides whether it stays on the site.
"""

import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib import metadata
from threading import Lock

import httpcore2

from equipoise.core.closing import Closing
from equipoise.corpus.sources.addresses import PORTS, Address, parsed
from equipoise.corpus.sources.guard import Allowed, Forbidden, Guarded, Resolver, system_resolver
from equipoise.corpus.sources.source import Unanswered

AGENT = "equipoise"
"""The name of this program in robots.txt."""
MOST_BYTES = 50_000_000
"""Of one answer, unpacked."""
MOST_HOPS = 5
MOST_TRIES = 3
LONGEST_WAIT_S = 60.0
"""The longest pause between two requests that a server may ask for."""
TIMEOUT_S = 60.0
"""For one answer, from the first byte asked to the last one read."""
CONNECTIONS = 4
"""To one site, where it asks for no pause between requests and was never busy."""
STEP_S = 20.0
"""For each step of a request, such as to connect or to read a piece of the answer."""
_BUSY = frozenset({429, 503})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEPT = frozenset(
    b"content-type content-security-policy etag last-modified x-robots-tag location retry-after".split()
)
_LONGEST_HEADER = 8_000
_DRAINED = 100_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: the address that gave it, its status, the headers that count, and its bytes."""

    address: Address
    status: int
    headers: Mapping[str, str]
    data: bytes = b""

    @property
    def leads_to(self) -> Address | None:
        """Where a redirect leads; None where that is no address."""
        return parsed(self.headers.get("location", ""), self.address)

    @property
    def kind(self) -> str:
        """The media type, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The encoding that the server says, "" where it says none."""
        _, _, said = self.headers.get("content-type", "").lower().partition("charset=")
        return said.partition(";")[0].strip().strip("\"'")[:40]


def user_agent() -> str:
    """One name for all requests."""
    return f"{AGENT}/{metadata.version('equipoise')}"


@dataclass(slots=True)
class Fetcher(Closing):
    """One polite client of the site at `start`; close it, or use it in a `with` block.

    Between two requests `delay` seconds pass. `authorization` is sent to the origin of `start` and to no other. Several
    threads may ask.
    """

    start: Address
    allowed: Allowed = field(default_factory=Allowed)
    authorization: str = ""
    resolve: Resolver = system_resolver
    sleep: Callable[[float], None] = time.sleep
    delay: float = 0.0
    requests: int = 0
    most: int = field(default_factory=lambda: MOST_BYTES)
    timeout: float = TIMEOUT_S
    _backend: Guarded = field(init=False)
    _pool: httpcore2.ConnectionPool = field(init=False)
    _last: float = 0.0
    _not_before: float = 0.0
    _was_busy: bool = False
    _lock: Lock = field(default_factory=Lock)
    _agent: str = field(default_factory=user_agent)

    def __post_init__(self) -> None:
        self._backend = Guarded(self.allowed, self.resolve)
        self._pool = httpcore2.ConnectionPool(max_connections=CONNECTIONS, network_backend=self._backend)

    @property
    def at_once(self) -> int:
        """How many requests may run beside each other: one, where the site wants to be asked slowly."""
        return 1 if self.delay or self._was_busy else CONNECTIONS

    def get(self, address: Address, known: Mapping[str, str] | None = None) -> Fetched:
        """The answer for an address; 304 where the page is as `known` (ETag, Last-Modified) says. No redirect is
        followed; a server that says when it wants to be asked again is asked then. Raises Unanswered, and Forbidden
        where the host may not be asked."""
        if address.host != self.start.host:
            raise Forbidden(f"{address.host} is not {self.start.host}: nothing was asked")
        for tries in range(1, MOST_TRIES + 1):
            self._pause()
            answer = self._once(address, known or {})
            if answer.status not in _BUSY or tries == MOST_TRIES:
                return answer
            wait = _wait(answer.headers.get("retry-after", ""), tries)
            with self._lock:
                self._was_busy, self._not_before = True, max(self._not_before, time.monotonic() + wait)
        raise Unanswered("the server is busy")

    def follow(self, address: Address) -> Fetched:
        """As `get`, with redirects followed that stay with the origin. Raises Unanswered, Forbidden."""
        here = address
        for _ in range(MOST_HOPS):
            answer = self.get(here)
            if answer.status not in REDIRECTS:
                return answer
            there = answer.leads_to
            if there is None or there.origin != here.origin:
                raise Unanswered(f"it leads away, to {answer.headers.get('location', '')[:200]}")
            here = there
        raise Unanswered(f"it leads on more than {MOST_HOPS} times")

    def _pause(self) -> None:
        """Wait for this request's turn: none of any thread begins before it."""
        with self._lock:
            begins = max(self._not_before, self._last + self.delay if self._last else 0.0)
            if (left := begins - time.monotonic()) > 0:
                self.sleep(left)
            self.requests += 1
            self._last = time.monotonic()

    def _once(self, address: Address, known: Mapping[str, str]) -> Fetched:
        self._backend.clock.ends = time.monotonic() + self.timeout
        try:
            with self._pool.stream(
                "GET",
                str(address).encode("ascii"),
                headers=self._headers(address, known),
                extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), STEP_S)},
            ) as response:
                headers = {
                    name.lower().decode("ascii", "replace"): value.decode("latin-1")[:_LONGEST_HEADER]
                    for name, value in response.headers
                    if name.lower() in _KEPT
                }
                data = self._body(response) if response.status == 200 else self._drain(response)
                return Fetched(address, response.status, headers, data)
        except httpcore2.TimeoutException as error:
            raise Unanswered("it took too long to answer") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise Unanswered(f"it does not answer ({error or type(error).__name__})") from error

    def _headers(self, address: Address, known: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        host = f"[{address.host}]" if ":" in address.host else address.host
        said = {
            "Host": host if address.port == PORTS[address.scheme] else f"{host}:{address.port}",
            "User-Agent": self._agent,
            "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip",
        }
        if etag := known.get("etag"):
            said["If-None-Match"] = etag
        if since := known.get("last-modified"):
            said["If-Modified-Since"] = since
        if self.authorization and address.origin == self.start.origin:
            said["Authorization"] = self.authorization
        return [(name.encode(), value.encode("latin-1", "ignore")) for name, value in said.items()]

    def _body(self, response: httpcore2.Response) -> bytes:
        packed = {name.lower(): value.lower() for name, value in response.headers}
        coding = packed.get(b"content-encoding", b"identity").strip() or b"identity"
        if coding not in {b"identity", b"gzip", b"x-gzip"}:
            raise Unanswered(
                f"it is packed in a way that was not asked for ({coding[:40].decode('latin-1')})"
            )
        unpack = zlib.decompressobj(wbits=31) if coding != b"identity" else None
        body = bytearray()
        try:
            for piece in response.iter_stream():
                body += unpack.decompress(piece, self.most + 1 - len(body)) if unpack else piece
                if len(body) > self.most:
                    raise Unanswered(f"it is larger than {self.most:,} bytes")
        except zlib.error as error:
            raise Unanswered("it is not packed as it says") from error
        if unpack and not unpack.eof:
            raise Unanswered("it is cut short")
        return bytes(body)

    @staticmethod
    def _drain(response: httpcore2.Response) -> bytes:
        """Read a short body, so that the connection serves the next request; nothing of it counts."""
        left = _DRAINED
        for piece in response.iter_stream():
            left -= len(piece)
            if left < 0:
                break
        return b""

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def _wait(said: str, tries: int) -> float:
    """Seconds until the next try. Raises Unanswered where the server wants more than there is patience for."""
    seconds = float(said[:9]) if said.isdecimal() else float(tries)
    if said and not said.isdecimal():
        with suppress(ValueError, TypeError):
            seconds = max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    if seconds > LONGEST_WAIT_S:
        raise Unanswered(f"the server wants to be asked again in {seconds:,.0f} seconds")
    return seconds
