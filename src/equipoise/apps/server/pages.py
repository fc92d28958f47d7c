"""Pages of PDFs as pictures with a quote marked, and the files that documents came from."""

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from threading import Lock

from equipoise.apps.server.errors import ApiError
from equipoise.core.errors import CorpusError
from equipoise.core.types import Document
from equipoise.corpus import files
from equipoise.corpus.pictures import Picture, picture
from equipoise.corpus.places import Places
from equipoise.corpus.store import Store

Ranges = tuple[tuple[int, int], ...]

KEPT = 32
"""Pictures that stay in memory."""
GONE = "The file of this document is gone or has changed since it was indexed; read its text instead."


@dataclass(slots=True)
class Pages:
    """Pictures and files of the documents of `store`."""

    store: Store
    _kept: "OrderedDict[tuple[str, int, Ranges], Picture]" = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def picture(self, document: Document, number: int, ranges: Ranges) -> Picture:
        """A page with those parts of the [start, end) `ranges` marked that stand on it. Raises ApiError."""
        if not 1 <= number <= len(document.pages):
            raise ApiError(404, "This document has no such page.", code="no_page")
        data, digest = self._pdf(document.doc_id)
        key = (digest, number, ranges)
        with self._lock:  # one page is drawn at a time
            if key not in self._kept:
                self._kept[key] = self._drawn(document, data, number, ranges)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def original(self, document: Document, *, alone: bool) -> tuple[bytes, str]:
        """The file a document came from, as it was indexed, and its name; with `alone` only if no other document came
        from it. Raises ApiError."""
        if alone and "#" in document.source:
            raise ApiError(404, "Its file holds other documents; read its text instead.", code="no_file")
        return self._file(document.doc_id)[0], PurePosixPath(self.store.file_of(document.doc_id) or "").name

    def _drawn(self, document: Document, data: bytes, number: int, ranges: Ranges) -> Picture:
        bounds = [*document.pages, len(document.text)]
        first, last = bounds[number - 1], bounds[number]
        there = [(max(start, first), min(end, last)) for start, end in ranges]
        quotes = [
            (document.text[begin:stop], (begin - first) / max(last - first, 1))
            for begin, stop in there
            if begin < stop
        ]
        try:
            return picture(data, number, quotes)
        except CorpusError as error:
            raise ApiError(422, f"{str(error)[:1].upper()}{str(error)[1:]}.", code="no_picture") from error

    def _pdf(self, doc_id: str) -> tuple[bytes, str]:
        """The bytes of the PDF a document came from, as they were indexed, and their digest."""
        if not (self.store.file_of(doc_id) or "").lower().endswith(".pdf"):
            raise ApiError(
                404, "There are no pictures of this document; read its text instead.", code="no_page"
            )
        return self._file(doc_id)

    def _file(self, doc_id: str) -> tuple[bytes, str]:
        """The bytes of the file a document came from, as they were indexed, and their digest."""
        key = self.store.file_of(doc_id)
        record = self.store.file(key) if key else None
        if key is None or record is None:
            raise ApiError(404, "This document came from no file; read its text instead.", code="no_file")
        try:
            content = files.read(Places(self.store.folder).path(key))
        except CorpusError as error:
            raise ApiError(404, GONE, code="no_file") from error
        if content.sha256 != record.sha256:
            raise ApiError(404, GONE, code="no_file")
        return content.data, content.sha256
