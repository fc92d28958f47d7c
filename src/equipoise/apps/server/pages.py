"""Documents as they are read: slices of their text, and pages of PDFs with a quote marked."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from equipoise.apps.server.errors import ApiError
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Trust
from equipoise.corpus import files
from equipoise.corpus.pictures import Picture, picture
from equipoise.corpus.places import Places
from equipoise.corpus.store import Store

KEPT = 32
"""Pictures that stay in memory."""
GONE = "The file of this document is gone or has changed since it was indexed; read its text instead."


@dataclass(slots=True)
class Pages:
    """Documents of `store`."""

    store: Store
    _kept: "OrderedDict[tuple[str, int, int, int], Picture]" = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def document(self, doc_id: str, view: Store, *, held: bool) -> Document:
        """The document as `view` has it; one that is held back only with `held`. Raises ApiError 404 for an unknown
        one."""
        try:
            document = view.document(doc_id)
        except StoreError:
            raise
        except CorpusError:
            document = None
        if document is None or (document.trust is Trust.HELD and not held):
            raise ApiError(404, "There is no such document.", code="no_document")
        return document

    def picture(self, document: Document, number: int, start: int, end: int) -> Picture:
        """A page with what of [start, end) stands on it marked. Raises ApiError."""
        if not 1 <= number <= len(document.pages):
            raise ApiError(404, "This document has no such page.", code="no_page")
        data, digest = self._file(document.doc_id)
        key = (digest, number, start, end)
        with self._lock:  # one page is drawn at a time
            if key not in self._kept:
                self._kept[key] = self._drawn(document, data, number, start, end)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _drawn(self, document: Document, data: bytes, number: int, start: int, end: int) -> Picture:
        bounds = [*document.pages, len(document.text)]
        first, last = bounds[number - 1], bounds[number]
        begin, stop = max(start, first), min(end, last)
        quote = document.text[begin:stop] if begin < stop else ""
        try:
            return picture(data, number, quote, (begin - first) / max(last - first, 1))
        except CorpusError as error:
            raise ApiError(422, f"{str(error)[:1].upper()}{str(error)[1:]}.", code="no_picture") from error

    def _file(self, doc_id: str) -> tuple[bytes, str]:
        """The bytes of the PDF a document came from, as they were indexed, and their digest."""
        key = self.store.file_of(doc_id)
        record = self.store.files().get(key) if key else None
        if key is None or record is None or not key.lower().endswith(".pdf"):
            raise ApiError(
                404, "There are no pictures of this document; read its text instead.", code="no_page"
            )
        try:
            content = files.read(Places(self.store.folder).path(key))
        except CorpusError as error:
            raise ApiError(404, GONE, code="no_file") from error
        if content.sha256 != record.sha256:
            raise ApiError(404, GONE, code="no_file")
        return content.data, content.sha256
