"""`equipoise index`, `ask`, `search` and `chat`: documents in, answers with their quotes out."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.apps import progress, render
from equipoise.apps.indexed import tell
from equipoise.apps.narrowing import CollectionOption, IntoOption, MetaOption, WhereOption, meant, told
from equipoise.apps.options import PathArgument, PathOption, StoreOption, group, sharing
from equipoise.apps.terminal import Terminal, complain, number_of, print_json, styled
from equipoise.apps.watching import watching
from equipoise.core import settings as layers
from equipoise.core.addresses import Place
from equipoise.core.errors import EquipoiseError, InputError
from equipoise.core.metadata import Scalar
from equipoise.core.results import Answer, Reason, Refusal, passage_dict
from equipoise.core.settings import ModelSettings, Settings
from equipoise.core.types import Trust
from equipoise.core.where import Where
from equipoise.corpus.places import is_of_store
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone
from equipoise.rag import build, updating
from equipoise.rag.library import Library
from equipoise.text.questions import EARLIER

if TYPE_CHECKING:
    from equipoise.apps.remote import Remote
    from equipoise.redteam.scan.holding import Holding

app = group()

PARTLY_FAILED = 3
UNANSWERED = (Reason.NOTHING_RETRIEVED, Reason.NOTHING_HIGHLIGHTED, Reason.MODEL_DECLINED)
SOURCES = 50
"""Titles that /sources names."""
COMMANDS = (
    "/new forgets the earlier questions, /sources names the documents, /help says this; an empty line ends."
)

DocsOption = Annotated[
    list[Path] | None, PathOption("--docs", help="Answer from these files or folders only.")
]
PipelineOption = Annotated[
    str, typer.Option(help="hs (Highlight & Summarize) or vanilla (plain RAG, unprotected).")
]
HighlighterOption = Annotated[
    str | None,
    typer.Option(help="reader, cascade, sentence, indexed, structured, or one of another package."),
]
FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter",
        help="none, quotas, voices, biasdef, or one of another package; auto: voices, for untrusted documents.",
    ),
]
SummarizerOption = Annotated[str | None, typer.Option(help="extractive or llm.")]
LlmOption = Annotated[
    str | None, typer.Option("--llm", help="none, auto, local[/NAME], openai/NAME or azure/DEPLOYMENT.")
]
EncoderOption = Annotated[
    str | None,
    typer.Option(help="minilm, bge-small, mpnet, multilingual or hf/NAME; auto: that of the index."),
]
KOption = Annotated[int | None, typer.Option("-k", help="Passages to read.")]
AuthorOption = Annotated[
    Author | None,
    typer.Option(
        help="Who counts as one author of untrusted files: each PATH given, each folder, or each file."
    ),
]
UNTRUSTED = {
    "trusted-first": "anybody may write there: it is quoted, by name, only where trusted documents do not answer",
    "trusted-only": "trust.mode is trusted-only: it is indexed and never read",
    "equal": "trust.mode is equal: whoever writes there can change what your trusted documents answer",
}
"""What it means for documents that anybody may have written, by `trust.mode`."""
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Ask a running server, with the key in EQUIPOISE_SERVER_KEY."
    ),
]
OthersOption = Annotated[
    bool, typer.Option("--others", help="Show what untrusted documents say, too, apart from the answer.")
]
TraceOption = Annotated[bool, typer.Option("--trace", help="Show what was dropped, guessed and timed.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The options of `ask` and `chat` that choose what answers; None leaves a choice to the settings."""

    docs: DocsOption = None
    pipeline: PipelineOption = "hs"
    passage_filter: FilterOption = None
    highlighter: HighlighterOption = None
    summarizer: SummarizerOption = None
    llm: LlmOption = None
    encoder: EncoderOption = None
    k: KOption = None
    where: WhereOption = None
    collection: CollectionOption = None
    store: StoreOption = None
    server: ServerOption = None

    @property
    def meant(self) -> Where | None:
        """The documents that may answer."""
        return meant(self.where, self.collection)

    @property
    def flags(self) -> dict[str, Any]:
        """The options by the keys of the settings that they override."""
        return {
            "store.path": self.store,
            "filter.name": self.passage_filter,
            "highlight.name": self.highlighter,
            "summarize.name": self.summarizer,
            "model.llm": self.llm,
            "retrieval.encoder": self.encoder,
            "retrieval.k": self.k,
        }


