"""A baseline: findings that somebody has looked at and accepts, by their fingerprints. They are reported as known."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.audit.scan.findings import Finding, Report
from equipoise.core.errors import InputError

VERSION = 1
LARGEST = 100_000_000


def written(findings: Sequence[Finding]) -> str:
    """The baseline that accepts `findings`, as JSON that people can read and compare."""
    rows = [
        {
            "fingerprint": finding.fingerprint,
            "rule": finding.rule,
            "source": finding.source,
            "excerpt": finding.excerpt[:120],
        }
        for finding in sorted(
            findings, key=lambda finding: (finding.source, finding.rule, finding.start, finding.fingerprint)
        )
    ]
    return json.dumps({"version": VERSION, "accepted": rows}, ensure_ascii=True, indent=1) + "\n"


def read(path: Path) -> frozenset[str]:
    """The fingerprints that the baseline at `path` accepts. Raises InputError for a file that is none."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(LARGEST))
        fingerprints = [row["fingerprint"] for row in data["accepted"]]
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}): write it with --write-baseline"
        ) from error
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise InputError(f"{path} is no baseline: write it anew with --write-baseline") from error
    if data.get("version") != VERSION or not all(
        isinstance(fingerprint, str) for fingerprint in fingerprints
    ):
        raise InputError(f"{path} is no baseline of version {VERSION}: write it anew with --write-baseline")
    return frozenset(fingerprints)


def accepted(report: Report, fingerprints: Collection[str]) -> Report:
    """The report with the accepted findings moved to `known`."""
    new = tuple(finding for finding in report.findings if finding.fingerprint not in fingerprints)
    known = tuple(finding for finding in report.findings if finding.fingerprint in fingerprints)
    return replace(report, findings=new, known=known)
