"""/v1/sources: the sources that the index follows. Those whose `every` has passed are synced by themselves, and one at
once when an admin's key asks for it.

A request to sync a source is stored with it, so that it survives the process and reaches whichever of several
processes, or worker, reads sources.
"""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field

from equipoise.apps.fresh import POLL_S, Turns
from equipoise.apps.known_sources import known
from equipoise.apps.server.access import Admin, Serving
from equipoise.apps.server.alone import alone, to_its_end
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.schemas import errors
from equipoise.apps.server.service import Service
from equipoise.core.protocols import Encoder
from equipoise.corpus.sources.memory import Memory
from equipoise.corpus.sources.source import of_source
from equipoise.corpus.store import Store

router = APIRouter(tags=["sources"])
SourceId = Annotated[str, PathParameter(pattern="^[0-9a-f]{16}$", examples=["6cbe36ad97c0e5d1"])]


class SourceInfo(BaseModel):
    """A source: its documents in the index, when it was last read, and what went wrong then."""

    id: str
    address: str
    trust: Literal["trusted", "untrusted"]
    every: str
    pages: int
    comments: int = Field(description="Of readers, below its pages: documents of their own, untrusted.")
    read: str = Field(description="Empty before the first time.")
    error: str
    in_settings: bool
    state: Literal["idle", "waiting", "running"]
    progress: str = Field(description="How far it is while it is being read, and by which process.")


class SourceList(BaseModel):
    """All sources."""

    object: str = "list"
    data: list[SourceInfo]


@router.get("/v1/sources", summary="List the sources", responses=errors(400))
async def listing(service: Serving, key: Admin) -> SourceList:
    """Those of the settings, then those that were only indexed."""
    return SourceList(data=await asyncio.to_thread(_listed, service))


@router.post(
    "/v1/sources/{source_id}/sync",
    status_code=202,
    summary="Bring the index up to date with a source",
    responses=errors(400, 404),
)
async def sync(source_id: SourceId, service: Serving, key: Admin) -> SourceInfo:
    """Soon, in the background: can be the webhook of what publishes there. Poll `state`; see `read`, `error`."""
    every = await asyncio.to_thread(_listed, service)
    one = next((one for one in every if one.id == source_id), None)
    if one is None:
        raise ApiError(404, "There is no such source.", code="no_source")
    await asyncio.to_thread(_ask, service, one.address)
    return one.model_copy(update={"state": "running" if one.state == "running" else "waiting"})


async def keep_fresh(service: Service) -> None:
    """Read sources that are due or asked for, one after the other, until cancelled; in one process of several."""
    if not service.settings.serve.sync:
        return

    def changed(store: Store) -> None:
        service.store.read_after(store.written())

    def encoder(_: Store) -> Encoder:
        return service.library.components.encoder

    async with alone(service.folder / "sources.lock"):
        with await asyncio.to_thread(Memory, service.settings.store.path) as memory:
            turns = Turns(service.settings, memory, encoder, changed)
            while True:
                await to_its_end(turns.next, turns.stopping.set)
                await asyncio.sleep(POLL_S)


def _ask(service: Service, address: str) -> None:
    with Memory(service.settings.store.path) as memory:
        memory.ask(address)


def _listed(service: Service) -> list[SourceInfo]:
    every, files = known(service.settings), service.store.files()
    return [SourceInfo.model_validate(one.row(of_source(files, one.address))) for one in every]
