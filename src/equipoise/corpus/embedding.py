"""Passages to vectors: hands their texts to the encoder, and checks what it returns."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from equipoise.core.errors import CorpusError, InputError, ModelError, ModelReplyError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.corpus.record_types import IndexEntry

AT_A_TIME = 128
"""Passages in one call of an encoder. At the end of a call its threads wait for the last passage, and what it has
embedded is lost if the process is killed before."""


def vectors_of(
    cut: Iterable[IndexEntry], encoder: Encoder, report: Callable[[int], None] = lambda _done: None
) -> Iterator[Array]:
    """The vectors (n, d) of each document's passages. Raises as `embedded`."""
    documents = [
        [search_text(passage_at(0, start, end, entry.document)) for start, end in entry.spans]
        for entry in cut
    ]
    vectors = embedded([text for texts in documents for text in texts], encoder, report)
    row = 0
    for texts in documents:
        yield vectors[row : row + len(texts)]
        row += len(texts)


def embedded(texts: Sequence[str], encoder: Encoder, report: Callable[[int], None]) -> Array:
    """(n, d) vectors of n texts; `report` hears how many are done, now and then.

    Raises CorpusError where the encoder fails on a text, ModelError or InputError where it cannot be used at all.
    """
    vectors = np.empty((len(texts), encoder.dimensions), np.float32)
    for start in range(0, len(texts), AT_A_TIME):
        batch = texts[start : start + AT_A_TIME]
        rows = _encoded(batch, encoder)
        if rows.shape != (len(batch), encoder.dimensions):
            raise ModelReplyError(
                f"the encoder {encoder.name} gave vectors of shape {rows.shape} for {len(batch)} texts, "
                f"{encoder.dimensions} dimensions were promised: check its settings"
            )
        vectors[start : start + len(batch)] = rows
        report(start + len(batch))
    return vectors


def _encoded(batch: Sequence[str], encoder: Encoder) -> Array:
    try:
        return encoder.encode(batch)
    except (InputError, ModelError):
        raise
    except Exception as error:  # tokenizers and runtimes may stumble over a text in any way
        raise CorpusError(
            f"the encoder {encoder.name} failed on its text ({type(error).__name__}: {error}); leave it out"
        ) from error
