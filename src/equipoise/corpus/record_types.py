"""What every kind of store keeps: its records, how a row becomes one of them, and what no store can keep."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError, InputError, StoreError
from equipoise.core.metadata import UNSTORED, Scalar, checked
from equipoise.core.metadata import packed as packed_metadata
from equipoise.core.metadata import unpacked as unpacked_metadata
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus.blocks import blocks_in, check_blocks, packed_blocks
from equipoise.corpus.offsets import check_pages, check_spans, packed, spans, unpacked
from equipoise.corpus.pieces import passage_at
from equipoise.corpus.scope import trust_of
from equipoise.text import visible

Ids = NDArray[np.int64]

PLACE = 'SELECT p.passage_id, d.doc_id, p.start, p."end" FROM passages p JOIN documents d ON d.number = p.document'
DOCUMENT = (
    "SELECT doc_id, text, source, title, trust, sentences, pages, blocks, author, metadata FROM documents"
)
FILE = "SELECT path, sha256, size, mtime_ns, trust, root, author, metadata FROM files"
MOST_DIMENSIONS = 65_536
_UNIT = 1e-3  # largest error of a squared length; that of float32 rows of 65,536 dimensions is a hundred times smaller


class Damage(Exception):
    """The store holds what nobody wrote through `Store`: a damaged file, or one made by hand."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """How a file looked when it was read. `path` and `root` are relative to the store's folder, `author` is that of its
    documents, and `metadata` what the operator says of them (`core.metadata.packed`)."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    trust: Trust
    root: str
    author: str = ""
    metadata: str = "{}"

    @property
    def row(self) -> tuple[str, str, int, int, str, str, str, str]:
        """The columns of table `files`, in their order."""
        columns = (self.path, self.sha256, self.size, self.mtime_ns, self.trust.value, self.root, self.author)
        return (*columns, self.metadata)


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document as it is listed, without its text. `path` is that of its file as in `FileRecord`, "" where it came
    from none."""

    doc_id: str
    source: str
    title: str
    trust: Trust
    passages: int
    path: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class IndexEntry:
    """A document with its passages' offsets and their unit vectors (n, d); None where these are made later."""

    document: Document
    spans: tuple[tuple[int, int], ...]
    vectors: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """A document with its number in the store, its file as in `FileRecord`, and the id of the first passage."""

    number: int
    path: str | None
    first: int
    entry: IndexEntry

    @property
    def row(self) -> tuple[object, ...]:
        """The columns of table `documents`, in their order."""
        document = self.entry.document
        names = (self.number, document.doc_id, self.path, document.source, document.title)
        offsets = (packed(document.sentences), packed(document.pages), packed_blocks(document.blocks))
        return (
            *names,
            document.trust.value,
            document.author,
            packed_metadata(document.metadata),
            *offsets,
            document.text,
        )

    def is_like(self, other: "Numbered | None") -> bool:
        """Whether vectors of one fit the other: both are the same document, with the same text, cut alike."""
        return other is not None and self._seen == other._seen

    @property
    def _seen(self) -> tuple[object, ...]:
        document = self.entry.document
        return self.path, document.doc_id, document.title, document.text, document.blocks, self.entry.spans


@dataclass(frozen=True, slots=True, eq=False)
class Authorship:
    """The `ids` (n,) of the passages of a partition, ascending, and for each in `rows` (n,) which of the `names` wrote
    it (`Document.written_by`)."""

    ids: Ids
    rows: Ids
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartCounts:
    """How much a partition of a store holds; `pending` as in `Counts`."""

    documents: int
    passages: int
    pending: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds; `pending` of the passages have no vectors yet and are found by their words alone,
    `trusted` of the documents were written by their owner only, `held` are kept out of everything."""

    files: int
    documents: int
    passages: int
    pending: int = 0
    trusted: int = 0
    held: int = 0

    @classmethod
    def of(cls, files: int, parts: Mapping[Trust, PartCounts]) -> "Counts":
        """The sums over all partitions."""
        documents, passages, pending = (
            sum(getattr(part, name) for part in parts.values())
            for name in ("documents", "passages", "pending")
        )
        trusted, held = parts[Trust.TRUSTED].documents, parts[Trust.HELD].documents
        return cls(files, documents, passages, pending, trusted, held)


def read_document(row: tuple[Any, ...]) -> Document:
    """The document in a row of DOCUMENT. Raises Damage."""
    doc_id, body, source, title = (text(value) for value in row[:4])
    sentences, pages, blocks = (_offsets(value) for value in row[5:8])
    try:
        check_pages(pages, len(body))
        sentence_spans, structure = spans(sentences, len(body)), blocks_in(blocks, len(body))
    except ValueError as error:
        raise Damage(f"the blocks, sentences or pages of document {doc_id!r}: {error}") from error
    place = (source, visible.title(title), trust(row[4]), sentence_spans, tuple(pages.tolist()), structure)
    return Document(doc_id, body, *place, text(row[8]), metadata_in(row[9]))


def read_listed(row: tuple[Any, ...]) -> ListedDocument:
    """The document in a row of a store's LISTED. Raises Damage."""
    doc_id, source, title = (text(value) for value in row[:3])
    listed = (doc_id, source, visible.title(title), trust(row[3]), integer(row[4]), text(row[5]))
    return ListedDocument(*listed, metadata_in(row[6]))


