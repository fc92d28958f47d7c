"""The passages of a question, read by cross-encoders: whole passages are ranked first, sentences are read only in the
best of them.

A sentence is read below the heading it stands under, since what it is about often stands only there, and it counts
together with its passage: of two like sentences the one in the better passage is the better one.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from equipoise.core.protocols import Reranker
from equipoise.core.types import Passage, Query, Span
from equipoise.corpus.pieces import named_entries, term_of
from equipoise.rag.highlighters.sentences import Sentence, sentences_of
from equipoise.rag.search import passage_scores, reader_of
from equipoise.text.labels import is_fragment, is_label, is_lead_in
from equipoise.text.lines import BETWEEN_CELLS, NAMED_CELL, is_loaded_row, is_numbered
from equipoise.text.support import content_stems

READ = 3
"""Passages whose sentences are read, beside the next one with an entry that the question names."""
BEHIND = 4.0
"""A passage more than this below the best score is not read: of 400 questions none has its best window there."""
SEEDS = 2
"""Sentences that windows are grown around, and rows that are read cell by cell: with 4 as many of 280
questions are answered rightly."""
WIDE = 3
"""Columns beside the first from which on a table row is also read cell by cell."""
USUAL = frozenset(
    """
    arguments author bugs commands configuration defaults description details environment errors example examples faq
    files general help introduction limitations name notes operands options overview parameters remarks restrictions
    settings standards summary synopsis syntax usage values variables warnings
    """.split()  # noqa: SIM905
) | {"exit codes", "exit status", "return codes", "return value", "return values", "see also"}
"""Headings that say nothing about what a page is about."""
COST = 0.2
"""What a further sentence must add to the score: the shorter quote is the better one, all else equal."""


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences of one passage, rows `first` to `last`, exclusive; `score` is theirs, `passage_score` the
    passage's, and `read_stretches` are the stretches of the passage that are read for them."""

    passage: Passage
    start: int
    end: int
    first: int
    last: int
    score: float = 0.0
    passage_score: float = 0.0
    read_stretches: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        """The sentences as they are read, and what lies between them."""
        return "\n".join(
            self.passage.text[start:end] for start, end in self.read_stretches or ((self.start, self.end),)
        )

    @property
    def span(self) -> Span:
        """Their place in the document."""
        return Span(self.passage.doc_id, self.passage.start + self.start, self.passage.start + self.end)

    @property
    def own(self) -> str:
        """The sentences alone."""
        return self.passage.text[self.start : self.end]

    @property
    def named(self) -> str:
        """The sentences, below the term that they are read with, if any."""
        return below(term_of(self.passage, self.start, self.read_stretches), self.own)

    @property
    def above(self) -> tuple[str, ...]:
        """File name, title and headings, the nearest last."""
        return above(self.passage, self.start)

    @property
    def leads(self) -> bool:
        """Whether what it leads to is read with it, as with a lead-in or the header of a table."""
        return bool(self.read_stretches) and self.read_stretches[-1][1] > self.end

    @property
    def is_label(self) -> bool:
        """Whether it names the list that is read with it; the steps of a list are read together."""
        return self.leads and is_label(self.own) and sum(map(is_label, self.text.splitlines())) == 1

    @property
    def is_led(self) -> bool:
        """Whether only what leads to it is read with it, as with an item of a list."""
        return bool(self.read_stretches) and self.read_stretches[0][0] < self.start and not self.leads

    @property
    def worth(self) -> float:
        """Both scores less the cost of its length: what windows are ranked by."""
        return self.score + self.passage_score - COST * (self.last - self.first - 1)

    def reads(self, other: "Window") -> bool:
        """Whether what is read for it overlaps the other's sentences."""
        stretches = self.read_stretches or ((self.start, self.end),)
        return self.passage == other.passage and any(
            start < other.end and other.start < end for start, end in stretches
        )


def above(passage: Passage, start: int = 0) -> tuple[str, ...]:
    """File name, title and headings of a place in a passage, the nearest last."""
    return (PurePosixPath(passage.source).stem, *passage.path_at(start))


@dataclass(frozen=True, slots=True)
class Reading:
    """`passages` best first with their `scores` (n,); `windows` best first, none overlapping another."""

    passages: tuple[Passage, ...]
    scores: NDArray[np.float64]
    windows: tuple[Window, ...]


def read(
    query: Query,
    passages: Sequence[Passage],
    reranker: Reranker,
    reader: Reranker,
    off_topic: Set[Passage] = frozenset(),
) -> Reading:
    """All passages scored by the `reranker`, and the best windows of the best passages, of those that are not
    `off_topic`, by the `reader`. Raises ModelError."""
    scores, _ = passage_scores(reranker, query, passages)
    order = np.argsort(-scores, kind="stable").tolist()
    ranked = tuple(passages[row] for row in order)
    scored = [
        (passage, score)
        for passage, score in zip(ranked, scores[order].tolist(), strict=True)
        if passage not in off_topic
    ]
    near = [(passage, score) for passage, score in scored if score >= scored[0][1] - BEHIND]
    stems = content_stems(query.newest)
    naming = [one for one in near[READ:] if named_entries(one[0], stems)]
    windows = windows_of(query.text, dict(near[:READ] + naming[:1]), reader_of(reader, query))
    return Reading(ranked, scores[order], distinct(windows))


