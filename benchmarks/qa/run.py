"""The question answering benchmark: results, summaries and tables beside this file.

    python benchmarks/qa/run.py [--only NAME] [--minutes N] [--table] [--data data]
        [--out .equipoise/bench-qa]

NAME is a section of config.toml, such as `squad2`, `offline` or `fresh_squad2`. Resumes: what the output folder holds
is not asked again, and replies are kept in its replies.db. Only ids and numbers are copied here, no text.
"""

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.protocols import ChatModel
from equipoise.core.types import Message
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.local import LocalChat
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import build
from equipoise_lab.bench import scripts
from equipoise_lab.bench.output import TABLES
from equipoise_lab.bench.qa import bench, datasets, items, report, runner
from equipoise_lab.bench.qa.bench import Options, QaPlan
from equipoise_lab.bench.qa.items import QaItem
from equipoise_lab.bench.qa.records import META, RECORDS, QaRecord, without_text
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.bench.systems import pipelines
from equipoise_lab.evaluation.budget import RunBudget, metered
from equipoise_lab.evaluation.records import content, read_records
from equipoise_lab.evaluation.run import RESULTS

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import FIT, bioasq_part, covid_part  # noqa: E402

FILES = ("results", "judgements", "comparisons")


@dataclass(frozen=True)
class Section:
    """One section of the configuration, and where it is kept."""

    name: str
    dataset: str
    pipelines: tuple[str, ...]
    limit: int
    llm: str
    judge: bool = False
    timed: bool = False
    skip: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


def main() -> None:
    """Ask what is missing, then write the tables."""
    arguments = _arguments()
    config = scripts.config(HERE)
    budget = RunBudget(max_minutes=arguments.minutes)
    for run in runs(config):
        if arguments.only in (None, run.name) and not arguments.table:
            ask(run, config, arguments, budget)
    for run in runs(config):
        if (arguments.out / run.name / RESULTS).exists():
            publish(arguments.out / run.name, HERE / run.name, timed=run.timed)
        elif (HERE / run.name / RESULTS).exists():
            rewrite(HERE / run.name)
    (HERE / "table.md").write_text(page(runs(config)), "utf-8")


def runs(config: dict) -> list[Section]:
    """All sections, in order."""
    usual = {name: config[name] for name in ("pipelines", "llm", "settings")}
    sections = {name: usual | {"dataset": name} | section for name, section in config["datasets"].items()}
    sections |= {name: usual | config[name] for name in ("offline", "speed", "compare")}
    sections |= {name: usual | {"settings": {}} | section for name, section in config["fresh"].items()}
    return [
        Section(
            name,
            section["dataset"],
            tuple(section["pipelines"]),
            section["limit"],
            section["llm"],
            judge=name == "compare",
            timed=section.get("timed", name in ("offline", "speed")),
            skip=section.get("skip", 0),
            settings=section["settings"],
        )
        for name, section in sections.items()
    ]


def ask(run: Section, config: dict, arguments: Namespace, budget: RunBudget) -> None:
    """What is missing of one section."""
    drawn = items.sample(reported(run.dataset, arguments.data), run.skip + run.limit)[run.skip :]
    alone = run.timed and run.llm != "none"
    slots = 1 if alone else config["slots"]
    flags = {
        "model.llm": run.llm,
        "model.max_tokens": config["max_tokens"],
        "model.slots": slots,
        **run.settings,
    }
    settings = scripts.settings(flags)
    encoder = EmbeddedEncoder()
    encoder.encode(["warm up"])
    harness = Harness(
        settings, encoder, None, arguments.out / run.name, budget, scripts.say, slots, CrossEncoder()
    )
    if alone:
        side_by_side(run, drawn, harness)
    with started(run, harness) as chat:
        wanted = pipelines(run.pipelines, with_llm=chat is not None)
        plan = QaPlan(run.dataset, tuple(drawn), wanted)
        judges = [chat] if chat and run.judge else []
        options = Options(run.dataset, run.pipelines, both_orders=True)
        done = sync.run(bench.bench(plan, options, replace(harness, chat=chat), judges))
    print(f"{run.name}: {done.answers} answers, {done.missing} missing {done.stopped}", file=sys.stderr)


def side_by_side(run: Section, drawn: Sequence[QaItem], harness: Harness) -> None:
    """Question by question through all pipelines, each with a model of its own.

    So none reads what another one left in the prompt cache, and a machine that slows down slows them all.
    """
    kept = read_records(harness.out / RESULTS, QaRecord)
    answered = {(record.item_id, record.pipeline) for record in kept if record.settled}
    left = [item for item in drawn if any((item.item_id, name) not in answered for name in run.pipelines)]
    if not left:
        return
    with ExitStack() as stack:
        chats = {name: stack.enter_context(started(run, harness)) for name in run.pipelines}
        for chat in filter(None, chats.values()):
            sync.run(chat.complete([Message("user", "Say yes.")]))  # loading is not timed
        for item in left:
            for name, chat in chats.items():
                wanted = pipelines([name], with_llm=chat is not None)
                sync.run(runner.run(run.dataset, [item], wanted, replace(harness, chat=chat)))


@contextmanager
def started(run: Section, harness: Harness) -> Iterator[ChatModel | None]:
    """The section's model behind the budget, and behind the cache of replies where seconds do not count."""
    model = build.chat_model(harness.settings.model)
    try:
        if model is None:
            yield None
        elif run.timed:
            yield metered(model, harness.budget)
        else:
            replies = ReplayCache(harness.out.parent / "replies.db")
            yield Replayed(metered(model, harness.budget), replies)
    finally:
        if isinstance(model, LocalChat):
            model.close()


def reported(dataset: str, data: Path) -> list[QaItem]:
    """The items of a data set that nothing was fitted on."""
    loaded = datasets.load(dataset, data)
    if dataset == "squad2":
        return items.without(loaded, sorted(FIT))
    if dataset == "bioasq12b":
        return [item for item in loaded if bioasq_part(item.item_id) == "report"]
    if dataset == "covid_qa":
        return [item for item in loaded if covid_part(item.documents[0].doc_id) == "report"]
    return loaded


def publish(out: Path, here: Path, *, timed: bool) -> None:
    """Copy a run without its text, and write its summary and tables from the copy.

    Seconds are kept of `speed` and `offline`: elsewhere pipelines read what another one had the server cache.
    """
    here.mkdir(exist_ok=True)
    for name in (*FILES, *(["timings"] if timed else [])):
        source = out / f"{name}.jsonl"
        if source.exists():
            kept = read_records(source, RECORDS[name])
            (here / source.name).write_bytes(content([without_text(record) for record in kept]))
    shutil.copyfile(out / META, here / META)
    rewrite(here)


def rewrite(here: Path) -> None:
    """Write summary and tables from the records that are in `here`."""
    report.write(here)


def page(wanted: Sequence[Section]) -> str:
    """All tables in one file."""
    parts = [(HERE / run.name / TABLES) for run in wanted]
    texts = [f"# {path.parent.name}\n\n{path.read_text('utf-8')}" for path in parts if path.exists()]
    return "\n".join(texts)


def _arguments() -> Namespace:
    parser = scripts.parser(__file__, __doc__, "bench-qa", table=True)
    parser.add_argument("--only", help="one section of config.toml")
    parser.add_argument("--minutes", type=float, help="begin nothing new after so many minutes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
