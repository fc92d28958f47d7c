"""What a corpus holds that should not be quoted, shown to a model, or trusted: `scan`."""

from equipoise.redteam.scan.findings import Finding, NotRun, Reach, Report, Severity
from equipoise.redteam.scan.rules import Rules, load
from equipoise.redteam.scan.scanner import Scan, Scanned, scan

__all__ = [
    "Finding", "NotRun", "Reach", "Report", "Rules", "Scan", "Scanned", "Severity", "load", "scan",
]  # fmt: skip
