"""The whole benchmark: items in, rows, timings, judgements and comparisons out."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.protocols import ChatModel
from equipoise.core.types import Usage
from equipoise_lab.bench.qa import datasets, items, judging, records, report, runner
from equipoise_lab.bench.qa.items import QaItem
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.bench.systems import NO_MODEL, Named, pipelines
from equipoise_lab.evaluation.results import Row, write_atomically

SETTINGS = ("retrieval", "filter", "highlight", "summarize", "monitor")
"""The sections of the settings that answers depend on; of `model` the two that are written out below."""
FIXED = ("dataset", "split", "settings", "model")
"""What the runs that share an output folder must have in common; a run without a language model fits all."""
PACKAGES = ("equipoise", "numpy", "onnxruntime", "openai", "xllamacpp", "transformers")


@dataclass(frozen=True, slots=True)
class Options:
    """What a run works on. `dataset` is a name or a file (`datasets.load`); `without` names documents whose
    questions are left out."""

    dataset: str
    pipelines: tuple[str, ...]
    data: Path = datasets.DATA
    split: str = ""
    limit: int | None = None
    without: tuple[str, ...] = ()
    compare: bool = True
    both_orders: bool = False
    informed: bool = False


@dataclass(frozen=True, slots=True)
class QaPlan:
    """What will be asked: the items drawn and the pipelines."""

    dataset: str
    items: tuple[QaItem, ...]
    systems: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """How far a run came: `missing` answers and `unjudged` ratings and pairs were left out because of `stopped`
    ("" where nothing was). `spent` was really asked for; `unreported` says why there is no report ("")."""

    answers: int
    failed: int
    missing: int
    unjudged: int
    stopped: str
    spent: Usage
    unreported: str


def plan(options: Options, *, with_llm: bool) -> QaPlan:
    """Read and draw the items and look up the pipelines. Raises InputError or MissingExtra."""
    wanted = pipelines(options.pipelines, with_llm=with_llm)
    everything = datasets.load(options.dataset, options.data, split=options.split)
    left = items.without(everything, options.without)
    if not left:
        raise InputError(f"no question of {options.dataset} is left: leave out fewer documents")
    drawn = items.sample(left, options.limit)
    return QaPlan(datasets.title(options.dataset), tuple(drawn), wanted)


async def bench(chosen: QaPlan, options: Options, harness: Harness, judges: Sequence[ChatModel] = ()) -> Done:
    """Ask and judge what the output folder does not hold yet.

    Raises InputError for a folder that holds another configuration, and what pipelines raise that cannot be
    built. What was asked before that, or before the process was killed, stays.
    """
    harness.out.mkdir(parents=True, exist_ok=True)
    write_meta(chosen, options, harness, judges)
    answers = await runner.run(chosen.dataset, chosen.items, chosen.systems, harness)
    missing = len(chosen.items) * len(chosen.systems) - len(answers)
    if not answers:
        return Done(0, 0, missing, 0, harness.budget.stop(), harness.budget.usage, "")
    unjudged = await judging.judge(answers, judges, harness) if judges else 0
    if judges and options.compare:
        unjudged += await judging.compare(
            answers,
            chosen.systems,
            judges[0],
            harness,
            both_orders=options.both_orders,
            informed=options.informed,
        )
    failed = sum(record.failed for record in answers)
    stopped = harness.budget.stop() if missing + unjudged else ""
    return Done(len(answers), failed, missing, unjudged, stopped, harness.budget.usage, _report(harness.out))


def _report(out: Path) -> str:
    """Write summary, tables and figures; why not, where the extra for statistics and figures is not installed."""
    try:
        report.draw(out, report.write(out))
    except MissingExtra as error:
        return str(error)
    return ""


def write_meta(chosen: QaPlan, options: Options, harness: Harness, judges: Sequence[ChatModel]) -> None:
    """Write what the run is about; raises InputError where the folder holds another configuration."""
    path = harness.out / records.META
    fields = meta(chosen, options, harness, judges)
    if path.exists():
        before = records.meta(path)
        if fields["model"] == NO_MODEL:
            fields["model"] = before.get("model", NO_MODEL)
        changed = [name for name in FIXED if before.get(name, NO_MODEL) not in (fields[name], NO_MODEL)]
        if changed:
            raise InputError(
                f"{harness.out} holds results with another {changed[0]} ({records.META}): choose another --out, "
                "or delete that folder to begin again"
            )
    content = json.dumps(fields, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, content.encode("utf-8"))


def meta(chosen: QaPlan, options: Options, harness: Harness, judges: Sequence[ChatModel]) -> Row:
    """Settings, data set, sizes, names of models, versions and the machine: nothing that time changes."""
    settings = harness.settings.model_dump(mode="json", include=set(SETTINGS))
    settings["model"] = {
        "context": harness.settings.model.context,
        "max_tokens": harness.settings.model.max_tokens,
    }
    return {
        "dataset": chosen.dataset,
        "split": options.split,
        "without": sorted(options.without),
        "n": len(chosen.items),
        "pipelines": [system.name for system in chosen.systems],
        "model": harness.chat.name if harness.chat else NO_MODEL,
        "encoder": harness.encoder.name,
        "judges": [judge.name for judge in judges],
        "compare": options.compare,
        "both_orders": options.both_orders,
        "informed": options.informed,
        "concurrency": harness.concurrency,
        "settings": settings,
        "versions": {"python": platform.python_version()} | _versions(),
        "machine": {"processors": os.cpu_count(), "architecture": platform.machine()},
    }


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
