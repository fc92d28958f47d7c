"""/v1/chat/completions and /v1/models: the same questions for clients of OpenAI's form."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict

from equipoise.apps.server.access import Asker, Serving
from equipoise.apps.server.answering import Ask, Turn, begin
from equipoise.apps.server.completions import REPLY, Form, Written, about, numbered, written
from equipoise.apps.server.conversation import UNCLEAR, ChatBody, asked, housekeeping
from equipoise.apps.server.errors import ApiError
from equipoise.apps.server.schemas import errors
from equipoise.apps.server.service import Service
from equipoise.apps.server.streaming import data, events, stream, unless_gone
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Usage

router = APIRouter(tags=["for clients of OpenAI's form"])

CREATED = 1_763_769_600
DONE = "data: [DONE]\n\n"


class Model(BaseModel):
    """A pipeline."""

    id: str
    object: str = "model"
    created: int = CREATED
    owned_by: str = "equipoise"


class Models(BaseModel):
    """All pipelines that answer here."""

    object: str = "list"
    data: list[Model]


class Completion(BaseModel):
    """A reply in OpenAI's form."""

    model_config = ConfigDict(extra="allow")

    id: str
    object: str
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, int]


@router.get("/v1/models", summary="Which pipelines answer", responses=errors(400))
async def models(service: Serving, key: Asker) -> Models:
    """`equipoise`, and plain RAG where the operator allows it."""
    return Models(data=[Model(id=name) for name in service.models])


@router.get("/v1/models/{model}", summary="One pipeline", responses=errors(400, 404))
async def model(model: str, service: Serving, key: Asker) -> Model:
    """A model by its name; 404 if it is not offered."""
    if model not in service.models:
        raise _unknown(model)
    return Model(id=model)


@router.post(
    "/v1/chat/completions",
    response_model=None,
    summary="Ask in OpenAI's form",
    responses={
        200: {
            "model": Completion,
            "description": "Numbers in the text stand for quotes: see `annotations`.",
            "content": {"text/event-stream": {"schema": {}}},
        },
        **errors(400, 404, 429, 502, 504),
    },
)
async def chat(body: ChatBody, request: Request, key: Asker, service: Serving) -> Response:
    """The last user message is the question; unknown fields are ignored."""
    if body.model not in service.models:
        raise _unknown(body.model)
    question, form = asked(body.messages), Form(body.model)
    if question.task:
        return _said(form, body, housekeeping(question.question))
    if question.is_unclear:
        return _said(form, body, UNCLEAR)
    ask = Ask(
        question.question,
        key,
        request.state.request_id,
        question.before,
        body.model,
        where=body.where,
        k=body.k,
        trust=body.trust,
    )
    turn = await unless_gone(request, begin(service, ask))
    form = replace(form, reply_id=f"{REPLY}{turn.answer_id}")
    base = _base(request, service)
    if body.stream:
        return stream(_lines(turn, form, base, body, links=service.settings.serve.links))
    result = await unless_gone(request, turn.task)
    _check(result)
    text = Written(numbered(result, base), service.settings.serve.links)
    for _ in written(result, text):
        continue
    return JSONResponse(form.whole(text.text, text.annotations, result.trace.usage, about(result)))


async def _lines(turn: Turn, form: Form, base: str, body: ChatBody, *, links: bool) -> AsyncIterator[str]:
    yield data(form.chunk({"role": "assistant", "content": ""}))
    shown = False
    async for event in events(turn):
        if event is None:
            yield ": still at work\n\n"
        elif event.name == "quotes" and len(event.answers) == 1:
            shown = True
            for quote in numbered(event.answers[0].result, base):
                yield data(form.chunk({}, event=quote.event()))
        elif event.name == "error":
            yield data(event.data) + DONE
        elif event.result is not None:
            text = Written(numbered(event.result, base), links)
            for line in _ending(event.result, form, text, shown=shown, wants_usage=body.wants_usage):
                yield line


def _ending(
    result: Answer | Refusal, form: Form, text: Written, *, shown: bool, wants_usage: bool
) -> Iterator[str]:
    """What comes once the answer is checked: its quotes, unless they were `shown`, its text, and the annotations."""
    try:
        _check(result)
    except ApiError as error:
        yield data(error.body) + DONE
        return
    for quote in () if shown else text.quotes:
        yield data(form.chunk({}, event=quote.event()))
    for piece in written(result, text):
        yield data(form.chunk({"content": piece}))
    if text.annotations:
        yield data(form.chunk({"annotations": text.annotations}))
    yield data(form.chunk({}, "stop", equipoise=about(result)))
    if wants_usage:
        yield data(form.last(result.trace.usage))
    yield DONE


def _said(form: Form, body: ChatBody, text: str) -> Response:
    """A reply that needs no pipeline."""
    if not body.stream:
        return JSONResponse(form.whole(text, [], Usage(), {}))

    async def lines() -> AsyncIterator[str]:
        yield data(form.chunk({"role": "assistant", "content": text}))
        yield data(form.chunk({}, "stop"))
        if body.wants_usage:
            yield data(form.last(Usage()))
        yield DONE

    return stream(lines())


def _check(result: Answer | Refusal) -> None:
    """Raises ApiError where a model failed: clients know how to try again."""
    if isinstance(result, Refusal) and result.reason is Reason.MODEL_FAILED:
        raise ApiError(502, result.detail, code="model_failed")


def _base(request: Request, service: Service) -> str:
    """Where links to quotes lead: the operator's address, else the socket's own, never one that a client names."""
    host, port = request.scope["server"]
    here = f"[{host}]" if ":" in host else host
    return (service.settings.serve.url or f"http://{here}:{port}").rstrip("/")


def _unknown(model: str) -> ApiError:
    return ApiError(404, f"There is no model {model[:100]!r} here.", code="model_not_found", param="model")
