"""Which request parameters an OpenAI-compatible endpoint knows: learned from what it refuses."""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, Message
from equipoise.models import control

log = logging.getLogger("equipoise")

THINKING = 8192
"""Tokens that a model gets beside those for its answer, once it is known to think before it."""

JSON_ONLY = (
    "Reply with one JSON object and nothing else: no prose, no code fence. "
    "It must be valid under this JSON Schema:\n"
)

# Parameter -> the words by which endpoints name it when they refuse it.
_NAMES = {
    "response_format": r"response_format|json_schema|json schema|guided_json|grammar|structured outputs?",
    "logprobs": r"logprobs|top_logprobs",
    "seed": r"seed",
    "temperature": r"temperature",
    "max_tokens": r"max_tokens",
    "max_completion_tokens": r"max_completion_tokens",
}
_REFUSAL = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|unavailable|not available"
    r"|not permitted|not allowed|invalid parameter|forbidden|not implemented|not enabled",
    re.IGNORECASE,
)
_OUT_OF_TOKENS = re.compile("could not finish the message because max_tokens", re.IGNORECASE)


class Dialect:
    """The form of requests for one endpoint and model.

    `refused` holds the parameters it does not take; `thinks` says that it spends tokens before its first word.
    """

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.thinks = False

    def request(
        self, model: str, messages: Sequence[Message], schema: JsonSchema | None, options: ChatOptions
    ) -> dict[str, Any]:
        """The JSON body of a /chat/completions request, without any refused parameter.

        With `response_format` refused, `schema` is described in the system message instead.
        """
        in_words = schema is not None and "response_format" in self.refused
        said = with_schema_in_words(messages, schema) if in_words and schema is not None else messages
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": m.role, "content": _encodable(control.as_text(m.content))} for m in said],
        }
        optional: dict[str, Any] = {"temperature": options.temperature, "seed": options.seed}
        limit = "max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"
        optional[limit] = options.max_tokens + (THINKING if self.thinks else 0)
        if schema is not None:
            optional["response_format"] = response_format(schema)
        if options.top_logprobs and "logprobs" not in self.refused:
            body |= {"logprobs": True, "top_logprobs": options.top_logprobs}
        return body | {name: value for name, value in optional.items() if name not in self.refused}

    def learn(self, complaint: str, request: Mapping[str, Any]) -> bool:
        """Note the parameters of `request` that `complaint`, the text of a 400 or 422, refuses.

        True when a request without them is worth sending. A complaint about a value only (a temperature out
        of range, too many tokens) teaches nothing but that the model thinks. All of it is kept for the life of
        the instance.
        """
        if _OUT_OF_TOKENS.search(complaint):
            return self.learn_to_wait(request)
        named = {
            name
            for name, words in _NAMES.items()
            if name in request and re.search(rf"(?<![\w])(?:{words})(?![\w])", complaint, re.IGNORECASE)
        }
        if not _REFUSAL.search(complaint):
            named &= {"response_format"}  # a schema may be refused in any words
        if named:
            log.warning("the endpoint refuses %s: asking without from now on", ", ".join(sorted(named)))
        self.refused |= named
        return bool(named)

    def learn_to_wait(self, request: Mapping[str, Any]) -> bool:
        """Note that the tokens of `request` were used up before the first word.

        True when the same with `THINKING` tokens more is worth sending.
        """
        if not self.thinks:
            log.warning(
                "the model thinks before it answers: asking with %d tokens more from now on", THINKING
            )
        self.thinks = True
        limit = request.get("max_tokens", request.get("max_completion_tokens"))
        return limit is not None and limit < THINKING


def response_format(schema: JsonSchema) -> dict[str, Any]:
    """The `response_format` value that asks for strict JSON under `schema`, named by its title."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title", "")))[:64] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": True}}


def with_schema_in_words(messages: Sequence[Message], schema: JsonSchema) -> tuple[Message, ...]:
    """`messages` with `schema` described at the end of a leading system message, added if missing."""
    words = JSON_ONLY + json.dumps(dict(schema))
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{words}"), *messages[1:])
    return (Message("system", words), *messages)


def _encodable(text: str) -> str:
    """`text` with lone surrogates, which UTF-8 cannot carry, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
