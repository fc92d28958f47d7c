"""Changes of a store in Qdrant, in an order in which nothing half-written is ever shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from qdrant_client import QdrantClient, models

from equipoise.core.types import Array, Trust
from equipoise.corpus import records
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.corpus.qdrant import points
from equipoise.corpus.qdrant.points import META, VECTOR, Catalogue, Payload, Shown
from equipoise.corpus.records import Entry, FileRecord, Numbered
from equipoise.corpus.stems import Stems

Placed = dict[str, list[int]]


def beside(name: str) -> str:
    """The collection of everything but passages."""
    return f"{name}-records"


def make(client: QdrantClient, name: str) -> None:
    """An empty store."""
    client.create_collection(beside(name), vectors_config={})
    client.upsert(beside(name), [_point(META, {"kind": "meta", "token": "", "encoder": {}})], wait=True)


def sweep(client: QdrantClient, name: str, now: Catalogue) -> None:
    """Delete what a killed writer left: documents that are not shown, and passages of no document."""
    only = models.PayloadSelectorInclude(include=["kind"])
    stale: list[int | str] = [
        i
        for i, payload in points.scrolled(client, beside(name), None, only)
        if payload["kind"] == "document" and i not in now.documents
    ]
    _delete(client, beside(name), stale)
    if client.collection_exists(name):
        every = points.scrolled(client, name, None, False)
        _delete(client, name, [i for i, _ in every if now.holder(int(i)) is None])


def placed(numbered: Numbered, stems: Stems) -> Iterator[tuple[Placed, int]]:
    """Where each term stands in each passage of a document, and how many tokens the passage has."""
    document = numbered.entry.document
    texts = [search_text(passage_at(0, start, end, document)) for start, end in numbered.entry.spans]
    for pairs in stems.of_texts(texts):
        terms: Placed = {}
        for term, position in pairs:
            terms.setdefault(term, []).append(position)
        yield terms, len(pairs)


def parts(pairs: Sequence[tuple[str, int]]) -> list[str]:
    """The terms of a word in their order."""
    return [term for term, _ in sorted(pairs, key=lambda pair: pair[1])]


class Writer:
    """One change of a store that shows `now`."""

    def __init__(self, client: QdrantClient, name: str, now: Catalogue, stems: Stems) -> None:
        self._client, self._name, self._stems = client, name, stems
        self._beside = beside(name)
        self.now = now
        self._payloads = now.payloads
        self.has_changed = False

    def end(self, token: str) -> Catalogue:
        """Let everybody who reads look again; what is shown now."""
        self._set(META, {"token": token})
        return points.catalogue(self._payloads)

    def bind(self, meta: Mapping[str, str]) -> None:
        """Record the encoder, and make an empty collection for its vectors."""
        if self._client.collection_exists(self._name):
            self._client.delete_collection(self._name)
        size = int(meta["dimensions"])
        self._client.create_collection(
            self._name, vectors_config={VECTOR: models.VectorParams(size=size, distance=models.Distance.DOT)}
        )
        self._client.create_payload_index(self._name, "terms", models.PayloadSchemaType.KEYWORD)
        self._set(META, {"encoder": dict(meta)})

    def after_all(self, entries: Sequence[Entry], path: str | None) -> list[Numbered]:
        """Documents with the numbers they get. Raises CorpusError for one that cannot be kept as it is."""
        every = self.now.documents.values()
        number = max((doc.number for doc in every), default=0)
        first = max((doc.first + doc.count for doc in every if doc.count), default=1)
        taken = {doc.doc_id for doc in every if path is None or doc.path != path}
        made: list[Numbered] = []
        for entry in entries:
            records.check_entry(entry, int(self.now.meta.get("dimensions", "0")))
            if entry.document.doc_id in taken:
                raise records.taken(entry.document)
            taken.add(entry.document.doc_id)
            number += 1
            made.append(Numbered(number, path, first, entry))
            first += len(entry.spans)
        return made

    def add(self, documents: Sequence[Numbered]) -> None:
        """Documents that come from no file, shown together."""
        if documents:
            record = points.record_id(f"own {documents[0].number}")
            self._write(documents, record)
            self._put(record, {"kind": "own", "numbers": [numbered.number for numbered in documents]})

    def replace(self, record: FileRecord, documents: Sequence[Numbered]) -> None:
        """A file, in the place of what it was, which is shown until the new one is."""
        name = points.record_id(f"file {record.path}")
        before = [self.now.documents[n] for n in self.now.records.get(name, []) if n in self.now.documents]
        self._write(documents, name)
        self._put(name, points.file_payload(record, [numbered.number for numbered in documents]))
        self._forget(before)

    def record_file(self, record: FileRecord) -> None:
        """How a file looks now; its documents get its trust."""
        name = points.record_id(f"file {record.path}")
        numbers = self.now.records.get(name, [])
        self._put(name, points.file_payload(record, numbers))
        for number in numbers:
            self._set(number, {"trust": record.trust.value})

    def drop(self, name: str) -> None:
        """Take a record out with its documents."""
        if name not in self.now.records:
            return
        self._take_out([name])
        self._forget([self.now.documents[n] for n in self.now.records[name] if n in self.now.documents])

    def remove(self, documents: Sequence[Shown]) -> None:
        """Take documents that came from no file out of their records."""
        gone = {doc.number for doc in documents}
        for name in {doc.record for doc in documents}:
            left = [number for number in self.now.records[name] if number not in gone]
            if left:
                self._set(name, {"numbers": left})
            else:
                self._take_out([name])
        self._forget(documents)

    def trust(self, documents: Sequence[Shown], trust: Trust) -> None:
        """Another trust of documents and their files."""
        for doc in documents:
            self._set(doc.number, {"trust": trust.value})
            if doc.path is not None:
                self._set(doc.record, {"trust": trust.value})

    def embed(self, number: int, vectors: Array) -> None:
        """Give a document its vectors."""
        first = self.now.documents[number].first
        rows = np.ascontiguousarray(vectors, np.float32).tolist()
        made = [models.PointVectors(id=i, vector={VECTOR: row}) for i, row in enumerate(rows, first)]
        self._client.update_vectors(self._name, made, wait=True)
        self._set(number, {"embedded": True})

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """Documents under their numbers; those that are there stay. Raises CorpusError where another one is."""
        listed = {name: list(numbers) for name, numbers in self.now.records.items()}
        for record in files:
            name = points.record_id(f"file {record.path}")
            self._put(name, points.file_payload(record, listed.get(name, [])))
        for numbered in documents:
            here = self.now.documents.get(numbered.number)
            if here is not None and here.doc_id != numbered.entry.document.doc_id:
                raise records.other_at(numbered)
            if here is None:
                records.check_entry(numbered.entry, int(self.now.meta.get("dimensions", "0")))
                name = points.record_id(
                    f"own {numbered.number}" if numbered.path is None else f"file {numbered.path}"
                )
                listed[name] = [*listed.get(name, []), numbered.number]
                self._write([numbered], name)
                if numbered.path is None:
                    self._put(name, {"kind": "own", "numbers": [numbered.number]})
                else:
                    self._set(name, {"numbers": listed[name]})

    def _write(self, documents: Iterable[Numbered], record: str) -> None:
        """Passages, then their document; not shown before the record is."""
        for numbered in documents:
            postings = list(placed(numbered, self._stems))
            made = numbered.entry.vectors
            rows = [None] * len(postings) if made is None else np.asarray(made, np.float32).tolist()
            passages = [
                models.PointStruct(
                    id=i,
                    vector={} if row is None else {VECTOR: row},
                    payload={"terms": list(words), "words": words, "length": length},
                )
                for i, ((words, length), row) in enumerate(zip(postings, rows, strict=True), numbered.first)
            ]
            if passages:
                self._client.upsert(self._name, passages, wait=True)
            self._put(
                numbered.number,
                points.document_payload(numbered, record, sum(length for _, length in postings)),
            )

    def _forget(self, documents: Sequence[Shown]) -> None:
        """Delete what is not shown any more."""
        self._take_out([doc.number for doc in documents])
        for doc in documents:
            _delete(self._client, self._name, list(range(doc.first, doc.first + doc.count)))

    def _take_out(self, ids: Sequence[int | str]) -> None:
        _delete(self._client, self._beside, ids)
        self._note({i: payload for i, payload in self._payloads.items() if i not in set(ids)})

    def _note(self, payloads: dict[int | str, Payload]) -> None:
        self._payloads, self.has_changed = payloads, True

    def _put(self, point: int | str, payload: Payload) -> None:
        short = {key: value for key, value in payload.items() if key not in points.LONG}
        self._note(self._payloads | {point: short})
        self._client.upsert(self._beside, [_point(point, payload)], wait=True)

    def _set(self, point: int | str, payload: Payload) -> None:
        self._note(self._payloads | {point: self._payloads.get(point, {}) | payload})
        self._client.set_payload(self._beside, payload, points=[point], wait=True)


def _point(point: int | str, payload: Payload) -> models.PointStruct:
    return models.PointStruct(id=point, vector={}, payload=payload)


def _delete(client: QdrantClient, collection: str, ids: Sequence[int | str]) -> None:
    if ids:
        client.delete(collection, models.PointIdsList(points=list(ids)), wait=True)
