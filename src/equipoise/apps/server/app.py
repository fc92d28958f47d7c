"""The application: all routes over one service."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response

from equipoise.apps.server import (
    routes_ask,
    routes_chat,
    routes_docs,
    routes_documents,
    routes_operation,
    routes_sources,
    routes_state,
)
from equipoise.apps.server.edge import Edge
from equipoise.apps.server.errors import answer_errors
from equipoise.apps.server.query import check_query
from equipoise.apps.server.routes_page import page_router
from equipoise.apps.server.service import Service
from equipoise.apps.server.streaming import ClientLeft
from equipoise.core.errors import EquipoiseError
from equipoise.core.settings import Settings

LOG = logging.getLogger("equipoise")
CLIENT_LEFT = 499
"""The status in metrics of a request whose client has left; nobody receives it."""


def create_app(opened: Callable[[], Service]) -> FastAPI:
    """The application over the service that `opened` opens when it starts."""
    app = FastAPI(
        title="equipoise",
        version=metadata.version("equipoise"),
        description="Question answering over documents: who asks cannot instruct the model that writes the answer.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[Depends(check_query)],
        lifespan=partial(_life, opened=opened),
    )
    for module in (
        routes_ask,
        routes_chat,
        routes_docs,
        routes_documents,
        routes_operation,
        routes_sources,
        routes_state,
    ):
        app.include_router(module.router)
    if find_spec("mcp"):
        from equipoise.apps.server.routes_mcp import mcp_router  # noqa: PLC0415 - an extra of its own

        app.include_router(mcp_router())
    app.include_router(page_router())
    answer_errors(app)

    @app.exception_handler(ClientLeft)
    async def left(_request: Request, _error: ClientLeft) -> Response:
        return Response(status_code=CLIENT_LEFT)

    app.openapi = partial(_described, app, app.openapi)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _life(app: FastAPI, opened: Callable[[], Service]) -> AsyncIterator[None]:
    service = await asyncio.to_thread(opened)
    app.state.service = service
    work = (service.warm(), service.jobs.run(), service.webhook.run(), routes_sources.keep_fresh(service))
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(service.close)


def with_edge(app: FastAPI, settings: Settings) -> Edge:
    """`app` behind its outermost layer."""

    def service() -> Service:
        serving: Service = app.state.service
        return serving

    def seen(method: str, route: str, status: int, seconds: float) -> None:
        service().metrics.request(method, route, status, seconds)

    return Edge(
        app,
        settings.serve.body,
        settings.serve.upload,
        frozenset(settings.public.origins),
        is_draining=lambda: service().is_draining,
        is_open=lambda: _is_unlocked(service()),
        seen=seen,
    )


def _is_unlocked(service: Service) -> bool:
    try:
        return service.is_unlocked
    except EquipoiseError:
        LOG.exception("the keys cannot be read")
        return False


def _described(app: FastAPI, described: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """OpenAPI without FastAPI's own form of an error, which nothing here answers with."""
    schema = described()
    for path in schema["paths"].values():
        for operation in path.values():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)
    return schema
