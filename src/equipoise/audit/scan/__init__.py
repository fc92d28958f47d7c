"""What a corpus holds that should not be quoted, shown to a model, or trusted: `scan`."""

from equipoise.audit.scan.findings import Finding, NotRun, Reach, Report, Severity
from equipoise.audit.scan.rules import Rules, load
from equipoise.audit.scan.scanner import Scan, Scanned, scan

__all__ = [
    "Finding", "NotRun", "Reach", "Report", "Rules", "Scan", "Scanned", "Severity", "load", "scan",
]  # fmt: skip
