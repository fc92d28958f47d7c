"""Keeps what a scan finds in uploaded documents in the book, for admins."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from equipoise.apps.server.book import Book
from equipoise.apps.server.errors import LOG
from equipoise.apps.server.views import shown_source
from equipoise.audit.scan import Finding, Reach, Severity
from equipoise.audit.scan.holding import Holding
from equipoise.core.types import Trust
from equipoise.corpus.files import Original
from equipoise.corpus.record_types import ListedDocument
from equipoise.corpus.store import Store
from equipoise.rag.impersonation import lookalikes
from equipoise.text.visible import title

MOST_KEPT = 200
"""Findings of one document that are kept, the worst first."""
ALIKE = "impersonation/trusted"
FAILED = "The document could not be scanned: see the server's log."


@dataclass(frozen=True, slots=True)
class Kept:
    """The findings of a document as JSON, the worst first; `total` counts all, `failure` says why there are none."""

    findings: tuple[dict[str, Any], ...] = ()
    total: int = 0
    failure: str = ""
    not_run: tuple[str, ...] = ()


def keep(
    book: Book, store: Store, place: Path, documents: Sequence[ListedDocument], holding: Holding
) -> None:
    """Keep what `holding` found in the documents of the file at `place`, which are in the index now, and which of the
    untrusted ones look like a trusted one. A scan that fails does not raise."""
    ids = [document.doc_id for document in documents]
    strangers = [one.doc_id for one in documents if one.trust is not Trust.TRUSTED]
    wanted = holding.every or (holding.hold and strangers)
    if wanted and holding.report is None and not holding.failure:  # the file was unchanged
        holding.look(Original.of(place), list(store.documents(ids).values()))
    if holding.failure:
        LOG.warning("%s could not be scanned: %s", place.name, holding.failure)
    for source, why in holding.held:
        LOG.warning("%s is held back: %s", source, why)
    alike = dict(lookalikes(strangers, store))
    kept = {one.doc_id: _kept(one, holding, alike.get(one.source, "")) for one in documents}
    if holding.report or holding.failure or alike:
        _keep(book, kept)
    else:
        forget(book, ids)


def of_document(book: Book, doc_id: str) -> Kept | None:
    """What was found in a document; None where it was never scanned."""
    rows = book.rows("SELECT found FROM findings WHERE doc_id = ?", (doc_id,))
    if not rows:
        return None
    record = json.loads(rows[0][0])
    return Kept(tuple(record["findings"]), record["total"], record["failure"], tuple(record["not_run"]))


def forget(book: Book, doc_ids: Sequence[str]) -> None:
    """Drop what was found in documents that are gone."""
    with book.writing():
        for doc_id in doc_ids:
            book.rows("DELETE FROM findings WHERE doc_id = ?", (doc_id,))


def _kept(document: ListedDocument, holding: Holding, alike: str) -> Kept:
    report = holding.report
    found = report.findings if report else ()
    own = _alike(document, alike) + [one.to_dict() for one in found if one.doc_id == document.doc_id]
    not_run = tuple(f"{check.what}: {check.why}" for check in report.not_run) if report else ()
    return Kept(tuple(own[:MOST_KEPT]), len(own), FAILED if holding.failure else "", not_run)


def _alike(document: ListedDocument, name: str) -> list[dict[str, Any]]:
    """The finding that a document seems to be the trusted one called `name`, if any."""
    why = f"It looks like {title(shown_source(name))}, which is trusted, and is never cited under that name."
    finding = Finding(
        ALIKE, Severity.HIGH, Reach.CORPUS, document.doc_id, document.source, 0, 0, document.title, why
    )
    return [finding.to_dict()] if name else []


def _keep(book: Book, scans: dict[str, Kept]) -> None:
    with book.writing():
        for doc_id, kept in scans.items():
            book.rows("INSERT OR REPLACE INTO findings VALUES (?, ?)", (doc_id, json.dumps(asdict(kept))))
