"""A result as JSON, for the operator and for the person who asks.

Both have the same keys. What the person must not see is empty there: probabilities, scores, times and the reasons of
a filter tell an attacker how near the next try is; failures, names of models and paths say how the server is made.
"""

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from equipoise.apps.server.book import FOLDER
from equipoise.core.results import Answer, Others, Refusal
from equipoise.core.types import Highlights, Trust
from equipoise.corpus.roots import shown_author
from equipoise.rag import saying
from equipoise.rag.joining import joined

TAKEN_OUT = "taken out before anything was read"
UPLOADS = "uploads"
SHOWN = (
    "answer", "refused", "reason", "detail", "grounded", "weak", "trust", "others", "read_as", "spelling", "notice",
    "unheard", "tags", "highlights", "best_first", "nearest", "passages", "flagged", "tokens",
)  # fmt: skip
"""What a person who asks gets of a result, beside the parts of several questions."""
EMPTY: dict[str, Any] = {"probability": None, "failure": "", "timings": {}, "models": {}}
"""Empty values of the operator's fields."""
_PLACES = ("highlights", "nearest", "passages", "flagged")


def for_asker(result: Answer | Refusal) -> dict[str, Any]:
    """The result as JSON, the operator's fields left empty; a field in neither SHOWN nor EMPTY is left out."""
    fields = for_strangers(result).to_dict()
    shown = _without_inside(fields)
    shown["passages"] = [passage | {"score": None} for passage in shown["passages"]]
    shown["flagged"] = [flag | {"score": None, "reason": TAKEN_OUT} for flag in shown["flagged"]]
    if "sub_answers" in fields:
        shown["sub_answers"] = [
            {"question": part["question"]} | _without_inside(part) for part in fields["sub_answers"]
        ]
    return shown


def for_strangers(result: Answer | Refusal) -> Answer | Refusal:
    """The result for people other than the operator: if it rests on untrusted documents, its text names them without
    folders of this machine. What rests on trusted ones alone is unchanged."""
    if isinstance(result, Refusal) or result.trust is Trust.TRUSTED:
        return result
    if result.sub_answers:
        parts = tuple(replace(part, result=for_strangers(part.result)) for part in result.sub_answers)
        whole = joined(parts, result.highlights)
        return replace(result, text=whole.text, sub_answers=parts) if isinstance(whole, Answer) else whole
    others = untrusted_part(result)
    return replace(result, text=saying.answer_text(others, shown_source)) if others else result


def without_passages(result: Answer | Refusal) -> Answer | Refusal:
    """The result for who may not read the documents: quotes and sources stay, no other text of a document does."""
    trace = replace(
        result.trace,
        passages=(),
        flagged=tuple(replace(one, passage=replace(one.passage, text="")) for one in result.trace.flagged),
    )
    quotes = Highlights(tuple(replace(item, context="") for item in result.highlights.items))
    parts = tuple(replace(part, result=without_passages(part.result)) for part in result.sub_answers)
    shown = replace(result, trace=trace, highlights=quotes, sub_answers=parts)
    return replace(shown, nearest=()) if isinstance(shown, Refusal) else shown


def untrusted_part(result: Answer) -> Others | None:
    """What untrusted documents say if that, in the words of `rag.saying`, is the answer; else None."""
    return result.others if result.trust is Trust.UNTRUSTED else None


def shown_source(source: str) -> str:
    """The name of a document for people other than the operator, without folders of this machine."""
    path, mark, fragment = source.partition("#")
    parts = PurePosixPath(path).parts
    for row, part in enumerate(parts[:-1]):
        if part.endswith(FOLDER) and parts[row + 1] == UPLOADS:
            return "/".join(parts[row + 2 :]) + mark + fragment
    if path.startswith(("/", "\\")) or ".." in parts or "\\" in path:
        return path.replace("\\", "/").rpartition("/")[2] + mark + fragment
    return source


def _without_inside(fields: dict[str, Any]) -> dict[str, Any]:
    shown = {name: fields[name] for name in SHOWN if name in fields}
    placed = {
        name: [_place(number, place) for number, place in enumerate(fields[name], 1)]
        for name in _PLACES
        if name in fields
    }
    if shown.get("others"):
        shown["others"] = _others(shown["others"])
    return shown | placed | {name: empty for name, empty in EMPTY.items() if name in fields}


def _place(number: int, place: dict[str, Any]) -> dict[str, Any]:
    """A place, numbered anew (its number in the index would tell how many passages are before it), without folders."""
    numbered = {"passage_id": number} if "passage_id" in place else {}
    sources = {
        name: shown_source(place[name]) for name in ("newer", "corrected", "source") if place.get(name)
    }
    return place | numbered | sources


def _others(fields: dict[str, Any]) -> dict[str, Any]:
    claims = [
        claim | {"statements": [_statement(statement) for statement in claim["statements"]]}
        for claim in fields["claims"]
    ]
    return fields | {"claims": claims}


def _statement(fields: dict[str, Any]) -> dict[str, Any]:
    return fields | {
        "author": shown_source(shown_author(fields["author"], fields["highlights"][0]["source"])),
        "impersonates": fields["impersonates"] and shown_source(fields["impersonates"]),
        "highlights": [_place(0, place) for place in fields["highlights"]],
    }
