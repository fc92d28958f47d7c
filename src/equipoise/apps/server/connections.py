"""Limits connections: the head of a request must come in time, and one address cannot keep out all others."""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""Seconds in which the head of a request must have come."""
SHARE = 4
"""One address may hold one SHARE-th of all connections."""
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


class Connection(H11Protocol):
    """One of at most `most` connections. If there are more, of one address or in all, the oldest without a complete
    request is closed; if all are being answered, the new one is refused before any work."""

    def __init__(self, *given: Any, most: int, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*given, **named)
        self._most, self._began = most, self.loop.time()
        self._late: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no complete request is being answered on it."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        every = cast("set[Connection]", self.connections)
        host = self.client and self.client[0]
        alike = [one for one in every if one.client and one.client[0] == host]
        crowd = alike if len(alike) > self._most // SHARE else every if len(every) > self._most else ()
        waiting = [one for one in crowd if one.is_waiting and one is not self]
        if waiting:
            oldest = min(waiting, key=lambda one: one._began)
            every.discard(oldest)
            oldest.transport.abort()
        elif crowd:
            transport.write(_FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget()

    def _watch(self) -> None:
        """Start the timeout of the next head, if none runs; stop it when the head is complete."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(HEAD_S, self.transport.abort)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
