"""`equipoise bench`: the benchmarks of the papers on data of your own, and the data sets they use."""

from collections.abc import Iterator, Sequence
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
from equipoise.core.protocols import ChatModel
from equipoise.core.settings import ModelSettings, Settings
from equipoise.corpus.store import Store
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise_lab.bench.bias import bench as biases
from equipoise_lab.bench.bias import corpora, huggingface
from equipoise_lab.bench.bias.asked import Asking
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import BiasPlan
from equipoise_lab.bench.hijack import bench as hijacks
from equipoise_lab.bench.hijack import llmail
from equipoise_lab.bench.hijack.bench import HijackPlan
from equipoise_lab.bench.hijack.cases import Drawing
from equipoise_lab.bench.qa import bench as questions
from equipoise_lab.bench.qa import datasets, published
from equipoise_lab.bench.qa.bench import Done, Options, QaPlan
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.evaluation.budget import RunBudget, metered

app = group("Benchmarks: numbers with intervals, as tables and figures.")

REPLIES = "replies.db"
CONCURRENCY = 4
"""Questions at a time where the model runs elsewhere."""
LEFT = "tables.md, summary.json, results.jsonl"
KNOWN = ", ".join([*datasets.READERS, *published.READERS])
MODELS = "local[/NAME], openai/NAME or azure/DEPLOYMENT"

Option = typer.Option
OutOption = Annotated[Path, PathOption(help="Results; a run with the same folder resumes.")]
NamesOption = Annotated[str, Option(help="Names, separated by commas.")]
LimitOption = Annotated[
    int | None, Option(min=1, help="Only the first so many questions, or cases of each source.")
]
ConcurrencyOption = Annotated[
    int | None,
    Option(max=256, help="Questions at a time. Default: model.slots (1) for local models, else 4."),
]
SourceOption = Annotated[str | None, Option(help="A folder or file to read instead of the published one.")]
JudgeOption = Annotated[str, Option(help="The model that judges answers, as --llm; none: no judging.")]


@app.command()
def qa(
    dataset: Annotated[str, Option(help=f"{KNOWN}, or a JSON Lines file of your own.")],
    pipelines: Annotated[
        str, Option(help="Separated by commas: vanilla, HIGHLIGHTER or HIGHLIGHTER+SUMMARIZER.")
    ] = "vanilla,baseline,structured,indexed",
    llm: Annotated[str | None, Option("--llm", help=f"none, auto, {MODELS}.")] = None,
    judge: JudgeOption = "none",
    judge_second: Annotated[str, Option(help="A second judge, to see how far both agree.")] = "none",
    compare: Annotated[bool, Option(help="Have the judge compare pipelines in pairs.")] = True,
    both_orders: Annotated[
        bool, Option("--both-orders", help="Compare each pair in both orders, not in one at random.")
    ] = False,
    informed: Annotated[
        bool, Option("--informed", help="Show the comparing judge examples and the reference answer.")
    ] = False,
    limit: Annotated[int | None, Option(min=1, help="Take a random sample of so many questions.")] = None,
    split: Annotated[str, Option(help="A part of a published data set, such as repliqa_3.")] = "",
    without: Annotated[
        str, Option(help="Leave out questions about these documents (names, separated by commas).")
    ] = "",
    data: Annotated[Path, PathOption(help="The folder that holds the data sets.")] = datasets.DATA,
    concurrency: ConcurrencyOption = None,
    max_tokens: Annotated[int | None, Option(min=1, help="Stop after so many tokens.")] = None,
    max_minutes: Annotated[float | None, Option(min=0, help="Stop after so many minutes.")] = None,
    out: OutOption = Path("qa-bench"),
) -> None:
    """Ask questions with known answers through several pipelines, and measure and judge the answers."""
    if "auto" in (judge, judge_second):
        raise InputError("--judge auto would hide who judges: name a model, for example openai/NAME")
    options = Options(
        dataset, _names(pipelines), data, split, limit, _names(without), compare, both_orders, informed
    )
    settings = layers.load({"model.llm": llm}).settings
    chosen = questions.plan(options, with_llm=_is_there(settings))
    budget = RunBudget(max_tokens, max_minutes)
    judges = [name for name in dict.fromkeys((judge, judge_second)) if name != "none"]
    names = dict.fromkeys((settings.model.llm, *judges))
    models = {name: _metered(name, settings, out, budget) for name in names}
    requests = concurrency or at_a_time(list(models.values()), settings.model)
    with progress.counted() as bar:
        encoder, chat = build.encoder(settings.retrieval.encoder), models[settings.model.llm]
        harness = Harness(settings, encoder, chat, out, budget, bar, requests, CrossEncoder())
        judging = [model for name in judges if (model := models[name])]
        done = sync.run(questions.bench(chosen, options, harness, judging))
    Terminal().print(_said(chosen, done, out))


