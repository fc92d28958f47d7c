"""Documents to passages: pieces on paragraph and sentence borders, short enough for one vector."""

import re
from collections.abc import Iterator

from equipoise.core.types import Document
from equipoise.text.sentences import sentence_spans

Offsets = tuple[int, int]

TARGET = 900  # characters, about 200 tokens: the embedded encoder reads 256
MOST = 1200
_LEAST = 200  # a shorter piece joins a neighbour where the two fit into MOST

_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n")
_ATX = re.compile(r"#{1,6}+\s")
_LIST_ITEM = re.compile(r"(?:[-*+•]|\(?\w{1,3}[.)])\s")
_HEADING_LENGTH = 100


def passages(document: Document) -> list[Offsets]:
    """(start, end) of every passage: in order, not overlapping, every sentence in exactly one of them.

    A passage is about TARGET and at most MOST characters long (provided no sentence is longer than MOST),
    begins and ends with a sentence, and does not end with a heading that belongs to the text after it.
    Uses `document.sentences`, else finds them.
    """
    sentences = tuple(document.sentences) or sentence_spans(document.text)
    found: list[Offsets] = []
    for group in _sections(_paragraphs(document.text, sentences), document.text):
        for number, piece in enumerate(_pieces(group)):
            opens = number == 0 and _is_heading(document.text, group[0])
            if found and _belong_together(found[-1], piece, opens=opens):
                found[-1] = (found[-1][0], piece[1])
            else:
                found.append(piece)
    return found


def _paragraphs(text: str, sentences: tuple[Offsets, ...]) -> Iterator[list[Offsets]]:
    """Runs of sentences without a blank line between them."""
    run: list[Offsets] = []
    for sentence in sentences:
        if run and _BLANK_LINE.search(text, run[-1][1], sentence[0]):
            yield run
            run = []
        run.append(sentence)
    if run:
        yield run


def _sections(paragraphs: Iterator[list[Offsets]], text: str) -> Iterator[list[Offsets]]:
    """Paragraphs, each with the headings right before it."""
    waiting: list[Offsets] = []
    for paragraph in paragraphs:
        waiting.extend(paragraph)
        if not (len(paragraph) == 1 and _is_heading(text, paragraph[0])):
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _is_heading(text: str, sentence: Offsets) -> bool:
    """A Markdown heading, or a short line without a full stop that is not a list item or a table row."""
    start, end = sentence
    if _ATX.match(text, start, end):
        return True
    line = text[start:end] if end - start <= _HEADING_LENGTH else ""
    plain = bool(line) and not _LIST_ITEM.match(line) and " | " not in line and "\n" not in line
    return plain and line[0].isalnum() and line[-1].isalnum()


def _pieces(section: list[Offsets]) -> Iterator[Offsets]:
    """The section whole where it fits into MOST, else cut between sentences into pieces of like length."""
    length = section[-1][1] - section[0][0]
    share = length / -(-length // TARGET) if length > MOST else MOST
    start, end = section[0]
    for after_start, after_end in section[1:]:
        longer = after_end - start
        if longer > MOST or (end - start > _LEAST and (longer + end - start) / 2 > share):
            yield start, end
            start = after_start
        end = after_end
    yield start, end


def _belong_together(before: Offsets, piece: Offsets, *, opens: bool) -> bool:
    """True where two neighbours make one passage; a new heading begins a new one unless both are short."""
    together = piece[1] - before[0]
    length, added = before[1] - before[0], piece[1] - piece[0]
    if min(length, added) < _LEAST:
        return together <= MOST
    return together <= TARGET and not (opens and length > TARGET // 2)
