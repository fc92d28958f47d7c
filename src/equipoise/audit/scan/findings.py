"""What a scan says: findings with a place, a rule and a reason, and a report over all documents."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much a finding should worry its reader, least first: `note` is for listings, `high` needs a person today."""

    NOTE = "note"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 (note) to 3 (high)."""
        return list(Severity).index(self)

    @property
    def raised(self) -> "Severity":
        """One level higher, at most high."""
        return list(Severity)[min(self.rank + 1, 3)]


class Reach(StrEnum):
    """How far the text of a finding can get."""

    QUOTED = "quoted"
    """An admissible highlight holds it: one question can bring it to the summarizer."""
    SHOWN = "shown"
    """Found by search and shown to the highlighter, never quoted: headings, navigation, labels."""
    TITLE = "title"
    """The title or the name of the document, which stands beside its passages in prompts."""
    HIDDEN = "hidden"
    """In the file, but not in what is indexed: a reader would not see it."""
    CORPUS = "corpus"
    """A matter of several documents."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a detector found in one text: text[start:end], under which rule; `detail` adds to the rule's reason.

    `others` are places of other documents that belong to it.
    """

    rule: str
    start: int
    end: int
    detail: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. Offsets count code points in the document's text; of hidden text, in the file's own text.

    `page`, `line`, `headings` and `paragraph` say where a reader finds it, as for a quote. `why` is for people.
    `fingerprint` stays the same when the text around it changes, so that a baseline can name it; while the scan runs it
    holds the words that were found.
    """

    rule: str
    severity: Severity
    reach: Reach
    doc_id: str
    source: str
    start: int
    end: int
    excerpt: str
    why: str
    page: int | None = None
    line: int | None = None
    headings: tuple[str, ...] = ()
    paragraph: int | None = None
    others: tuple[str, ...] = ()
    fingerprint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rule": self.rule,
            "severity": self.severity.value,
            "reach": self.reach.value,
            "doc_id": self.doc_id,
            "source": self.source,
            "page": self.page,
            "line": self.line,
            "heading": " > ".join(self.headings),
            "paragraph": self.paragraph,
            "start": self.start,
            "end": self.end,
            "excerpt": self.excerpt,
            "why": self.why,
            "others": list(self.others),
            "fingerprint": self.fingerprint,
        }


@dataclass(frozen=True, slots=True)
class NotRun:
    """A part of the scan that did not run, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, the worst first, over `documents` documents with `sentences` quotable units.

    `known` are findings that a baseline accepts; they are in `findings` no more. `not_run` are parts that did not run.
    """

    findings: tuple[Finding, ...]
    documents: int
    sentences: int
    not_run: tuple[NotRun, ...] = ()
    known: tuple[Finding, ...] = ()

    def at_least(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of this severity or a higher one."""
        return tuple(finding for finding in self.findings if finding.severity.rank >= severity.rank)

    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        tally = Counter(finding.severity for finding in self.findings)
        return {severity.value: tally[severity] for severity in reversed(Severity)}


def with_more(report: Report, more: Iterable[Finding]) -> Report:
    """The report with further findings, whose fingerprints are made from their excerpts."""
    made = (replace(finding, fingerprint=" ".join(finding.excerpt.split())) for finding in more)
    return replace(report, findings=worst_first([*report.findings, *with_fingerprints(made)]))


def with_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each with its fingerprint in the place of its words: a digest of its rule, its source, these words
    and how many alike came before."""
    seen: Counter[str] = Counter()
    marked = []
    for finding in findings:
        key = "\0".join((finding.rule, finding.reach, finding.source, finding.fingerprint))
        seen[key] += 1
        digest = hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "replace")).hexdigest()
        marked.append(replace(finding, fingerprint=digest[:24]))
    return marked


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By severity, then source and place."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (-finding.severity.rank, finding.source, finding.start, finding.rule),
        )
    )
