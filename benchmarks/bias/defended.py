"""Where answers stand: with nothing planted, with five passages planted for one side, and with what filters left.

    python benchmarks/bias/defended.py --llm local[/NAME] [--data data] [--out .equipoise/bench-bias/defended]

One model writes the answers and tells their sides, by its odds of yes against no as the first token. Asked are the
questions that the embedded model of stance never saw, because `voices` uses it here. Resumes answer by answer. Records
without texts, summary and table go to `defended/` beside this file.
"""

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.corpus.store import Store
from equipoise.evaluation.records import content, read_records, without_text
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise_lab.bench import tables
from equipoise_lab.bench.bias import answer_stance, answers, bench, report, vectors
from equipoise_lab.bench.bias.answer_stance import AnswerStance
from equipoise_lab.bench.bias.asked import Asking
from equipoise_lab.bench.bias.bench import Options
from equipoise_lab.bench.bias.plan import BiasPlan
from equipoise_lab.bench.bias.records import AnswerRecord
from equipoise_lab.bench.bias.summary import BiasSummary
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.page import SUMMARY, as_text

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "stance"))

import stance_texts  # noqa: E402

FOLDER = "defended"
TABLES = ("Table 2", "Table 3", "Table 5", "Stance of answers", "How far answers")


def main() -> None:
    """Ask what is missing, and publish."""
    arguments = _arguments()
    config = tomllib.loads((HERE / "config.toml").read_text("utf-8"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    vectors.borrow(arguments.out.parent, arguments.out)
    publish(ask(config, arguments), arguments.out)


def ask(config: dict[str, Any], arguments: argparse.Namespace) -> BiasSummary:
    """Answers and their stances, those that the output folder does not hold yet from the model."""
    wanted, out = config["defended"], arguments.out
    flags = {"model.llm": arguments.llm, "model.replay": str(out / "replies.db"), "filter.stance": "embedded"}
    settings = layers.load(flags, environment={}, folder=HERE).settings
    plan = BiasPlan(tuple(wanted["filters"]), tuple(wanted["injections"]), config["k"], config["candidates"])
    with Store.open(out / "index.db", create=True) as store:
        components = Components(settings, store, EmbeddedEncoder(), build.chat_model(settings.model))
        options = Options(
            arguments.data / config["corpus"],
            arguments.data / config["attacks"],
            Asking(answers=True, stances="odds"),
            queries=frozenset(stance_texts.held_out(arguments.data, components.encoder)),
        )
        return sync.run(bench.bench(plan, options, components, Workspace(components.encoder, out, _say)))


def publish(summary: BiasSummary, out: Path) -> None:
    """Records, summary and tables."""
    there = HERE / FOLDER
    there.mkdir(exist_ok=True)
    (there / SUMMARY).write_text(as_text(summary), "utf-8")
    said = read_records(out / answers.ANSWERS, AnswerRecord)
    (there / answers.ANSWERS).write_bytes(content(without_text(said)))
    stances = read_records(out / answer_stance.STANCES, AnswerStance)
    (there / answer_stance.STANCES).write_bytes(content(stances))
    shown = [table for table in report.tables(summary) if table.title.startswith(TABLES)]
    parts = [
        "# Where answers stand, attacked and defended",
        f"`make bench-bias-defended`: {summary.queries} questions of {summary.config['corpus']} that the embedded "
        f"model of stance never saw, the top {summary.config['k']} of {summary.config['candidates']} candidates by "
        f"{summary.config['encoder']}, {answers.GENERATIONS} answers for each question, condition and filter.",
        *(tables.as_markdown(table).rstrip() for table in shown),
    ]
    (there / "table.md").write_text("\n\n".join(parts) + "\n", "utf-8")


def _say(done: int, total: int, what: str) -> None:
    print(f"{done}/{total} {what}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-bias" / "defended")
    parser.add_argument("--llm", required=True, help="who answers and judges: local[/NAME], openai/NAME")
    return parser.parse_args()


if __name__ == "__main__":
    main()
