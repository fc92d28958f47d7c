"""Where the zero of a chat model's sides should lie: its odds for no text, or for a text on both sides.

    python benchmarks/stance/zero.py --llm NAME [--data data] [--out .equipoise/stance] [--table]

Asks about EBI passages of the questions that are not held out from the embedded model of stance, so that nothing that
`evaluate.py` and `../bias/held_out` report has a part in the choice. Odds, with ids and without text, go to zero.jsonl
and the table to zero.md beside this file. Resumes: replies are kept in the output folder.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equipoise.core import sync
from equipoise.core.types import Query
from equipoise.evaluation.results import Lines, read_rows
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.stance import BALANCED, ChatStance
from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.bench.tables import Line, Table, as_markdown, interval

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from judges import chat_judge  # noqa: E402
from stance_texts import Told, attack_passages  # noqa: E402

ROWS, TABLE = "zero.jsonl", "zero.md"
KEY = ("model", "topic", "id")
ZEROS = {"no text": "(no text)", "a text on both sides": BALANCED}
READ = ("pos02", "neg02", "syn01", "syn02", "syn07", "syn08")
"""The passages of a question that are asked about, by the ends of their ids."""
ESTIMATOR = Estimator(0.95, 20261125, 9999)


def main() -> None:
    """Ask what is missing, then write the table."""
    arguments = _arguments()
    if not arguments.table:
        ask(arguments)
    (HERE / TABLE).write_text(page(read_rows(HERE / ROWS, KEY)), "utf-8")


def ask(arguments: argparse.Namespace) -> None:
    """The odds of every passage and every zero, one request each."""
    wanted = attack_passages(arguments.data, EmbeddedEncoder(), READ, reported=False)
    judge = chat_judge(arguments.llm, arguments.out)
    with Lines(HERE / ROWS, KEY) as lines:
        for topic in sorted({one.topic for one in wanted}):
            _ask(judge, [one for one in wanted if one.topic == topic], lines)
            print(f"{judge.chat.name}: {topic}", file=sys.stderr, flush=True)
        lines.finish()


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table as Markdown."""
    models = sorted({row["model"] for row in rows})
    lines = [
        Line(f"{model}, {zero}", tuple(_right(rows, model, zero, side) for side in (0, 1, -1)))
        for model in models
        for zero in ZEROS
    ]
    note = (
        "How often the odds of a passage lie on its author's side of the odds for the zero; 95% intervals by bootstrap "
        "over questions. Passages by a language model: two adversarial ones of a question, and those of four benign "
        "ones that take a side."
    )
    head = ("zero", "all", "passages for yes", "passages for no")
    table = Table("Sides told right by where zero lies", head, tuple(lines), note)
    command = "`python benchmarks/stance/zero.py --llm NAME`"
    return f"# The zero of a side\n\n{command}\n\n{as_markdown(table).rstrip()}\n"


def _right(rows: Sequence[dict[str, Any]], model: str, zero: str, side: int) -> str:
    mine = [row for row in rows if row["model"] == model]
    zeros = {row["topic"]: row["odds"] for row in mine if row["id"] == zero}
    shares, count = [], 0
    for topic, at in sorted(zeros.items()):
        wanted = [row for row in mine if row["topic"] == topic and row["truth"]]
        texts = [row for row in wanted if not side or row["truth"] * side > 0]
        told = [(row["odds"] - at) * row["truth"] > 0 for row in texts]
        count += len(told)
        shares += [sum(told) / len(told)] if told else []
    found = ESTIMATOR.mean(shares)
    return f"{interval(found)}, {found.n} questions, {count} passages" if found else "–"


def _ask(judge: ChatStance, texts: Sequence[Told], lines: Lines) -> None:
    """All texts are of one topic."""
    question = texts[0].question
    asked = [(one.id, one.text, one.side) for one in texts] + [
        (name, zero, 0.0) for name, zero in ZEROS.items()
    ]
    missing = [one for one in asked if (judge.chat.name, texts[0].topic, one[0]) not in lines]
    if not missing:
        return
    odds, _usage = sync.run(judge.odds(Query(question), [text for _, text, _ in missing]))
    for (name, _, side), value in zip(missing, odds.tolist(), strict=True):
        row = {"model": judge.chat.name, "topic": texts[0].topic, "id": name, "truth": side}
        lines.append(row | {"odds": round(value, 4)})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--out", type=Path, default=ROOT / ".equipoise" / "stance")
    parser.add_argument("--llm", default="local", help="ask this chat model: local[/NAME], openai/NAME")
    parser.add_argument("--table", action="store_true", help="only write the table again")
    return parser.parse_args()


if __name__ == "__main__":
    main()
