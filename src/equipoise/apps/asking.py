"""`equipoise ask`, `search` and `chat`: answers with their quotes, and what a person sees while they are made."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.apps import progress, render
from equipoise.apps.docs import indexed
from equipoise.apps.indexing import PARTLY_FAILED, UNTRUSTED, EncoderOption
from equipoise.apps.narrowing import CollectionOption, WhereOption, meant
from equipoise.apps.options import PathOption, StoreOption, group, sharing
from equipoise.apps.terminal import Terminal, complain, print_json, styled
from equipoise.core.errors import EquipoiseError, InputError
from equipoise.core.results import Answer, Reason, Refusal, SubAnswer, passage_dict
from equipoise.core.settings import ModelSettings
from equipoise.core.types import Trust
from equipoise.core.where import Where
from equipoise.rag import build
from equipoise.rag.library import Library
from equipoise.text.questions import EARLIER


@dataclass(slots=True)
class Watch:
    """An `Observer`: stages go to stderr, quotes to `console`; `shown` are the parts whose quotes are printed."""

    console: Terminal
    stages: progress.Stages
    shown: Sequence[SubAnswer] = ()

    def stage(self, name: str) -> None:
        self.stages.begin(name)

    def quotes(self, answers: Sequence[SubAnswer]) -> None:
        self.stages.pause()
        render.show_quotes(answers, self.console)
        self.shown = answers


@contextmanager
def watching(console: Terminal) -> Iterator[Watch]:
    """A Watch for one message; at the end its progress is removed from the terminal."""
    with progress.Stages() as stages:
        yield Watch(console, stages)


if TYPE_CHECKING:
    from equipoise.apps.remote import Remote

app = group()

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
        help="none, quotas, coordinated, biasdef, or one of another package; auto: coordinated, untrusted only.",
    ),
]
SummarizerOption = Annotated[str | None, typer.Option(help="extractive or llm.")]
LlmOption = Annotated[
    str | None, typer.Option("--llm", help="none, auto, local[/NAME], openai/NAME or azure/DEPLOYMENT.")
]
KOption = Annotated[int | None, typer.Option("-k", help="Passages to read.")]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Ask a running server, with the key in EQUIPOISE_SERVER_KEY."
    ),
]
OthersOption = Annotated[
    bool, typer.Option("--others", help="Show what untrusted documents say, too, apart from the answer.")
]
TraceOption = Annotated[
    bool, typer.Option("--trace", help="Also show dropped spans, guessed questions and timings.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
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
        """The filter for documents that may answer; None: all may."""
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
@sharing(AskOptions)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    chosen: AskOptions,
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
    chosen = AskOptions(
        docs=docs, passage_filter=passage_filter, llm="none", encoder=encoder, k=k, store=store
    )
    with _library(chosen, {"filter.nli": "none"}) as ready:
        passages = ready.search(words, where=meant(where, collection)).passages
    if as_json:
        print_json({"passages": [passage_dict(passage) for passage in passages]})
    elif passages:
        render.show_passages(passages, Terminal(), words)
    else:
        Terminal().print("Nothing was found.")


@app.command()
@sharing(AskOptions)
def chat(chosen: AskOptions, others: OthersOption = False, trace: TraceOption = False) -> None:
    """Ask one question after another. "And who elects him?" is read together with the question it follows."""
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
    """Carry out a command of `chat`: what begins with a slash is no question."""
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
def _answering(chosen: AskOptions) -> Iterator["Library | Remote"]:
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
def _library(chosen: AskOptions, more: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Library]:
    """The index here; `more` are further flags."""
    settings = indexed({**chosen.flags, **more}, chosen.docs)
    with Library.open(settings=settings, pipeline=chosen.pipeline) as ready:
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


def _tell_the_model(wanted: ModelSettings) -> None:
    """Where `auto` found a model, say which one, and where question and passages are sent."""
    if wanted.llm == "auto" and (place := build.detected_place(wanted)):
        complain("answering with", f"{place}; question and passages are sent there (--llm none: quotes only)")


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
