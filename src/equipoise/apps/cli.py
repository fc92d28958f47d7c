"""The command line: parse, call, show. Exit codes: 0 answered or refused, 2 bad input, 3 something failed."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equipoise.apps import attack, bench, progress, render, train
from equipoise.core import settings as layers
from equipoise.core.errors import EquipoiseError, InputError
from equipoise.core.types import Answer, Reason, Refusal, Trust
from equipoise.corpus.indexing import IndexReport
from equipoise.models import weights
from equipoise.rag import library
from equipoise.rag.library import Library

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Ask your documents; answers rest on quotes."
)
models_app = typer.Typer(no_args_is_help=True, help="Local language models.")
config_app = typer.Typer(no_args_is_help=True, help="Settings.")
app.add_typer(models_app, name="models")
app.add_typer(config_app, name="config")
app.add_typer(attack.app, name="attack")
app.add_typer(bench.app, name="bench")
app.add_typer(train.app, name="train")

PARTLY_FAILED = 3

StoreOption = Annotated[Path | None, typer.Option("--store", help="The index file.")]
DocsOption = Annotated[
    list[Path] | None, typer.Option("--docs", help="Answer from these files or folders only.")
]
PipelineOption = Annotated[
    str, typer.Option(help="hs (Highlight & Summarize) or vanilla (plain RAG, unprotected).")
]
HighlighterOption = Annotated[
    str | None,
    typer.Option(help="sentence, trained, indexed, structured, baseline, two_step, span, extractive_qa."),
]
FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter", help="none, mmr, smart, brra, biasdef; auto: biasdef for documents marked open."
    ),
]
SummarizerOption = Annotated[str | None, typer.Option(help="extractive or llm.")]
LlmOption = Annotated[
    str | None, typer.Option("--llm", help="none, auto, local[/NAME], openai/NAME or azure/DEPLOYMENT.")
]
KOption = Annotated[int | None, typer.Option("-k", help="Passages to read.")]
TraceOption = Annotated[bool, typer.Option("--trace", help="Show what was dropped, guessed and timed.")]


def main() -> None:
    """Entry point: every error of ours is one line on stderr."""
    try:
        app(standalone_mode=True)
    except EquipoiseError as error:
        Console(stderr=True, soft_wrap=True).print(f"[red]equipoise:[/] {escape(str(error))}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


@app.command()
def index(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    trust: Annotated[
        Trust, typer.Option(help="trusted: only you write there; open: anybody may.")
    ] = Trust.TRUSTED,
    prune: Annotated[bool, typer.Option("--prune", help="Drop files that are gone.")] = False,
    store: StoreOption = None,
) -> None:
    """Read documents into the index. Unchanged files are skipped."""
    chosen = layers.load({"store.path": store}).settings
    report = _index(paths, chosen.store.path, trust=trust, prune=prune)
    done = ("added", "changed", "unchanged", "relabelled", "removed", "skipped")
    counts = [f"{getattr(report, name)} {name}" for name in done if getattr(report, name)]
    held = f"{report.documents} documents, {report.passages} passages in {chosen.store.path}"
    Console(soft_wrap=True, highlight=False).print(f"{held} (files: {', '.join(counts)})")
    if report.failed:
        raise typer.Exit(PARTLY_FAILED)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    docs: DocsOption = None,
    pipeline: PipelineOption = "hs",
    passage_filter: FilterOption = None,
    highlighter: HighlighterOption = None,
    summarizer: SummarizerOption = None,
    llm: LlmOption = None,
    k: KOption = None,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    trace: TraceOption = False,
) -> None:
    """Answer one question with verbatim quotes, or say why not."""
    flags = _flags(store, passage_filter, highlighter, summarizer, llm, k)
    with _library(flags, docs, pipeline) as ready:
        result = ready.ask(question)
    if as_json:
        extra = {"trace": render.trace_json(result.trace)} if trace else {}
        print(json.dumps(render.as_json(result) | extra, ensure_ascii=False, indent=2))  # noqa: T201
    else:
        render.show(result, Console(), trace=trace)
    raise typer.Exit(_exit_code(result))


@app.command()
def chat(
    docs: DocsOption = None,
    pipeline: PipelineOption = "hs",
    passage_filter: FilterOption = None,
    highlighter: HighlighterOption = None,
    summarizer: SummarizerOption = None,
    llm: LlmOption = None,
    k: KOption = None,
    store: StoreOption = None,
    trace: TraceOption = False,
) -> None:
    """Answer question after question. Each one stands alone: nothing is carried over."""
    console = Console()
    flags = _flags(store, passage_filter, highlighter, summarizer, llm, k)
    with _library(flags, docs, pipeline) as ready:
        for question in _questions(console):
            try:
                render.show(ready.ask(question), console, trace=trace)
            except InputError as error:
                console.print(f"[red]{escape(str(error))}[/]")


@models_app.command("list")
def models_list() -> None:
    """Local language models: what there is and what is here."""
    folder = layers.load().settings.model.folder
    table = Table("name", "size", "licence", "here")
    for row in weights.listing(folder=folder):
        entry = row.weights
        table.add_row(entry.name, f"{entry.size / 1e6:,.0f} MB", entry.licence, "yes" if row.path else "no")
    Console().print(table)


@models_app.command("pull")
def models_pull(name: Annotated[str, typer.Argument(help="A name from `equipoise models list`.")]) -> None:
    """Fetch a local language model; resumes where it stopped."""
    folder = layers.load().settings.model.folder
    with progress.download(name) as report:
        path = weights.pull(name, folder=folder, progress=report)
    Console().print(f"{name}: {path}")


@config_app.command("show")
def config_show() -> None:
    """Every setting, its value and where it came from."""
    table = Table("setting", "value", "from")
    for row in layers.load().rows():
        table.add_row(*row)
    Console().print(table)


def _flags(
    store: Path | None,
    passage_filter: str | None,
    highlighter: str | None,
    summarizer: str | None,
    llm: str | None,
    k: int | None,
) -> dict[str, Any]:
    return {
        "store.path": store,
        "filter.name": passage_filter,
        "highlight.name": highlighter,
        "summarize.name": summarizer,
        "model.llm": llm,
        "retrieval.k": k,
    }


@contextmanager
def _library(flags: dict[str, Any], docs: list[Path] | None, pipeline: str) -> Iterator[Library]:
    chosen = layers.load(flags).settings
    path = library.private_index(docs) if docs else chosen.store.path
    if docs:
        _index(docs, path, trust=Trust.TRUSTED, prune=True)
    with Library.open(path, settings=chosen, pipeline=pipeline) as ready:
        yield ready


def _index(paths: list[Path], path: Path, *, trust: Trust, prune: bool) -> IndexReport:
    with progress.files() as report:
        done = library.update(path, paths, trust=trust, prune=prune, progress=report)
    errors = Console(stderr=True, soft_wrap=True)
    for failure in done.failed:
        errors.print(f"[yellow]not indexed:[/] {escape(str(failure))}")
    return done


def _questions(console: Console) -> Iterator[str]:
    console.print("Type a question; an empty line or Ctrl-D ends.")
    while True:
        try:
            question = console.input("\n[bold]?[/] ")
        except EOFError:
            return
        if not question.strip():
            return
        yield question


def _exit_code(result: Answer | Refusal) -> int:
    ended = [result, *(part.result for part in result.parts)]
    failed = any(isinstance(one, Refusal) and one.reason is Reason.MODEL_FAILED for one in ended)
    return PARTLY_FAILED if failed else 0
