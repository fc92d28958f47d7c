"""Passages as they are read, searched for and shown: a stretch of a document with what belongs to it."""

from bisect import bisect_left
from collections.abc import Iterable, Set

from equipoise.core.types import Document, Passage
from equipoise.text.labels import is_name
from equipoise.text.outline import headings_at, paragraph_at, sections_within
from equipoise.text.quotes import stretches_to_read
from equipoise.text.support import content_stems
from equipoise.text.tokens import with_cjk_bigrams
from equipoise.text.visible import title

_MEANING = content_stems(
    "mean means meaning define definition explain describe call stand use used term word"
)


def passage_at(passage_id: int, start: int, end: int, document: Document) -> Passage:
    """The passage text[start:end] of `document` with its headings, what may be quoted of it, and its place."""
    first, stop = (bisect_left(document.sentences, (offset, 0)) for offset in (start, end))
    units = [unit for unit in document.sentences[first:stop] if unit[1] <= end]
    at = units[0][0] if units else start
    readings = {unit: stretches for unit in units if (stretches := stretches_to_read(document, unit))}
    return Passage(
        passage_id,
        document.doc_id,
        start,
        end,
        document.text[start:end],
        title(document.title),
        document.source,
        document.page_at(start),
        document.line_at(start),
        headings_at(document, at),
        paragraph_at(document, at),
        tuple((low - start, high - start) for low, high in readings),
        tuple((offset - start, path) for offset, path in sections_within(document, at, end)),
        document.trust,
        tuple(_inside(stretches, start, end) for stretches in readings.values()),
    )


def _inside(stretches: Iterable[tuple[int, int]], start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The parts of the stretches that lie in text[start:end], as offsets from `start`."""
    cut = ((max(low, start), min(high, end)) for low, high in stretches)
    return tuple((low - start, high - start) for low, high in cut if low < high)


def search_text(passage: Passage) -> str:
    """The text of a passage that is embedded: its document's title, the headings that its text does not have, and its
    text."""
    return _below_headings(passage, passage.text)


def named_entries(passage: Passage, stems: Set[str]) -> list[str]:
    """The entries of a passage, such as those of a glossary, all stems of whose term are among the `stems` of a
    question, each below title and headings; none if the passage lacks another stem that does not ask for a meaning."""
    entries: dict[str, list[str]] = {}
    for unit, stretches in zip(passage.sentences or (), passage.readings, strict=False):
        if term := term_of(passage, unit[0], stretches):
            entries.setdefault(term, [term]).append(passage.text[slice(*unit)])
    named = [lines for term, lines in entries.items() if (own := content_stems(term)) and own <= stems]
    if not named or not stems - _MEANING <= content_stems(search_text(passage)):
        return []
    return [_below_headings(passage, "\n".join(lines)) for lines in named]


def term_of(passage: Passage, start: int, read_stretches: Iterable[tuple[int, int]]) -> str:
    """What the stretch that is read with the sentence at `start` begins with, in a line of a few words: a term with
    what it means; empty where that is a sentence or lead-in."""
    before = [passage.text[low : min(high, start)] for low, high in read_stretches if low < start]
    line = before[-1].partition("\n")[0] if before else ""
    return line if is_name(line) else ""


def _below_headings(passage: Passage, text: str) -> str:
    above = [line for line in passage.headings if line not in text]
    return "\n".join(line for line in (passage.title, " > ".join(above), text) if line)


def word_text(passage: Passage) -> str:
    """The text of a passage that full text search indexes: `search_text`, in scripts without spaces as letter pairs."""
    return with_cjk_bigrams(search_text(passage))