def read_place(row: tuple[Any, ...]) -> tuple[int, Span]:
    """The passage in a row of PLACE, and where it lies. Raises Damage."""
    passage_id, start, end = integer(row[0]), integer(row[2]), integer(row[3])
    if not 0 <= start < end:
        raise Damage(f"passage {passage_id} lies outside its text")
    return passage_id, Span(text(row[1]), start, end)


def read_passage(passage_id: int, place: Span, document: Document) -> Passage:
    """The passage at `place` of its document. Raises Damage."""
    if place.end > len(document.text):
        raise Damage(f"passage {passage_id} lies outside its text")
    return passage_at(passage_id, place.start, place.end, document)


def read_file(row: tuple[Any, ...]) -> FileRecord:
    """The file in a row of FILE. Raises Damage."""
    path, sha256, root, author = (text(row[n]) for n in (0, 1, 5, 6))
    given = packed_metadata(metadata_in(row[7]))
    return FileRecord(path, sha256, integer(row[2]), integer(row[3]), trust(row[4]), root, author, given)


def trust(value: object) -> Trust:
    """The trust that is stored as `value`. Raises Damage."""
    try:
        return Trust(text(value))
    except ValueError as error:
        raise Damage(f"{value!r} is no trust") from error


def metadata_in(value: object) -> dict[str, Scalar]:
    """The metadata that is stored as `value`. Raises Damage."""
    try:
        return unpacked_metadata(text(value))
    except ValueError as error:
        raise Damage(f"the metadata of a document: {error}") from error


def text(value: object) -> str:
    """`value`, which must be text. Raises Damage."""
    if not isinstance(value, str):
        raise Damage("a value is not text")
    return value


def integer(value: object) -> int:
    if not isinstance(value, int):
        raise Damage("a value is not a number")
    return value


def _offsets(value: object) -> NDArray[np.int64]:
    try:
        return unpacked(value if isinstance(value, bytes) else b"?")
    except ValueError as error:
        raise Damage(str(error)) from error


def meta_of(encoder: Encoder) -> dict[str, str]:
    """What a store records of its encoder."""
    return {"encoder": encoder.name, "dimensions": str(encoder.dimensions)}


def width_of(meta: Mapping[str, str]) -> int:
    """The length of the vectors of a store with this `meta_of` its encoder, 0 before one is bound. Raises Damage."""
    stored = meta.get("dimensions", "0")
    if not (stored.isascii() and stored.isdigit() and len(stored) <= 6 and int(stored) <= MOST_DIMENSIONS):
        raise Damage(f"{stored[:40]!r} is no number of dimensions")
    return int(stored)


def authors_of(pairs: Iterable[tuple[int, str]]) -> Authorship:
    """Who wrote which passage, from (passage id, author), ascending. Raises Damage."""
    rows: dict[str, int] = {}
    every = [(integer(passage), rows.setdefault(text(author), len(rows))) for passage, author in pairs]
    table = np.array(every, np.int64).reshape(len(every), 2)
    return Authorship(table[:, 0], table[:, 1], tuple(rows))


