"""Asks a running server in place of a local index: `ask --server URL`. Its HTTP client is the standard library's."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Self
from urllib.parse import urlsplit

from equipoise.core.errors import EquipoiseError, InputError, QuestionError, ServerError
from equipoise.core.protocols import Observer
from equipoise.core.results import Answer, Claim, Others, Reason, Refusal, Statement, SubAnswer, Trace
from equipoise.core.types import Flag, Highlight, Highlights, Passage, ScoredPassage, Tag, Trust, Usage
from equipoise.core.where import Where, to_json

KEY = "EQUIPOISE_SERVER_KEY"
"""The variable with the key that is shown to the server."""
SECONDS = 600.0
_BEGINS = {
    "retrieved": "filter",
    "filtered": "highlight",
    "highlighted": "canonicalize",
    "quotes": "summarize",
}
"""For each event the stage that begins after it."""


@dataclass(frozen=True, slots=True)
class Remote:
    """The server at `url`. Its `ask` is that of a library."""

    url: str
    model: str = "equipoise"
    key: str = ""

    @classmethod
    def at(cls, url: str, pipeline: str = "hs") -> Self:
        """The server at an address, with the key of the environment. Raises InputError for what is no address."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        try:
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or parts.username or parts.query:
            raise InputError(f"{url!r} is no address of a server: write for example  http://127.0.0.1:8080")
        model = "equipoise" if pipeline == "hs" else f"equipoise-{pipeline}"
        return cls(parts.geturl().rstrip("/"), model, os.environ.get(KEY, "").strip())

    def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
        where: Where | None = None,
    ) -> Answer | Refusal:
        """As `Library.ask`. Raises QuestionError, InputError and ServerError."""
        if observer:
            observer.stage("retrieve")
        body: dict[str, object] = {"question": question, "before": list(before), "model": self.model}
        if others:
            body["others"] = True
        if where is not None:
            body["where"] = to_json(where)
        for name, data in self._events(body):
            if name == "error":
                raise ServerError(_sentence(data))
            if name == "done":
                return read_result(data)
            if observer and name == "quotes":
                observer.quotes([read_part(part) for part in data["parts"]])
            if observer and name in _BEGINS:
                observer.stage(_BEGINS[name])
        raise ServerError(f"{self.url} ended before it had answered: ask again")

    def subjects(self, most: int = 5, where: Where | None = None) -> tuple[str, ...]:
        """A server does not say what its documents are about."""
        return ()

    def _events(self, body: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            with closing(kind(parts.hostname or "", parts.port, timeout=SECONDS)) as connection:
                connection.request("POST", f"{parts.path}/v1/ask", json.dumps(body).encode(), headers)
                response = connection.getresponse()
                if response.status != 200:
                    raise _refused(self.url, response)
                yield from _parsed(response)
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            raise ServerError(
                f"{self.url} cannot be asked ({error or type(error).__name__}): does it run?"
            ) from error


def read_result(data: Mapping[str, Any]) -> Answer | Refusal:
    """The result that `to_dict` made this JSON object of."""
    parts = tuple(read_part(item) for item in data.get("sub_answers", ()))
    highlights = Highlights(tuple(_highlight(item) for item in data["highlights"]))
    trace = _trace(data)
    if data["refused"]:
        nearest = tuple(map(_passage, data["nearest"]))
        return Refusal(Reason(data["reason"]), data["detail"], highlights, trace, parts, nearest)
    best = tuple(data["best_first"])
    text, grounded = data.get("answer") or "", data.get("grounded") is not False
    others = _others(data["others"]) if data.get("others") else None
    return Answer(text, highlights, grounded, trace, parts, best, bool(data["weak"]), others)


def read_part(data: Mapping[str, Any]) -> SubAnswer:
    """A question and its result: one of `sub_answers`, or of the parts in a `quotes` event."""
    return SubAnswer(str(data["question"]), read_result(data))


def _others(data: Mapping[str, Any]) -> Others:
    claims = tuple(
        Claim(
            tuple(
                Statement(one["author"], tuple(map(_highlight, one["highlights"])), one["impersonates"] or "")
                for one in claim["statements"]
            ),
            int(claim["independent"]),
            Tag(claim["side"]) if claim["side"] else None,
        )
        for claim in data["claims"]
    )
    return Others(claims, bool(data["contested"]), bool(data["silent"]))


def _trace(data: Mapping[str, Any]) -> Trace:
    tokens = data.get("tokens", {})
    counts = [int(tokens.get(name, 0)) for name in ("calls", "prompt", "completion", "replayed")]
    return Trace(
        passages=tuple(ScoredPassage(_passage(item), _number(item)) for item in data.get("passages", ())),
        flagged=tuple(
            Flag(_passage(item), str(item["reason"]), _number(item)) for item in data.get("flagged", ())
        ),
        read_as=data.get("read_as") or "",
        spelling=tuple((str(typed), str(meant)) for typed, meant in data.get("spelling", ())),
        notice=data.get("notice") or "",
        unheard=tuple(data.get("unheard") or ()),
        failure=data.get("failure") or "",
        probability=data.get("probability"),
        tags=tuple(Tag(item) for item in data.get("tags", ())),
        timings=dict(data.get("timings", {})),
        usage=Usage(*counts),
        models=dict(data.get("models", {})),
    )


def _passage(item: Mapping[str, Any]) -> Passage:
    headings = tuple(item["heading"].split(" > ")) if item["heading"] else ()
    place = {name: item[name] for name in ("title", "source", "page", "line", "paragraph")}
    return Passage(
        item["passage_id"],
        item["doc_id"],
        item["start"],
        item["end"],
        item["text"],
        headings=headings,
        trust=Trust(item["trust"]),
        **place,
    )


def _highlight(item: Mapping[str, Any]) -> Highlight:
    place = {name: item[name] for name in ("source", "title", "page", "line", "heading", "paragraph")}
    more: dict[str, Any] = {"context": item.get("context", ""), "trust": Trust(item["trust"])}
    more |= {name: tuple((start, end) for start, end in item[name]) for name in ("spans", "marks")}
    more |= {name: date.fromisoformat(item[name]) for name in ("date", "read") if name in item}
    more |= {name: item[name] for name in ("newer", "corrected", "correction") if item.get(name)}
    return Highlight(item["doc_id"], item["start"], item["end"], item["text"], **place, **more)


def _number(item: Mapping[str, Any]) -> float:
    return float(item["score"] or 0.0)


def _parsed(response: HTTPResponse) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in response:
        text = line.decode().rstrip("\r\n")
        if text.startswith("event: "):
            name = text.removeprefix("event: ")
        elif text.startswith("data: "):
            yield name, json.loads(text.removeprefix("data: "))


def _refused(url: str, response: HTTPResponse) -> EquipoiseError:
    """The error for a failed request, in the server's own words where it gives any."""
    try:
        said = _sentence(json.loads(response.read(100_000)))
    except (ValueError, KeyError, TypeError):
        said = f"{url} answered with status {response.status}: is it a server of equipoise?"
    kinds: dict[int, Callable[[str], EquipoiseError]] = {400: QuestionError, 401: InputError, 403: InputError}
    hint = f" Put the key into {KEY}." if response.status == 401 else ""
    return kinds.get(response.status, ServerError)(said + hint)


def _sentence(data: Mapping[str, Any]) -> str:
    return str(data["error"]["message"])
