"""On the clean example corpus the scan stays quiet: the share that docs and benchmarks/scan state."""

from pathlib import Path

from equipoise.audit.scan import Severity, load, scan
from equipoise.audit.scan.files import ScannedFiles

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "sqlite"
MOST = 0.002
"""Of the quotable sentences; none today."""


def test_almost_nothing_is_found_in_ordinary_documentation():
    corpus = ScannedFiles.at([EXAMPLES])
    report = scan(corpus, load())
    assert not corpus.failed and report.documents >= 10 and report.sentences > 1_000
    assert len(report.at_least(Severity.LOW)) <= MOST * report.sentences
