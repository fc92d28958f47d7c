"""Which quote stands behind which sentence of an answer."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from equipoise.core.results import Answer, Refusal
from equipoise.core.types import Highlight, Trust
from equipoise.rag.events import in_sentences
from equipoise.rag.summarizers.layout import laid_out
from equipoise.text.support import unsupported
from equipoise.text.tokens import content_words
from equipoise.text.visible import flowing


def cited(text: str, quotes: Sequence[Highlight]) -> list[tuple[str, tuple[int, ...]]]:
    """The text in sentences, each with the rows of the quotes to cite behind it.

    A quote that stands in the text whole is cited behind the last of its own sentences.
    Of consecutive sentences that the same quote supports, only the last cites it; the last sentence of all also cites
    the quotes that support none.
    """
    pieces: list[str] = []
    best: list[int | None] = []
    for stretch, row in _stretches(text, quotes):
        for piece in in_sentences(stretch):
            pieces.append(piece)
            best.append(_supporting(piece.strip(), quotes) if row is None else row)
    rows: list[tuple[int, ...]] = [
        () if row is None or row == following else (row,) for row, following in zip_longest(best, best[1:])
    ]
    if rows:
        rows[-1] += tuple(row for row in range(len(quotes)) if row not in best)
    return list(zip(pieces, rows, strict=True))


def numbers(result: Answer | Refusal) -> list[dict[str, Any]]:
    """An answer as JSON, sentence by sentence: its `text` and the numbers, from 1, of its `quotes` as they are shown. A
    refusal and an answer on untrusted documents have none."""
    if isinstance(result, Refusal) or result.trust is not Trust.TRUSTED:
        return []
    return [
        {"text": piece, "quotes": [row + 1 for row in rows]}
        for piece, rows in cited(result.text, result.quotes)
    ]


def _stretches(text: str, quotes: Sequence[Highlight]) -> Iterator[tuple[str, int | None]]:
    """The text in stretches, each with the row of the quote that it repeats as a whole; None between them."""
    words = [laid_out(quote.text) for quote in quotes]
    used: set[int] = set()
    at = 0
    while at < len(text):
        found = [
            (start, -len(said), row in used, row)
            for row, said in enumerate(words)
            if (start := text.find(said, at)) >= 0 and _stands_alone(text, start, start + len(said))
        ]
        start, length, _, row = min(found, default=(len(text), 0, False, 0))
        if start > at:
            yield text[at:start], None
        if not found:
            return
        at = start - length
        at += len(text[at:]) - len(text[at:].lstrip())
        used.add(row)
        yield text[start:at], row


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether white space, or nothing, stands on both sides of a stretch that is not empty."""
    return end > start and not text[max(start - 1, 0) : start].strip() and not text[end : end + 1].strip()


def _supporting(sentence: str, quotes: Sequence[Highlight]) -> int | None:
    """The row of the quote that supports a sentence best, None where none does."""
    shares = [_supports(quote, sentence) for quote in quotes]
    best = max(shares, default=0)
    return shares.index(best) if best else None


def _supports(quote: Highlight, sentence: str) -> int:
    """How many words of `sentence` the quote has; 0 if the sentence says something that the quote does not."""
    text = flowing(quote.text)
    if flowing(sentence) in text:
        return len(sentence)
    if unsupported(sentence, [text, quote.title]):
        return 0
    return len(set(content_words(sentence)) & set(content_words(text)))
