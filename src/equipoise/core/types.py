"""The nouns of the system: frozen, with slots, without behaviour beyond looking things up.

Offsets are Python string indices (code points) into `Document.text`, start inclusive, end exclusive.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from equipoise.core.documents import DEEPEST, Block, BlockKind, Document, Trust
from equipoise.core.usage import Usage

__all__ = [
    "CUT", "DEEPEST", "Array", "Block", "BlockKind", "Candidates", "ChatOptions", "ChatReply",
    "Document", "Dropped", "Filtered", "Flag", "Highlight", "Highlights", "Message", "Passage",
    "Proposal", "Query", "ScoredPassage", "Span", "Summary", "Tag", "TokenLogprob", "Trust",
    "Usage",
]  # fmt: skip

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Query:
    """The user's question: untrusted. No module below the boundary imports this type.

    `last` is a follow-up by itself, where `text` has the earlier question before it; empty for other questions.
    `out_of_corpus` are words of the question that no document has in any form, `unknown` those of them that are no
    common English words either. `read` caches the scores of texts by (reranker name, text), so that no part of the
    pipeline scores a text again; it lives as long as the question.
    """

    text: str
    last: str = ""
    out_of_corpus: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    read: Mapping[tuple[str, str], float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def newest(self) -> str:
        """What was asked last: a follow-up without the earlier question."""
        return self.last or self.text


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable piece of a document: `document.text[start:end] == text`; `title` is the document's.

    `source` with the `page` or `line` of its first character, or with `headings` and the number of the `paragraph`
    below the last of them, tells a reader where it is. Headings are highest first; the last may be the name of a list
    entry that the passage continues. `sentences` are (start, end) in `text` of what may be quoted of it; None where
    they were not computed. `sections` are (start, path) in `text` of the sections that begin in it, a path being like
    `headings`. `trust` is its document's. `readings` are, for each sentence, the (start, end) in `text` to read for it:
    what leads to it and itself, for a lead-in or a fragment all that is shown with it; empty: each sentence alone.
    """

    passage_id: int
    doc_id: str
    start: int
    end: int
    text: str
    title: str = ""
    source: str = ""
    page: int | None = None
    line: int | None = None
    headings: tuple[str, ...] = ()
    paragraph: int | None = None
    sentences: tuple[tuple[int, int], ...] | None = None
    sections: tuple[tuple[int, tuple[str, ...]], ...] = ()
    trust: Trust = Trust.TRUSTED
    readings: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def spot(self) -> str:
        """Where it stands, for people and logs: its id would reveal how much else is in the index."""
        return f"{self.source or self.doc_id} [{self.start}:{self.end}]"

    def path_at(self, offset: int) -> tuple[str, ...]:
        """The document's title and the headings that text[offset] stands under, highest first."""
        inner = [path for start, path in self.sections if start <= offset]
        return (self.title, *(inner[-1] if inner else self.headings))


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage with the score of one ranking (higher is better); `near`: similar enough to the question to be named
    by a refusal."""

    passage: Passage
    score: float
    near: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What retrieval hands on, best first: n passages, scores (n,), unit embeddings (n, d).

    `query_embedding` (d,) is the encoded question the scores were made with. `documents` are those of all the
    passages, by id, read at the same moment: an answer needs nothing else of the store.
    """

    passages: tuple[Passage, ...]
    scores: Array
    embeddings: Array
    query_embedding: Array
    documents: Mapping[str, Document] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.passages)

    def take(self, rows: list[int]) -> "Candidates":
        """The candidates at `rows`, in that order."""
        return replace(
            self,
            passages=tuple(self.passages[r] for r in rows),
            scores=self.scores[rows],
            embeddings=self.embeddings[rows],
        )


@dataclass(frozen=True, slots=True)
class Flag:
    """A passage that was taken out, why, and the filter's score for it."""

    passage: Passage
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter kept (in the order it came), what it took out, and what it cost."""

    kept: Candidates
    flagged: tuple[Flag, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a document, and nothing else: the only text-like thing that crosses the boundary."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """A span, or a quotation that could not be placed, that did not become a highlight, and why."""

    reason: str
    span: Span | None = None
    quotation: str = ""


class Tag(StrEnum):
    """The closed set of labels that may cross the boundary beside spans."""

    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A highlighter's raw choice: spans not yet canonical, what it had to drop, what it cost.

    `probability` (0 to 1) is that the passages answer the question, None where it was not estimated; `threshold`
    is the least one that is not declined. `tags` answer a yes/no question. `ranked`: the spans have scores and come
    best first, so that the limits of a set leave out the last ones.
    """

    spans: tuple[Span, ...]
    dropped: tuple[Dropped, ...] = ()
    usage: Usage = Usage()
    probability: float | None = None
    threshold: float | None = None
    tags: frozenset[Tag] = frozenset()
    ranked: bool = False


