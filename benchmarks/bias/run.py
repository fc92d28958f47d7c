"""The bias benchmark: results, summary and table beside this file.

    python benchmarks/bias/run.py [--data data] [--out .equipoise/bench-bias] [--answers] [--no-stance] [--table]

Resumes: what stands in the output folder is not measured again. Only ids and numbers are copied here, no text.
`--answers` asks a language model too (the section `answers` of config.toml); without it the answers that are here
stay as they are. With --table nothing is measured: summaries and table are made once more from the records here.
"""

import argparse
import json
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.bench import tables
from equipoise.bench.bias import answers, bench, corpora, report
from equipoise.bench.bias.bench import PROFILES, Options
from equipoise.bench.bias.metrics import Truth, truths_of
from equipoise.bench.bias.plan import BiasPlan
from equipoise.bench.bias.profile import BENIGN
from equipoise.bench.bias.records import AnswerRecord, BiasRecord, BiasTiming, PassageRecord
from equipoise.bench.bias.stance import StanceAgreement
from equipoise.bench.bias.summary import BiasSummary, Measured, Milliseconds, summarise
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.estimates import Estimate
from equipoise.bench.page import SUMMARY, as_text
from equipoise.bench.records import content, read_records
from equipoise.bench.run import RESULTS
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.components import Components

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import bias_report  # noqa: E402

STANCES, REPORTING, ANSWERED = "stance.json", "summary-reporting.json", "summary-answers.json"


def main() -> None:
    """Run what is missing, then write the table."""
    arguments = _arguments()
    config = tomllib.loads((HERE / "config.toml").read_text("utf-8"))
    if not arguments.table:
        measure(config, arguments)
    publish(HERE, HERE)


def measure(config: dict, arguments: argparse.Namespace) -> None:
    """Run what is missing, and copy records, summaries and human stance here."""
    plan = _plan(config, config)
    options = Options(arguments.data / config["corpus"], arguments.data / config["attacks"])
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.answers:
        _answers(config, options, arguments.out)
    with Store.open(arguments.out / "index.db", create=True) as store:
        components = Components(Settings(), store, EmbeddedEncoder())
        workspace = Workspace(components.encoder, arguments.out, _say)
        sync.run(bench.bench(plan, options, components, workspace))
        if not arguments.no_stance:
            stances = [bench.stance_only(arguments.data / name, workspace) for name in config["stance"]]
            (HERE / STANCES).write_text(as_text(stances), "utf-8")
    for name in (RESULTS, PROFILES, SUMMARY):
        shutil.copyfile(arguments.out / name, HERE / name)
    timings = read_records(arguments.out / bench.TIMINGS, BiasTiming)
    half = replace(kept(HERE, SUMMARY), timings=timings).only(_reporting_half(HERE))
    (HERE / REPORTING).write_text(as_text(summarise(half)), "utf-8")


def kept(folder: Path, name: str) -> Measured:
    """The run behind the summary `name`, from the records in `folder`: all but what depends on the clock."""
    before = _json(folder / name)
    config = before["config"]
    plan = BiasPlan(
        tuple(before["filters"]),
        (0, *before["injections"]),
        before["k"],
        config["candidates"],
        rotations=config.get("rotations", 1),
    )
    passages = read_records(folder / PROFILES, PassageRecord)
    results = [
        one
        for one in read_records(folder / RESULTS, BiasRecord)
        if one.filter in plan.filters and one.condition in plan.conditions()
        if one.first == 0 or plan.rotations > 1
    ]
    given = before["answers"] is not None
    answered = read_records(folder / answers.ANSWERS, AnswerRecord) if given else []
    stance = {key: _stance(key, value) for key, value in before["stance"].items() if key != "by_author"}
    return Measured(
        plan,
        _truths(passages),
        before["config"],
        results,
        [],
        passages,
        answered,
        stance=StanceAgreement(**stance),
    )


def again(folder: Path, name: str) -> BiasSummary:
    """The summary `name` once more from the records in `folder`; milliseconds as they were measured."""
    run = kept(folder, name)
    if name == REPORTING:
        run = run.only(_reporting_half(folder))
    times = {
        key: Milliseconds(**{part: _estimate(value) for part, value in one.items()})
        for key, one in _json(folder / name)["milliseconds"].items()
    }
    return replace(summarise(run), milliseconds=times)


def publish(folder: Path, here: Path) -> None:
    """Write summaries and table from the records in `folder`."""
    names = [name for name in (SUMMARY, REPORTING, ANSWERED) if (folder / name).exists()]
    found = {name: again(folder, name) for name in names}
    for name, summary in found.items():
        (here / name).write_text(as_text(summary), "utf-8")
    page = _page(found[REPORTING], found[SUMMARY], found.get(ANSWERED), _json(folder / STANCES))
    (here / "table.md").write_text(page, "utf-8")


