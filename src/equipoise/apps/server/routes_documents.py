"""/v1/documents and /v1/jobs: what the index holds, for those who may change it, and its text for those who may ask."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from equipoise.apps.documents import as_dict
from equipoise.apps.server import scanning
from equipoise.apps.server.access import Admin, Reader, Serving, document_for
from equipoise.apps.server.errors import ApiError, for_admin
from equipoise.apps.server.jobs import Job, State
from equipoise.apps.server.layout import Node, laid_out
from equipoise.apps.server.schemas import errors
from equipoise.apps.server.service import Service
from equipoise.apps.server.uploads import checked_name, received
from equipoise.apps.server.views import shown_source
from equipoise.audit.scan import Reach, Severity
from equipoise.core.errors import InputError
from equipoise.core.types import Trust
from equipoise.core.where import as_where
from equipoise.corpus import catalogue
from equipoise.corpus.places import Places
from equipoise.corpus.record_types import ListedDocument
from equipoise.corpus.roots import writer_of
from equipoise.corpus.store import Store
from equipoise.rag.gathering import unread

router = APIRouter(tags=["documents"])

MOST_TEXT = 20_000
"""Characters of one answer."""
MOST_LISTED = 1_000
_LARGEST = 2**53
DocId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", examples=["6cbe36ad97c0e5d1"])]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
JobId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
Offset = Annotated[int, Query(ge=0, le=_LARGEST)]
Offsets = Annotated[tuple[Annotated[int, Field(ge=0, le=_LARGEST)], ...], Query(max_length=64)]
Change = Callable[[Store, tuple[ListedDocument, ...]], None]
_BYTES = {
    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}


class DocumentRow(BaseModel):
    """A document of the index."""

    doc_id: str
    source: str
    title: str
    trust: Trust
    passages: int
    metadata: dict[str, str | int | float | bool]


class DocumentList(BaseModel):
    """Documents in the order of the index."""

    object: str = "list"
    data: list[DocumentRow]
    has_more: bool


class FindingInfo(BaseModel):
    """Something in a document that a person should look at. All of it is text: nothing in it is to be run."""

    rule: str
    severity: Severity
    reach: Reach
    page: int | None
    line: int | None
    heading: str
    start: int
    end: int
    excerpt: str
    why: str


class ScanInfo(BaseModel):
    """What a scan found: the first of `total` findings, the worst first. `not_run` are parts that did not run."""

    findings: list[FindingInfo]
    total: int
    failure: str
    not_run: list[str]


class DocumentInfo(BaseModel):
    """What there is to read of a document."""

    doc_id: str
    source: str
    title: str
    trust: Trust
    characters: int
    pages: int = Field(description="0 where the format has none.")
    pictures: bool = Field(description="Whether its pages can be seen.")
    notice: str | None = Field(description="What the encoder does not read of it.")
    scan: ScanInfo | None = Field(
        description="For admins: what the scan of a document found that was handed in."
    )


class TextSlice(BaseModel):
    """A part of a document's text; offsets are code points."""

    doc_id: str
    start: int
    end: int
    characters: int
    page: int | None
    text: str
    layout: list[Node] = Field(default_factory=list, description="With `layout=true`: how it is set.")


