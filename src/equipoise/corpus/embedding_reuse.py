"""Reuses vectors that other indexes on this machine hold: a file that one of them has is not embedded again."""

import hashlib
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from equipoise.core.errors import EquipoiseError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array
from equipoise.corpus.pieces import search_text
from equipoise.corpus.store import Store, open_store

MOST = 50_000
"""Texts whose vectors are held in memory: 77 MB with 384 dimensions."""

_log = logging.getLogger("equipoise")


class ReusingEncoder:
    """An Encoder for one run of indexing: the vectors of a text come from a lender that holds it, else from `encoder`.

    A lender's vector is taken if its encoder has the same name, the text is the same, and `store` holds the file, too
    (by its sha256). Nothing else is checked, so a lender has to be an index that nobody but the user can write.
    """

    def __init__(self, encoder: Encoder, store: Store, lenders: Iterable[Path]) -> None:
        """Nothing is opened before the first text is encoded."""
        self._encoder, self._store, self._lenders = encoder, store, tuple(lenders)
        self._held: dict[bytes, Array] | None = None

    @property
    def name(self) -> str:
        """The encoder's name."""
        return self._encoder.name

    @property
    def dimensions(self) -> int:
        """The encoder's dimensions."""
        return self._encoder.dimensions

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, d) vectors of n texts. Raises what the encoder raises."""
        if self._held is None:
            self._held = self._lent()
        known = [self._held.get(_key(text)) for text in texts]
        new = [text for text, vector in zip(texts, known, strict=True) if vector is None]
        made = iter(self._encoder.encode(new) if new else ())
        rows = [next(made) if vector is None else vector for vector in known]
        return np.array(rows, np.float32).reshape(len(texts), self.dimensions)

    def _lent(self) -> dict[bytes, Array]:
        wanted = {file.sha256 for file in self._store.files().values()}
        held: dict[bytes, Array] = {}
        for path in self._lenders:
            try:
                with open_store(path, read_only=True) as lender:
                    if lender.encoder_name() == self.name:
                        _take(lender, wanted, held)
            except EquipoiseError as error:
                _log.debug("no vectors are taken from an index: %s", error)
        return held


def _take(lender: Store, wanted: set[str], held: dict[bytes, Array]) -> None:
    """Put the vectors of a lender's passages into `held`, only from files with a `wanted` sha256, and at most MOST."""
    with lender.snapshot():
        paths = {path for path, file in lender.files().items() if file.sha256 in wanted}
        for listed in [listed for listed in lender.listing() if listed.path in paths]:
            passages = lender.passages_of(listed.doc_id)
            if len(held) + len(passages) > MOST:
                return
            partition = lender.partition(listed.trust)
            known, vectors = partition.vectors([passage.passage_id for passage in passages])
            texts = [search_text(passage) for passage, has in zip(passages, known, strict=True) if has]
            held.update((_key(text), vector) for text, vector in zip(texts, vectors, strict=True))


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