@app.command()
def index(
    paths: Annotated[list[Path], PathArgument(help="Files and folders.")],
    trust: Annotated[
        Trust, typer.Option(help="trusted: only you write there; untrusted: anybody may.")
    ] = Trust.TRUSTED,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep documents whose files are gone from these folders.")
    ] = False,
    author: AuthorOption = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop those of a folder that has lost all its files, too.")
    ] = False,
    meta: MetaOption = None,
    collection: IntoOption = None,
    encoder: EncoderOption = None,
    store: StoreOption = None,
) -> None:
    """Read documents into the index. Unchanged files are skipped; files deleted from a folder are removed."""
    if keep and prune:
        raise InputError("--keep and --prune contradict each other: give one of them")
    gone = Gone.KEEP if keep else Gone.DROP if prune else Gone.MIRROR
    chosen = layers.load({"store.path": store, "retrieval.encoder": encoder}).settings
    said = told(meta, collection)
    report = _index(paths, chosen.store.path, trust, chosen, gone, author, said)
    if trust is Trust.UNTRUSTED:
        complain("untrusted:", UNTRUSTED[chosen.trust.mode])
    held = f"{_held(report)} in {chosen.store.path}"
    Terminal().print(f"{held} (files: {', '.join(_counted(report))})")
    if report.failed:
        raise typer.Exit(PARTLY_FAILED)


@app.command()
def watch(
    paths: Annotated[list[Path], PathArgument(help="Files and folders.")],
    trust: Annotated[
        Trust, typer.Option(help="trusted: only you write there; untrusted: anybody may.")
    ] = Trust.TRUSTED,
    encoder: EncoderOption = None,
    store: StoreOption = None,
) -> None:
    """Index, then keep up with every change. Ctrl-C ends it."""
    from equipoise.apps.follow import changes  # noqa: PLC0415 - only this command needs the library

    chosen = layers.load({"store.path": store, "retrieval.encoder": encoder}).settings
    console = Terminal()
    console.print(f"Watching {', '.join(map(str, paths))}; Ctrl-C ends it.")
    said = False
    for _ in changes(paths, beside=chosen.store.path):
        try:
            report = _update(paths, chosen.store.path, trust, chosen, Gone.MIRROR)
        except EquipoiseError as error:
            complain("not indexed:", str(error))
            continue
        if done := [count for count in _counted(report) if not count.endswith(("unchanged", "skipped"))]:
            console.print(f"{_held(report)} (files: {', '.join(done)})")
        if not said:
            _say_skipped(report, chosen.store.path)
            said = True


