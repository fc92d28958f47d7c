"""The bias benchmark: results, summary, table and figures beside this file.

    python benchmarks/bias/run.py [--data data] [--out .equipoise/bench-bias] [--table]
        [--llm NAME] [--answers] [--likert QUESTIONS] [--records FILE]

Resumes: what stands in the output folder is not measured again. Only ids and numbers are copied here, no text.
A language model (`--llm`, else that of config.toml) is asked where one of these says so: `--answers` for answers (the
section `answers` of config.toml), `--likert` for the points of Figure 2 of passages of so many questions. Another
`--llm` adds rows to the same tables, and so do the answers of `--records`, a file like answers.jsonl from another
machine. What is here of other models stays. With --table nothing is measured: summaries, table and figures are made
once more from the records here.
"""

import json
import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise_lab.bench import scripts, tables
from equipoise_lab.bench.bias import bench, report
from equipoise_lab.bench.bias.asked import ANSWERS, GENERATIONS, LIKERT, Asking
from equipoise_lab.bench.bias.bench import PROFILES, BiasOptions
from equipoise_lab.bench.bias.numbers import BiasRun, Numbers, summarise
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import (
    AnswerRecord,
    BiasPlan,
    BiasRecord,
    BiasTiming,
    LikertRecord,
    PassageRecord,
)
from equipoise_lab.bench.output import FIGURES, SUMMARY, as_text, write_figures
from equipoise_lab.evaluation.records import Record, content, read_records, without_text
from equipoise_lab.evaluation.run import RESULTS

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import bias_report  # noqa: E402

REPORTING, ANSWERED = "summary-reporting.json", "summary-answers.json"
BEHIND = {ANSWERED: "answered"}
"""Folders with the records of what was kept, where it is not that of the newest run: a model answered from it."""
SAID: dict[str, type[Record]] = {ANSWERS: AnswerRecord, LIKERT: LikertRecord}
"""What language models said, by file."""


def main() -> None:
    """Run what is missing, then write the table."""
    arguments = _arguments()
    config = scripts.config(HERE)
    if not arguments.table:
        measure(config, arguments)
    for file in arguments.records:
        add(HERE, file)
    publish(HERE, HERE)


def add(folder: Path, file: Path) -> None:
    """Put the answers in `file` beside those in `folder`; raises InputError for one to something else."""
    found = read_records(file, AnswerRecord)
    behind = folder / BEHIND[ANSWERED] / RESULTS
    places = {one.place for one in read_records(behind, BiasRecord) if one.first == 0}
    if strange := next((one for one in found if one.place not in places), None):
        raise InputError(
            f"{file}: {' '.join(map(str, strange.place))} is not among the results of {folder.name}"
        )
    _merge(folder / ANSWERS, found)


def measure(config: dict, arguments: Namespace) -> None:
    """Run what is missing, and copy records and summaries here."""
    out, asking = arguments.out, Asking(arguments.answers, arguments.likert)
    if asking.answers or asking.likert:
        llm = arguments.llm or config["answers"]["llm"]
        summary = _run(config, config["answers"], arguments, llm, asking)
        if asking.answers or not (HERE / ANSWERED).exists():
            (HERE / ANSWERED).write_text(as_text(summary), "utf-8")
            _copy(out, HERE / BEHIND[ANSWERED], RESULTS, PROFILES)
        for name, record in SAID.items():
            if found := read_records(out / name, record):
                _merge(HERE / name, found)
    _run(config, config | {"slots": 1}, arguments, "none", Asking())
    _copy(out, HERE, RESULTS, PROFILES, SUMMARY)
    half = replace(kept(HERE, SUMMARY), timings=read_records(out / bench.TIMINGS, BiasTiming))
    (HERE / REPORTING).write_text(as_text(summarise(half.only(_reporting_half(HERE)))), "utf-8")


def _copy(source: Path, target: Path, *names: str) -> None:
    target.mkdir(exist_ok=True)
    for name in names:
        shutil.copyfile(source / name, target / name)


def _run(config: dict, section: dict, arguments: Namespace, llm: str, asking: Asking) -> Numbers:
    """The whole configuration with filters, injections and rotations of `section`."""
    plan = BiasPlan(
        tuple(section["filters"]),
        tuple(section["injections"]),
        config["k"],
        config["candidates"],
        section["rotations"],
    )
    data, out, slots = arguments.data, arguments.out, section["slots"]
    with scripts.components(out, {"model.llm": llm, "model.slots": slots}) as components:
        options = BiasOptions(data / config["corpus"], data / config["attacks"], asking)
        workspace = Workspace(components.encoder, out, scripts.say, slots)
        return sync.run(bench.bench(plan, options, components, workspace))


