"""A chat reply as a validated object: strict schema out, pydantic back, one repair request in between."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import CUT, ChatOptions, ChatReply, Message, Usage

T = TypeVar("T", bound=BaseModel)

_MAX_QUOTED = 2000  # characters of a bad reply that go back to the model
_MAX_PROBLEMS = 5
_MAX_BRACES = 200  # opening braces tried in one reply; with the next, bounds the work on hostile text
_MAX_READ = 2_000_000  # characters read in all, from those braces on
_FENCE = "```"
_REPAIR = (
    "That reply cannot be used: $problem. "
    "Answer the request above again, with one valid JSON object and nothing else."
)


async def complete_as(
    model: ChatModel,
    messages: Sequence[Message],
    schema: type[T],
    *,
    options: ChatOptions = ChatOptions(),
    cut: bool = False,
) -> tuple[T, Usage]:
    """The model's reply as a `schema`, and what it cost (both calls, where a repair was needed).

    The reply may stand in a code fence or in prose; it counts when exactly one JSON object in it is valid. With
    `cut`, one that ended at `options.max_tokens` counts as far as it came, its last string included.
    Otherwise the model gets its reply and the problem back, once. Raises ModelReplyError when the second
    reply is no better, and what `model` raises.
    """

    def read(reply: ChatReply) -> T | str:
        value = parsed(reply.text, schema)
        if cut and reply.finish_reason == CUT and isinstance(value, str):
            return begun(reply.text, schema) or value
        return value

    strict = strict_schema(schema)
    reply = await model.complete(messages, schema=strict, options=options)
    value = read(reply)
    if not isinstance(value, str):
        return value, reply.usage
    repair = (
        *messages,
        Message("assistant", shortened(reply.text, _MAX_QUOTED)),
        Message("user", _REPAIR.replace("$problem", value)),
    )
    second = await model.complete(repair, schema=strict, options=options)
    value = read(second)
    if isinstance(value, str):
        longer = f"raise model.max_tokens if it is at most {options.max_tokens}, or "
        raise ModelReplyError(
            f"{model.name} twice sent no valid {schema.__name__} ({value}): "
            f"{longer if second.finish_reason == CUT else ''}use another model",
            usage=reply.usage + second.usage,
        )
    return value, reply.usage + second.usage


def parsed(text: str, schema: type[T]) -> T | str:
    """The one object in `text` that is valid under `schema`, or a sentence that says why there is none."""
    try:
        return schema.model_validate_json(_unfenced(text.strip()))
    except ValidationError as error:
        problem = _problem(error)
    valid: list[T] = []
    for candidate in outermost_objects(text):
        try:
            valid.append(schema.model_validate_json(candidate))
        except ValidationError as error:
            problem = _problem(error)
    if any(other != valid[0] for other in valid[1:]):
        return "it holds several different JSON objects that are valid"
    return valid[0] if valid else problem


def _unfenced(text: str) -> str:
    """The content of `text` if all of it is one code fence, else `text`."""
    first, line_end, rest = text.partition("\n")
    language = first.removeprefix(_FENCE).rstrip()
    if not (line_end and first.startswith(_FENCE) and rest.endswith(_FENCE)) or not (
        language.isalpha() or not language
    ):
        return text
    return rest.removesuffix(_FENCE).strip()


def begun(text: str, schema: type[T]) -> T | None:
    """The object that `text` begins and does not end, if what there is of it is valid under `schema`; else None."""
    try:
        return schema.model_validate(from_json(text, allow_partial="trailing-strings"))
    except ValueError:
        return None


def outermost_objects(text: str) -> Iterator[str]:
    """Every JSON object in `text` that lies in no other one, as written there, from left to right."""
    decoder = json.JSONDecoder()
    start, read = text.find("{"), 0
    for _ in range(_MAX_BRACES):
        if start < 0 or read > _MAX_READ:
            return
        try:
            _, end = decoder.raw_decode(text, start)
            yield text[start:end]
        except json.JSONDecodeError as error:
            read, end = read + error.pos - start, start + 1
        except (ValueError, RecursionError):  # a number of thousands of digits, thousands of levels
            read, end = read + len(text) - start, start + 1
        start = text.find("{", end)


def shortened(text: str, limit: int) -> str:
    """`text`, or its first `limit` characters and an ellipsis."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def _problem(error: ValidationError) -> str:
    """What is wrong, field by field, without repeating the input."""
    errors = error.errors(include_input=False, include_url=False, include_context=False)
    said = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {shortened(e['msg'], 200)}" for e in errors]
    more = f"; and {len(said) - _MAX_PROBLEMS} more" if len(said) > _MAX_PROBLEMS else ""
    return "; ".join(said[:_MAX_PROBLEMS]) + more


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of `schema` in the form strict structured output wants.

    Every object is closed and requires all its properties, in the order of the class; `$defs` are inlined
    (only recursive ones stay); defaults go; `oneOf` becomes `anyOf`.
    """
    root = schema.model_json_schema()
    definitions = root.pop("$defs", {})
    strict = _strict(root, definitions, ())
    kept: dict[str, Any] = {}
    while missing := _references({**strict, "$defs": kept}) - kept.keys():
        for name in missing:
            kept[name] = _strict(definitions[name], definitions, (name,))
    return {**strict, "$defs": kept} if kept else strict


def _strict(
    node: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]
) -> dict[str, Any]:
    """`node` made strict. `inside` are the definitions being inlined: meeting one again is a recursion."""
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name in inside:
        return dict(node)
    if name:
        siblings = {k: v for k, v in node.items() if k != "$ref"}
        return _strict({**definitions[name], **siblings}, definitions, (*inside, name))
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key in {"default", "discriminator"}:
            continue
        if key == "properties":
            out[key] = {k: _strict(v, definitions, inside) for k, v in value.items()}
        elif key in {"items", "additionalProperties"} and isinstance(value, Mapping):
            out[key] = _strict(value, definitions, inside)
        elif key in {"anyOf", "oneOf", "allOf", "prefixItems"}:
            out["anyOf" if key == "oneOf" else key] = [_strict(v, definitions, inside) for v in value]
        else:
            out[key] = value
    if out.get("type") == "object" and not isinstance(out.get("additionalProperties"), Mapping):
        out["properties"] = out.get("properties", {})
        out["required"] = list(out["properties"])
        out["additionalProperties"] = False
    return out


def _references(node: object) -> set[str]:
    """The names of the definitions that `node` refers to."""
    if isinstance(node, Mapping):
        own = {node["$ref"].removeprefix("#/$defs/")} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(_references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(_references(value) for value in node))
    return set()
