"""The bias benchmark: results, summary and table beside this file.

    python benchmarks/bias/run.py [--data ../shared/data] [--out .equipoise/bench-bias]

Resumes: what stands in the output folder is not measured again. Only ids and numbers are copied here, no text.
"""

import argparse
import json
import shutil
import sys
import tomllib
from pathlib import Path

from equipoise.bench import tables
from equipoise.bench.bias import attacks, bench, corpora, report, runner
from equipoise.bench.bias.bench import Options
from equipoise.bench.bias.runner import Plan
from equipoise.bench.bias.summary import Measured, summarise
from equipoise.bench.bias.vectors import Desk
from equipoise.bench.results import Lines
from equipoise.core import sync
from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.parts import Parts

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import bias_report  # noqa: E402

COPIED = (runner.RESULTS, bench.PROFILES, bench.SUMMARY)


def main() -> None:
    """Run what is missing, then write the table."""
    arguments = _arguments()
    config = tomllib.loads((HERE / "config.toml").read_text("utf-8"))
    plan = Plan(
        tuple(config["filters"]),
        tuple(config["injections"]),
        config["k"],
        config["candidates"],
        config["retriever"],
    )
    options = Options(arguments.data / config["corpus"], arguments.data / config["attacks"])
    arguments.out.mkdir(parents=True, exist_ok=True)
    with Store.open(arguments.out / "index.db", create=True) as store:
        parts = Parts(Settings(), store, EmbeddedEncoder())
        desk = Desk(parts.encoder, arguments.out, _say)
        summary = sync.run(bench.bench(plan, options, parts, desk))
        stances = [bench.stance_only(arguments.data / name, desk) for name in config["stance"]]
    for name in COPIED:
        shutil.copyfile(arguments.out / name, HERE / name)
    part = _reporting(plan, options, arguments.out, summary)
    (HERE / "summary-reporting.json").write_text(json.dumps(part, indent=1) + "\n", "utf-8")
    (HERE / "stance.json").write_text(json.dumps(stances, indent=1) + "\n", "utf-8")
    (HERE / "table.md").write_text(_page(part, summary, stances), "utf-8")


def _reporting(plan: Plan, options: Options, out: Path, whole: dict) -> dict:
    """The summary of the reporting half."""
    corpus = corpora.read(options.corpus)
    found = attacks.read(options.attacks, corpus)
    rows = {}
    for name in (runner.RESULTS, runner.TIMINGS):
        with Lines(out / name, runner.KEY) as lines:
            rows[name] = lines.rows()
    profiles = [json.loads(line) for line in (out / bench.PROFILES).read_text("utf-8").splitlines()]
    polarity = {attack.query_id: attack.polarity for attack in found}
    run = Measured(
        plan,
        corpus,
        polarity,
        whole["config"],
        rows[runner.RESULTS],
        rows[runner.TIMINGS],
        profiles,
        stance=whole["stance"],
    )
    return summarise(run.only(bias_report(sorted(polarity))))


def _page(part: dict, whole: dict, stances: list[dict]) -> str:
    """The table: the reporting half first, then all questions, then other corpora, then the deviations."""
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
        "# Human stance on other corpora",
        "",
    ]
    for found in stances:
        table = report.stance_table({"stance": found})
        rows += [f"## {found['corpus']}", "", tables.as_markdown(table)]
    return "\n".join(rows).rstrip() + "\n"


def _say(done: int, total: int, what: str) -> None:
    if done % 50 == 0:
        print(f"{done}/{total} {what}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-bias")
    return parser.parse_args()


if __name__ == "__main__":
    main()
