"""What may be quoted of a store, as units that can be counted and chosen among.

`Quotable` goes with `rag.boundary`: a set of its units comes unchanged out of `read_highlights`, where its passages are
shown, exactly if it keeps the rules that `maths.choices` counts by. The tests compare the two.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, islice

from equipoise.core.types import Document, Passage, Span
from equipoise.corpus.store import Store
from equipoise.maths.marks import MANY, Unit
from equipoise.text.tokens import WORD


@dataclass(frozen=True, slots=True)
class Quotable:
    """A document, its passages, and its sentences that stand in them: as units and, row by row, as spans.

    Numbers of passages count within the document.
    """

    document: Document
    passages: tuple[Passage, ...]
    units: tuple[Unit, ...]
    spans: tuple[Span, ...]


class Texts:
    """Numbers texts: equal ones (but for white space) have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def number(self, text: str) -> int:
        """The number of `text`, a new one for a new text."""
        key = sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).digest()
        return self._numbers.setdefault(key, len(self._numbers))


def quotables(store: Store) -> Iterator[Quotable]:
    """What may be quoted of each document of the store, in the order of canonical highlights."""
    texts = Texts()
    for doc_id in sorted(store.doc_ids()):
        yield quotable(store.document(doc_id), store.passages_of(doc_id), texts)


def quotable(document: Document, passages: Sequence[Passage], texts: Texts) -> Quotable:
    """The sentences of `document` that stand in `passages`, which do not overlap, in order."""
    ordered = sorted(passages, key=lambda passage: passage.start)
    starts = [passage.start for passage in ordered]
    units: list[Unit] = []
    spans: list[Span] = []
    last = -1
    for index, (start, end) in enumerate(document.sentences):
        place = _passage_of(start, end, ordered, starts)
        if place == _NOWHERE:
            continue
        passage = None if place == _SEVERAL else place
        number = texts.number(document.text[start:end])
        follows = bool(units) and index - 1 == last
        between = _words(document.text[spans[-1].end : start]) if follows else 0
        units.append(Unit(passage, follows, number, _words(document.text[start:end]), between))
        spans.append(Span(document.doc_id, start, end))
        last = index
    return Quotable(document, tuple(ordered), tuple(units), tuple(spans))


def joined_units(documents: Iterable[Quotable]) -> list[Unit]:
    """The units of all `documents`, passages numbered through."""
    joined: list[Unit] = []
    passages = 0
    for whole in documents:
        joined += [
            replace(unit, passage=None if unit.passage is None else unit.passage + passages)
            for unit in whole.units
        ]
        passages += len(whole.passages)
    return joined


def joined_spans(documents: Iterable[Quotable]) -> list[Span]:
    """The spans of all `documents`, row by row as `joined_units`."""
    return list(chain.from_iterable(whole.spans for whole in documents))


def _words(text: str) -> int:
    """How many words `text` has, MANY at most."""
    return len(list(islice(WORD.finditer(text), MANY)))


_NOWHERE, _SEVERAL = -1, -2


def _passage_of(start: int, end: int, passages: Sequence[Passage], starts: Sequence[int]) -> int:
    """The row of the passage that holds text[start:end]; _SEVERAL where several hold it together."""
    row = bisect_right(starts, start) - 1
    if row < 0 or passages[row].end <= start:
        return _NOWHERE
    if passages[row].end >= end:
        return row
    at = passages[row].end
    while at < end and row + 1 < len(passages) and passages[row + 1].start <= at:
        row += 1
        at = passages[row].end
    return _SEVERAL if at >= end else _NOWHERE