@app.command()
def bias(
    corpus: Annotated[
        Path, PathOption("--corpus", help="A folder with corpus.jsonl, queries.jsonl, qrels.tsv, stance.tsv.")
    ],
    attacks: Annotated[Path, PathOption(help="Attack passages as JSON lines; questions.tsv beside it.")],
    filters: NamesOption = "none,mmr,brra,biasdef",
    injections: Annotated[
        str, Option(help="How many passages to plant: one run for each number.")
    ] = "0,1,5,10",
    k: Annotated[int, Option("-k", "--k", max=1000, help="Passages that are read.")] = 5,
    candidates: Annotated[int, Option(max=1000, help="Passages that a filter chooses from.")] = 20,
    rotations: Annotated[
        int,
        Option(min=1, max=1000, help="How many different selections are planted, for each of these numbers."),
    ] = 3,
    encoder: Annotated[
        str, Option(help="The retriever's encoder: minilm, bge-small, mpnet, multilingual or hf/NAME.")
    ] = "minilm",
    llm: Annotated[
        str, Option(help=f"Measure answers too: {MODELS}. Another one with the same --out adds rows.")
    ] = "none",
    answers: Annotated[
        bool, Option("--answers/--no-answers", help="Whether --llm answers, or only judges.")
    ] = True,
    likert: Annotated[
        int,
        Option(
            min=0,
            max=1000,
            help="Have --llm rate passages of so many questions on a seven-point scale (Figure 2).",
        ),
    ] = 0,
    facts: Annotated[str, Option(help="Check facts: none, nli, or the URL of WikiCheck.")] = "none",
    nli: Annotated[str | None, Option(help="NLI for smart and facts: hf[/NAME], chat or none.")] = None,
    limit: LimitOption = None,
    out: OutOption = Path("bias-bench"),
) -> None:
    """Plant one-sided passages and measure what each filter lets through."""
    plan = BiasPlan(_names(filters), _numbers(injections), k, candidates, rotations)
    asking = Asking(llm != "none" and answers, likert, facts)
    flags = {"model.llm": llm, "filter.nli": nli, "retrieval.encoder": encoder}
    with _parts(flags, out) as components, progress.counted() as bar:
        requests = at_a_time([components.chat], components.settings.model)
        options = biases.BiasOptions(corpus, attacks, asking, limit)
        workspace = Workspace(components.encoder, out, bar, requests)
        summary = sync.run(biases.bench(plan, options, components, workspace))
    Terminal().print(f"{summary['queries']} questions in {out}: {LEFT}")


@app.command()
def hijack(
    data: Annotated[Path, PathOption(help="A folder with llmail_inject/ and attack_prompts/.")],
    llm: Annotated[str, Option(help=f"{MODELS}.")] = "auto",
    pipelines: NamesOption = "vanilla,vanilla_chat,sentence,indexed,structured,baseline",
    attacks: Annotated[
        Path | None, PathOption(help="A file of other LLMail-Inject attacks (see fetch-llmail).")
    ] = None,
    prompts: Annotated[int, Option(help="How many attack prompts to draw.")] = 60,
    look_alikes: Annotated[int, Option(help="How many benign look-alikes to draw.")] = 20,
    emails: Annotated[int, Option(max=1000, help="E-mails in the inbox.")] = 5,
    seed: Annotated[int, Option(help="Seed of the random draw.")] = 0,
    limit: LimitOption = None,
    concurrency: ConcurrencyOption = None,
    again: Annotated[bool, Option("--again", help="Ask the cases again that ended with an error.")] = False,
    out: OutOption = Path("hijack-bench"),
) -> None:
    """Ask questions that want a tool called; count which models call it, and whether the question reached them."""
    choice = Drawing(prompts, look_alikes, seed)
    asked = 1 if concurrency is None else concurrency
    plan = HijackPlan(_names(pipelines), choice, emails, asked, limit, again)
    with _parts({"model.llm": llm}, out) as components, progress.counted() as bar:
        if concurrency is None:
            plan = replace(plan, concurrency=at_a_time([components.chat], components.settings.model))
        summary = sync.run(hijacks.bench(plan, hijacks.Folders(data, out, attacks), components, bar))
    Terminal().print(f"{sum(summary['cases'].values())} cases in {out}: {LEFT}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(huggingface.LOADERS)}.")],
    folder: Annotated[Path, PathArgument(help="Where the corpus is written, for --corpus.")],
    source: SourceOption = None,
) -> None:
    """Get a published data set and write it as a corpus folder."""
    loaded = huggingface.load(name, source)
    corpora.write(loaded, folder)
    documents = number_of(len(loaded.documents), "document")
    Terminal().print(f"{documents}, {number_of(len(loaded.queries), 'query', 'queries')} in {folder}")