def kept(folder: Path, name: str) -> BiasRun:
    """The run behind the summary `name`, from the records in `folder`: all but what depends on the clock.

    Answers belong to the summary of answers, points of Figure 2 to the others.
    """
    before, records = _json(folder / name), folder / BEHIND.get(name, "")
    config = before["config"]
    rotations = config.get("rotations", 1)
    plan = BiasPlan(
        tuple(before["filters"]), (0, *before["injections"]), before["k"], config["candidates"], rotations
    )
    results = [
        one
        for one in read_records(records / RESULTS, BiasRecord)
        if one.filter in plan.filters
        and one.condition in plan.conditions()
        and (one.first == 0 or rotations > 1)
    ]
    run = BiasRun(plan, config, results, [], read_records(records / PROFILES, PassageRecord))
    if name == ANSWERED:
        return replace(run, answers=read_records(folder / ANSWERS, AnswerRecord))
    return replace(run, likert=read_records(folder / LIKERT, LikertRecord))


def again(folder: Path, name: str) -> Numbers:
    """The summary `name` once more from the records in `folder`; milliseconds as they were measured."""
    run = kept(folder, name)
    run = run.only(_reporting_half(folder)) if name == REPORTING else run
    return summarise(run) | {"milliseconds": _json(folder / name)["milliseconds"]}


def publish(folder: Path, here: Path) -> None:
    """Write summaries, table and figures from the records in `folder`."""
    found = {name: again(folder, name) for name in (SUMMARY, REPORTING, ANSWERED) if (folder / name).exists()}
    for name, summary in found.items():
        (here / name).write_text(as_text(summary), "utf-8")
    passages = read_records(folder / PROFILES, PassageRecord)
    drawn = list(report.figures(found[SUMMARY], passages))
    if ANSWERED in found:
        drawn += [one for one in report.figures(found[ANSWERED], passages) if one[0] == "answers"]
    write_figures(here, {name: svg for name, _, svg in drawn})
    text = _page(found[REPORTING], found[SUMMARY], found.get(ANSWERED))
    images = [f"![{caption}]({FIGURES}/{name}.svg)\n" for name, caption, _ in drawn]
    (here / "table.md").write_text("\n".join([text, "# Figures", "", *images]), "utf-8")


def _reporting_half(folder: Path) -> list[str]:
    return bias_report(sorted({one.query_id for one in read_records(folder / RESULTS, BiasRecord)}))


def _json(path: Path) -> Numbers:
    return json.loads(path.read_text("utf-8"))


def _merge(path: Path, found: Sequence[Record]) -> None:
    """Put these records, without their texts, among those of the file, in the place of those with their keys."""
    every = {one.key: one for one in (*read_records(path, type(found[0])), *without_text(found))}
    path.write_bytes(content([every[key] for key in sorted(every)]))


def _answer_tables(summary: Numbers | None) -> list[str]:
    """Tables 5, 6 and 8 and Figure 4 in numbers, of the answers that are here."""
    if summary is None or not summary["answers"]:
        return []
    titles = ("Table 5", "Table 6", "Table 8", "Answers")
    wanted = [table for table in report.tables(summary) if table.title.startswith(titles)]
    several = len(summary["answers"]) > 1
    return [
        f"# Answers: {summary['queries']} questions, {GENERATIONS} answers each",
        "",
        f"From what was kept with {summary['config']['encoder']}.",
        "",
        *map(tables.as_markdown, wanted),
        *(
            f"Figure 4 in numbers{', ' + one['model'] if several else ''}: Spearman of the PS of answers with the PS "
            f"of what was kept {one['spearman']:.2f} over all {len(one['points'])} points, "
            f"{tables.interval(one['spearman_by_query'])} within a question.\n"
            for one in summary["answers"]
            if one["spearman"] is not None
        ),
    ]


def _page(part: Numbers, whole: Numbers, answered: Numbers | None) -> str:
    """The table: the reporting half first, then all questions, then answers."""
    rows = [
        "# The bias benchmark",
        "",
        f"`make bench-bias`: {whole['config']['corpus']} with {whole['config']['encoder']}. Intervals are 99%, by "
        "bootstrap over questions; the paper's numbers are in italics. How far ours may differ from them, and "
        "why, stands in `README.md`.",
        "",
        f"# The {part['queries']} questions of the reporting half",
        "",
        "Every second question in the order of ids (`splits.bias_report`). BiasDef's default bins, cut and "
        "distance were chosen on a half of the questions that was not recorded, so read the rows of BiasDef as "
        "flattered; `BiasDef as written` shares only the distance with them.",
        "",
        report.markdown(part),
        f"# All {whole['queries']} questions",
        "",
        report.markdown(whole),
        *_answer_tables(answered),
    ]
    return "\n".join(rows).rstrip() + "\n"


def _arguments() -> Namespace:
    parser = scripts.parser(__file__, __doc__, "bench-bias", table=True)
    parser.add_argument("--llm", help="whom to ask, if not that of config.toml: local[/NAME], openai/NAME")
    parser.add_argument("--answers", action="store_true", help="ask for answers to what each filter kept")
    parser.add_argument(
        "--likert", type=int, default=0, help="ask for points of passages of so many questions"
    )
    parser.add_argument("--records", type=Path, action="append", default=[], help="answers from elsewhere")
    return parser.parse_args()


if __name__ == "__main__":
    main()
