"""The bias benchmark: results, summary and table beside this file.

    python benchmarks/bias/run.py [--data data] [--out .equipoise/bench-bias] [--answers]

Resumes: what stands in the output folder is not measured again. Only ids and numbers are copied here, no text.
`--answers` asks a language model too (the section `answers` of config.toml); without it the answers that are here
stay as they are.
"""

import argparse
import json
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

from equipoise.bench import tables
from equipoise.bench.bias import answers, attacks, bench, corpora, report, runner
from equipoise.bench.bias.bench import Options
from equipoise.bench.bias.runner import BiasPlan
from equipoise.bench.bias.summary import Measured, summarise
from equipoise.bench.bias.tables import tables as all_tables
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.results import Lines, encoded
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

COPIED = (runner.RESULTS, bench.PROFILES, bench.SUMMARY)


def main() -> None:
    """Run what is missing, then write the table."""
    arguments = _arguments()
    config = tomllib.loads((HERE / "config.toml").read_text("utf-8"))
    plan = _plan(config, config)
    options = Options(arguments.data / config["corpus"], arguments.data / config["attacks"])
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.answers:
        _answers(config, options, arguments.out)
    with Store.open(arguments.out / "index.db", create=True) as store:
        components = Components(Settings(), store, EmbeddedEncoder())
        workspace = Workspace(components.encoder, arguments.out, _say)
        summary = sync.run(bench.bench(plan, options, components, workspace))
        stances = [bench.stance_only(arguments.data / name, workspace) for name in config["stance"]]
    for name in COPIED:
        shutil.copyfile(arguments.out / name, HERE / name)
    part = _reporting(plan, options, arguments.out, summary)
    (HERE / "summary-reporting.json").write_text(json.dumps(part, indent=1) + "\n", "utf-8")
    (HERE / "stance.json").write_text(json.dumps(stances, indent=1) + "\n", "utf-8")
    (HERE / "table.md").write_text(_page(part, summary, stances), "utf-8")


def _plan(config: dict, section: dict) -> BiasPlan:
    """The plan of the whole configuration, with filters and injections of `section`."""
    filters, injections = tuple(section["filters"]), tuple(section["injections"])
    return BiasPlan(filters, injections, config["k"], config["candidates"], config["retriever"])


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
    rows = [json.loads(line) for line in (out / answers.ANSWERS).read_text("utf-8").splitlines()]
    content = b"".join(encoded({name: row[name] for name in row if name != "text"}) for row in rows)
    (HERE / answers.ANSWERS).write_bytes(content)
    (HERE / "summary-answers.json").write_text(json.dumps(summary, indent=1) + "\n", "utf-8")


def _answer_tables() -> list[str]:
    """Tables 5, 6 and 8 and Figure 4 in numbers, of the answers that are here."""
    path = HERE / "summary-answers.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text("utf-8"))
    wanted = [
        table
        for table in all_tables(found)
        if table.title.startswith(("Table 5", "Table 6", "Table 8", "Answers"))
    ]
    rho, by_query = found["answers"]["spearman"], found["answers"]["spearman_by_query"]
    return [
        f"# Answers: {found['queries']} questions, {answers.GENERATIONS} answers each",
        "",
        *map(tables.as_markdown, wanted),
        f"Figure 4 in numbers: Spearman of the PS of answers with the PS of what was kept {rho:.2f} over all "
        f"{len(found['answers']['points'])} points, {tables.interval(by_query)} within a question.",
        "",
    ]


def _reporting(plan: BiasPlan, options: Options, out: Path, whole: dict) -> dict:
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
        *_answer_tables(),
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
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-bias")
    parser.add_argument("--answers", action="store_true", help="ask the language model of config.toml too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
