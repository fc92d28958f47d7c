"""A baseline: findings that somebody has looked at and accepts, by their fingerprints. They are reported as known."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.core.errors import InputError
from equipoise.redteam.scan.findings import Finding, Report

VERSION = 1
LARGEST = 100_000_000


def written(findings: Sequence[Finding]) -> str:
    """The baseline that accepts `findings`, as JSON that people can read and compare."""
    rows = [
        {"fingerprint": one.fingerprint, "rule": one.rule, "source": one.source, "excerpt": one.excerpt[:120]}
        for one in sorted(findings, key=lambda one: (one.source, one.rule, one.start, one.fingerprint))
    ]
    return json.dumps({"version": VERSION, "accepted": rows}, ensure_ascii=True, indent=1) + "\n"


def read(path: Path) -> frozenset[str]:
    """The fingerprints that the baseline at `path` accepts. Raises InputError for a file that is none."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST))
        fingerprints = [row["fingerprint"] for row in found["accepted"]]
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}): write it with --write-baseline"
        ) from error
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise InputError(f"{path} is no baseline: write it anew with --write-baseline") from error
    if found.get("version") != VERSION or not all(isinstance(one, str) for one in fingerprints):
        raise InputError(f"{path} is no baseline of version {VERSION}: write it anew with --write-baseline")
    return frozenset(fingerprints)


def accepted(report: Report, fingerprints: Collection[str]) -> Report:
    """The report with the accepted findings moved to `known`."""
    new = tuple(one for one in report.findings if one.fingerprint not in fingerprints)
    known = tuple(one for one in report.findings if one.fingerprint in fingerprints)
    return replace(report, findings=new, known=known)
