"""A question and a text cut into what an encoder can read at once: windows of whole sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

Offsets = tuple[int, int]

MAX_QUESTION = 64
"""Tokens of a question that are read."""


MAX_CHARACTERS = 16_384
"""Most characters of a sentence that are read; what lies beyond would not fit into a window of 256 tokens."""


@dataclass(frozen=True, slots=True)
class ModelWindow:
    """One input. `offsets` are places in the whole text, None for tokens of the question and special ones.

    `sentences` maps the row of a sentence to its tokens, the second number exclusive; `question` are the
    question's tokens.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    offsets: tuple[Offsets | None, ...]
    question: Offsets
    sentences: dict[int, Offsets]


def windows(
    tokenizer: Tokenizer, question: str, text: str, sentences: Sequence[Offsets], *, max_tokens: int
) -> list[ModelWindow]:
    """Windows of at most `max_tokens` tokens; every sentence that has a token lies in at least one.

    A window begins with the last sentence of the one before, where there is room. A sentence longer than a
    window is cut at its end. `tokenizer` must not pad or truncate by itself.
    """
    asked = _cut(tokenizer, question)
    sentences = [(start, min(end, start + MAX_CHARACTERS)) for start, end in sentences]
    special = tokenizer.num_special_tokens_to_add(True)
    room = max_tokens - special - len(tokenizer.encode(asked, add_special_tokens=False).ids)
    pieces = tokenizer.encode_batch([text[start:end] for start, end in sentences], add_special_tokens=False)
    made = []
    for first, last in _groups([len(piece.ids) for piece in pieces], room):
        begin, end = sentences[first][0], sentences[last][1]
        encoding = tokenizer.encode(asked, text[begin:end])
        encoding = _truncated(encoding, tokenizer, asked, text[begin:end], max_tokens)
        made.append(_window(encoding, begin, [(row, sentences[row]) for row in range(first, last + 1)]))
    return made


def _groups(costs: Sequence[int], room: int) -> list[tuple[int, int]]:
    """(first, last) rows of each window."""
    groups = []
    first = 0
    while first < len(costs):
        last, used = first, costs[first]
        while last + 1 < len(costs) and used + costs[last + 1] <= room:
            last += 1
            used += costs[last]
        groups.append((first, last))
        overlaps = last > first and last + 1 < len(costs) and costs[last] + costs[last + 1] <= room
        first = last if overlaps else last + 1
    return groups


def _cut(tokenizer: Tokenizer, question: str) -> str:
    encoding = tokenizer.encode(question, add_special_tokens=False)
    if len(encoding.ids) <= MAX_QUESTION:
        return question
    return question[: encoding.offsets[MAX_QUESTION - 1][1]]


def _truncated(encoding: Encoding, tokenizer: Tokenizer, asked: str, text: str, max_tokens: int) -> Encoding:
    """The encoding, or that of the part of `text` that fits."""
    surplus = len(encoding.ids) - max_tokens
    while surplus > 0:
        kept = [o for o, s in zip(encoding.offsets, encoding.sequence_ids, strict=True) if s == 1]
        text = text[: kept[max(0, len(kept) - surplus - 1)][1]]
        encoding = tokenizer.encode(asked, text)
        surplus = len(encoding.ids) - max_tokens
    return encoding


def _window(encoding: Encoding, begin: int, rows: Sequence[tuple[int, Offsets]]) -> ModelWindow:
    sequences = encoding.sequence_ids
    offsets = tuple(
        (start + begin, end + begin) if which == 1 else None
        for (start, end), which in zip(encoding.offsets, sequences, strict=True)
    )
    asked = [place for place, which in enumerate(sequences) if which == 0]
    question = (asked[0], asked[-1] + 1) if asked else (0, 1)
    return ModelWindow(
        tuple(encoding.ids), tuple(encoding.type_ids), offsets, question, _token_ranges(offsets, rows)
    )


def _token_ranges(
    offsets: Sequence[Offsets | None], rows: Sequence[tuple[int, Offsets]]
) -> dict[int, Offsets]:
    """The tokens of each row; one that reaches into two sentences belongs to both."""
    ranges: dict[int, Offsets] = {}
    for row, (start, end) in rows:
        inside = [place for place, here in enumerate(offsets) if here and here[0] < end and start < here[1]]
        if inside:
            ranges[row] = (inside[0], inside[-1] + 1)
    return ranges
