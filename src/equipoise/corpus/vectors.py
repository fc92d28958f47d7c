"""Vectors for the documents that words find already: read from the store, embedded together, written back.

Interrupted runs resume: the store says which documents are still without vectors.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.corpus import record_types
from equipoise.corpus.embedding import AT_A_TIME, vectors_of
from equipoise.corpus.record_types import Numbered
from equipoise.corpus.store import Store

PAUSE_S = 0.2
"""Seconds until this process looks again at what another one has claimed."""


@dataclass(frozen=True, slots=True)
class VectorProgress:
    """How far it is: `done` of `passages`, the last of them in the document with this `source`."""

    source: str
    done: int
    passages: int


def make(store: Store, encoder: Encoder, report: Callable[[VectorProgress], None]) -> list[UnreadableFile]:
    """Give every document of the store its vectors. The files on whose texts the encoder fails, by their paths in the
    store, are taken out of it.

    Documents of several files are embedded together, about AT_A_TIME passages, and written in one transaction.
    Raises StoreError, ModelError or InputError where the encoder cannot be used, and CorpusError where it fails on
    the text of a document that came from no file.
    """
    waiting = store.pending()
    run = _Run(store, encoder, report, sum(count for _, count in waiting))
    while waiting:
        others: list[tuple[int, int]] = []
        for numbers in _groups(_ours(store, waiting, others), AT_A_TIME):
            run.embed(numbers)
        waiting = _left(store, others)
    store.index_vectors()
    return list({refusal.path: refusal for refusal in reversed(run.refused)}.values())[::-1]


@dataclass(slots=True)
class _Run:
    """One run of `make`: how far it is, and what it has refused."""

    store: Store
    encoder: Encoder
    report: Callable[[VectorProgress], None]
    total: int
    done: int = 0
    refused: list[UnreadableFile] = field(default_factory=list)

    def embed(self, numbers: Sequence[int]) -> None:
        """Give claimed documents their vectors, and give them back."""
        try:
            self._embed(self.store.unembedded(numbers))
        finally:
            for number in numbers:
                self.store.release(_work(number))

    def _embed(self, group: Sequence[Numbered]) -> None:
        before = self.done

        def tell(embedded: int) -> None:
            self.report(VectorProgress(_source(group, embedded), before + embedded, self.total))

        made, failed = _made(group, self.encoder, tell)
        for pending, error in failed:
            if pending.path is None:
                raise error
            self.store.drop_pending(pending)
            self.refused.append(UnreadableFile(pending.path, str(error)))
        self.store.add_vectors(made)
        self.done += sum(len(pending.entry.spans) for pending in group)


def _ours(
    store: Store, waiting: Iterable[tuple[int, int]], others: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The `waiting` documents that this process could claim; those that other processes have are put into `others`."""
    for pair in waiting:
        if store.claim(_work(pair[0])):
            yield pair
        else:
            others.append(pair)


def _left(store: Store, others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """After a pause, those of `others` that still have no vectors; this process holds no claim meanwhile."""
    if not others:
        return []
    time.sleep(PAUSE_S)
    still = {number for number, _ in store.pending()}
    return [pair for pair in others if pair[0] in still]


def _work(number: int) -> str:
    return f"vectors {number}"


Made = list[tuple[Numbered, Array]]
Failed = list[tuple[Numbered, CorpusError]]


def _made(group: Sequence[Numbered], encoder: Encoder, tell: Callable[[int], None]) -> tuple[Made, Failed]:
    """The vectors of each document, or the encoder's error: where it fails on the group, each is encoded alone."""
    try:
        return _vectors(group, encoder, tell), []
    except CorpusError:
        pass
    made: Made = []
    failed: Failed = []
    for pending in group:
        try:
            made += _vectors([pending], encoder, lambda _done: None)
        except CorpusError as error:
            failed.append((pending, error))
    return made, failed


def _vectors(group: Sequence[Numbered], encoder: Encoder, tell: Callable[[int], None]) -> Made:
    """The vectors of each document, checked. Raises as `embedded`, CorpusError also for unusable vectors."""
    made = vectors_of([pending.entry for pending in group], encoder, tell)
    pairs = list(zip(group, made, strict=True))
    for pending, vectors in pairs:
        record_types.check_vectors(pending.entry, vectors, encoder.dimensions)
    return pairs


def _groups(waiting: Iterable[tuple[int, int]], least: int) -> Iterator[list[int]]:
    """Numbers of documents with `least` passages together, the last ones with what is left.

    Worked value: (1, 5), (2, 6), (3, 1) and least 10 give [1, 2], [3].
    """
    numbers: list[int] = []
    held = 0
    for number, count in waiting:
        numbers.append(number)
        held += count
        if held >= least:
            yield numbers
            numbers, held = [], 0
    if numbers:
        yield numbers


def _source(group: Sequence[Numbered], embedded: int) -> str:
    """The source of the document that passage number `embedded` of the group is in."""
    stops = accumulate(len(pending.entry.spans) for pending in group)
    return next(
        pending.entry.document.source for pending, stop in zip(group, stops, strict=True) if embedded <= stop
    )