class TrustBody(BaseModel):
    """The new trust of a document: `untrusted` lets one in that was `held` back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"trust": "untrusted"}]})

    trust: Trust


class Changed(BaseModel):
    """How many documents were changed: all of the same file."""

    documents: int


class JobError(BaseModel):
    """Why a document could not be read."""

    message: str


class JobInfo(BaseModel):
    """A document on its way into the index: `done` of `total` passages."""

    id: str
    name: str
    trust: Trust
    state: State
    done: int
    total: int
    documents: list[str]
    error: JobError | None
    created: str
    ended: str | None


class JobList(BaseModel):
    """The newest jobs first."""

    object: str = "list"
    data: list[JobInfo]


@router.post(
    "/v1/documents",
    status_code=202,
    summary="Hand a document in",
    openapi_extra=_BYTES,
    responses=errors(400, 409, 415),
)
async def upload(
    request: Request,
    service: Serving,
    key: Admin,
    name: Annotated[str, Query(max_length=400, examples=["handbook.pdf"])],
    trust: Trust = Trust.TRUSTED,
    collection: Annotated[str, Query(pattern="^([a-z0-9][a-z0-9_-]{0,63})?$", examples=["acme"])] = "",
) -> JobInfo:
    """The body is the file. It is on the disk when this answers, and is read in the background: watch the job.

    A document of the same name in the same collection takes the place of the one before; only a trusted one takes that
    of a trusted one (else 409; the job fails if only the scan shows it). An untrusted one in which a scan finds
    instructions to a model or hidden text is held back (`trust.hold`): nothing reads it until an admin marks it as
    untrusted.
    All that is handed in with one key counts as one author.
    """
    known = checked_name(name)
    await asyncio.to_thread(service.jobs.check_trust, service.store, known, trust, collection)
    job_id, place = service.jobs.room()
    await received(request.stream(), place, known)
    return _job(service.jobs.accept(job_id, known, trust, writer_of(key.key_id), collection))


@router.get("/v1/documents", summary="List documents", responses=errors(400, 404))
async def listing(
    service: Serving,
    key: Admin,
    limit: Limit = 100,
    after: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$", description="The last one seen.")] = None,
    trust: Annotated[Trust | None, Query(description="Only documents of this trust.")] = None,
    where: Annotated[
        str | None, Query(max_length=2_000, description="Only documents that this filter means.")
    ] = None,
) -> DocumentList:
    """In the order of the index."""
    try:
        chosen = as_where(where)
    except InputError as error:
        raise for_admin(error) from None
    every = await asyncio.to_thread(service.library.documents, chosen)
    ids = [document.doc_id for document in every]
    if after is not None and after not in ids:
        raise _unknown()
    first = ids.index(after) + 1 if after else 0
    left = [document for document in every[first:] if trust in (None, document.trust)]
    return DocumentList(data=[_row(document) for document in left[:limit]], has_more=limit < len(left))


@router.get(
    "/v1/documents/{doc_id}", summary="What there is to read of a document", responses=errors(400, 404)
)
async def show(doc_id: DocId, service: Serving, key: Reader) -> DocumentInfo:
    """Its title, its length and its pages."""
    document = await asyncio.to_thread(document_for, service, key, doc_id)
    path = (service.store.file_of(doc_id) or "").lower()
    return DocumentInfo(
        doc_id=doc_id,
        source=shown_source(document.source),
        title=document.title,
        trust=document.trust,
        characters=len(document.text),
        pages=len(document.pages),
        pictures=bool(document.pages) and path.endswith(".pdf"),
        notice=unread(document.text, "The document", service.library.components.encoder) or None,
        scan=_scan(service, doc_id) if key.is_admin else None,
    )


@router.get("/v1/documents/{doc_id}/text", summary="Read a part of a document", responses=errors(400, 404))
async def text(
    doc_id: DocId,
    service: Serving,
    key: Reader,
    start: Offset = 0,
    end: Offset = _LARGEST,
    layout: bool = False,
) -> TextSlice:
    """At most 20,000 characters from `start` on. It is text: nothing in it is to be run."""
    document = await asyncio.to_thread(document_for, service, key, doc_id)
    first = min(start, len(document.text))
    last = max(min(end, len(document.text), first + MOST_TEXT), first)
    return TextSlice(
        doc_id=doc_id,
        start=first,
        end=last,
        characters=len(document.text),
        page=document.page_at(first),
        text=document.text[first:last],
        layout=laid_out(document, first, last) if layout else [],
    )


@router.get(
    "/v1/documents/{doc_id}/pages/{number}.png",
    summary="See a page of a PDF",
    response_class=Response,
    responses={
        200: {
            "content": {"image/png": {"schema": {"type": "string"}}},
            "description": "The page, the span marked.",
        },
        **errors(400, 404, 422),
    },
)
async def page(
    doc_id: DocId,
    number: Annotated[int, Path(ge=1, le=100_000)],
    service: Serving,
    key: Reader,
    start: Offsets = (),
    end: Offsets = (),
) -> Response:
    """Marks the characters from each `start` to its `end`; `X-Marks` has their rectangles as left,top,right,bottom, in
    shares of width and height, with ; between them. Text that is not found on the page is not marked."""
    document = await asyncio.to_thread(document_for, service, key, doc_id)
    ranges = tuple(zip(start, end, strict=False))
    picture = await asyncio.to_thread(service.pages.picture, document, number, ranges)
    marks = ";".join(",".join(f"{share:.4f}" for share in mark) for mark in picture.marks)
    return Response(picture.png, media_type="image/png", headers={"X-Marks": marks})


@router.get(
    "/v1/documents/{doc_id}/original",
    summary="Fetch the file a document came from",
    response_class=Response,
    responses={
        200: {
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            "description": "The file as it was indexed.",
        },
        **errors(400, 404),
    },
)
async def original(doc_id: DocId, service: Serving, key: Reader) -> Response:
    """If `serve.originals` allows it. It is sent as a download, which no browser shows as a page of this server."""
    if not service.settings.serve.originals:
        raise ApiError(404, "Files cannot be fetched here; read their text instead.", code="no_file")
    document = await asyncio.to_thread(document_for, service, key, doc_id)
    data, name = await asyncio.to_thread(service.pages.original, document, alone=key.where is not None)
    kept = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(data, media_type="application/octet-stream", headers=kept)


@router.patch(
    "/v1/documents/{doc_id}", summary="Say who may have written a document", responses=errors(400, 404)
)
async def trust(doc_id: DocId, body: TrustBody, service: Serving, key: Admin) -> Changed:
    """Sets the trust of all documents of the same file."""

    def change(store: Store, chosen: tuple[ListedDocument, ...]) -> None:
        store.set_trust([document.doc_id for document in chosen], body.trust)

    return Changed(documents=len(await asyncio.to_thread(_changed, service, doc_id, change)))


@router.delete("/v1/documents/{doc_id}", summary="Take a document out", responses=errors(400, 404))
async def delete(doc_id: DocId, service: Serving, key: Admin) -> Changed:
    """Takes out all documents of the same file. A file of an indexed folder comes back when that is indexed again."""
    gone = await asyncio.to_thread(_changed, service, doc_id, catalogue.remove)
    places = Places(service.store.folder)
    for path in {document.path for document in gone if document.path}:
        service.jobs.forget_file(places.path(path))
    scanning.forget(service.jobs.book, [document.doc_id for document in gone])
    return Changed(documents=len(gone))


@router.get("/v1/jobs", summary="Documents on their way", responses=errors(400))
async def jobs(service: Serving, key: Admin, limit: Limit = 20) -> JobList:
    """The newest first."""
    return JobList(data=[_job(job) for job in service.jobs.latest(limit)])


@router.get("/v1/jobs/{job_id}", summary="How far a document is", responses=errors(400, 404))
async def job(job_id: JobId, service: Serving, key: Admin) -> JobInfo:
    """`waiting`, `running`, `done` or `failed`."""
    job = service.jobs.find(job_id)
    if job is None:
        raise ApiError(404, "There is no such job.", code="no_job")
    return _job(job)


def _changed(service: Service, doc_id: str, change: Change) -> tuple[ListedDocument, ...]:
    """Apply `change` to all documents of the file that `doc_id` came from; returns them. Raises ApiError 404."""
    with Store.open(service.settings.store.path) as store:
        every = store.listing()
        chosen = catalogue.with_siblings([document for document in every if document.doc_id == doc_id], every)
        if not chosen:
            raise _unknown()
        change(store, chosen)
        service.store.read_after(store.written())
    return chosen


def _unknown() -> ApiError:
    return ApiError(404, "There is no such document.", code="no_document")


def _scan(service: Service, doc_id: str) -> ScanInfo | None:
    kept = scanning.of_document(service.jobs.book, doc_id)
    if kept is None:
        return None
    return ScanInfo.model_validate(asdict(kept))


def _row(document: ListedDocument) -> DocumentRow:
    return DocumentRow.model_validate(as_dict(document) | {"source": shown_source(document.source)})


def _job(job: Job) -> JobInfo:
    error = {"message": job.error} if job.error else None
    return JobInfo.model_validate(
        asdict(job) | {"id": job.job_id, "error": error, "ended": job.ended or None}
    )
