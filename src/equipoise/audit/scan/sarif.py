"""A report as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the files."""

from collections.abc import Mapping
from typing import Any

from equipoise.audit.scan.findings import Finding, Reach, Report, Severity
from equipoise.audit.scan.rules import Rules

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Mapping[Severity, str] = {
    Severity.NOTE: "note",
    Severity.LOW: "note",
    Severity.MEDIUM: "warning",
    Severity.HIGH: "error",
}
_SCORES: Mapping[Severity, str] = {
    Severity.NOTE: "0.0",
    Severity.LOW: "3.0",
    Severity.MEDIUM: "6.0",
    Severity.HIGH: "8.5",
}
"""`security-severity`, by which code hosts sort: 7.0 and more is high, 4.0 medium."""


def as_sarif(report: Report, rules: Rules, *, version: str, failed: Mapping[str, str]) -> dict[str, Any]:
    """The report as a SARIF log. `failed` has files that could not be read, with the reason.

    Findings that the baseline accepts are in it as suppressed.
    """
    shown = [(finding, False) for finding in report.findings] + [(finding, True) for finding in report.known]
    used = sorted({finding.rule for finding, _ in shown})
    rows = {rule: row for row, rule in enumerate(used)}
    driver = {
        "name": "equipoise scan",
        "version": version,
        "rules": [_rule(rules, rule) for rule in used],
    }
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(report, failed)],
                "results": [_result(finding, rows[finding.rule], is_known=known) for finding, known in shown],
            }
        ],
    }


def _rule(rules: Rules, rule_id: str) -> dict[str, Any]:
    rule = rules.by_id[rule_id]
    return {
        "id": rule_id,
        "shortDescription": {"text": rule.why},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"security-severity": _SCORES[rule.severity], "tags": ["security"]},
    }


def _invocation(report: Report, failed: Mapping[str, str]) -> dict[str, Any]:
    notes = [
        {"level": "error", "message": {"text": f"{source}: {reason}"}} for source, reason in failed.items()
    ]
    notes += [
        {"level": "warning", "message": {"text": f"{gap.what} did not run: {gap.why}"}}
        for gap in report.not_run
    ]
    return {"executionSuccessful": not failed, "toolExecutionNotifications": notes}


def _result(finding: Finding, row: int, *, is_known: bool) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.source)}}
    if region := _region(finding):
        place["region"] = region
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": row,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.why}\n{finding.excerpt}".strip()},
        "locations": [{"physicalLocation": place} | _logical(finding)],
        "partialFingerprints": {"equipoise/v1": finding.fingerprint},
        "properties": {
            "severity": finding.severity.value,
            "reach": finding.reach.value,
            "page": finding.page,
        },
    }
    if finding.others:
        result["relatedLocations"] = [
            {"physicalLocation": {"artifactLocation": {"uri": _uri(source)}}} for source in finding.others
        ]
    if is_known:
        result["suppressions"] = [{"kind": "external", "justification": "It is in the baseline."}]
    return result


def _region(finding: Finding) -> dict[str, Any]:
    """The line, in files that have lines; else offsets into the text that is indexed."""
    if finding.line is not None:
        return {"startLine": finding.line}
    if finding.reach in {Reach.QUOTED, Reach.SHOWN} and finding.end > finding.start:
        return {"charOffset": finding.start, "charLength": finding.end - finding.start}
    return {}


def _logical(finding: Finding) -> dict[str, Any]:
    name = " > ".join([*([f"page {finding.page}"] if finding.page else []), *finding.headings])
    return {"logicalLocations": [{"fullyQualifiedName": name}]} if name else {}


def _uri(source: str) -> str:
    """A relative reference (RFC 3986): code hosts join it with their root."""
    safe = "/-._~#"
    return "".join(c if c.isascii() and (c.isalnum() or c in safe) else _percent(c) for c in source)


def _percent(c: str) -> str:
    return "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "replace"))
