"""Passages to vectors: what the encoder is given of them, and what it may not give back."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from equipoise.core.errors import CorpusError, InputError, ModelError, ModelReplyError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document
from equipoise.corpus.offsets import Offsets
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.corpus.record_types import IndexEntry

AT_A_TIME = 128
"""Passages that an encoder is given together. At the end of each such call its threads wait for the last of them, and
what is embedded is lost when the process is killed before."""

Cut = tuple[Document, tuple[Offsets, ...]]
"""A document and its passages."""


def entries(cut: Sequence[Cut], encoder: Encoder) -> Iterator[IndexEntry]:
    """Each document with the vectors of its passages. Raises as `embedded`."""
    texts = [texts_of(document, spans) for document, spans in cut]
    vectors = embedded([text for some in texts for text in some], encoder, lambda _done: None)
    row = 0
    for document, spans in cut:
        yield IndexEntry(document, spans, vectors[row : row + len(spans)])
        row += len(spans)


def texts_of(document: Document, spans: Iterable[Offsets]) -> list[str]:
    """What the encoder reads of each passage of a document."""
    return [search_text(passage_at(0, start, end, document)) for start, end in spans]


def embedded(texts: Sequence[str], encoder: Encoder, report: Callable[[int], None]) -> Array:
    """(n, d) vectors of n texts; `report` hears how many are done, now and then.

    Raises CorpusError where the encoder fails on a text, ModelError or InputError where it fails at all.
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
