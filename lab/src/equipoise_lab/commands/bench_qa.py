"""`equipoise bench qa`: pipelines measured on questions with known answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps import progress
from equipoise.apps.options import PathOption
from equipoise.apps.terminal import Terminal
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.protocols import ChatModel
from equipoise.core.settings import ModelSettings, Settings
from equipoise.evaluation.budget import Budget, metered
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import build
from equipoise_lab.bench.qa import bench, datasets, published
from equipoise_lab.bench.qa.bench import Done, Options, QaPlan
from equipoise_lab.bench.qa.runner import Harness

PIPELINES = "vanilla,baseline,structured,indexed"
NAMES = ", ".join([*datasets.READERS, *published.READERS])
CONCURRENCY = 4
"""Questions at a time where the model runs elsewhere."""

ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=256, help="Questions at a time. Default: model.slots (1) for local models, else 4."
    ),
]
PipelinesOption = Annotated[
    str, typer.Option(help="Names with commas between: vanilla, HIGHLIGHTER or HIGHLIGHTER+SUMMARIZER.")
]
OrdersOption = Annotated[
    bool, typer.Option("--both-orders", help="Compare in both orders, not in one that is drawn.")
]
LlmOption = Annotated[
    str | None, typer.Option("--llm", help="none, auto, local[/NAME], openai/NAME or azure/DEPLOYMENT.")
]
JudgeOption = Annotated[str, typer.Option(help="The model that judges answers, as --llm; none: no judging.")]


def qa(
    dataset: Annotated[str, typer.Option(help=f"{NAMES}, or a JSON Lines file of your own.")],
    pipelines: PipelinesOption = PIPELINES,
    llm: LlmOption = None,
    judge: JudgeOption = "none",
    judge_second: Annotated[str, typer.Option(help="A second judge, to see how far both agree.")] = "none",
    compare: Annotated[bool, typer.Option(help="Have the judge compare pipelines in pairs.")] = True,
    both_orders: OrdersOption = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Draw so many questions.")] = None,
    split: Annotated[str, typer.Option(help="A part of a published data set, such as repliqa_3.")] = "",
    without: Annotated[str, typer.Option(help="Documents whose questions are left out.")] = "",
    data: Annotated[Path, PathOption(help="The folder that holds the data sets.")] = datasets.DATA,
    concurrency: ConcurrencyOption = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Stop after so many tokens.")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0, help="Stop after so many minutes.")] = None,
    out: Annotated[Path, PathOption(help="Results; a run with the same folder resumes.")] = Path("qa-bench"),
) -> None:
    """Ask questions with known answers through several pipelines, and measure and judge the answers."""
    if "auto" in (judge, judge_second):
        raise InputError("--judge auto would hide who judges: name a model, for example openai/NAME")
    options = Options(
        dataset,
        _names(pipelines),
        data,
        split,
        limit,
        _names(without),
        compare,
        both_orders,
    )
    settings = layers.load({"model.llm": llm}).settings
    judges = [name for name in dict.fromkeys((judge, judge_second)) if name != "none"]
    chosen = bench.plan(options, with_llm=_is_there(settings))
    limits = Budget(max_tokens, max_minutes)
    Terminal().print(_run(chosen, options, settings, judges, out, limits, concurrency))


def _run(
    chosen: QaPlan,
    options: Options,
    settings: Settings,
    judges: Sequence[str],
    out: Path,
    budget: Budget,
    concurrency: int | None,
) -> str:
    """Do it, and what to say about it."""
    names = [settings.model.llm, *judges]
    models = {name: _chat(name, settings, out, budget) for name in dict.fromkeys(names)}
    judging = [model for name in judges if (model := models[name])]
    requests = concurrency or at_a_time(list(models.values()), settings.model)
    with progress.counted() as bar:
        encoder = build.encoder(settings.retrieval.encoder)
        harness = Harness(settings, encoder, models[names[0]], out, budget, bar, requests, CrossEncoder())
        done = sync.run(bench.bench(chosen, options, harness, judging))
    return _said(chosen, done, out)


def _said(chosen: QaPlan, done: Done, out: Path) -> str:
    """What came out, what it cost, and what is left to do."""
    failed = f" ({done.failed} failed)" if done.failed else ""
    said = [f"{chosen.dataset}: {done.answers} answers{failed} in {out}"]
    if not done.unreported and done.answers:
        said[0] += ": tables.md, summary.json, results.jsonl"
    if done.unreported:
        said.append(f"no report was written: {done.unreported}")
    if done.spent.calls:
        used = done.spent
        spent = f"{used.prompt_tokens:,} prompt and {used.completion_tokens:,} reply tokens"
        said.append(f"asked for: {used.calls:,} calls, {spent}")
    left = {"answers": done.missing, "ratings and comparisons": done.unjudged}
    if rest := " and ".join(f"{count} {what}" for what, count in left.items() if count):
        said.append(f"{rest} are left ({done.stopped}): run the same command again to go on")
    return "\n".join(said)


def _chat(name: str, settings: Settings, out: Path, budget: Budget) -> ChatModel | None:
    """The language model behind a meter and the replay cache, which is in the output folder by default."""
    model = build.chat_model(settings.model.model_copy(update={"llm": name, "replay": None}))
    if model is None:
        return None
    return Replayed(metered(model, budget), ReplayCache(settings.model.replay or out / bench.REPLIES))


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
