"""A store as points of Qdrant: two collections, and what is shown of them.

NAME          one point for each passage: its vector, once it has one, and where each term stands in it
NAME-records  documents (their texts and passages), records (a file, or documents that came together from none, with the
              numbers of its documents), and the encoder; no vectors

Qdrant has no transactions over several points. So a document's points are written first and its record last, and a
document is shown only where a record lists its number: putting one record in the place of another changes a file as a
whole. What a killed writer left is not shown, and swept out by the next.
"""

import base64
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from qdrant_client import QdrantClient, models

from equipoise.core.types import Document, Trust
from equipoise.corpus import records
from equipoise.corpus.blocks import packed_blocks
from equipoise.corpus.offsets import Offsets, packed
from equipoise.corpus.records import Damage, FileRecord, Ids, Numbered

VECTOR = "text"
AT_A_TIME = 200
META = str(uuid.uuid5(uuid.NAMESPACE_URL, "equipoise:meta"))
_FIELDS = ("doc_id", "text", "source", "title", "trust")
_OFFSETS = ("sentences", "pages", "blocks")
LONG = ("text", *_OFFSETS)
"""Fields of a document that a catalogue has no need of."""

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as the catalogue has it, without its text."""

    number: int
    doc_id: str
    source: str
    title: str
    trust: Trust
    path: str | None
    record: str
    first: int
    count: int
    embedded: bool


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is shown of a store: `documents` by number, `files` by path, and how many tokens there are.

    `payloads` are those that it was made of, without texts.
    """

    payloads: dict[int | str, Payload]
    token: str
    meta: dict[str, str]
    documents: dict[int, Shown]
    files: dict[str, FileRecord]
    records: dict[str, list[int]]
    tokens: int
    firsts: Ids
    numbers: Ids

    def holder(self, passage_id: int) -> Shown | None:
        """The document that a passage is in; None for an unknown one."""
        row = int(np.searchsorted(self.firsts, passage_id, side="right")) - 1
        doc = self.documents[int(self.numbers[row])] if row >= 0 else None
        return doc if doc is not None and passage_id < doc.first + doc.count else None

    @property
    def passages(self) -> int:
        """How many there are."""
        return sum(doc.count for doc in self.documents.values())


def record_id(name: str) -> str:
    """The id of a record point: `name` is "file PATH", or "own NUMBER"."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"equipoise:{name}"))


def document_payload(numbered: Numbered, record: str, tokens: int) -> Payload:
    """What is kept of a document."""
    document = numbered.entry.document
    fields = {name: getattr(document, name) for name in _FIELDS} | {"trust": document.trust.value}
    offsets = (packed(document.sentences), packed(document.pages), packed_blocks(document.blocks))
    kept = {name: base64.b64encode(data).decode() for name, data in zip(_OFFSETS, offsets, strict=True)}
    return {
        "kind": "document", "number": numbered.number, "path": numbered.path, "record": record, "first": numbered.first,
        "spans": [list(span) for span in numbered.entry.spans], "embedded": numbered.entry.vectors is not None,
        "tokens": tokens, **fields, **kept,
    }  # fmt: skip


def read_document(payload: Payload) -> tuple[Document, tuple[Offsets, ...]]:
    """The document and its passages. Raises Damage."""
    try:
        offsets = (base64.b64decode(payload[name]) for name in _OFFSETS)
        document = records.read_document((*(payload[name] for name in _FIELDS), *offsets))
        return document, tuple((int(start), int(end)) for start, end in payload["spans"])
    except (KeyError, TypeError, ValueError) as error:
        raise Damage(f"a document lacks {error}") from error


def file_payload(record: FileRecord, numbers: Sequence[int]) -> Payload:
    """What is kept of a file, with the numbers of its documents."""
    kept = {"sha256": record.sha256, "size": record.size, "mtime_ns": record.mtime_ns, "root": record.root}
    return {
        "kind": "file",
        "path": record.path,
        "trust": record.trust.value,
        "numbers": list(numbers),
        **kept,
    }


def read_catalogue(client: QdrantClient, name: str) -> Catalogue:
    """Everything but texts, vectors and words. Raises Damage."""
    return catalogue(dict(scrolled(client, name, None, models.PayloadSelectorExclude(exclude=list(LONG)))))


def catalogue(payloads: dict[int | str, Payload]) -> Catalogue:
    """What is shown where these are the points of the second collection. Raises Damage."""
    meta: Payload = {}
    files: dict[str, FileRecord] = {}
    listed: dict[str, list[int]] = {}
    documents: dict[int, tuple[Shown, int]] = {}
    for point_id, payload in payloads.items():
        if payload["kind"] == "document":
            documents[payload["number"]] = (_shown(payload), payload["tokens"])
        elif payload["kind"] == "meta":
            meta = payload
        else:
            listed[str(point_id)] = payload["numbers"]
            if payload["kind"] == "file":
                files[payload["path"]] = _file(payload)
    owners = {number: record for record, numbers in listed.items() for number in numbers}
    shown = {n: doc for n, (doc, _) in sorted(documents.items()) if owners.get(n) == doc.record}
    return Catalogue(
        payloads,
        str(meta.get("token", "")),
        dict(meta.get("encoder", {})),
        shown,
        dict(sorted(files.items(), key=lambda pair: pair[0].encode())),
        listed,
        sum(tokens for number, (_, tokens) in documents.items() if number in shown),
        np.array([doc.first for doc in shown.values() if doc.count], np.int64),
        np.array([number for number, doc in shown.items() if doc.count], np.int64),
    )


def scrolled(
    client: QdrantClient,
    collection: str,
    wanted: models.Filter | None,
    payload: Any = True,  # noqa: ANN401
    *,
    vectors: bool = False,
) -> Iterator[tuple[int | str, Payload]]:
    """Every point that fits, by its id; with its vector under VECTOR where these are asked for."""
    offset = None
    while True:
        rows, offset = client.scroll(
            collection, wanted, limit=AT_A_TIME, offset=offset, with_payload=payload, with_vectors=vectors
        )
        for row in rows:
            yield (
                row.id if isinstance(row.id, int) else str(row.id),
                (row.payload or {}) | ({VECTOR: vector_of(row.vector)} if vectors else {}),
            )
        if offset is None:
            return


def vector_of(vector: object) -> Sequence[float] | None:
    """A passage's vector, None where it has none."""
    values = vector.get(VECTOR) if isinstance(vector, Mapping) else None
    return list(values) if isinstance(values, list | np.ndarray) and len(values) else None


def standing(term: str) -> models.Filter:
    """Passages in which a term stands."""
    return models.Filter(must=[models.FieldCondition(key="terms", match=models.MatchValue(value=term))])


def any_of(terms: Sequence[str]) -> models.Filter:
    """Passages in which one of the terms stands."""
    return models.Filter(must=[models.FieldCondition(key="terms", match=models.MatchAny(any=list(terms)))])


def _shown(payload: Payload) -> Shown:
    return Shown(
        payload["number"],
        payload["doc_id"],
        payload["source"],
        payload["title"],
        records.trust(payload["trust"]),
        payload["path"],
        payload["record"],
        payload["first"],
        len(payload["spans"]),
        payload["embedded"],
    )


def _file(payload: Payload) -> FileRecord:
    names = ("path", "sha256", "size", "mtime_ns", "trust", "root")
    return records.read_file(tuple(payload[name] for name in names))
