"""Which quote stands behind which sentence of an answer."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from equipoise.core.results import Answer, Refusal
from equipoise.core.types import Highlight, Trust
from equipoise.rag.events import in_sentences
from equipoise.text.support import unsupported
from equipoise.text.tokens import content_words
from equipoise.text.visible import flowing


def cited(text: str, quotes: Sequence[Highlight]) -> list[tuple[str, tuple[int, ...]]]:
    """The text in sentences, each with the rows of the quotes to cite behind it.

    Of consecutive sentences that the same quote supports, only the last cites it; the last sentence of all also cites
    the quotes that support none.
    """
    pieces = in_sentences(text)
    best = [_supporting(piece.strip(), quotes) for piece in pieces]
    rows: list[tuple[int, ...]] = [
        () if row is None or row == following else (row,) for row, following in zip_longest(best, best[1:])
    ]
    if rows:
        rows[-1] += tuple(row for row in range(len(quotes)) if row not in best)
    return list(zip(pieces, rows, strict=True))


def numbers(result: Answer | Refusal) -> list[dict[str, Any]]:
    """An answer as JSON, sentence by sentence: its `text` and the numbers, from 1, of its `quotes` as they are shown. A
    refusal, several questions, and an answer on untrusted documents have none."""
    if isinstance(result, Refusal) or result.trust is not Trust.TRUSTED or result.sub_answers:
        return []
    return [
        {"text": piece, "quotes": [row + 1 for row in rows]}
        for piece, rows in cited(result.text, result.quotes)
    ]


def _supporting(sentence: str, quotes: Sequence[Highlight]) -> int | None:
    """The row of the quote that supports a sentence best, None where none does."""
    shares = [_supports(quote, sentence) for quote in quotes]
    best = max(shares, default=0)
    return shares.index(best) if best else None


def _supports(quote: Highlight, sentence: str) -> int:
    """How many words of `sentence` the quote has; 0 if the sentence says something that the quote does not."""
    text = flowing(quote.text)
    if sentence in text:
        return len(sentence)
    if unsupported(sentence, [text, quote.title]):
        return 0
    return len(set(content_words(sentence)) & set(content_words(text)))