@app.command("fetch-llmail")
def fetch_llmail(
    folder: Annotated[Path, PathArgument(help="Where attacks.jsonl is written, for hijack --attacks.")],
    scenario: Annotated[
        str, Option(help="level1, level2 or level3, or a variant of one, such as level2v.")
    ] = "level2",
    failed: Annotated[bool, Option("--failed", help="Also submissions that failed.")] = False,
    source: SourceOption = None,
) -> None:
    """Get the submissions to LLMail-Inject that succeeded in the challenge."""
    attacks = llmail.load(source, scenario=scenario, only_successful=not failed)
    Terminal().print(f"{number_of(len(attacks), 'attack')} in {llmail.write(attacks, folder)}")


@contextmanager
def _parts(flags: dict[str, str | None], out: Path) -> Iterator[Components]:
    """What filters and retrievers are built from, on a store of the benchmark's own; replies of a model are kept."""
    if flags["model.llm"] != "none" and layers.load().settings.model.replay is None:
        flags |= {"model.replay": str(out / REPLIES)}
    chosen = layers.load(flags).settings
    encoder = build.encoder(chosen.retrieval.encoder)
    chat = build.chat_model(chosen.model)
    out.mkdir(parents=True, exist_ok=True)
    with Store.open(out / "index.db", create=True) as store:
        yield Components(chosen, store, encoder, chat)


def _said(chosen: QaPlan, done: Done, out: Path) -> str:
    """What came out, what it cost, and what is left to do."""
    failed = f" ({done.failed} failed)" if done.failed else ""
    said = [f"{chosen.dataset}: {done.answers} answers{failed} in {out}"]
    if not done.unreported and done.answers:
        said[0] += f": {LEFT}"
    if done.unreported:
        said.append(f"no report was written: {done.unreported}")
    if (used := done.spent).calls:
        spent = f"{used.prompt_tokens:,} prompt and {used.completion_tokens:,} reply tokens"
        said.append(f"asked for: {used.calls:,} calls, {spent}")
    left = {"answers": done.missing, "ratings and comparisons": done.unjudged}
    if rest := " and ".join(f"{count} {what}" for what, count in left.items() if count):
        said.append(f"{rest} are left ({done.stopped}): run the same command again to go on")
    return "\n".join(said)


def _metered(name: str, settings: Settings, out: Path, budget: RunBudget) -> ChatModel | None:
    """The language model behind a meter and the replay cache, which is in the output folder by default."""
    model = build.chat_model(settings.model.model_copy(update={"llm": name, "replay": None}))
    if model is None:
        return None
    return Replayed(metered(model, budget), ReplayCache(settings.model.replay or out / REPLIES))


def _is_there(settings: Settings) -> bool:
    """Whether a language model is named or found, without asking for its key."""
    if settings.model.llm == "auto":
        return build.chat_model(settings.model) is not None
    return settings.model.llm != "none"


def at_a_time(models: Sequence[ChatModel | None], settings: ModelSettings) -> int:
    """Requests at a time: what a local model has slots for, CONCURRENCY where all models run elsewhere."""
    names = [model.name for model in models if model]
    elsewhere = names and not any(name.startswith("local/") for name in names)
    return CONCURRENCY if elsewhere else settings.slots


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise InputError(f"--injections is {text!r}: write whole numbers with commas, 0,1,5,10") from None