def _truths(passages: Sequence[PassageRecord]) -> dict[str, Truth]:
    """What is known of each query, from the records of its relevant documents; stances are turned there already."""
    relevant: dict[str, set[str]] = {}
    stance: dict[str, dict[str, float]] = {}
    for one in passages:
        if one.kind == BENIGN:
            relevant.setdefault(one.query_id, set()).add(one.id)
            if one.stance is not None:
                stance.setdefault(one.query_id, {})[one.id] = one.stance
    queries = dict.fromkeys((one.query_id for one in passages), "")
    found = {query: frozenset(ids) for query, ids in relevant.items()}
    return truths_of(corpora.Corpus("", {}, queries, found, stance), dict.fromkeys(queries, 1), passages)


def _reporting_half(folder: Path) -> list[str]:
    return bias_report(sorted({one.query_id for one in read_records(folder / RESULTS, BiasRecord)}))


def _stance(key: str, value: Any) -> Any:  # noqa: ANN401
    return value if key in ("queries", "left_out") else _estimate(value)


def _estimate(value: Mapping[str, Any] | None) -> Estimate | None:
    return None if value is None else Estimate(value["estimate"], value["low"], value["high"], value["n"])


def _json(path: Path) -> Any:  # noqa: ANN401
    return json.loads(path.read_text("utf-8"))


def _plan(config: dict, section: dict) -> BiasPlan:
    """The plan of the whole configuration, with filters, injections and rotations of `section`."""
    filters, injections = tuple(section["filters"]), tuple(section["injections"])
    return BiasPlan(
        filters, injections, config["k"], config["candidates"], config["retriever"], section["rotations"]
    )


def _answers(config: dict, options: Options, out: Path) -> None:
    """Ask the language model, and write what its answers come to beside this file."""
    wanted = config["answers"]
    flags = {
        "model.llm": wanted["llm"],
        "model.slots": wanted["slots"],
        "model.replay": str(out / "replies.db"),
    }
    settings = layers.load(flags, environment={}, folder=HERE).settings
    with Store.open(out / "index.db", create=True) as store:
        components = Components(settings, store, EmbeddedEncoder(), build.chat_model(settings.model))
        workspace = Workspace(components.encoder, out, _say, wanted["slots"])
        asked = replace(options, answers=True)
        summary = sync.run(bench.bench(_plan(config, wanted), asked, components, workspace))
    answered = read_records(out / answers.ANSWERS, AnswerRecord)
    fields = set(AnswerRecord.model_fields) - {"text"}
    bare = [AnswerRecord.model_validate(one.model_dump(include=fields)) for one in answered]
    (HERE / answers.ANSWERS).write_bytes(content(bare))
    (HERE / ANSWERED).write_text(as_text(summary), "utf-8")


def _answer_tables(summary: BiasSummary | None) -> list[str]:
    """Tables 5, 6 and 8 and Figure 4 in numbers, of the answers that are here."""
    found = summary.answers if summary else None
    if summary is None or found is None:
        return []
    titles = ("Table 5", "Table 6", "Table 8", "Answers")
    wanted = [table for table in report.tables(summary) if table.title.startswith(titles)]
    return [
        f"# Answers: {summary.queries} questions, {answers.GENERATIONS} answers each",
        "",
        *map(tables.as_markdown, wanted),
        f"Figure 4 in numbers: Spearman of the PS of answers with the PS of what was kept {found.spearman:.2f} over "
        f"all {len(found.points)} points, {tables.interval(found.spearman_by_query)} within a question.",
        "",
    ]


def _page(
    part: BiasSummary, whole: BiasSummary, answered: BiasSummary | None, stances: list[dict[str, Any]]
) -> str:
    """The table: the reporting half first, then all questions, then other corpora, then the deviations."""
    rows = [
        "# The bias benchmark",
        "",
        f"`make bench-bias`: {whole.config['corpus']} with {whole.config['encoder']}. Intervals are 99%, by "
        "bootstrap over questions; the paper's numbers are in italics. How far ours may differ from them, and "
        "why, stands in `README.md`.",
        "",
        f"# The {part.queries} questions of the reporting half",
        "",
        "Every second question in the order of ids (`splits.bias_report`). BiasDef's default bins, cut and "
        "distance were chosen on a half of the questions that was not recorded, so read the rows of BiasDef as "
        "flattered; `BiasDef as written` shares only the distance with them.",
        "",
        report.markdown(part),
        f"# All {whole.queries} questions",
        "",
        report.markdown(whole),
        *_answer_tables(answered),
        "# Human stance on other corpora",
        "",
    ]
    for found in stances:
        shown = {key: _stance(key, value) for key, value in found.items() if key != "corpus"}
        rows += [f"## {found['corpus']}", "", tables.as_markdown(report.stance_table(shown))]
    return "\n".join(rows).rstrip() + "\n"


def _say(done: int, total: int, what: str) -> None:
    if done % 50 == 0:
        print(f"{done}/{total} {what}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-bias")
    parser.add_argument("--answers", action="store_true", help="ask the language model of config.toml too")
    parser.add_argument(
        "--no-stance", action="store_true", help="leave human stance on other corpora as it is"
    )
    parser.add_argument("--table", action="store_true", help="only write summaries and table again")
    return parser.parse_args()


if __name__ == "__main__":
    main()
