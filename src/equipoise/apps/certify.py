"""`equipoise certify`: runs every input of a small deployment through its summarizer, and keeps a record."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.apps import progress
from equipoise.apps.docs import indexed
from equipoise.apps.options import PathOption, StoreOption, group
from equipoise.apps.terminal import Terminal, complain, print_json
from equipoise.audit import certify as work
from equipoise.audit import record
from equipoise.core.errors import InputError
from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.budget import Deployment
from equipoise.text.visible import title

app = group()

BROKEN = 3
TRIALS = 3
"""Inputs that are tried before the rest is estimated."""
UNASKED_S = 600.0
"""Seconds that it may take without --yes."""
SHOWN = 20
LEAST_KEY = 16


@app.command()
def certify(
    store: StoreOption = None,
    docs: Annotated[list[Path] | None, PathOption("--docs", help="Certify these files or folders.")] = None,
    llm: Annotated[str | None, typer.Option("--llm", help="As for `ask`.")] = None,
    out: Annotated[Path, PathOption(help="The record to write; an interrupted run resumes from it.")] = Path(
        "certificate.jsonl"
    ),
    yes: Annotated[bool, typer.Option("--yes", help="Go on even if it takes over ten minutes.")] = False,
    most: Annotated[int, typer.Option(min=1, help="Refuse to certify more inputs than this.")] = work.MOST,
    key: Annotated[
        Path | None,
        PathOption("--key", help="A file with a secret to sign the record, or check its signature."),
    ] = None,
    check: Annotated[
        Path | None, PathOption("--check", help="Check a record, with --store also against its index.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try every input that one question can force on the summarizer, and check every answer by rules."""
    secret = _secret(key) if key else None
    if check:
        result = _checked(check, secret, store)
    else:
        chosen = indexed({"store.path": store, "model.llm": llm}, docs)
        result = _certified(chosen, out, secret, yes=yes, most=most)
    figures = work.figures(result.rows)
    if as_json:
        print_json({**result.header, **(result.end or {}), "kind": "certificate"})
    else:
        _show(check or out, result, figures)
    if figures["answers_that_break_a_rule"]:
        raise typer.Exit(BROKEN)


def _checked(path: Path, secret: bytes | None, store: Path | None) -> record.CertifyRecord:
    if store is None:
        return work.checked(path, key=secret)
    with Store.open(store, read_only=True) as opened:
        return work.checked(path, key=secret, store=opened)


def _certified(
    chosen: Settings, out: Path, secret: bytes | None, *, yes: bool, most: int
) -> record.CertifyRecord:
    """Try all inputs; returns the complete record, written to `out`."""
    with Store.open(chosen.store.path, read_only=True) as opened:
        subject = work.subject(opened, Deployment.of(chosen), most=most)
        components = build.components(chosen, opened)
        watched = work.Watched(components.chat) if components.chat else None
        components = replace(components, chat=watched)
        summarizer = build.summarizer(components)
        name = build.names(components)["summarizer"]
        wanted = work.header(subject, chosen, watched.name if watched else "", name)
        writer, done = work.begin(out, wanted)
        _try_all(work.CertifyRun(subject, summarizer, watched, writer, done), yes=yes)
    rows = record.read(out).rows
    writer.close({**work.figures(rows), "ended": work.now()}, secret)
    return work.checked(out, key=secret)


def _try_all(run: work.CertifyRun, *, yes: bool) -> None:
    """Try every input that is left. Raises InputError if that is estimated to take long and --yes was not given."""
    if run.done:
        complain("resumes:", f"{run.done:,} of {len(run.subject.inputs):,} inputs were tried before")
    with progress.counted() as report:
        seconds = list(run.go(TRIALS, report))
        run = replace(run, done=run.done + len(seconds))
        each = sum(seconds) / len(seconds) if seconds else 0.0
        if each * run.left > UNASKED_S and not yes:
            raise InputError(
                f"{run.left:,} inputs are left, about {_duration(each * run.left)} at {each:.1f} s each: repeat the "
                "command with --yes (it resumes where it is)"
            )
        for _ in run.go(progress=report):
            pass


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"


def _secret(path: Path) -> bytes:
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): give a file with a secret") from error
    if len(secret) < LEAST_KEY:
        raise InputError(
            f"{path} holds fewer than {LEAST_KEY} bytes: make a secret with  openssl rand -hex 32"
        )
    return secret


def _show(path: Path, result: record.CertifyRecord, figures: Mapping[str, Any]) -> None:
    console, header, end = Terminal(), result.header, result.end or {}
    signed = "signed" if "signature" in end else "not signed"
    console.print(
        f"{path}: complete and unchanged, {signed}; begun {header['begun']}, ended {end.get('ended', '')}"
    )
    rows = [(name.replace("_", " "), f"{value:,}") for name, value in figures.items() if name != "by_rule"]
    rows += [(f"  {name}", f"{count:,}") for name, count in figures["by_rule"].items()]
    model = title(str(header["model"])) or "none"
    console.table(("what", "value"), [("model", model), ("summarizer", str(header["summarizer"])), *rows])
    for row in [row for row in result.rows if row["broken"]][:SHOWN]:
        pieces = "; ".join(f"{name}: {', '.join(map(str, some))}" for name, some in row["broken"].items())
        complain(f"input {row['number']}:", f"{pieces} -- {row['answer']}")
