"""POST /v1/ask: a question in, one object or a stream of what happens out."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from equipoise.apps.server.access import Serving, Visitor
from equipoise.apps.server.answering import Ask, Turn, begin
from equipoise.apps.server.schemas import AskBody, AskReply, errors
from equipoise.apps.server.streaming import data, events, stream, unless_gone
from equipoise.apps.server.visitors import passed

router = APIRouter(tags=["questions"])

STREAM = "text/event-stream"
_EVENTS = (
    "Events: `retrieved`, `filtered`, `highlighted`, `quotes`, `answer` (checked text, a sentence at a time), then "
    "`done` with the whole object, or `error`."
)


@router.post(
    "/v1/ask",
    response_model=None,
    summary="Ask a question",
    responses={
        200: {"model": AskReply, "description": _EVENTS, "content": {STREAM: {"schema": {}}}},
        **errors(400, 404, 429, 504),
    },
)
async def ask(body: AskBody, request: Request, key: Visitor, service: Serving) -> Response:
    """An answer with verbatim quotes, or a refusal with its reason. Where the trusted documents do not answer, what
    untrusted ones say is quoted, and `trust` says so. With `Accept: text/event-stream` each stage is told
    as it ends; what is streamed of an answer is never taken back."""
    asked = Ask(
        body.question,
        key,
        request.state.request_id,
        tuple(body.before),
        body.model,
        body.candidates,
        body.others,
        body.where,
        body.k,
        body.trust,
    )
    await passed(request, service, key)
    turn = await unless_gone(request, begin(service, asked))
    if STREAM in request.headers.get("accept", ""):
        return stream(_lines(turn))
    result = await unless_gone(request, turn.task)
    return JSONResponse(_complete(turn, turn.shown(result)))


async def _lines(turn: Turn) -> AsyncIterator[str]:
    async for event in events(turn):
        if event is None:
            yield ": still at work\n\n"
            continue
        yield data(_complete(turn, event.data) if event.name == "done" else event.data, event.name)


def _complete(turn: Turn, view: dict[str, Any]) -> dict[str, Any]:
    return view | {"id": turn.answer_id, "summarizer_saw": turn.summarizer_saw}