def rows_of(ids: Ids, wanted: Ids) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which of the `wanted` (n,) are among the `ids`, which ascend, and the rows (n,) of those that are."""
    rows = np.searchsorted(ids, wanted)
    known = rows < len(ids)
    known[known] = ids[rows[known]] == wanted[known]
    return known, rows


def check_meta(path: Place, stored: Mapping[str, str], given: Mapping[str, str]) -> None:
    """Raises StoreError where the encoder in `stored` is another one than in `given` (both as of `meta_of`)."""
    if stored and stored != given:
        theirs, ours = (f"{m.get('encoder')} ({m.get('dimensions')} dimensions)" for m in (stored, given))
        one, two = (m.get("encoder", "").rpartition("/")[0] for m in (stored, given))
        earlier = one == two and one.partition("/")[0] not in ("", "hf")  # nothing gives its vectors any more
        other = "" if earlier else "let retrieval.encoder be auto or that one, or "
        raise StoreError(
            f"the store {path} was built with {theirs}, not {ours}: {other}index into a new store"
        )


def vectors_in(data: object, count: int, width: int) -> Array:
    """(count, width) vectors that are stored as `data`. Raises Damage."""
    if not isinstance(data, bytes) or count < 0 or len(data) != count * width * 4:
        raise Damage(f"the vectors of a document are not {count} of {width} dimensions")
    return np.frombuffer(data, "<f4").reshape(count, width)


def are_unit(vectors: Array) -> bool:
    """Whether every row has length 1, up to the error of float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors)
    return bool((np.abs(squares - 1) < _UNIT).all())


def check_number(numbered: Numbered) -> None:
    """Raises CorpusError for a document whose number is of another partition."""
    if trust_of(numbered.number) is not numbered.entry.document.trust:
        raise CorpusError(
            f"{name_of(numbered.entry.document)} has a number of the other partition: index it again"
        )


def unknown(doc_id: str, path: Place) -> CorpusError:
    """The error for a document that is not there, or that a filter leaves out: both look alike."""
    return CorpusError(f"there is no document {doc_id!r} in {path}: it may have been replaced")


def check_entry(entry: IndexEntry, width: int) -> None:
    """Raises CorpusError for a document that no store can keep as it is; `width` is that of the store's vectors."""
    document = entry.document
    name = name_of(document)
    fields = (document.doc_id, document.source, document.title, document.author, document.text)
    check_keepable(name, fields)
    if visible.title(document.title) != document.title:
        raise CorpusError(
            f"{name} has a title that is not one clean line of {visible.MAX_TITLE} characters: "
            "make it one with text.visible.title, or let indexing.prepare do it"
        )
    try:
        checked(document.metadata)
    except InputError as error:
        raise CorpusError(f"{name}: {error}") from error
    _check_offsets(name, entry)
    if entry.vectors is not None:
        check_vectors(entry, entry.vectors, width)


def check_keepable(name: str, fields: Iterable[str]) -> None:
    """Raises CorpusError for text that no store can keep; `name` is what it belongs to."""
    if any(UNSTORED.search(field) for field in fields):
        raise CorpusError(f"{name} holds a zero character or half a surrogate pair: clean its text")


def check_vectors(entry: IndexEntry, vectors: Array, width: int) -> None:
    """Raises CorpusError unless there is one vector of length 1, with `width` dimensions, for each passage."""
    shape = (len(entry.spans), width)
    if vectors.shape != shape or not are_unit(vectors):
        raise CorpusError(
            f"{name_of(entry.document)} has vectors of shape {vectors.shape}, ones of {shape} and length 1 are wanted: "
            "bind the encoder first and encode every passage with it"
        )


def check_passages(entry: IndexEntry) -> None:
    """Raises Damage where the passages of a stored document do not fit it."""
    try:
        check_spans(entry.spans, len(entry.document.text))
    except (TypeError, ValueError) as error:
        raise Damage(f"the passages of document {entry.document.doc_id!r}: {error}") from error


def storable(text: str) -> str:
    """`text` where a store can hold it, else "", which is no document's id."""
    return "" if UNSTORED.search(text) else text


def name_of(document: Document) -> str:
    return f"document {document.doc_id!r} ({document.source!r})"


def _check_offsets(name: str, entry: IndexEntry) -> None:
    document, length = entry.document, len(entry.document.text)
    try:
        check_spans(entry.spans, length)
        check_spans(document.sentences, length)
        check_pages(document.pages, length)
        check_blocks(document.blocks, length)
    except ValueError as error:
        raise CorpusError(
            f"{name} has passages, sentences, blocks or pages that do not fit it: {error}; cut it again"
        ) from error
