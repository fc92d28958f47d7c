"""Requests that the server makes by itself: to the operator's CAPTCHA service, and to the operator's webhook."""

import asyncio
import json
import logging
from dataclasses import dataclass, field
from typing import Any

from equipoise.models.transport import HTTPX, BoundedClient

LOG = logging.getLogger("equipoise")
PATIENCE_S = 5.0
MOST_WAITING = 100
"""Most questions that wait for the webhook; it is not told of more."""
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


async def posted(url: str, content: bytes, kind: str) -> bytes:
    """POST to `url`; returns the response's body. No redirect is followed. Raises OSError if it fails or is late."""
    try:
        async with (
            asyncio.timeout(PATIENCE_S),
            BoundedClient(timeout_s=PATIENCE_S, headers={"Content-Type": kind}) as client,
        ):
            reply = await client.post(url, content=content)
    except (HTTPX.HTTPError, HTTPX.InvalidURL, TimeoutError) as error:
        raise OSError(type(error).__name__) from error
    if not reply.is_success:
        raise OSError(f"status {reply.status_code}")
    body: bytes = reply.content
    return body


@dataclass(frozen=True, slots=True)
class Webhook:
    """Tells `url` of questions without an answer, one after the other, in the background; None: there is no webhook."""

    url: str | None
    _waiting: "asyncio.Queue[dict[str, Any]]" = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))

    def tell(self, entry: dict[str, Any]) -> None:
        """Put it into the queue, where there is room."""
        if self.url is None:
            return
        try:
            self._waiting.put_nowait(entry)
        except asyncio.QueueFull:
            LOG.warning("the webhook is too slow: a question without an answer is not told")

    async def run(self) -> None:
        """Work until cancelled."""
        while self.url is not None:
            entry = await self._waiting.get()
            try:
                await posted(self.url, json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace"), JSON)
            except OSError as error:
                LOG.warning("the webhook takes nothing (%s)", error)
