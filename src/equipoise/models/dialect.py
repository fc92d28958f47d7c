"""Which request parameters an OpenAI-compatible endpoint takes, and how a request to it is written.

A `Dialect` is a function of the endpoint and its model alone. It is found by `probing.probed`, from what becomes of
constant messages; the text of a reply or of a complaint never enters it. So whoever asks what, a request for the
same messages has the same form.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.core.protocols import JsonSchema
from equipoise.core.types import ChatOptions, Message
from equipoise.models import control

THINKING = 8192
"""Tokens that a model gets beside those for its answer, where it thinks before its first word."""

JSON_ONLY = (
    "Reply with one JSON object and nothing else: no prose, no code fence. "
    "It must be valid under this JSON Schema:\n"
)

OPTIONAL = ("max_tokens", "max_completion_tokens", "response_format", "logprobs", "temperature", "seed")
"""The parameters that an endpoint may refuse. `logprobs` stands for `top_logprobs` too."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of requests for one endpoint and model.

    `refused` holds those of OPTIONAL that it does not take; `thinks` says that it spends tokens before its first
    word. A limit goes out as max_completion_tokens only where max_tokens is refused.
    """

    refused: frozenset[str] = frozenset()
    thinks: bool = False

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
            "messages": [{"role": m.role, "content": control.as_text(m.content)} for m in said],
        }
        optional: dict[str, Any] = {"temperature": options.temperature, "seed": options.seed}
        limit = "max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"
        optional[limit] = options.max_tokens + (THINKING if self.thinks else 0)
        if schema is not None:
            optional["response_format"] = response_format(schema)
        if options.top_logprobs and "logprobs" not in self.refused:
            body |= {"logprobs": True, "top_logprobs": options.top_logprobs}
        return body | {name: value for name, value in optional.items() if name not in self.refused}


def response_format(schema: JsonSchema) -> Mapping[str, Any]:
    """The `response_format` value that asks for strict JSON under `schema`, named by its title."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title", "")))[:64] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": True}}


def with_schema_in_words(messages: Sequence[Message], schema: JsonSchema) -> tuple[Message, ...]:
    """`messages` with `schema` described at the end of a leading system message, added if missing."""
    words = JSON_ONLY + json.dumps(dict(schema))
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{words}"), *messages[1:])
    return (Message("system", words), *messages)
