"""`equipoise.highlight` for other people's pipelines: how much of what was retrieved it keeps, and what of the answers.

    python benchmarks/reading/pruning.py [--data data] [--questions 300]

Each question of CLAPNQ and SQuAD 2.0 comes with the passage it was asked about and four of other questions, in a fixed
random order. `words kept` is the share of all words that stand in a span; `answer kept` how often the answer does
(CLAPNQ: a sentence that an annotator rests it on; SQuAD: a given answer, in its own passage); `nothing kept`: how often
no span is, of questions with and without an answer. `word F1` is that of what is kept of the question's own passage
against all sentences that an annotator selected, the best annotator's. Intervals are 95%, by bootstrap over questions.
The table goes to `pruning.md` beside this file.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import equipoise
from equipoise.rag.highlighters.evidence import calibration
from equipoise.text.tokens import words
from equipoise_lab.bench import scripts

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import fields  # noqa: E402

OTHERS, DRAWS = 4, 2000
Row = dict[str, Any]
Asked = tuple[str, str, str, list[list[tuple[int, int]]]]
"""A question, the title and text of its passage, and of each annotator the places that answer; none: nothing does."""


def clapnq(data: Path) -> list[Asked]:
    """Questions over passages of an encyclopaedia whose answers need several sentences."""
    return [
        (case.question, case.titles[0], case.texts[0], [[place[1:] for place in part] for part in case.gold])
        for case in fields.clapnq(data)
    ]


def squad2(data: Path) -> list[Asked]:
    """Questions over paragraphs of an encyclopaedia, half of them look-alikes that it does not answer."""
    documents, rows = fields.of_squad2(data)
    asked = []
    for row in rows:
        document = documents[row["doc_id"]]
        gold = (
            [[(x["start"], x["start"] + len(x["text"]))] for x in row["answers"]] if row["answerable"] else []
        )
        asked.append(
            (row["question"], document.get("title", ""), document["paragraphs"][row["paragraph"]], gold)
        )
    return asked


def measured(asked: Sequence[Asked], most: int) -> Iterator[Row]:
    """A row a question, half of them with an answer: what the best spans keep, and whether they reach the threshold."""
    draw = Random(42)
    parts = ([one for one in asked if bool(one[3]) is answered] for answered in (True, False))
    for question, title, text, gold in [one for part in parts for one in draw.sample(part, most // 2)]:
        others = draw.sample([one for one in asked if one[2] != text], OTHERS)
        titles, texts = [title, *(one[1] for one in others)], [text, *(one[2] for one in others)]
        order = draw.sample(range(len(texts)), len(texts))
        found = equipoise.highlight(
            question, [texts[n] for n in order], titles=[titles[n] for n in order], threshold=0
        )
        kept = [(span.start, span.end) for span in found.spans if order[span.row] == 0]
        yield {
            "answerable": bool(gold),
            "shown": (found.probability or 0.0) >= calibration().threshold,
            "kept": sum(len(words(span.text)) for span in found.spans)
            / sum(len(words(one)) for one in texts),
            "answer": any(start < b and a < end for part in gold for a, b in part for start, end in kept),
            "f1": max((_f1(text, kept, part) for part in gold), default=0.0),
        }


def _f1(text: str, kept: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]]) -> float:
    mine, theirs = (Counter(words(" ".join(text[a:b] for a, b in part))) for part in (kept, gold))
    shared = (mine & theirs).total()
    return 2 * shared / (mine.total() + theirs.total()) if shared else 0.0


def _mean(values: Sequence[float]) -> str:
    rows = np.array(values, np.float64)
    means = np.random.default_rng(0).choice(rows, (DRAWS, len(rows))).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{rows.mean():.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    parser = scripts.parser(__file__, __doc__)
    parser.add_argument("--questions", type=int, default=300, help="of each set")
    arguments = parser.parse_args()
    lines = [
        "# What is kept of other people's passages\n",
        f"`python benchmarks/reading/pruning.py`: {arguments.questions} questions a set, half of them with an answer,"
        " each over five passages; what the columns mean stands there.\n",
        "| set | threshold | words kept | answer kept | word F1 | nothing kept: with an answer | without |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, asked in (("clapnq", clapnq(arguments.data)), ("squad2", squad2(arguments.data))):
        rows = []
        for row in measured(asked, arguments.questions):
            rows.append(row)
            scripts.say(len(rows), arguments.questions, name)
        yes, no = ([row for row in rows if row["answerable"] is answered] for answered in (True, False))
        for label, fitted in (("fitted", True), ("0", False)):
            shown = [row["shown"] or not fitted for row in yes]
            kept, answer, f1 = (
                _mean([row[key] * show for row, show in zip(yes, shown, strict=True)])
                for key in ("kept", "answer", "f1")
            )
            none = [_mean([1.0 - (row["shown"] or not fitted) for row in part]) for part in (yes, no)]
            f1 = f1 if name == "clapnq" else "–"
            lines.append(f"| {name} | {label} | {kept} | {answer} | {f1} | {none[0]} | {none[1]} |")
    (HERE / "pruning.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