@dataclass(frozen=True, slots=True)
class Highlight:
    """A quote: canonical spans with what a reader needs of the document around them, and where it is found.

    `spans` are (start, end) in the document of the canonical spans that it shows, `marks` their places in `text`; both
    empty where the whole quote is one. `start` and `end` are those of the whole quote, whose `text` is the document's,
    but for "…" in a paragraph of its own where its middle was left out (`text.quotes`). `page`, `line`, `heading` (the
    path of headings above) and `paragraph` (the number of the block below the last heading) are those of its first
    span. `context` is the text around it that a summarizer may read with it, empty where it is to read quotes only.
    `trust` is its document's: who may have written what is quoted. `date` is its document's own date, `read` the day
    on which the text was read from a source, `newer` the source of a newer version of its document, `corrected` the
    source of a correction of what it shows. `correction`: the quote itself says that it corrects something.
    """

    doc_id: str
    start: int
    end: int
    text: str
    source: str
    title: str = ""
    page: int | None = None
    line: int | None = None
    context: str = ""
    heading: str = ""
    paragraph: int | None = None
    trust: Trust = Trust.TRUSTED
    spans: tuple[tuple[int, int], ...] = ()
    marks: tuple[tuple[int, int], ...] = ()
    date: datetime.date | None = None
    read: datetime.date | None = None
    newer: str = ""
    corrected: str = ""
    correction: bool = False

    @property
    def span(self) -> Span:
        """The stretch of its document that it covers, without the text."""
        return Span(self.doc_id, self.start, self.end)

    @property
    def chosen(self) -> tuple[Span, ...]:
        """The canonical spans that it shows, in order."""
        return tuple(Span(self.doc_id, *span) for span in self.spans or ((self.start, self.end),))

    @property
    def marked(self) -> tuple[str, ...]:
        """The texts of these spans."""
        return tuple(self.text[start:end] for start, end in self.marks or ((0, len(self.text)),))

    @property
    def said_corrected(self) -> str:
        """Says what corrects it, in words; empty where nothing does."""
        by = "in the same document" if self.corrected == self.source else f"by {self.corrected}"
        return f"corrected {by}" if self.corrected else ""


@dataclass(frozen=True, slots=True)
class Highlights:
    """Quotes of canonical spans: document order, no overlaps, no repeats. Raises ValueError otherwise."""

    items: tuple[Highlight, ...] = ()

    def __post_init__(self) -> None:
        for before, after in zip(self.items, self.items[1:], strict=False):
            same = before.doc_id == after.doc_id
            if before.span >= after.span or (same and after.start < before.end):
                raise ValueError("highlights are not canonical: pass spans through canonicalize() first")

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Summary:
    """A summarizer's answer. `grounded` is False where the quotes replace the model's text, because it says things that
    are `unsupported` by them, leaves out what they say (`missing`), or is not usable at all (`failure` says how).

    `guessed_questions` are for the monitor and the operator's trace; they are never shown to the user.
    """

    answer: str
    guessed_questions: tuple[str, ...] = ()
    grounded: bool = True
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    failure: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; `role` is system, user or assistant."""

    role: str
    content: str


CUT = "length"
"""The finish reason, in the OpenAI protocol, of a reply that was cut at `max_tokens`."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Sampling settings of one request. `top_logprobs` > 0 asks for token log-probabilities."""

    temperature: float = 0.0
    max_tokens: int = 512
    seed: int = 0
    top_logprobs: int = 0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One generated token with the natural-log probabilities of the likeliest ones at its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a chat model wrote. `usage.calls` is 1 for a real call, 0 for one that was replayed.

    `finish_reason` is CUT where the reply ended at `ChatOptions.max_tokens`.
    """

    text: str
    model: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    logprobs: tuple[TokenLogprob, ...] = ()
