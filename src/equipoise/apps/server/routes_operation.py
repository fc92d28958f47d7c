"""/v1/feedback for who asked; for admins /v1/questions, /v1/usage and /v1/keys, as JSON or as CSV for a spreadsheet."""

import asyncio
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from equipoise.apps.server.access import Admin, Serving, Visitor
from equipoise.apps.server.answers import LONGEST_COMMENT, AskedQuestion, View
from equipoise.apps.server.completions import REPLY
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.keys import Key, visitors
from equipoise.apps.server.schemas import errors
from equipoise.apps.server.service import Service
from equipoise.core.where import key_of

router = APIRouter(tags=["operation"])

RATINGS = {"up": 1, "down": -1, "none": 0}
FORMULA = re.compile(r"""(?<![;\s"'])[;\s"']*+(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""What may come before a formula sign at the beginning of a cell: many spreadsheets also separate cells at semicolons
or tabs, and then without regard to quotes."""
Days = Annotated[int, Query(ge=1, le=3650)]
Form = Annotated[Literal["json", "csv"], Query()]


class Feedback(BaseModel):
    """A rating of an answer by whoever asked; a later one replaces it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(
        pattern=f"^({REPLY})?[0-9a-f]{{32}}$", description="That of the answer.", examples=["0" * 32]
    )
    rating: Literal["up", "down", "none"]
    comment: str = Field(default="", max_length=LONGEST_COMMENT)


class Rated(BaseModel):
    """The rating that is kept."""

    rating: str


class Questions(BaseModel):
    """Questions in the order of the view."""

    object: str = "list"
    data: list[AskedQuestion]


class UsageRow(BaseModel):
    """What a key has spent on a day (UTC)."""

    day: str
    key: str
    name: str
    questions: int
    tokens: int


class UsageList(BaseModel):
    """The newest days first."""

    object: str = "list"
    data: list[UsageRow]


class KeyRow(BaseModel):
    """A key without its secret: its limits (0: none), what it sees, and what it has spent today."""

    id: str
    name: str
    scope: str
    rate: int
    questions: int
    tokens: int
    questions_today: int
    tokens_today: int
    sees: str
    created: str
    revoked: str


class KeyList(BaseModel):
    """Every key ever made, oldest first, and visitors as one."""

    object: str = "list"
    data: list[KeyRow]


def _sheet(rows: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    kinds = {"text/csv": {"schema": {"type": "string"}}}
    return {200: {"model": rows, "content": kinds}} | errors(400)


@router.post("/v1/feedback", summary="Rate an answer", responses=errors(400, 404, 429))
async def feedback(body: Feedback, service: Serving, key: Visitor) -> Rated:
    """Only the key that asked may rate; visitors know the `id` of their own answers alone. It changes no answer."""
    if key.is_visitor:
        service.keys.admit(key.reading)
    with service.recording(needed=True):
        rated = service.settings.serve.feedback and service.answers.rate(
            body.id.removeprefix(REPLY), key, RATINGS[body.rating], body.comment.strip()
        )
    if not rated:
        raise ApiError(404, "There is no such answer to rate.", code="no_answer")
    return Rated(rating=body.rating)


@router.get("/v1/questions", summary="What was asked", response_model=None, responses=_sheet(Questions))
async def questions(
    service: Serving,
    key: Admin,
    view: View = View.UNANSWERED,
    days: Days = 30,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    format: Form = "json",
) -> Response:
    """Questions without an answer, those rated worst, or those asked most. With `format=csv` as a sheet."""
    found = await asyncio.to_thread(service.answers.questions, view, days, limit)
    return _listed([asdict(one) for one in found], [each.name for each in fields(AskedQuestion)], format)


@router.get("/v1/usage", summary="What was spent", response_model=None, responses=_sheet(UsageList))
async def usage(service: Serving, key: Admin, days: Days = 30, format: Form = "json") -> Response:
    """Questions and tokens by day and key. With `format=csv` as a sheet."""
    names = {one.key_id: one.name for one in _every(service)}
    rows = [
        UsageRow(day=day, key=key_id, name=names.get(key_id, ""), questions=asked, tokens=tokens).model_dump()
        for day, key_id, asked, tokens in await asyncio.to_thread(service.answers.spent, days)
    ]
    return _listed(rows, list(UsageRow.model_fields), format)


@router.get("/v1/keys", summary="Who may ask", responses=errors(400))
async def keys(service: Serving, key: Admin) -> KeyList:
    """Keys are made and revoked on the server's own machine alone (`equipoise keys`)."""
    return KeyList(data=await asyncio.to_thread(lambda: [_key(service, one) for one in _every(service)]))


def _every(service: Service) -> tuple[Key, ...]:
    return (*service.keys.all(), visitors(service.settings.public))


def _key(service: Service, key: Key) -> KeyRow:
    asked, tokens = service.keys.spent(key)
    return KeyRow(
        id=key.key_id,
        name=key.name,
        scope=key.scope.value,
        rate=key.rate,
        questions=key.questions,
        tokens=key.tokens,
        questions_today=asked,
        tokens_today=tokens,
        sees=key_of(key.where) or "all",
        created=key.created,
        revoked=key.revoked,
    )


def _listed(rows: Sequence[dict[str, Any]], columns: Sequence[str], form: str) -> Response:
    if form == "json":
        return JSONResponse({"object": "list", "data": rows})
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(columns)
    sheet.writerows([cell(one[name]) for name in columns] for one in rows)
    attached = {"Content-Disposition": "attachment; filename=equipoise.csv"}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=attached)


def _disarmed(before: re.Match[str]) -> str:
    begins = before.start() == 0 or not {";", "\t", "\r", "\n"}.isdisjoint(before.group())
    return f"{before.group()}'" if begins else before.group()


def cell(value: object) -> str:
    """A value as a cell that every spreadsheet takes for text, never for a formula."""
    if isinstance(value, str):
        return FORMULA.sub(_disarmed, value)
    if isinstance(value, Iterable):
        return cell(
            "\n".join(":".join(map(str, one)) if isinstance(one, list) else str(one) for one in value)
        )
    return "" if value is None else str(value)
