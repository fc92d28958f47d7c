"""How the server is: health, metrics, and its own description."""

import asyncio
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from equipoise.apps.server.access import Admin, Asker, Serving
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.schemas import Health, errors
from equipoise.apps.server.service import Service
from equipoise.core.errors import EquipoiseError

router = APIRouter(tags=["state"])


@router.get("/healthz", summary="Whether the process lives")
async def healthz() -> Health:
    """Always `alive`, as long as the process answers."""
    return Health(status="alive")


@router.get(
    "/readyz",
    summary="Whether it answers questions",
    response_model=Health,
    responses={503: {"model": Health, "description": "Not yet, or not any more."}},
)
async def readyz(service: Serving) -> Response:
    """200 once all is loaded; 503 before, while the server stops, and if the index or a required record fails."""
    status = "stopping" if service.is_draining else "ready" if service.is_ready else "starting"
    await service.renew()
    if status == "ready" and not await asyncio.to_thread(_reads, service):
        status = "no index"
    if status == "ready" and service.settings.serve.record and not _records(service):
        status = "no record"
    said = {"status": status} | ({} if service.is_recording else {"record": "failing"})
    return JSONResponse(said, 200 if status == "ready" else 503)


def _reads(service: Service) -> bool:
    try:
        service.store.counts()
    except EquipoiseError:
        return False
    return True


def _records(service: Service) -> bool:
    """Whether the audit log can be written; tried again if it could not be."""
    if not service.is_recording:
        with suppress(ApiError), service.recording():
            service.audit.write({"ended": "tried"})
    return service.is_recording


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    responses={
        200: {
            "content": {"text/plain": {"schema": {"type": "string"}}},
            "description": "Prometheus' text form.",
        },
        **errors(),
    },
)
async def metrics(service: Serving, key: Admin) -> Response:
    """Requests, questions by how they ended, tokens, and the queue."""
    service.metrics.watch(service.queue.running, service.queue.waiting)
    return Response(service.metrics.page(), media_type=CONTENT_TYPE_LATEST)


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, key: Asker) -> JSONResponse:
    """The description of all routes."""
    described: dict[str, Any] = request.app.openapi()
    return JSONResponse(described)
