"""`equipoise attack run`: the whole suite of attacks on one deployment, and a table of what they reached."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer

from equipoise.apps import progress
from equipoise.apps.options import PathOption, group
from equipoise.apps.terminal import Terminal
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.models.openai import OpenAIChat
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import build
from equipoise_lab.evaluation.budget import RunBudget, metered
from equipoise_lab.redteam.suite import attacking, cases, systems
from equipoise_lab.redteam.suite.attacking import AttackPlan
from equipoise_lab.redteam.targets import ChatTarget, HttpTarget, ObjectTarget, OverStore, Target

app = group("Attack a store of your own, to measure its defences.")
EXAMPLE = "example"
KEY = "EQUIPOISE_ATTACK_KEY"
"""The variable with the key that is shown to a target at an address."""
COPY = "attacked.db"
GREETING = "Hello, what can you tell me?"

TargetOption = Annotated[
    str | None,
    typer.Option(
        help="An index (a copy is attacked), 'example', an address, or module:object. Default: your index."
    ),
]
SystemsOption = Annotated[
    str | None,
    typer.Option(
        "--systems",
        help=f"Over an index, with commas: {', '.join(systems.SYSTEMS)}. Default: hs, and weak with a language model.",
    ),
]
OnlyOption = Annotated[
    list[str] | None, typer.Option(help=f"Only this attack; may be repeated: {', '.join(cases.ATTACKS)}.")
]


@app.command("run")
def attack_run(
    target: TargetOption = None,
    suite: Annotated[
        Literal["quick", "full", "corpus"],
        typer.Option(
            help="quick: our own prompts. full: more, and those in --data. corpus: planted documents."
        ),
    ] = "quick",
    only: OnlyOption = None,
    names: SystemsOption = None,
    llm: Annotated[
        str | None, typer.Option("--llm", help="none, auto, local[/NAME], openai/NAME or azure/DEPLOYMENT.")
    ] = None,
    protocol: Annotated[
        Literal["auto", "openai", "answer"],
        typer.Option(help="The API of an address; auto: openai if it ends in /v1, else answer."),
    ] = "auto",
    model: Annotated[
        str, typer.Option(help="The model to name at an OpenAI-compatible address.")
    ] = "equipoise",
    data: Annotated[Path | None, PathOption(help="The folder with attack data, for the suite full.")] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Tries for each case. Default: 3; suite full 8, suite corpus 20."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many cases of each attack.")
    ] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0, help="Stop after so many minutes.")] = None,
    out: Annotated[Path, PathOption(help="Results; a run with the same folder resumes.")] = Path("attacks"),
) -> None:
    """Attack a deployment of your own from outside and, where it runs here, from inside, and count what succeeds."""
    wanted = tuple(only or (cases.CORPUS if suite == "corpus" else cases.ATTACKS))
    if unknown := [name for name in wanted if name not in cases.ATTACKS]:
        raise InputError(f"there is no attack {unknown[0]!r}: choose among {', '.join(cases.ATTACKS)}")
    settings = layers.load({"model.llm": llm}).settings
    spending = RunBudget(max_minutes=max_minutes)
    out.mkdir(parents=True, exist_ok=True)
    with _opened(target, names, settings, (protocol, model), out, spending) as (targets, llm_name):
        documents = targets[0].ground.documents if isinstance(targets[0], OverStore) else {}
        material = cases.Material(documents, cases.SUITES[suite], data)
        described = {"suite": suite, "target": target or str(settings.store.path), "llm": llm_name,
                     "systems": [system.name for system in targets]}  # fmt: skip
        tries = budget or {"quick": 3, "full": 8, "corpus": 20}[suite]
        plan = AttackPlan(wanted, tries, limit, settings.model.slots, described)
        with progress.counted() as report:
            results = sync.run(attacking.run(plan, targets, material, out, progress=report, budget=spending))
    Terminal().print((out / attacking.TABLE).read_text("utf-8"))
    skipped = sum(result.skipped for result in results)
    Terminal().print(f"{skipped} cases are left: run it again. " if skipped else f"Results in {out}")


Opened = tuple[list[Target], str]


@contextmanager
def _opened(
    target: str | None,
    names: str | None,
    settings: Settings,
    asking: tuple[str, str],
    out: Path,
    spending: RunBudget,
) -> Iterator[Opened]:
    """The targets, and the name of the language model."""
    if target and urlsplit(target).scheme in ("http", "https"):
        yield [_answering(_at(target, *asking))], ""
    elif target and ":" in target and not Path(target).exists():
        yield [_answering(_object(target))], ""
    else:
        place = out / COPY
        if target == EXAMPLE:
            systems.example(place)
        else:
            systems.copied(Path(target) if target else settings.store.path, place)
        try:
            with Store.open(place) as store:
                yield _over(store, names, settings, out, spending)
        finally:
            place.unlink(missing_ok=True)


def _over(store: Store, names: str | None, settings: Settings, out: Path, spending: RunBudget) -> Opened:
    """The systems over an index; every reply of the model is kept, and asked for once."""
    chat = build.chat_model(settings.model)
    if chat is not None and settings.model.replay is None:
        chat = Replayed(metered(chat, spending), ReplayCache(out / "replies.db"))
    parts = build.components(settings, store, chat=chat)
    chosen = [name.strip() for name in (names or ("hs,weak" if chat else "hs")).split(",") if name.strip()]
    return [systems.target(name, parts) for name in chosen], chat.name if chat else "none"


def _answering(target: Target) -> Target:
    """The target, after one question to it: if it cannot be reached, the run ends here and not with an error for every
    case."""
    sync.run(target.ask(GREETING))
    return target


def _at(url: str, protocol: str, model: str) -> Target:
    key = os.environ.get(KEY, "").strip()
    if protocol == "openai" or (protocol == "auto" and urlsplit(url).path.rstrip("/").endswith("/v1")):
        return ChatTarget(OpenAIChat(model, base_url=url, api_key=key or None))
    return HttpTarget(url, key)


def _object(place: str) -> Target:
    module, _, name = place.partition(":")
    try:
        rag = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"the target {place!r} is no index, no address and no object ({error}): give one of them"
        ) from error
    return ObjectTarget(rag() if isinstance(rag, type) else rag, place)
