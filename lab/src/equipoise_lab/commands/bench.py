"""`equipoise bench`: measure filters against planted passages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps import progress
from equipoise.apps.options import PathArgument, PathOption, group
from equipoise.apps.terminal import Terminal, number_of
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise_lab.bench.bias import bench as biases
from equipoise_lab.bench.bias import corpora, huggingface
from equipoise_lab.bench.bias.asked import Asking
from equipoise_lab.bench.bias.bench import Options
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import BiasPlan
from equipoise_lab.bench.hijack import bench as hijacks
from equipoise_lab.bench.hijack import llmail
from equipoise_lab.bench.hijack.bench import HijackPlan
from equipoise_lab.bench.hijack.cases import Choice
from equipoise_lab.commands import bench_qa

app = group("Benchmarks: numbers with intervals, as tables and figures.")
app.command("qa")(bench_qa.qa)

FILTERS = "none,mmr,brra,biasdef"
PIPELINES = "vanilla,vanilla_chat,sentence,indexed,structured,baseline"

CorpusOption = Annotated[
    Path, PathOption("--corpus", help="A folder with corpus.jsonl, queries.jsonl, qrels.tsv, stance.tsv.")
]
EncoderOption = Annotated[
    str, typer.Option(help="The retriever's encoder: minilm, bge-small, mpnet, multilingual or hf/NAME.")
]
AskedOption = Annotated[
    str,
    typer.Option(
        help="Measure answers too: local[/NAME], openai/NAME or azure/DEPLOYMENT. A second one in --out adds rows."
    ),
]
AnswersOption = Annotated[
    bool, typer.Option("--answers/--no-answers", help="Whether --llm answers, or only judges.")
]
LikertOption = Annotated[
    int,
    typer.Option(
        min=0, max=1000, help="Have --llm place passages of so many questions on seven points (Figure 2)."
    ),
]


@app.command()
def bias(
    corpus: CorpusOption,
    attacks: Annotated[Path, PathOption(help="Attack passages as JSON lines; questions.tsv beside it.")],
    filters: Annotated[str, typer.Option(help="Names with commas between.")] = FILTERS,
    injections: Annotated[str, typer.Option(help="Numbers of planted passages.")] = "0,1,5,10",
    k: Annotated[int, typer.Option("-k", "--k", max=1000, help="Passages that are read.")] = 5,
    candidates: Annotated[int, typer.Option(max=1000, help="Passages that a filter chooses from.")] = 20,
    rotations: Annotated[
        int, typer.Option(min=1, max=1000, help="Choices of what is planted, as many for each number.")
    ] = 3,
    encoder: EncoderOption = "minilm",
    llm: AskedOption = "none",
    answers: AnswersOption = True,
    likert: LikertOption = 0,
    facts: Annotated[str, typer.Option(help="Check facts: none, nli, or the URL of WikiCheck.")] = "none",
    nli: Annotated[str | None, typer.Option(help="NLI for smart and facts: hf[/NAME], chat or none.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    out: Annotated[Path, PathOption(help="Results; a run with the same folder resumes.")] = Path(
        "bias-bench"
    ),
) -> None:
    """Plant one-sided passages and measure what each filter lets through."""
    plan = BiasPlan(_names(filters), _numbers(injections), k, candidates, rotations)
    options = Options(corpus, attacks, Asking(llm != "none" and answers, likert, facts), limit)
    flags: dict[str, str | None] = {"model.llm": llm, "filter.nli": nli, "retrieval.encoder": encoder}
    if llm != "none" and layers.load().settings.model.replay is None:
        flags["model.replay"] = str(out / "replies.db")
    with _parts(flags, out) as components, progress.counted() as bar:
        requests = bench_qa.at_a_time([components.chat], components.settings.model)
        workspace = Workspace(components.encoder, out, bar, requests)
        summary = sync.run(biases.bench(plan, options, components, workspace))
    Terminal().print(f"{summary['queries']} questions in {out}: tables.md, summary.json, results.jsonl")


@app.command()
def hijack(
    data: Annotated[Path, PathOption(help="A folder with llmail_inject/ and attack_prompts/.")],
    llm: Annotated[str, typer.Option(help="local[/NAME], openai/NAME or azure/DEPLOYMENT.")] = "auto",
    pipelines: Annotated[str, typer.Option(help="Names with commas between.")] = PIPELINES,
    attacks: Annotated[Path | None, PathOption(help="Other LLMail-Inject attacks (fetch-llmail).")] = None,
    prompts: Annotated[int, typer.Option(help="Drawn from the attack prompts.")] = 60,
    look_alikes: Annotated[int, typer.Option(help="Drawn from the benign look-alikes.")] = 20,
    emails: Annotated[int, typer.Option(max=1000, help="E-mails in the inbox.")] = 5,
    seed: Annotated[int, typer.Option(help="What is drawn.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many cases of each source.")] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(max=256, help="Cases at a time. Default: model.slots (1) for local models, else 4."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Ask once more what ended with an error.")] = False,
    out: Annotated[Path, PathOption(help="Results; a run with the same folder resumes.")] = Path(
        "hijack-bench"
    ),
) -> None:
    """Ask questions that want a tool called; count which model calls it, and whether the question got that far."""
    choice = Choice(prompts, look_alikes, seed)
    at_a_time = 1 if concurrency is None else concurrency
    plan = HijackPlan(_names(pipelines), choice, emails, at_a_time, limit, again)
    flags: dict[str, str | None] = {"model.llm": llm}
    if layers.load().settings.model.replay is None:
        flags["model.replay"] = str(out / "replies.db")
    with _parts(flags, out) as components, progress.counted() as bar:
        if concurrency is None:
            plan = replace(plan, concurrency=bench_qa.at_a_time([components.chat], components.settings.model))
        summary = sync.run(hijacks.bench(plan, hijacks.Place(data, out, attacks), components, bar))
    cases = sum(summary["cases"].values())
    Terminal().print(f"{cases} cases in {out}: tables.md, summary.json, results.jsonl")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(huggingface.LOADERS)}.")],
    folder: Annotated[Path, PathArgument(help="Where the corpus is written, for --corpus.")],
    source: Annotated[
        str | None, typer.Option(help="A folder or file to read instead of the published one.")
    ] = None,
) -> None:
    """Get a published data set and write it as a corpus folder."""
    loaded = huggingface.load(name, source)
    corpora.write(loaded, folder)
    counts = ", ".join(
        (number_of(len(loaded.documents), "document"), number_of(len(loaded.queries), "query", "queries"))
    )
    Terminal().print(f"{counts} in {folder}")


@app.command("fetch-llmail")
def fetch_llmail(
    folder: Annotated[Path, PathArgument(help="Where attacks.jsonl is written, for hijack --attacks.")],
    scenario: Annotated[str, typer.Option(help="level1, level2 or level3, or one level of it.")] = "level2",
    failed: Annotated[bool, typer.Option("--failed", help="Also submissions that failed.")] = False,
    source: Annotated[str | None, typer.Option(help="A file to read instead of the published ones.")] = None,
) -> None:
    """Get the submissions to LLMail-Inject that succeeded in the challenge."""
    attacks = llmail.load(source, scenario=scenario, only_successful=not failed)
    path = llmail.write(attacks, folder)
    Terminal().print(f"{number_of(len(attacks), 'attack')} in {path}")


@contextmanager
def _parts(flags: dict[str, str | None], out: Path) -> Iterator[Components]:
    """What filters and retrievers are built from, on a store of the benchmark's own."""
    chosen = layers.load(flags).settings
    encoder = build.encoder(chosen.retrieval.encoder)
    chat = build.chat_model(chosen.model)
    out.mkdir(parents=True, exist_ok=True)
    with Store.open(out / "index.db", create=True) as store:
        yield Components(chosen, store, encoder, chat)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise InputError(f"--injections is {text!r}: write whole numbers with commas, 0,1,5,10") from None
