"""How well what a judge says separates texts for yes from texts for no, on subjects nothing was trained on.

    python benchmarks/stance/evaluate.py [--data data] [--llm NAME --every N] [--out .equipoise/stance] [--table]

Judges: the embedded model by its logits, and with `--llm` a chat model by its odds of yes against no, on every Nth text
of a topic. A text is asked about once (the run resumes). Rows, ids and scores without text, and the table are
put beside this file.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.types import Query
from equipoise.evaluation.results import Lines, read_rows
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.stance import ChatStance, EmbeddedStance
from equipoise_lab.bench.estimates import Estimate, Estimator
from equipoise_lab.bench.tables import Line, Table, as_markdown, interval
from equipoise_lab.maths.calibration import auc

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from judges import EMBEDDED, judge_of  # noqa: E402
from stance_texts import SOURCES, Told, read, split  # noqa: E402

RESULTS, TABLE = "results.jsonl", "table.md"
KEY = ("judge", "source", "topic", "id")
ESTIMATOR = Estimator(0.95, 20261125, 9999)
TITLES = {"argkp": "ArgKP", "debate": "debate passages", "ebi": "EBI passages"}
TARGETS = {"argkp": 0.92, "debate": 0.80, "ebi": 0.90}


def main() -> None:
    """Ask what is missing, then write rows and table."""
    arguments = _arguments()
    if not arguments.table:
        ask(arguments)
    (HERE / TABLE).write_text(page(read_rows(HERE / RESULTS, KEY)), "utf-8")


def ask(arguments: argparse.Namespace) -> None:
    """Scores of all texts of the reporting part, or of every Nth with a chat model; kept in `--out`."""
    told = read(arguments.data)
    parts = split(told, EmbeddedEncoder())
    told = [one for one in told if parts[one.topic] == "report"]
    name, judge = judge_of(arguments.llm, arguments.out)
    kept = arguments.out / RESULTS
    if (HERE / RESULTS).exists() and not kept.exists():
        arguments.out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / RESULTS, kept)
    with Lines(kept, KEY) as lines:
        for (source, topic), group in groupby(told, lambda one: (one.source, one.topic)):
            every = list(group)[:: arguments.every if arguments.llm else 1]
            missing = [one for one in every if (name, source, topic, one.id) not in lines]
            for one, score in zip(missing, _scores(judge, missing), strict=True):
                lines.append(_row(name, one, score))
            print(f"{name}: {source} {topic}, {len(every)} texts", file=sys.stderr, flush=True)
        lines.finish()
    shutil.copyfile(kept, HERE / RESULTS)


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table as Markdown."""
    judges = sorted({row["judge"] for row in rows}, key=lambda name: (name != EMBEDDED, name))
    lines = [Line(name, tuple(_cell(rows, name, source) for source in SOURCES)) for name in judges]
    wanted = Line("wanted of the embedded model", tuple(f"{TARGETS[source]:.2f}" for source in SOURCES))
    note = (
        "Mean over topics of the AUC within a topic: how often a text for yes has a higher score than one for no. In "
        "brackets 95% intervals by bootstrap over topics, then topics and texts."
    )
    table = Table(
        "Sides of texts on subjects held out", ("", *(TITLES[one] for one in SOURCES)), (*lines, wanted), note
    )
    return f"# Stance\n\n`python benchmarks/stance/evaluate.py`\n\n{as_markdown(table).rstrip()}\n"


def _cell(rows: Sequence[dict[str, Any]], judge: str, source: str) -> str:
    mine = [row for row in rows if (row["judge"], row["source"]) == (judge, source)]
    found = _macro(mine)
    return f"{interval(found)}, {found.n} topics, {len(mine)} texts" if found else "–"


def _macro(rows: Sequence[dict[str, Any]]) -> Estimate | None:
    areas = []
    for _topic, group in groupby(sorted(rows, key=lambda row: row["topic"]), lambda row: row["topic"]):
        texts = [row for row in group if row["score"] is not None]
        areas.append(auc([row["score"] for row in texts], [row["truth"] > 0 for row in texts]))
    return ESTIMATOR.mean([area for area in areas if area is not None])


def _scores(judge: EmbeddedStance | ChatStance, texts: Sequence[Told]) -> list[float]:
    """All texts are of one topic."""
    if not texts:
        return []
    question, read = texts[0].question, [one.text for one in texts]
    if isinstance(judge, EmbeddedStance):
        return judge.logits(question, read).tolist()
    return sync.run(judge.odds(Query(question), read))[0].tolist()


def _row(judge: str, one: Told, score: float) -> dict[str, Any]:
    said = None if isnan(score) else round(score, 4)
    return {
        "judge": judge, "source": one.source, "topic": one.topic, "id": one.id, "truth": one.side, "score": said,
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / "stance")
    parser.add_argument("--llm", help="ask this chat model instead: local[/NAME], openai/NAME")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth text of a topic")
    parser.add_argument("--table", action="store_true", help="only write the table again")
    return parser.parse_args()


if __name__ == "__main__":
    main()
