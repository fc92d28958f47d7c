"""What a scan finds in a document that was handed in, kept in the book for admins."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.apps.server.book import Book
from equipoise.apps.server.errors import LOG
from equipoise.core.errors import EquipoiseError
from equipoise.core.types import Trust
from equipoise.corpus import catalogue
from equipoise.corpus.store import Store
from equipoise.redteam.scan import Finding, Report, Scanned, Severity, load, scan
from equipoise.redteam.scan.files import whole_of

MOST_KEPT = 200
"""Findings of one document that are kept, the worst first."""
FAILED = "The document could not be scanned: see the server's log."


@dataclass(frozen=True, slots=True)
class Kept:
    """The findings of a document as JSON, the worst first; `total` counts all, `failure` says why there are none."""

    findings: tuple[dict[str, Any], ...] = ()
    total: int = 0
    failure: str = ""
    not_run: tuple[str, ...] = ()


def look(book: Book, store: Store, place: Path, doc_ids: Sequence[str], *, distrust: bool) -> None:
    """Scan the documents of the file at `place` and keep what is found. With `distrust` a file with a finding of high
    severity is marked untrusted. Never raises for what a scan stumbles over: the document is in the index already."""
    try:
        report = _report(store, place, doc_ids)
    except EquipoiseError as error:
        LOG.warning("%s could not be scanned: %s", place.name, error)
        _keep(book, {doc_id: Kept(failure=FAILED) for doc_id in doc_ids})
        return
    not_run = tuple(f"{check.what}: {check.why}" for check in report.not_run)
    _keep(book, {doc_id: _kept(report.findings, doc_id, not_run) for doc_id in doc_ids})
    if distrust and report.at_least(Severity.HIGH):
        every = store.listing()
        chosen = [document for document in every if document.doc_id in doc_ids]
        catalogue.set_trust(store, catalogue.with_siblings(chosen, every), Trust.UNTRUSTED)
        LOG.warning("%s is untrusted now: the scan found something of high severity", place.name)


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


def _report(store: Store, place: Path, doc_ids: Sequence[str]) -> Report:
    whole = whole_of(place)
    documents = [store.document(doc_id) for doc_id in doc_ids]
    return scan(
        [Scanned(document, whole if row == 0 else ()) for row, document in enumerate(documents)], load()
    )


def _kept(findings: Sequence[Finding], doc_id: str, not_run: tuple[str, ...]) -> Kept:
    own = [finding.to_dict() for finding in findings if finding.doc_id == doc_id]
    return Kept(tuple(own[:MOST_KEPT]), len(own), "", not_run)


def _keep(book: Book, scans: dict[str, Kept]) -> None:
    with book.writing():
        for doc_id, kept in scans.items():
            text = json.dumps(
                {
                    "findings": kept.findings,
                    "total": kept.total,
                    "failure": kept.failure,
                    "not_run": kept.not_run,
                }
            )
            book.rows("INSERT OR REPLACE INTO findings VALUES (?, ?)", (doc_id, text))
