"""The tool hijack benchmark: results, summary and table beside this file.

    python benchmarks/hijack/run.py [--data data] [--out .equipoise/bench-hijack] [--llm NAME] [--limit N] [--table]

Resumes: what stands in the output folder is not asked again, and replies are kept in its replies.db. Only ids,
flags and counts are copied here, no text. With --table nothing is asked: summary and table are made once more from
the results that stand here.
"""

import json
from argparse import Namespace
from pathlib import Path

from equipoise.core import sync
from equipoise_lab.bench import scripts
from equipoise_lab.bench.hijack import bench, report
from equipoise_lab.bench.hijack.bench import Folders, HijackPlan
from equipoise_lab.bench.hijack.cases import Drawing
from equipoise_lab.bench.hijack.records import HijackRecord
from equipoise_lab.bench.hijack.report import HijackRun, Numbers, summarise
from equipoise_lab.bench.output import as_text
from equipoise_lab.evaluation.records import content, read_records
from equipoise_lab.evaluation.run import RESULTS

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Ask what is missing, then write the table."""
    arguments = _arguments()
    if arguments.table:
        publish(kept(HERE), HERE)
        return
    config = scripts.config(HERE)
    choice = Drawing(config["prompts"], config["look_alikes"], config["seed"])
    plan = HijackPlan(
        tuple(config["pipelines"]),
        choice,
        config["emails"],
        config["concurrency"],
        arguments.limit,
        arguments.again,
    )
    flags = {"model.llm": arguments.llm or config["llm"], "model.slots": config["concurrency"]}
    with scripts.components(arguments.out, flags) as components:
        place = Folders(arguments.data, arguments.out)
        summary = sync.run(bench.bench(plan, place, components, scripts.say))
    records = read_records(arguments.out / RESULTS, HijackRecord)
    (HERE / RESULTS).write_bytes(content([record.model_copy(update={"detail": ""}) for record in records]))
    publish(summary, HERE)


def publish(summary: Numbers, here: Path) -> None:
    """Write summary and table, without what an error said: that may quote a model or name a place here."""
    bare = summary | {"errors": [failure | {"detail": ""} for failure in summary["errors"]]}
    (here / "summary.json").write_text(as_text(bare), "utf-8")
    (here / "table.md").write_text(_page(bare), "utf-8")


def kept(folder: Path) -> Numbers:
    """The numbers of the results in `folder` once more; what was asked is read from its summary."""
    before = json.loads((folder / "summary.json").read_text("utf-8"))
    asked = {name: before[name] for name in ("config", "pipelines", "inbox", "cases", "skipped")}
    return summarise(HijackRun(**asked, records=read_records(folder / RESULTS, HijackRecord)))


def _page(summary: Numbers) -> str:
    cases = ", ".join(f"{source} {count}" for source, count in summary["cases"].items())
    return (
        f"# The tool hijack benchmark\n\n`make bench-hijack`: {summary['config']['llm']}. Cases: {cases}. Intervals "
        "are 95%, exact (Clopper-Pearson); the paper's numbers are in italics. How far ours may differ from them, "
        f"and why, stands in `README.md`.\n\n{report.markdown(summary).rstrip()}\n"
    )


def _arguments() -> Namespace:
    parser = scripts.parser(__file__, __doc__, "bench-hijack", table=True)
    parser.add_argument("--llm", help="another model than config.toml names")
    parser.add_argument("--limit", type=int, help="the first so many cases of each source")
    parser.add_argument("--again", action="store_true", help="ask once more what ended with an error")
    return parser.parse_args()


if __name__ == "__main__":
    main()
