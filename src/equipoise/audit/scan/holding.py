"""Documents that a scan holds back: kept out of everything until somebody lets them in.

A `Holding` is asked for each file before any of it is written, so nothing of it is found before it was scanned,
whatever ends the process.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from equipoise.audit.scan.findings import Finding, Report, Severity
from equipoise.audit.scan.rules import Rules, load
from equipoise.audit.scan.scanner import Scanned, scan
from equipoise.core.closing import Closing
from equipoise.core.errors import EquipoiseError
from equipoise.core.types import Document, Trust
from equipoise.corpus.files import Original
from equipoise.corpus.workers import Readers

GROUPS = ("instruction", "tool", "encoded", "unicode", "markup", "hidden")
"""Groups of rules that may hold a document back; a secret or a promise in it is no cause."""
UNSCANNED = "it could not be scanned"


def cause(report: Report) -> Finding | None:
    """The worst finding for which a document that anybody may have written is held back, None where there is none."""
    return next(
        (found for found in report.at_least(Severity.HIGH) if found.rule.partition("/")[0] in GROUPS), None
    )


@dataclass(slots=True)
class Holding(Closing):
    """A `corpus.indexing.Judge`; use it in a `with` block. With `hold`, untrusted documents are scanned; those with a
    `cause`, or that cannot be scanned, are held back.

    With `every`, all documents are scanned; with `distrust` trusted ones count as untrusted if a finding has high
    severity. `held` has (source, why) for each file that was held back. `report` and `failure` are of the last scan.
    """

    hold: bool = True
    every: bool = False
    distrust: bool = False
    held: list[tuple[str, str]] = field(default_factory=list)
    report: Report | None = None
    failure: str = ""
    _rules: Rules = field(default_factory=load)
    _readers: Readers = field(default_factory=lambda: Readers(1))

    def __call__(self, original: Original, documents: Sequence[Document], trust: Trust) -> Trust:
        trusted = trust is Trust.TRUSTED
        if not (self.every or self.distrust if trusted else self.every or self.hold):
            return trust
        self.look(original, documents)
        if trusted and not (self.distrust and self.report and self.report.at_least(Severity.HIGH)):
            return trust
        why = self._why()
        if trust is Trust.HELD or not (self.hold and why):
            return Trust.UNTRUSTED if trusted else trust
        self.held.append((original.source, why))
        return Trust.HELD

    def look(self, original: Original, documents: Sequence[Document]) -> None:
        """Scan the documents of a file or page. Does not raise if the scan fails."""
        self.report, self.failure = None, ""
        try:
            data = original.data()
            whole = self._readers.whole(original.name, data)
            unseen = [(one.hidden, one.invisible) for one in self._readers.read(original.name, data)]
            unseen += [(0, 0)] * len(documents)
            self.report = scan(
                [
                    Scanned(document, whole if row == 0 else (), *unseen[row])
                    for row, document in enumerate(documents)
                ],
                self._rules,
            )
        except EquipoiseError as error:
            self.failure = str(error)

    def _why(self) -> str:
        if self.report is None:
            return f"{UNSCANNED} ({self.failure})"
        found = cause(self.report)
        return f"{_place(found)}{found.why.rstrip('.')} ({found.rule})" if found else ""

    def close(self) -> None:
        """End the processes that read."""
        self._readers.close()


def _place(found: Finding) -> str:
    return f"page {found.page}: " if found.page else f"line {found.line}: " if found.line else ""
