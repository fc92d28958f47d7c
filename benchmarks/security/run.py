"""The attacks on our own pipelines: records, table and worst transcripts beside this file.

    python benchmarks/security/run.py [--part NAME]... [--max-minutes N] [--out .equipoise/bench-security] [--data DIR]

Resumes: what stands in the output folder is not asked again, and replies are kept in its replies.db. Texts of the data
folder are not copied here; those of our own prompts and of the documents, which stand in this repository, are.
"""

import contextlib
import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.protocols import ChatModel
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.local import LocalChat
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.rag import build
from equipoise_lab.bench import scripts
from equipoise_lab.evaluation.budget import RunBudget
from equipoise_lab.evaluation.records import SampleRecord, content, read_records
from equipoise_lab.redteam.suite import attacking, summaries, systems
from equipoise_lab.redteam.suite.attacking import AttackPlan
from equipoise_lab.redteam.suite.cases import BENIGN, LOOK_ALIKE, SUITES, Material
from equipoise_lab.redteam.suite.summaries import Carried
from equipoise_lab.redteam.targets import PipelineTarget

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCUMENTS = (Path("src/equipoise/redteam/example"), Path("examples/sqlite"))
"""Below the repository: ids of documents are made from these paths, and cases from the ids."""
TEXTS = ("asked", "read", "answered")
DOCUMENTS_DB = "documents.db"


def main() -> None:
    """Carry out what is missing, then write the table."""
    arguments = _arguments()
    config = scripts.config(HERE)
    if arguments.table:
        publish(config, HERE)
        return
    out, budget = arguments.out, RunBudget(max_minutes=arguments.max_minutes)
    out.mkdir(parents=True, exist_ok=True)
    store = out / DOCUMENTS_DB
    if not store.exists():
        with contextlib.chdir(ROOT), Store.open(out / "new.db", create=True) as new:
            index(DOCUMENTS, new, EmbeddedEncoder())
        (out / "new.db").rename(store)
    chats: dict[str, ChatModel | None] = {}
    for part in config["part"]:
        wanted = not arguments.part or part["name"] in arguments.part
        if wanted and (arguments.data or not part.get("data")):
            _carry_out(part, config, arguments, budget, chats)
    publish(config, out)


def _carry_out(
    part: Mapping[str, Any],
    config: Mapping[str, Any],
    arguments: Namespace,
    budget: RunBudget,
    chats: dict[str, ChatModel | None],
) -> None:
    out: Path = arguments.out
    name = part.get("llm", config["llm"])
    flags = {**config["settings"], "model.llm": name, "model.slots": arguments.concurrency}
    settings = scripts.settings(flags)
    if name not in chats:
        made = _local(name, arguments) if arguments.threads else build.chat_model(settings.model)
        chats[name] = Replayed(made, ReplayCache(out / "replies.db")) if made else None
    chat = chats[name]
    copy = systems.copied(out / DOCUMENTS_DB, out / f"{part['name']}.db")
    with Store.open(copy) as opened:
        components = build.components(settings, opened, chat=chat)
        targets = [systems.target(one, components) for one in part["systems"]]
        documents = PipelineTarget(components).ground.documents
        sizes = SUITES[part["suite"]]
        sizes = replace(sizes, drawn=part.get("drawn", sizes.drawn))
        described = {"part": part["name"], "llm": name, "systems": part["systems"], **config["settings"]}
        plan = AttackPlan(
            tuple(part["attacks"]), part["budget"], part.get("limit", arguments.limit), arguments.concurrency,
            described,
            on={} if part.get("benign") else {BENIGN: [], LOOK_ALIKE: []},
        )  # fmt: skip
        material = Material(documents, sizes, arguments.data if part.get("data") else None)
        sync.run(
            attacking.run(plan, targets, material, out / part["name"], progress=scripts.say, budget=budget)
        )


def _local(name: str, arguments: Namespace) -> ChatModel | None:
    """A local model with so many threads: where processors are shared, threads that wait for each other starve."""
    kind, _, model = name.partition("/")
    if kind != "local":
        return None
    slots = arguments.concurrency
    return LocalChat.from_weights(model, n_ctx=4096 * slots, n_threads=arguments.threads, slots=slots)


def publish(config: Mapping[str, Any], out: Path) -> None:
    """The records of all parts, and their tables, beside this file; a part that is not in `out` keeps its records."""
    before, every, pages = read_records(HERE / "results.jsonl", SampleRecord), [], []
    for part in config["part"]:
        name, llm = part["name"], part.get("llm", config["llm"])
        attacks = (BENIGN, LOOK_ALIKE, *part["attacks"])
        carried = _by_attack(
            attacks,
            [one for each in attacks for one in read_records(out / name / f"{each}.jsonl", SampleRecord)],
        )
        if carried and not part.get("data"):
            (HERE / f"transcripts-{name}.md").write_text(summaries.transcripts(carried), "utf-8")
        hidden = (*TEXTS, "rule") if part.get("data") else TEXTS
        records = [_without(record, hidden) for one in carried for record in one.records] or [
            record.model_copy(update={"sample": record.sample.removeprefix(f"{name}/")})
            for record in before
            if record.sample.startswith(f"{name}/")
        ]
        if records:
            summary = summaries.summary(_by_attack(attacks, records), {"part": name, "llm": llm})
            pages.append(
                f"## {name} (model: {llm}; suite: {part['suite']}; tries a case: {part['budget']})\n\n"
                f"{summaries.markdown(summary)}"
            )
        every += [record.model_copy(update={"sample": f"{name}/{record.sample}"}) for record in records]
    head = (
        "# Attacks on our own pipelines\n\n`python benchmarks/security/run.py`. Intervals are 95%, exact (Clopper-"
        "Pearson); “below” is the rate that an attack stays under with 95% confidence, one-sided. What counts as "
        "success, and what a table does not say, stands in `README.md`.\n\n"
    )
    (HERE / "table.md").write_text(head + "\n".join(pages), "utf-8")
    if out != HERE:
        (HERE / "results.jsonl").write_bytes(content(every))
    print(json.dumps({"records": len(every)}))


def _by_attack(attacks: Sequence[str], records: Sequence[SampleRecord]) -> list[Carried]:
    some = [(name, [one for one in records if one.sample.startswith(f"{name}/")]) for name in attacks]
    return [Carried(name, 0, tuple(own), {}) for name, own in some if own]


def _without(record: SampleRecord, hidden: Sequence[str]) -> SampleRecord:
    """The record without what was read and said: the transcripts have the worst of that."""
    facts = {name: value for name, value in record.facts.items() if name not in hidden}
    return record.model_copy(update={"facts": facts})


def _arguments(argv: Sequence[str] | None = None) -> Namespace:
    parser = scripts.parser(__file__, __doc__, "bench-security", data=False, table=True)
    parser.add_argument("--part", action="append", help="only this part of config.toml; may be repeated")
    parser.add_argument("--data", type=Path, help="the folder with attack data, for parts of the suite full")
    parser.add_argument("--limit", type=int, help="the first so many cases of each attack")
    parser.add_argument(
        "--concurrency", type=int, default=4, help="cases at a time, where nothing is planted"
    )
    parser.add_argument("--threads", type=int, help="of a local model; default: one for each processor")
    parser.add_argument("--max-minutes", type=float, help="stop after so many minutes")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
