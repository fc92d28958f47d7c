"""The body of a chat completion, read with suspicion: it becomes a ChatReply or an error."""

from typing import Any

from pydantic import BaseModel, ValidationError

from equipoise.core.errors import ModelReplyError
from equipoise.core.types import CUT, ChatOptions, ChatReply, TokenLogprob, Usage


class _Alternative(BaseModel):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Logprobs(BaseModel):
    content: list[_Token] | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: _Usage | None = None


def read_completion(body: bytes, *, model: str, options: ChatOptions) -> ChatReply:
    """The reply in `body`, the bytes of a /chat/completions answer of `model`.

    `text` is blank where the reply was cut before its first word. `logprobs` is empty when none were asked for or
    the endpoint sent none. Raises ModelReplyError when there is no text to use: not a completion, no choices, a
    refusal, a content filter, no content.
    """
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError:
        completion = None
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
    counts = completion.usage or _Usage()
    return ChatReply(
        text=text,
        model=completion.model or model,
        usage=Usage(1, counts.prompt_tokens or 0, counts.completion_tokens or 0),
        finish_reason=choice.finish_reason or "stop",
        logprobs=_token_logprobs(choice.logprobs) if options.top_logprobs else (),
    )


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


def _token_logprobs(logprobs: Any) -> tuple[TokenLogprob, ...]:  # noqa: ANN401 (whatever an endpoint sends)
    try:
        tokens = _Logprobs.model_validate(logprobs or {}).content or []
    except ValidationError:
        return ()
    return tuple(
        TokenLogprob(t.token, t.logprob, tuple((a.token, a.logprob) for a in t.top_logprobs)) for t in tokens
    )
