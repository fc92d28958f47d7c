"""Runs every input of a small deployment through its real summarizer, and checks every answer by rules.

What one question can make the summarizer read is countable (`rag.budget`); where it is little, nothing has to be
sampled. A dated record (`audit.record`) says what was tried and what came out. It holds for one question to the
deployment as it was: this store, these settings, this model.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

from equipoise.audit import record
from equipoise.audit.answer_rules import RULES, broken
from equipoise.audit.record import CertifyRecord, Line, Writer
from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.protocols import ChatModel, JsonSchema, Summarizer
from equipoise.core.settings import Settings
from equipoise.core.types import ChatOptions, ChatReply, Message
from equipoise.corpus.store import Store
from equipoise.models import weights
from equipoise.models.listening import ListeningChat
from equipoise.models.replay import request_key
from equipoise.models.roles import for_role
from equipoise.rag.boundary import spans_of
from equipoise.rag.budget import Deployment, counted
from equipoise.rag.inputs import Input, inputs
from equipoise.rag.quotable import Quotable, joined_units, quotables
from equipoise.text.spans import SpanPolicy

FORMAT = 1
MOST = 20_000
"""Most inputs of a deployment that is certified, unless --most says otherwise."""

Progress = Callable[[int, int, str], None]
"""(done, total, what is being done)."""


class Watched(ListeningChat):
    """A ChatModel that keeps the keys of its requests and the texts of its replies."""

    def __init__(self, chat: ChatModel) -> None:
        super().__init__(chat)
        self.requests: list[str] = []

    def for_role(self, role: str) -> "Watched":
        """Itself, now around the inner model in `role`."""
        self._chat = for_role(self._chat, role)
        return self

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """The reply of the model inside. Raises what that raises."""
        self.requests.append(request_key(self.name, messages, schema, options))
        return await super().complete(messages, schema=schema, options=options)

    def taken(self) -> tuple[list[str], list[str]]:
        """Keys of requests, and replies, since the last call."""
        taken = self.requests, self.replies
        self.requests, self.replies = [], []
        return taken


@dataclass(frozen=True, slots=True)
class Subject:
    """What is certified: all inputs of a deployment over a store, in their order."""

    deployment: Deployment
    store: Mapping[str, Any]
    inputs: tuple[Input, ...]

    @property
    def digest(self) -> str:
        """sha256 (hex) over all the inputs, in order."""
        total = hashlib.sha256()
        for case in self.inputs:
            total.update(input_key(case).encode())
        return total.hexdigest()


def input_key(case: Input) -> str:
    """sha256 (hex) of quotes, contexts, titles and tags: of all that the summarizer gets."""
    items = [[i.doc_id, i.start, i.end, i.spans, i.text, i.title, i.context] for i in case.highlights.items]
    return hashlib.sha256(json.dumps([items, sorted(case.tags)]).encode()).hexdigest()


def subject(store: Store, deployment: Deployment, *, most: int = MOST) -> Subject:
    """What there is to certify. Raises InputError for a deployment that is too large, which says what would help."""
    with store.snapshot():
        documents = list(quotables(store))
    units = joined_units(documents)
    count = counted(units, replace(deployment, questions=1))
    if count.question > most:
        raise InputError(_too_large(documents, deployment, count.question, most))
    every = tuple(inputs(documents, deployment))
    if not every:
        raise InputError("the index holds no sentence that could be quoted: index documents first")
    sets = len({case.highlights for case in every})
    if sets > count.sets or (sets < count.sets and not count.relaxed):
        raise InputError(
            f"{sets} sets of quotes were found where {count.sets} were counted: please report this, with the index"
        )
    passages = sum(len(whole.passages) for whole in documents)
    held = {"documents": len(documents), "passages": passages, "sentences": len(units)}
    return Subject(deployment, held | {"digest": fingerprint(documents)}, every)


def fingerprint(documents: Sequence[Quotable]) -> str:
    """sha256 (hex) over the documents, their sentences and passages; not over when and how they were indexed."""
    total = hashlib.sha256()
    for whole in documents:
        document = whole.document
        places = (
            [[passage.start, passage.end] for passage in whole.passages],
            [list(offsets) for offsets in document.sentences],
        )
        total.update(
            json.dumps([document.doc_id, document.source, document.title, document.text, *places]).encode()
        )
    return total.hexdigest()


def _too_large(documents: Sequence[Quotable], deployment: Deployment, count: int, most: int) -> str:
    """One sentence: how large it is, and with what it would be small enough."""
    units, policy = joined_units(documents), deployment.policy
    steps: list[dict[str, Any]] = [{"max_spans": 1}, {"max_spans": 1, "max_sentences_per_span": 1}]
    said = f"one question can choose among {_plainly(count)} inputs here, and at most {most:,} are certified"
    for changes in steps:
        smaller = counted(units, replace(deployment, policy=replace(policy, **changes), questions=1)).question
        if smaller <= most:
            names = " and ".join(f"highlight.{name} = {value}" for name, value in changes.items())
            return f"{said}: with {names} there would be {smaller:,}"
    return f"{said}: keep fewer documents in the index (equipoise budget says what each of them adds), or raise --most"


def _plainly(count: int) -> str:
    return f"{count:,}" if count < 10**9 else f"{count:.1e}"


def header(wanted: Subject, settings: Settings, model: str, summarizer: str) -> dict[str, Any]:
    """What the first line of a record says, but for the date. `weights` is the sha256 of a local model's file."""
    keep = {"highlight", "summarize", "retrieval", "question", "monitor"}
    return {
        "format": FORMAT,
        "equipoise": metadata.version("equipoise"),
        "store": dict(wanted.store),
        "deployment": asdict(wanted.deployment),
        "settings": settings.model_dump(mode="json", include=keep),
        "summarizer": summarizer,
        "model": model,
        "weights": _weights(settings.model.llm, model),
        "rules": list(RULES),
        "inputs": len(wanted.inputs),
        "inputs_digest": wanted.digest,
    }


