"""/v1/sources: what the index is kept up to date with. Those whose `every` has passed are read again by themselves, and
one at once when an admin's key asks for it.

A request to read a source is a file in the folder of the server, so that it outlives the process and reaches whichever
process of several holds the lock and reads.
"""

import asyncio
import fcntl
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field

from equipoise.apps.known_sources import Known, known
from equipoise.apps.server.access import Admin, Serving
from equipoise.apps.server.errors import LOG, ApiError
from equipoise.apps.server.schemas import errors
from equipoise.apps.server.service import Service
from equipoise.audit.scan.holding import Holding
from equipoise.core.errors import EquipoiseError
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.sources.source import of_source
from equipoise.corpus.store import Store
from equipoise.corpus.writing import IndexProgress

router = APIRouter(tags=["sources"])
POLL_S = 1.0
_WAITING, _RUNNING = ".waiting", ".running"
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


class SourceList(BaseModel):
    """All of them."""

    object: str = "list"
    data: list[SourceInfo]


@router.get("/v1/sources", summary="List the sources", responses=errors())
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
    """Soon, in the background: a webhook for what publishes there. Look at `state`, then `read` and `error`."""
    every = await asyncio.to_thread(_listed, service)
    one = next((one for one in every if one.id == source_id), None)
    if one is None:
        raise ApiError(404, "There is no such source.", code="no_source")
    mark = _folder(service) / f"{source_id}{_WAITING}"
    await asyncio.to_thread(mark.touch)
    return one.model_copy(update={"state": _state(service, source_id)})


async def keep_fresh(service: Service) -> None:
    """Read sources that are due or asked for, one after the other, until cancelled; in one process of several."""
    stopping = Event()
    with (_folder(service) / "lock").open("ab") as lock:
        while not _locked(lock.fileno()):  # noqa: ASYNC110 - another process holds it
            await asyncio.sleep(POLL_S)
        for mark in _folder(service).glob(f"*{_RUNNING}"):  # of a process that died
            mark.replace(mark.with_suffix(_WAITING))
        while True:
            work = asyncio.ensure_future(asyncio.to_thread(_sync_next, service, stopping))
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                stopping.set()
                with suppress(Exception):
                    await work
                raise
            await asyncio.sleep(POLL_S)


def _sync_next(service: Service, stopping: Event) -> None:
    """Read the source whose turn it is."""
    try:
        waiting = {mark.stem for mark in _folder(service).glob(f"*{_WAITING}")}
        every = known(service.settings)
        turn = next((one for one in every if one.source_id in waiting), None)
        turn = turn or next((one for one in every if one.is_due), None)
        if turn is not None:
            _sync(service, turn, stopping)
    except _Stopped:
        return
    except Exception:  # noqa: BLE001 - the next one may be read
        LOG.exception("sources cannot be read")


class _Stopped(Exception):
    """The server ends: the source is read again when it starts."""


def _sync(service: Service, one: Known, stopping: Event) -> None:
    def step(_: IndexProgress) -> None:
        if stopping.is_set():
            raise _Stopped

    waiting, running = (_folder(service) / f"{one.source_id}{ending}" for ending in (_WAITING, _RUNNING))
    waiting.touch()
    waiting.replace(running)
    with Store.open(service.settings.store.path) as store, Holding() as holding:
        judge = holding if service.settings.trust.hold == "always" else None
        encoder = service.library.components.encoder
        try:
            sync_source(one.chosen, store, encoder, progress=step, judge=judge)
        except EquipoiseError as error:
            LOG.warning("%s was not read: %s", one.address, error)
        finally:
            service.store.read_after(store.written())
    running.unlink(missing_ok=True)


def _listed(service: Service) -> list[SourceInfo]:
    every, files = known(service.settings), service.store.files()
    return [
        SourceInfo.model_validate(
            one.row(of_source(files, one.address)) | {"state": _state(service, one.source_id)}
        )
        for one in every
    ]


def _state(service: Service, source_id: str) -> str:
    if (_folder(service) / f"{source_id}{_RUNNING}").exists():
        return "running"
    return "waiting" if (_folder(service) / f"{source_id}{_WAITING}").exists() else "idle"


def _folder(service: Service) -> Path:
    folder = service.folder / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
