"""`equipoise scan`: what documents hold that should not be quoted, shown to a model, or trusted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from equipoise.apps import progress
from equipoise.apps.options import PathArgument, PathOption, group, store_option
from equipoise.apps.terminal import Terminal, complain, number_of, one_line, print_json
from equipoise.audit.scan import Finding, NotRun, Report, Rules, Scanned, Severity, baseline, load, scan
from equipoise.audit.scan.files import ScannedFiles, of_store
from equipoise.audit.scan.findings import with_more
from equipoise.audit.scan.sarif import as_sarif
from equipoise.audit.scan.summaries import summaries
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable, UnreadableFile
from equipoise.core.types import Document
from equipoise.corpus.store import Store
from equipoise.rag import build

app = group()

FOUND, PARTLY_FAILED = 1, 3
NO_FILES = "it is not in an index: scan the files as well"
MOST_ROWS = 50
"""Rows of the table; `--json` has all."""


PathsArgument = Annotated[list[Path] | None, PathArgument(help="Files and folders.")]
StoreOption = Annotated[
    Any, store_option("Scan an index instead of files. Text left out when it was indexed is not there.")
]
RulesOption = Annotated[
    Path | None,
    PathOption("--rules", help="Your own rules (TOML), which add to and override the shipped ones."),
]
BaselineOption = Annotated[
    Path | None, PathOption("--baseline", help="A file of accepted findings, which are not counted.")
]
WriteOption = Annotated[
    Path | None,
    PathOption("--write-baseline", help="Accept all current findings: write them into this file."),
]
FailOption = Annotated[
    Literal["high", "medium", "low", "note", "never"],
    typer.Option(help="Exit with 1 if any finding is at least this severe."),
]
LlmOption = Annotated[
    str | None,
    typer.Option(
        "--llm", help="Also have this model (auto, local[/NAME], openai/NAME) summarize the worst findings."
    ),
]


@app.command("scan")
def scan_documents(
    paths: PathsArgument = None,
    store: StoreOption = None,
    rules: RulesOption = None,
    known: BaselineOption = None,
    write_baseline: WriteOption = None,
    fail_on: FailOption = "high",
    least: Annotated[Severity, typer.Option(help="Show findings of at least this severity.")] = Severity.LOW,
    llm: LlmOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for code hosts and editors.")
    ] = False,
) -> None:
    """Scan documents for instructions to a model, tool calls, links, hidden text, promises, secrets and copies.

    Exit codes: 0 nothing from --fail-on upwards, 1 findings, 2 bad input, 3 something could not be read.
    """
    if bool(paths) == (store is not None):
        raise InputError("name files or folders to scan, or an index with --store: one of the two")
    if as_json and sarif:
        raise InputError("--json and --sarif are two forms of one output: choose one")
    chosen = load(rules)
    accepted = baseline.read(known) if known else frozenset()
    report, failed = _of_store(store, chosen, llm) if store else _of_files(paths or [], chosen, llm)
    if write_baseline:
        _write(write_baseline, baseline.written(report.findings))
    report = baseline.accepted(report, accepted)
    if sarif:
        reasons = {failure.path: failure.reason for failure in failed}
        print_json(as_sarif(report, chosen, version=metadata.version("equipoise"), failed=reasons))
    elif as_json:
        print_json(as_dict(report, failed))
    else:
        _show(report, least)
    _complain(report.not_run, failed)
    if fail_on != "never" and report.at_least(Severity(fail_on)):
        raise typer.Exit(FOUND)
    if failed:
        raise typer.Exit(PARTLY_FAILED)


def as_dict(report: Report, failed: Sequence[UnreadableFile] = ()) -> dict[str, object]:
    """A report as JSON."""
    return {
        "documents": report.documents,
        "sentences": report.sentences,
        "counts": report.counts(),
        "known": len(report.known),
        "findings": [finding.to_dict() for finding in report.findings],
        "not_run": [{"what": gap.what, "why": gap.why} for gap in report.not_run],
        "failed": [{"source": failure.path, "reason": failure.reason} for failure in failed],
    }


def _of_files(paths: Sequence[Path], rules: Rules, llm: str | None) -> tuple[Report, list[UnreadableFile]]:
    corpus = ScannedFiles.at(paths)
    if not corpus.total and not corpus.failed:
        raise InputError("there is no file to scan there: give another path")
    report = _scanned(corpus, corpus.total, rules)
    if llm:
        wanted = {finding.doc_id for finding in report.findings}
        again = {
            scanned.document.doc_id: scanned.document
            for scanned in ScannedFiles.at(paths)
            if scanned.document.doc_id in wanted
        }
        report = _summarized(report, again.__getitem__, rules, llm)
    for file in corpus.left_out:
        complain("left out:", str(file))
    return report, corpus.failed


def _of_store(path: Path, rules: Rules, llm: str | None) -> tuple[Report, list[UnreadableFile]]:
    with Store.open(layers.load({"store.path": path}).settings.store.path, read_only=True) as opened:
        report = _scanned(of_store(opened), opened.counts().documents, rules)
        report = _summarized(report, opened.document, rules, llm) if llm else report
    return replace(report, not_run=(*report.not_run, NotRun("what loaders left out", NO_FILES))), []


def _summarized(report: Report, document: Callable[[str], Document], rules: Rules, llm: str) -> Report:
    chat = build.chat_model(layers.load({"model.llm": llm}).settings.model)
    if chat is None:
        raise ModelUnavailable("--llm none is no language model: name one, or leave it out")
    return with_more(report, sync.run(summaries(report.findings, document, chat, rules)))


def _scanned(documents: Iterable[Scanned], total: int, rules: Rules) -> Report:
    with progress.counted() as tell:
        return scan(documents, rules, progress=lambda done, source: tell(done, max(total, done), source))


def _show(report: Report, least: Severity) -> None:
    console = Terminal()
    shown = report.at_least(least)
    if shown:
        head = ("severity", "rule", "where", "excerpt", "why")
        console.table(head, [_row(finding) for finding in shown[:MOST_ROWS]])
    counts = ", ".join(f"{number} {severity}" for severity, number in report.counts().items())
    read = f"{number_of(report.documents, 'document')}, {number_of(report.sentences, 'quotable sentence')}"
    console.print(f"{read}: {counts}")
    if len(shown) > MOST_ROWS:
        console.print(f"{number_of(len(shown) - MOST_ROWS, 'more finding')}: --json has all of them")
    if report.known:
        console.print(f"In the baseline: {number_of(len(report.known), 'finding')}")


def _row(finding: Finding) -> tuple[str, ...]:
    excerpt = finding.excerpt or ", ".join(finding.others)
    return finding.severity.value, finding.rule, where(finding), excerpt, f"{finding.why} ({finding.reach})"


def where(finding: Finding) -> str:
    """Source, page or line, and heading."""
    place = f", page {finding.page}" if finding.page else f", line {finding.line}" if finding.line else ""
    heading = f" ({' > '.join(finding.headings)})" if finding.headings else ""
    return one_line(f"{finding.source}{place}{heading}")


def _complain(not_run: Iterable[NotRun], failed: Iterable[UnreadableFile]) -> None:
    for gap in not_run:
        complain("not run:", f"{gap.what}: {gap.why}")
    for file in failed:
        complain("failed:", str(file))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): choose another place") from error
