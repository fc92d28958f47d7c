"""Passages as they are read, searched for and shown: a stretch of a document with what belongs to it."""

from bisect import bisect_left

from equipoise.core.types import Document, Passage
from equipoise.text.outline import headings_at, is_label, sections_within
from equipoise.text.scripts import paired
from equipoise.text.visible import title


def passage_at(passage_id: int, start: int, end: int, document: Document) -> Passage:
    """The passage text[start:end] of `document` with its headings, what may be quoted of it, and its place."""
    first, stop = (bisect_left(document.sentences, (offset, 0)) for offset in (start, end))
    units = [(low - start, high - start) for low, high in document.sentences[first:stop] if high <= end]
    text = document.text[start:end]
    at = start + units[0][0] if units else start
    return Passage(
        passage_id,
        document.doc_id,
        start,
        end,
        text,
        title(document.title),
        document.source,
        document.page_at(start),
        document.line_at(start),
        headings_at(document, at),
        document.paragraph_at(at),
        tuple((low, high) for low, high in units if not is_label(text[low:high])) or tuple(units),
        tuple((offset - start, heading) for offset, heading in sections_within(document, at, end)),
        document.trust,
    )


def search_text(passage: Passage) -> str:
    """What vectors see of a passage: its document's title, the headings that do not stand in
    its text, and its text."""
    above = [line for line in passage.headings if line not in passage.text]
    return "\n".join(line for line in (passage.title, " > ".join(above), passage.text) if line)


def word_text(passage: Passage) -> str:
    """What full text search sees of a passage: `search_text` with pairs of letters where words have no spaces."""
    return paired(search_text(passage))