@app.command()
@sharing(Choice)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    chosen: Choice,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    others: OthersOption = False,
    trace: TraceOption = False,
) -> None:
    """Answer one question with verbatim quotes, or say why not."""
    with _answering(chosen) as ready:
        if as_json:
            result = ready.ask(question, others=others, where=chosen.meant)
            print_json(result.to_dict() | ({"trace": result.trace.to_dict()} if trace else {}))
            render.show_failure(result)
        else:
            result = _shown(ready, question, Terminal(), others=others, trace=trace, where=chosen.meant)
    raise typer.Exit(_exit_code(result))


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="What to look for.")],
    docs: DocsOption = None,
    passage_filter: FilterOption = None,
    encoder: EncoderOption = None,
    k: KOption = None,
    where: WhereOption = None,
    collection: CollectionOption = None,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find passages; nothing is answered."""
    chosen = Choice(docs=docs, passage_filter=passage_filter, llm="none", encoder=encoder, k=k, store=store)
    with _library(chosen, {"filter.nli": "none"}) as ready:
        passages = ready.search(words, where=meant(where, collection)).passages
    if as_json:
        print_json({"passages": [passage_dict(passage) for passage in passages]})
    elif passages:
        render.show_passages(passages, Terminal())
    else:
        Terminal().print("Nothing was found.")


@app.command()
@sharing(Choice)
def chat(chosen: Choice, others: OthersOption = False, trace: TraceOption = False) -> None:
    """Answer question after question. "And who elects him?" is read together with the question it follows."""
    console = Terminal()
    before: deque[str] = deque(maxlen=EARLIER)
    with _answering(chosen) as ready:
        for question in _questions(console):
            if question.strip().startswith("/"):
                _command(question.strip(), before, ready, console)
                continue
            try:
                _shown(
                    ready, question, console, before=before, others=others, trace=trace, where=chosen.meant
                )
                before.append(question)
            except EquipoiseError as error:
                console.print(styled((str(error), "red")))


def _command(typed: str, before: deque[str], ready: "Library | Remote", console: Terminal) -> None:
    """What begins with a slash is no question."""
    if typed == "/new":
        before.clear()
        console.print("What was asked before is forgotten.")
    elif typed == "/sources":
        render.show_subjects(ready.subjects(SOURCES), console)
    else:
        console.print(f"{'' if typed == '/help' else 'There is no such command. '}{COMMANDS}")


def _shown(
    ready: "Library | Remote",
    question: str,
    console: Terminal,
    *,
    before: Iterable[str] = (),
    others: bool,
    trace: bool,
    where: Where | None,
) -> Answer | Refusal:
    """Ask, show each part of the result as soon as it is known, and return the result."""
    with watching(console) as watch:
        result = ready.ask(question, before=tuple(before), observer=watch, others=others, where=where)
    render.show(result, console, trace=trace, shown=watch.shown)
    if isinstance(result, Refusal) and result.reason in UNANSWERED:
        render.show_subjects(ready.subjects(where=where), console)
    render.show_failure(result)
    return result


@contextmanager
def _answering(chosen: Choice) -> Iterator["Library | Remote"]:
    """The server, where one is named, else the index here."""
    if chosen.server is None:
        with _library(chosen) as ready:
            yield ready
        return
    if chosen.docs or any(value is not None for value in chosen.flags.values()):
        raise InputError(
            "--server answers from its own index with its own settings: leave the other options out"
        )
    from equipoise.apps.remote import Remote  # noqa: PLC0415 - HTTP, which an index here does not need

    yield Remote.at(chosen.server, chosen.pipeline)


@contextmanager
def _library(chosen: Choice, more: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Library]:
    """The index here; `more` are further flags."""
    docs = chosen.docs
    if docs and chosen.store is not None:
        raise InputError("--docs makes an index of its own: give --docs or --store, not both")
    settings = layers.load({**chosen.flags, **more}).settings
    path = updating.private_index(docs, settings.retrieval.encoder) if docs else settings.store.path
    if docs:
        _index(docs, path, Trust.TRUSTED, settings, Gone.DROP)
    with Library.open(path, settings=settings, pipeline=chosen.pipeline) as ready:
        _tell_the_pending(*ready.pending())
        _tell_the_model(settings.model)
        if settings.trust.mode == "equal" and ready.store.partition(Trust.UNTRUSTED).counts().documents:
            complain("untrusted:", UNTRUSTED["equal"])
        yield ready


def _tell_the_pending(pending: int, passages: int) -> None:
    """Say how many passages have no vectors yet: indexing is still at work, or was interrupted."""
    if pending:
        complain(
            "not all is indexed:",
            f"{pending:,} of {passages:,} passages have no vectors yet: found by words alone until "
            " equipoise index  has finished; it resumes where it was",
        )


def index_docs(docs: list[Path], chosen: Settings) -> None:
    """Bring the index of `--docs` up to date; what could not be read is told."""
    _index(docs, chosen.store.path, Trust.TRUSTED, chosen, Gone.DROP)


def _tell_the_model(wanted: ModelSettings) -> None:
    """Where `auto` found a model, say which one, and where question and passages are sent."""
    if wanted.llm == "auto" and (place := build.detected_place(wanted)):
        complain("answering with", f"{place}; question and passages are sent there (--llm none: quotes only)")


def _index(
    paths: list[Path],
    path: Place,
    trust: Trust,
    chosen: Settings,
    gone: Gone,
    author: Author | None = None,
    metadata: Mapping[str, Scalar] | None = None,
) -> IndexReport:
    """Update the store at `path`, and name what was not read."""
    done = _update(paths, path, trust, chosen, gone, author, metadata)
    _say_skipped(done, path)
    return done


def _update(
    paths: list[Path],
    path: Place,
    trust: Trust,
    chosen: Settings,
    gone: Gone,
    author: Author | None = None,
    metadata: Mapping[str, Scalar] | None = None,
) -> IndexReport:
    encoder = chosen.retrieval.encoder
    with _holding(chosen) as holding, progress.files() as report:
        done = updating.update(
            path,
            paths,
            trust=trust,
            author=author,
            metadata=metadata,
            gone=gone,
            progress=report,
            judge=holding,
            encoder=encoder,
        )
    tell(done, holding.held if holding else ())
    return done


def _say_skipped(report: IndexReport, store: Place) -> None:
    """Name the files that were not read, those of the store itself aside."""
    others = [file for file in report.skipped if not is_of_store(file.path, store)]
    for line in render.grouped(others):
        complain("skipped:", line)


@contextmanager
def _holding(chosen: Settings) -> "Iterator[Holding | None]":
    """What scans untrusted files and holds them back, where the settings want that here."""
    if chosen.trust.hold != "always":
        yield None
        return
    from equipoise.redteam.scan.holding import Holding  # noqa: PLC0415 - its rules, which only this needs

    with Holding() as holding:
        yield holding


def _held(report: IndexReport) -> str:
    """What the index holds."""
    return f"{number_of(report.documents, 'document')}, {number_of(report.passages, 'passage')}"


def _counted(report: IndexReport) -> list[str]:
    """How many files were added, changed and so on."""
    done = ("added", "changed", "unchanged", "relabelled", "removed")
    counts = [f"{getattr(report, name)} {name}" for name in done if getattr(report, name)]
    return counts + ([f"{len(report.skipped)} skipped"] if report.skipped else [])


def _questions(console: Terminal) -> Iterator[str]:
    console.print("Type a question; /help for more; an empty line or Ctrl-D ends.")
    while True:
        try:
            question = console.input(styled(("\n? ", "bold")))
        except EOFError:
            return
        if not question.strip():
            return
        yield question


def _exit_code(result: Answer | Refusal) -> int:
    ended = [result, *(part.result for part in result.sub_answers)]
    failed = any(isinstance(end, Refusal) and end.reason is Reason.MODEL_FAILED for end in ended)
    return PARTLY_FAILED if failed else 0
