"""A framework's documents as this package reads them: a `Chunk` each, with a name by which spans point into it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain

import numpy as np

from equipoise.core.types import Candidates, Document, Passage, Trust
from equipoise.corpus.indexing import cut
from equipoise.corpus.pieces import passage_at

EQUAL, FIRST = "equal", "trusted-first"
"""Values of `trust.mode`; the third is "trusted-only"."""
MOST_PAGES = 100_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """A framework's document. `chunk_id` may be empty, and stand for several texts.

    `page` counts from 1; `position` is where in `source` it begins, in any unit; `embedding` is (d,).
    """

    text: str
    chunk_id: str = ""
    source: str = ""
    title: str = ""
    page: int | None = None
    position: int | None = None
    trust: Trust = Trust.UNTRUSTED
    embedding: Sequence[float] | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class ChunkDocuments:
    """Chunks as documents with their sentences, by name, and as `passages`, all in the order they came.

    `rows` has for each name the row of its first chunk. A name is the chunk's id where that stands for one text.
    """

    documents: Mapping[str, Document]
    passages: tuple[Passage, ...]
    rows: Mapping[str, int]

    def of(self, trust: Trust) -> "ChunkDocuments":
        """Those of this trust, with the same names; their passages are numbered by themselves."""
        documents = {name: document for name, document in self.documents.items() if document.trust is trust}
        own = [passage for passage in self.passages if passage.doc_id in documents]
        passages = tuple(replace(passage, passage_id=n) for n, passage in enumerate(own))
        return ChunkDocuments(documents, passages, {name: self.rows[name] for name in documents})

    @property
    def candidates(self) -> Candidates:
        """The passages as candidates of no score."""
        scores, vectors = (
            np.zeros(shape, np.float32) for shape in ((len(self.passages),), (len(self.passages), 0))
        )
        return Candidates(self.passages, scores, vectors, vectors[:0].ravel(), self.documents)

    def read_in(self, mode: str) -> "ChunkDocuments":
        """The chunks that an answer may be made of in this mode."""
        return self if mode == EQUAL else self.of(Trust.TRUSTED)


def chunk_of(
    text: str,
    metadata: Mapping[str, object],
    chunk_id: str | None = None,
    *,
    trust_key: str = "",
    embedding: Sequence[float] | None = None,
    score: float | None = None,
    first_page: int = 1,
) -> Chunk:
    """A framework's document as a chunk, by the keys of metadata that loaders and splitters use; `first_page` is what
    the framework's loaders call the first "page".

    It is trusted only where `trust_key` names a key of its metadata that says "trusted": choose one that nobody who
    writes documents can set.
    """
    trusted = bool(trust_key) and metadata.get(trust_key) == Trust.TRUSTED.value
    return Chunk(
        text,
        chunk_id or "",
        next(_strings(metadata, "source", "file_path", "file_name", "url", "source_id"), ""),
        next(_strings(metadata, "title"), ""),
        _page(metadata, first_page),
        next(_numbers(metadata, "start_index", "split_idx_start", "start_char_idx"), None),
        Trust.TRUSTED if trusted else Trust.UNTRUSTED,
        embedding,
        score or 0.0,
    )


def as_documents(chunks: Sequence[Chunk]) -> ChunkDocuments:
    """The chunks with text, each text under one name once; a long one has several passages."""
    return passages_in({row: document_of(chunks[row], name) for row, name in named(chunks)})


def passages_in(documents: Mapping[int, Document]) -> ChunkDocuments:
    """The same of documents by their rows. What a loader found in them, such as the items of a list, stays."""
    cuts = {row: cut(document) for row, document in documents.items()}
    places = [(made.document, place) for made in cuts.values() for place in made.spans]
    return ChunkDocuments(
        {made.document.doc_id: made.document for made in cuts.values()},
        tuple(passage_at(n, *place, document) for n, (document, place) in enumerate(places)),
        {made.document.doc_id: row for row, made in cuts.items()},
    )


def has_text(chunk: Chunk) -> bool:
    """Whether anything in the chunk could be quoted."""
    return any(map(str.isalnum, chunk.text))


def _strings(metadata: Mapping[str, object], *keys: str) -> Iterator[str]:
    values = (metadata.get(key) for key in keys)
    return (value for value in values if isinstance(value, str) and value.strip())


def _numbers(metadata: Mapping[str, object], *keys: str) -> Iterator[int]:
    values = (metadata.get(key) for key in keys)
    return (
        value for value in values if isinstance(value, int) and not isinstance(value, bool) and value >= 0
    )


def _page(metadata: Mapping[str, object], first: int) -> int | None:
    """From 1, as everybody counts `page_number` and `page_label`; `page` begins with `first`."""
    labels = (
        label
        for label in _strings(metadata, "page_label")
        if label.isascii() and label.isdigit() and len(label) < 7
    )
    counted = (page + 1 - first for page in _numbers(metadata, "page"))
    return next(chain(_numbers(metadata, "page_number"), map(int, labels), counted), None)


def named(chunks: Sequence[Chunk]) -> list[tuple[int, str]]:
    """(row, name) of the first chunk of each name, in their order. A name is a function of the chunk and of whether its
    id stands for other texts too; of a trusted chunk, for other texts of trusted ones. Only a name that ends in a
    digest has a tilde, right before it."""
    trusted = [row for row, chunk in enumerate(chunks) if chunk.trust is Trust.TRUSTED]
    names: dict[str, int] = {}
    for rows in (trusted, sorted({*range(len(chunks))} - {*trusted})):
        texts = {name: {chunks[row].text} for name, row in names.items()}
        for row in rows:
            texts.setdefault(_own_name(chunks[row]), set()).add(chunks[row].text)
        for row in rows:
            name = _own_name(chunks[row])
            if not name or "~" in name or len(texts[name]) > 1:
                digest = sha256(chunks[row].text.encode("utf-8", "surrogatepass")).hexdigest()
                name = f"{name}~{digest[:16]}"
            if has_text(chunks[row]):
                names.setdefault(name, row)
    return sorted((row, name) for name, row in names.items())


def _own_name(chunk: Chunk) -> str:
    """The id or, without one, the place: names of one source are in its order."""
    if chunk.chunk_id or chunk.position is None:
        return chunk.chunk_id
    return f"{chunk.source}@{chunk.position:09d}"


def document_of(chunk: Chunk, name: str) -> Document:
    """The chunk as a document of this name; its source is its author."""
    before = min(chunk.page or 0, MOST_PAGES)
    return Document(
        name, chunk.text, chunk.source or name, chunk.title, chunk.trust, pages=(0,) * max(before, 0)
    )
