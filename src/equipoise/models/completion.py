"""The body of a chat completion, read with suspicion: it becomes a ChatReply or an error."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, StrictInt, ValidationError

from equipoise.core.errors import ModelReplyError
from equipoise.core.types import CUT, ChatOptions, ChatReply, TokenLogprob, Usage
from equipoise.models.control import one_line
from equipoise.models.odds import is_logprob

MOST_TOKENS = 10**9
"""A count beyond this is no count."""

# Each model holds what is read together: one odd part must not cost the others. What no field names is never made
# into Python objects, and a list ends at its first bad entry: 8 MiB of "[]," were 2.5 GB and eight seconds.


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(fail_fast=True)] | None = None


class _Named(BaseModel):
    model: str = Field(min_length=1)


_Count = Annotated[StrictInt, Field(ge=0, le=MOST_TOKENS)]


class _Counts(BaseModel):
    prompt_tokens: _Count
    completion_tokens: _Count


class _Counted(BaseModel):
    usage: _Counts


class _Alternative(BaseModel):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: Annotated[list[_Alternative], Field(fail_fast=True)] = []


class _Logprobs(BaseModel):
    content: Annotated[list[_Token], Field(fail_fast=True)]


class _Weighed(BaseModel):
    logprobs: _Logprobs


class _Spoken(BaseModel):
    choices: Annotated[list[_Weighed], Field(fail_fast=True)]


T = TypeVar("T", bound=BaseModel)


def read_completion(body: bytes, *, model: str, options: ChatOptions) -> ChatReply:
    """The reply in `body`, the bytes of a /chat/completions answer of `model`.

    `text` is blank where the reply was cut before its first word. `logprobs` is empty when none were asked for, or
    where the endpoint sent none or one that is no log-probability. Counts of tokens that are none are 0, and what
    the endpoint calls its model is one short line. Raises ModelReplyError when there is no text to use: not a
    completion, no choices, a refusal, a content filter, no content.
    """
    completion = _read(body, _Completion)
    if completion is None:
        raise ModelReplyError(
            f"the endpoint's answer for {model} is not a chat completion: check that its base URL is an "
            "OpenAI-compatible one (most end in /v1)"
        )
    if not completion.choices:
        raise ModelReplyError(
            f"the endpoint's answer for {model} has no choices: ask again, or check the endpoint's log"
        )
    choice = completion.choices[0]
    text = _usable_text(choice, model=model)
    named, counted = _read(body, _Named), _read(body, _Counted)
    counts = (counted.usage.prompt_tokens, counted.usage.completion_tokens) if counted else (0, 0)
    return ChatReply(
        text=text,
        model=one_line(named.model) if named else model,
        usage=Usage(1, *counts),
        finish_reason=one_line(choice.finish_reason or "stop"),
        logprobs=_token_logprobs(body) if options.top_logprobs else (),
    )


def _read(body: bytes, form: type[T]) -> T | None:
    try:
        return form.model_validate_json(body)
    except ValidationError:
        return None


def _usable_text(choice: _Choice, *, model: str) -> str:
    text = choice.message.content or ""
    if choice.finish_reason == "content_filter":
        raise ModelReplyError(
            f"the content filter of {model}'s provider withheld the reply: rephrase the input"
        )
    if choice.message.refusal:
        raise ModelReplyError(f"{model} declined to answer: rephrase the input or use another model")
    if not text.strip() and choice.finish_reason != CUT:
        raise ModelReplyError(f"{model} sent an empty reply: ask again or use another model")
    return text


def _token_logprobs(body: bytes) -> tuple[TokenLogprob, ...]:
    spoken = _read(body, _Spoken)
    tokens = spoken.choices[0].logprobs.content if spoken else []
    if not all(is_logprob(choice.logprob) for t in tokens for choice in (t, *t.top_logprobs)):
        return ()
    return tuple(
        TokenLogprob(t.token, t.logprob, tuple((a.token, a.logprob) for a in t.top_logprobs)) for t in tokens
    )
