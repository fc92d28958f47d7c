"""Server-sent events, and giving up the work of a client that has left."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import TypeVar

from fastapi import Request
from fastapi.responses import StreamingResponse

from equipoise.apps.server.answering import Turn
from equipoise.rag.events import Event

PING_S = 15.0
"""Seconds of silence after which a comment keeps the connection open."""
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
T = TypeVar("T")


class ClientLeft(Exception):
    """Nobody waits for the answer any more."""


def stream(lines: AsyncIterator[str]) -> StreamingResponse:
    """`lines` as an event stream."""
    return StreamingResponse(lines, media_type="text/event-stream", headers=HEADERS)


def data(value: object, event: str = "") -> str:
    """One server-sent event."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n"


async def events(turn: Turn) -> AsyncIterator[Event | None]:
    """The events of a question; None after each PING_S without one. To stop iterating cancels the work."""
    try:
        while True:
            try:
                async with asyncio.timeout(PING_S):
                    event = await turn.events.get()
            except TimeoutError:
                yield None
                continue
            if event is None:
                return
            yield event
    finally:
        turn.task.cancel()


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, which is cancelled when the client leaves. Raises ClientLeft then."""
    task = asyncio.ensure_future(work)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientLeft
        return await task
    finally:
        for running in (task, gone):
            running.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await running


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
