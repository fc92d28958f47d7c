"""Documents and their passages to entries of the store: vectors of title and text."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from equipoise.core.errors import CorpusError, InputError, ModelError, ModelReplyError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document
from equipoise.corpus.offsets import Offsets
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.corpus.records import Entry

_BATCH = 64

Cut = tuple[Document, tuple[Offsets, ...]]
"""A document and its passages."""


def entries(cut: Sequence[Cut], encoder: Encoder, report: Callable[[int, int], None]) -> Iterator[Entry]:
    """Each document with the vectors of its passages; `report` hears (done, of) after every batch.

    Raises CorpusError where the encoder fails on the text, ModelError or InputError where it fails at all.
    """
    texts = [
        search_text(passage_at(0, start, end, document)) for document, spans in cut for start, end in spans
    ]
    vectors = _embedded(texts, encoder, report)
    row = 0
    for document, spans in cut:
        yield Entry(document, spans, vectors[row : row + len(spans)])
        row += len(spans)


def _embedded(texts: list[str], encoder: Encoder, report: Callable[[int, int], None]) -> Array:
    vectors = np.empty((len(texts), encoder.dimensions), np.float32)
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        rows = _encoded(batch, encoder)
        if rows.shape != (len(batch), encoder.dimensions):
            raise ModelReplyError(
                f"the encoder {encoder.name} gave vectors of shape {rows.shape} for {len(batch)} texts, "
                f"{encoder.dimensions} dimensions were promised: check its settings"
            )
        vectors[start : start + len(batch)] = rows
        report(start + len(batch), len(texts))
    return vectors


def _encoded(batch: list[str], encoder: Encoder) -> Array:
    try:
        return encoder.encode(batch)
    except (InputError, ModelError):
        raise
    except Exception as error:  # tokenizers and runtimes may stumble over a text in any way
        raise CorpusError(
            f"the encoder {encoder.name} failed on its text ({type(error).__name__}: {error}); leave it out"
        ) from error
