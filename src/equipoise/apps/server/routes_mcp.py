"""/mcp: the tools of `integrations.mcp` behind the server's keys, limits and audit log; only with the extra `mcp`.

Requests are stateless (no sessions), so that any process may answer them. A key may do what it may do elsewhere:
questions and searches count as questions, `serve.documents` says who may read, lists are for admins.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from equipoise.apps.server.access import Asker, document_for, may_read, only_admins
from equipoise.apps.server.answering import Ask, begin, check_ready
from equipoise.apps.server.errors import ApiError, as_api_error
from equipoise.apps.server.keys import Key
from equipoise.apps.server.service import Service
from equipoise.apps.server.views import for_strangers, shown_source
from equipoise.core.results import Answer, Refusal
from equipoise.core.types import Document, Passage
from equipoise.core.where import Given
from equipoise.integrations.mcp import LibraryBackend, server_for
from equipoise.integrations.mcp_http import WellFormed
from equipoise.integrations.mcp_schemas import DocumentRow
from equipoise.rag.gathering import checked

SEARCH = "search"
"""What stands in the audit log in the place of a model."""
Handle = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class KeyBackend:
    """The service for whoever holds `key`. See `integrations.mcp.Backend`."""

    service: Service
    key: Key
    request_id: str

    async def ask(
        self, question: str, before: Sequence[str], *, others: bool = False, where: Given | None = None
    ) -> Answer | Refusal:
        """As POST /v1/ask."""
        asked = Ask(question, self.key, self.request_id, tuple(before), others=others, where=where)
        turn = await begin(self.service, asked)
        try:
            return for_strangers(turn.theirs(await turn.task))
        finally:
            turn.task.cancel()

    async def search(
        self, words: str, k: int, where: Given | None = None
    ) -> tuple[Sequence[Passage], Sequence[Passage]]:
        """Counts as a question; needs what reading documents needs. Raises ApiError, OverLimit and Busy."""
        may_read(self.service, self.key)
        check_ready(self.service)
        checked(words)
        seen = Ask(words, self.key, self.request_id, where=where).call().where
        async with self._counted(words), asyncio.timeout(self.service.settings.serve.timeout):
            return await self._library.search(words, k, seen)

    async def document(self, doc_id: str) -> Document:
        """As GET /v1/documents/ID/text, held documents left out."""
        return await asyncio.to_thread(document_for, self.service, self.key, doc_id, for_model=True)

    async def rows(self) -> Sequence[DocumentRow]:
        """As GET /v1/documents, held documents left out."""
        only_admins(self.key)
        rows = await self._library.rows()
        return [row.model_copy(update={"source": self.shown(row.source)}) for row in rows]

    async def may_list(self) -> bool:
        return self.key.is_admin

    def shown(self, source: str) -> str:
        return shown_source(source)

    def explained(self, error: Exception) -> str:
        """The sentence that other routes answer with, and when to try again."""
        api_error = as_api_error(error)
        again = (api_error.headers or {}).get("Retry-After")
        return f"{api_error.detail} Try again in {again} seconds." if again else str(api_error.detail)

    @property
    def _library(self) -> LibraryBackend:
        return LibraryBackend(self.service.library)

    @asynccontextmanager
    async def _counted(self, words: str) -> AsyncIterator[None]:
        """Let a search in as a question is, and write it into the audit log."""
        service, began, ended = self.service, perf_counter(), "failed"
        with service.recording():
            service.keys.admit(self.key)
        try:
            await service.queue.enter(self.key.key_id)
        except BaseException:
            service.keys.give_back(self.key)
            raise
        try:
            yield
            ended = "answered"
        finally:
            service.queue.leave()
            entry = {"request": self.request_id, "key": self.key.key_id, "model": SEARCH, "ended": ended}
            seconds = {"seconds": round(perf_counter() - began, 4)}
            with suppress(ApiError), service.recording():
                service.audit.write(entry | seconds | service.audit.question(words))


class _Handled(Response):
    """A response that another ASGI application sends."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._handle(scope, receive, send)


def mcp_router() -> APIRouter:
    """The route; its session manager runs as long as the application. The edge checks hosts and origins."""
    served = server_for(_backend)

    @asynccontextmanager
    async def running(app: Any) -> AsyncIterator[None]:  # noqa: ANN401
        app.state.mcp = StreamableHTTPSessionManager(served, stateless=True)
        async with app.state.mcp.run():
            yield

    router = APIRouter(tags=["for clients of MCP"], lifespan=running)

    @router.post("/mcp", include_in_schema=False)
    async def mcp(request: Request, key: Asker) -> Response:
        """JSON-RPC as the Model Context Protocol has it; the tools describe themselves."""
        request.state.key = key
        return _Handled(WellFormed(request.app.state.mcp.handle_request))

    return router


def _backend(request: Request) -> KeyBackend:
    return KeyBackend(request.app.state.service, request.state.key, request.state.request_id)