def windows_of(question: str, passages: Mapping[Passage, float], reader: Reranker) -> list[Window]:
    """Every sentence that says something as it is read, scored, and the wider windows around the best of them; of
    sentences that are read over the same text only the first. `passages` maps each passage to its score."""
    groups = {passage: sentences_of([passage]) for passage in passages}
    windows = [
        _window(g, n, n + 1, passages[g[n].passage])
        for g in groups.values()
        for n in range(len(g))
        if g[n].read_stretches != ((g[n].start, g[n].end),)
        or _is_telling_row(g[n].text)
        or not is_fragment(g[n].text)
    ]
    first = {(window.passage, window.read_stretches): window for window in reversed(windows)}
    single = _scored(question, list(reversed(first.values())), reader)
    single = _with_cell_scores(question, single, reader)
    seeds = sorted(single, key=_rank_key)[:SEEDS]
    wider = dict.fromkeys(w for seed in seeds for w in _wider_windows(seed, groups[seed.passage]))
    return [*single, *_scored(question, list(wider), reader)]


def distinct(windows: Iterable[Window]) -> tuple[Window, ...]:
    """Best first, without those that overlap a better one; but a list item stays beside its better lead-in if that is
    read without it."""
    kept: list[Window] = []
    for window in sorted(windows, key=_rank_key):
        if not any(
            better.reads(window) or (window.reads(better) and not (window.is_led and is_lead_in(better.own)))
            for better in kept
        ):
            kept.append(window)
    return tuple(kept)


def _is_telling_row(text: str) -> bool:
    """Whether it is a row that says something without a number or a full stop: of a name and its value ("Call sign |
    LHXR"), or of named cells ("Backups; Basic: weekly; Plus: daily")."""
    return text.count(" | ") == 1 or (BETWEEN_CELLS in text and is_loaded_row(text))


def cells(text: str) -> list[str]:
    """Each column of a long table row as a sentence about the first one, which says what the row is about; none for
    other text. A row is `name: value; name: value`, as `corpus/loaders/grid.py` writes it; the reader was trained on
    sentences.

    >>> cells("river: Elbe; length: 1094 km; mouth: North Sea; sluices: 0")
    ['The length of Elbe is 1094 km.', 'The mouth of Elbe is North Sea.', 'The sluices of Elbe is 0.']
    """
    head, *others = text.split(BETWEEN_CELLS)
    named = [other for other in (head, *others) if NAMED_CELL.match(other)]
    if len(others) < WIDE or len(named) <= len(others) // 2:
        return []
    about = NAMED_CELL.sub("", head, count=1)
    return [_cell_sentence(about, other) for other in others]


def _cell_sentence(about: str, cell: str) -> str:
    name, colon, value = cell.partition(": ")
    return f"The {name} of {about} is {value}." if colon else f"{about}: {cell}"


def _with_cell_scores(question: str, windows: Sequence[Window], reader: Reranker) -> list[Window]:
    """The windows; the best rows of a table among them with the score of their best cell, if that is higher."""
    rows = {window: made for window in windows if (made := cells(window.own))}
    best = sorted(rows, key=_rank_key)[:SEEDS]
    scores = iter(reader.scores(question, [cell for window in best for cell in rows[window]]))
    better = {window: max(float(next(scores)) for _ in rows[window]) for window in best}
    return [replace(window, score=max(window.score, better.get(window, window.score))) for window in windows]


def _rank_key(window: Window) -> float:
    return -window.worth


def _wider_windows(seed: Window, group: Sequence[Sentence]) -> Iterable[Window]:
    """The windows of two sentences that hold the seed, unless it is read with more or is a row of a table, which stands
    for itself."""
    if seed.read_stretches != ((seed.start, seed.end),) or is_loaded_row(seed.text):
        return
    for first in range(max(0, seed.first - 1), min(seed.first, len(group) - 2) + 1):
        if _goes_on(*group[first : first + 2]):
            yield _window(group, first, first + 2, seed.passage_score)


def _goes_on(sentence: Sentence, following: Sentence) -> bool:
    """Whether both stand in one section and one paragraph or numbered item, or the second answers the first."""
    passage = sentence.passage
    is_paragraph = "\n\n" not in passage.text[sentence.end : following.start] or sentence.text.endswith("?")
    is_section = passage.path_at(sentence.start) == passage.path_at(following.start)
    return is_section and is_paragraph and not is_numbered(following.text)


def _window(group: Sequence[Sentence], first: int, last: int, passage_score: float) -> Window:
    start, end = group[first].start, group[last - 1].end
    stretches = group[first].read_stretches if last - first == 1 else ((start, end),)
    return Window(
        group[0].passage, start, end, first, last, passage_score=passage_score, read_stretches=stretches
    )


def below(heading: str, text: str) -> str:
    """`text` as it is read below a heading or title, unless it has that in itself."""
    return f"{heading}\n{text}" if heading and heading not in text else text


def below_heading(window: Window) -> str:
    """The window's text below its nearest heading, else the document's title; below both where the heading is one that
    all pages have."""
    title, *headings = window.passage.path_at(window.start)
    nearest = headings[-1] if headings else title
    usual = nearest.casefold() in USUAL and title
    return below(f"{title} > {nearest}" if usual and headings else nearest, window.text)


def _scored(question: str, windows: Sequence[Window], reader: Reranker) -> list[Window]:
    scores = reader.scores(question, [below_heading(window) for window in windows])
    return [replace(window, score=float(score)) for window, score in zip(windows, scores, strict=True)]
