"""Versions of one document: what a newer version restates is not read from an older one.

Two documents are versions of one where their addresses differ in nothing but a version or a date ("policy-2024.md",
"v2/rates.csv"), or where they lie in one folder under one title and each says its version; and where most words of the
shorter one stand in the other, numbers aside: the minutes of two months are no versions. Nobody makes another's
document old: only documents of the same trust and author are compared (`rag.corrections.have_same_author`).

What is corrected is quoted with its correction (`rag.corrections`), or replaced by it if that restates all of it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from equipoise.core.documents import Corrected
from equipoise.core.metadata import DATE, day
from equipoise.core.types import Candidates, Document, Flag, Highlight, Highlights, Passage, Span
from equipoise.rag.boundary import corrections_of
from equipoise.rag.corrections import find_corrections, folder, have_same_author, without_copies
from equipoise.text.shingles import SHORT_SIZE, containment, shingles
from equipoise.text.spans import overlap
from equipoise.text.tokens import WORD, content_words, words

VERSION = "version"
"""The name of a document's version in its metadata."""
LIKE = 0.5
"""The share of the shorter text's shingles, words with digits aside, that the other one has, too."""
READ = 20_000
"""Characters of a document that are compared."""
HEAD = 600
"""Characters in which a document says its version."""
OLDER = "an older version of"
_VERSION = r"(?<![^\W_])(?:{})[ ._-]?(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}})(?![^\W_])"
_NAMED = re.compile(_VERSION.format("v|ver|version|rev|revision|fassung"), re.IGNORECASE)
_SAID = re.compile(_VERSION.format("version|revision|fassung"), re.IGNORECASE)
_DATED = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-_.](0[1-9]|1[0-2])(?:[-_.](0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_DIGIT = re.compile(r"\d")
_PAST = frozenset(
    "previous previously former formerly older oldest earlier changed changes history versions superseded "  # noqa: SIM905
    "frühere früheren bisher bisherige ältere geändert ancien ancienne précédente anterior anteriores".split()
)
"""Words that ask for what is no longer valid."""
_NOW = frozenset(
    "current currently latest newest present presently nowadays aktuell aktuelle aktuellen aktueller aktuelles "  # noqa: SIM905
    "derzeit derzeitige derzeitigen heutige heutigen actuel actuelle actuellement actual actualmente".split()
)
"""Words that ask for what is valid, as all questions do."""


@dataclass(frozen=True, slots=True)
class Edition:
    """Which version of a document it is, and of which date (a year, with month and day where known); empty: unknown."""

    version: tuple[int, ...]
    date: tuple[int, ...]

    def is_after(self, other: "Edition") -> bool:
        """Whether it is known to be the newer one."""
        if self.version and other.version and self.version != other.version:
            return self.version > other.version
        return bool(self.date and other.date) and self.date > other.date

    def is_named(self, question: str) -> bool:
        """Whether the question names this version, or its year."""
        versions = {_numbers(found) for found in _NAMED.findall(question)}
        return self.version in versions or bool(self.date and str(self.date[0]) in words(question))


def without_outdated_passages(question: str, candidates: Candidates) -> tuple[Candidates, tuple[Flag, ...]]:
    """The candidates without passages of older versions whose every sentence is restated by passages of the newest one
    among them, and a flag for each. In the documents, `Document.newer` and `Document.corrected` are filled in. Nothing
    is left out where the question asks for the past, or names the older version.
    """
    if marks := find_corrections(candidates):
        told = {key: replace(candidates.documents[key], corrected=found) for key, found in marks.items()}
        candidates = replace(without_copies(candidates, marks), documents={**candidates.documents, **told})
    newest = newest_versions(candidates.documents)
    if not newest:
        return candidates, ()
    told = {key: replace(candidates.documents[key], newer=later.source) for key, later in newest.items()}
    marked = replace(candidates, documents={**candidates.documents, **told})
    later_of = {key: newest[key] for key in _outdated_ids(question, marked.documents)}
    said = {later.doc_id: _shingles_of_passages(later, candidates) for later in later_of.values()}
    rows, flags = [], []
    for row, passage in enumerate(candidates.passages):
        later = later_of.get(passage.doc_id)
        if later is not None and _is_restated(passage, said[later.doc_id]):
            flags.append(Flag(passage, f"{OLDER} {later.source}", float(candidates.scores[row])))
        else:
            rows.append(row)
    return (marked.take(rows) if flags else marked), tuple(flags)


def undated(question: str, out_of_corpus: Sequence[str]) -> str:
    """The question without words that ask for what is valid now and that no document has: documents hardly say so of
    themselves, and a reader takes such a word for something that is missing."""
    gone = _NOW.intersection(out_of_corpus)
    left = WORD.sub(lambda word: "" if word.group().casefold() in gone else word.group(), question)
    return " ".join(left.split()) if gone and content_words(left) else question


def with_corrections(kept: Candidates, found: Candidates, flagged: Sequence[Flag], k: int) -> Candidates:
    """`kept` with the passages of `found` that correct something in it and carry no flag, at most `k` in all:
    corrections take the places of the last ones."""
    out = {flag.passage.passage_id for flag in flagged} | {one.passage_id for one in kept.passages}
    marks = [mark for one in kept.passages for mark in _marks(one, kept.documents[one.doc_id])]
    more = [
        row
        for row, passage in enumerate(found.passages)
        if passage.passage_id not in out and any(_holds(passage, mark.doc_id, mark.low) for mark in marks)
    ][: max(0, k - 1)]
    if not more:
        return kept
    row_of = {passage.passage_id: row for row, passage in enumerate(found.passages)}
    return found.take([*(row_of[one.passage_id] for one in kept.passages[: k - len(more)]), *more])


def with_correction_spans(
    spans: Iterable[Span], highlights: Highlights, documents: Mapping[str, Document]
) -> tuple[Span, ...]:
    """The spans, each followed by the spans of the corrections of the quotes that show it."""
    picked: list[Span] = []
    for span in spans:
        picked.append(span)
        for item in highlights.items:
            if isinstance(span, Span) and any(overlap(own, span) for own in item.chosen):
                marks = corrections_of(documents[item.doc_id], item.text)
                picked += [Span(mark.doc_id, mark.low, mark.high) for mark in marks]
    return tuple(picked)


def without_outdated_quotes(
    question: str, highlights: Highlights, kept: Candidates
) -> tuple[Highlights, tuple[Flag, ...]]:
    """The quotes without those that a quote of a newer version restates, and without corrected ones whose corrections
    are not all quoted, or restate all of it; and a flag for each passage of `kept` that these stand in. The
    exceptions are those of `without_outdated_passages`, which has made `kept`."""
    outdated = _outdated_ids(question, kept.documents)
    past = not _PAST.isdisjoint(words(question))
    gone = {}
    for item in highlights.items:
        newer = item.newer if item.doc_id in outdated else ""
        if any(other.source == newer and _alike(item.text, other.text) for other in highlights.items):
            gone[item] = f"{OLDER} {newer}"
        elif item.corrected and _is_replaced(item, highlights, kept, past=past):
            gone[item] = item.said_corrected
    if not gone:
        return highlights, ()
    starts = {span: reason for item, reason in gone.items() for span in item.chosen}
    flags = (
        Flag(passage, reason, float(score))
        for passage, score in zip(kept.passages, kept.scores, strict=True)
        if (
            reason := next(
                (why for span, why in starts.items() if _holds(passage, span.doc_id, span.start)), ""
            )
        )
    )
    return Highlights(tuple(item for item in highlights.items if item not in gone)), tuple(flags)


def _is_replaced(item: Highlight, highlights: Highlights, kept: Candidates, *, past: bool) -> bool:
    """Whether one of the quote's corrections is not quoted, or they say anew all that was chosen, unless the past is
    asked for."""
    document = kept.documents[item.doc_id]
    marks = [
        mark
        for mark in corrections_of(document, item.text)
        if any(mark.start < end and start < mark.end for start, end in item.spans)
    ]
    if not all(any(_shows(other, mark, kept) for other in highlights.items) for mark in marks):
        return True
    anew = {(mark.start, mark.end) for mark in marks if mark.anew}
    return (
        not past and bool(anew) and all(anew.issuperset(_sentences(document, *span)) for span in item.spans)
    )


def _shows(item: Highlight, mark: Corrected, kept: Candidates) -> bool:
    return item.doc_id == mark.doc_id and kept.documents[mark.doc_id].text[mark.low : mark.high] in item.text


def _sentences(document: Document, start: int, end: int) -> Sequence[tuple[int, int]]:
    first, stop = (bisect_left(document.sentences, (offset, 0)) for offset in (start, end))
    return document.sentences[first:stop]


def _marks(passage: Passage, document: Document) -> list[Corrected]:
    return [mark for mark in document.corrected if passage.start <= mark.start < passage.end]


def _holds(passage: Passage, doc_id: str, start: int) -> bool:
    return passage.doc_id == doc_id and passage.start <= start < passage.end


def _outdated_ids(question: str, documents: Mapping[str, Document]) -> frozenset[str]:
    """The ids of documents with a newer version that the question does not name; none if it asks for the past."""
    if not _PAST.isdisjoint(words(question)):
        return frozenset()
    older = (document for document in documents.values() if document.newer)
    return frozenset(one.doc_id for one in older if not edition(one).is_named(question))


def newest_versions(documents: Mapping[str, Document]) -> dict[str, Document]:
    """The newest version of each document that has a newer one among them."""
    editions = {key: edition(document) for key, document in documents.items()}
    dated = [key for key, one in editions.items() if one.version or one.date]
    newest: dict[str, Document] = {}
    read: dict[str, frozenset[int]] = {}
    for old, new in permutations(dated, 2):
        if editions[new].is_after(editions[old]) and _is_named_alike(documents[old], documents[new]):
            for key in {old, new} - read.keys():
                read[key] = _shingles(documents[key].text[:READ])
            if not _is_like(read[old], read[new]):
                continue
            known = newest.get(old)
            if known is None or editions[new].is_after(editions[known.doc_id]):
                newest[old] = documents[new]
    return newest


def edition(document: Document) -> Edition:
    """What its address says, else its metadata, else its beginning."""
    found = _NAMED.search(document.source)
    said = found[1] if found else str(document.metadata.get(VERSION, ""))
    if not said and (found := _SAID.search(document.text[:HEAD])):
        said = found[1]
    if dated := _DATED.search(document.source):
        return Edition(_numbers(said), tuple(int(part) for part in dated.groups() if part))
    of = day(document.metadata, DATE)
    return Edition(_numbers(said), (of.year, of.month, of.day) if of else ())


def _numbers(said: str) -> tuple[int, ...]:
    """ "2.1" as (2, 1); empty for what is no version."""
    parts = said.strip().removeprefix("v").split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else ()


def _is_named_alike(first: Document, second: Document) -> bool:
    """Whether both may be versions of one document: by whom, where, and called what."""
    if not have_same_author(first, second):
        return False
    if _address(first) == _address(second):
        return True
    titled = first.title == second.title != "" and folder(first) == folder(second)
    return titled and all(_SAID.search(one.text[:HEAD]) for one in (first, second))


def _address(document: Document) -> tuple[str, ...]:
    return tuple(words(_DATED.sub(" ", _NAMED.sub(" ", document.source))))


def _shingles_of_passages(document: Document, candidates: Candidates) -> frozenset[int]:
    """The shingles of a document's passages among the candidates."""
    texts = (passage.text for passage in candidates.passages if passage.doc_id == document.doc_id)
    return frozenset[int]().union(*map(_shingles, texts))


def _is_restated(passage: Passage, said: frozenset[int]) -> bool:
    """Whether `said` has at least LIKE of the shingles of each sentence of the passage."""
    sentences = passage.sentences or ((0, len(passage.text)),)
    return all(containment(_shingles(passage.text[start:end]), said) >= LIKE for start, end in sentences)


def _alike(first: str, second: str) -> bool:
    return _is_like(_shingles(first), _shingles(second))


def _is_like(first: frozenset[int], second: frozenset[int]) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return containment(shorter, longer) >= LIKE


def _shingles(text: str) -> frozenset[int]:
    """The shingles of a text without its words with a digit."""
    return shingles(" ".join(word for word in text.split() if not _DIGIT.search(word)), SHORT_SIZE)