@dataclass(frozen=True, slots=True)
class CertifyRun:
    """One run towards a record: `done` inputs are in it already."""

    subject: Subject
    summarizer: Summarizer
    watched: Watched | None
    writer: Writer
    done: int

    @property
    def left(self) -> int:
        """Inputs that are still to be tried."""
        return len(self.subject.inputs) - self.done

    def go(self, most: int | None = None, progress: Progress = lambda *_: None) -> Iterator[float]:
        """Tries the next inputs, at most `most`; yields the seconds that each one took. Raises ModelError."""
        stop = len(self.subject.inputs) if most is None else min(len(self.subject.inputs), self.done + most)
        for number in range(self.done, stop):
            progress(number, len(self.subject.inputs), "inputs tried")
            begin = perf_counter()
            self.writer.add(record.ROW, self._tried(number))
            yield perf_counter() - begin

    def _tried(self, number: int) -> dict[str, Any]:
        case = self.subject.inputs[number]
        summary = sync.run(self.summarizer.summarize(case.highlights, tags=case.tags))
        requests, replies = self.watched.taken() if self.watched else ([], [])
        return {
            "number": number,
            "input": input_key(case),
            "spans": [[span.doc_id, span.start, span.end] for span in spans_of(case.highlights)],
            "tags": sorted(case.tags),
            "requests": requests,
            "replies": replies,
            "answer": summary.answer,
            "grounded": summary.grounded,
            "broken": broken(summary.answer, case.highlights, case.tags),
        }


def _weights(llm: str, model: str) -> str:
    """The sha256 of a local model's file, which was compared when it was loaded; empty for other models."""
    catalogue = weights.read_catalogue()
    return catalogue[model].sha256 if llm.partition("/")[0] == "local" and model in catalogue else ""


def begin(path: Path, wanted: Mapping[str, Any]) -> tuple[Writer, int]:
    """A writer for the record at `path`, new or resumed, and how many inputs it has already.

    Raises InputError where the file holds another record, or one that is complete.
    """
    record.cut_half_line(path)
    if not path.exists() or not path.stat().st_size:
        writer = Writer(path)
        writer.add(record.HEADER, {**wanted, "begun": now()})
        return writer, 0
    written = record.read(path)
    if written.end is not None:
        raise InputError(f"{path} is complete: look at it with --check, or write another one with --out")
    plain = json.loads(json.dumps(wanted))
    if changed := [name for name, value in plain.items() if written.header.get(name) != value]:
        raise InputError(
            f"{path} was begun with another {', '.join(changed)}: go on with the same, or write another one with --out"
        )
    return Writer(path, written.last), len(written.rows)


def now() -> str:
    """The date and time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def figures(rows: Sequence[Line]) -> dict[str, Any]:
    """Counts over the rows of a record."""
    kinds = {name: sum(name in row["broken"] for row in rows) for name in RULES}
    return {
        "inputs": len(rows),
        "read_by_the_model": sum(bool(row["requests"]) for row in rows),
        "quotes_as_they_are": sum(not row["requests"] for row in rows),
        "replaced_by_the_quotes": sum(not row["grounded"] for row in rows),
        "answers_that_break_a_rule": sum(bool(row["broken"]) for row in rows),
        "by_rule": {name: count for name, count in kinds.items() if count},
    }


def checked(path: Path, *, key: bytes | None = None, store: Store | None = None) -> CertifyRecord:
    """The complete record at `path`, its hashes, signature, rows and figures checked.

    With the `store` it speaks of, also that every input is in it, once and in order, and that its answers break no
    rules but those that it says. Raises InputError for the first thing that does not hold.
    """
    written = record.read(path, key=key)
    try:
        _check(written, path, store)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} lacks what a record says ({error!r}): give the file that certify wrote"
        ) from error
    return written


def _check(written: CertifyRecord, path: Path, store: Store | None) -> None:
    if written.end is None:
        raise InputError(
            f"{path} is not complete: {len(written.rows):,} of {written.header['inputs']:,} inputs were tried"
        )
    if [row["number"] for row in written.rows] != list(range(written.header["inputs"])):
        raise InputError(f"{path} leaves inputs out: certify again")
    if any(written.end[name] != value for name, value in figures(written.rows).items()):
        raise InputError(f"{path} has other figures than its rows: certify again")
    if store is not None:
        _compare(
            written, subject(store, deployment_in(written.header), most=2 * written.header["inputs"]), path
        )


def deployment_in(said: Line) -> Deployment:
    """The deployment that a header names."""
    values = dict(said["deployment"])
    return Deployment(**values | {"policy": SpanPolicy(**values["policy"])})


def _compare(written: CertifyRecord, wanted: Subject, path: Path) -> None:
    if written.header["store"] != wanted.store or written.header["inputs_digest"] != wanted.digest:
        raise InputError(
            f"{path} is about other documents than this index holds: give the index it was made with"
        )
    for row, case in zip(written.rows, wanted.inputs, strict=True):
        if row["input"] != input_key(case) or row["broken"] != broken(
            row["answer"], case.highlights, case.tags
        ):
            raise InputError(f"{path}: input {row['number']} is not what it says: the record proves nothing")
