"""Does a reader read well, and still what it was not trained on?

    python benchmarks/reading/run.py [--data data] [--reader FOLDER ...] [--questions 120]

Two parts that a reader of `equipoise train reader` is chosen by, of the sets that its training leaves out (`manuals`,
`fields`), and five fields that none is trained on. Each question with an answer is read in the passage it was written
for and those that its words find: `passage in 3` says how often that passage is among the first three,
`right` how often the window that ranks first is one that answers. `AUC` is of the highest score among what was read,
between questions with and without an answer; `right at 80%` is what is right above the score that refuses 80% of the
near misses. Fixed draws; no text is written. The first reader is the package's, FOLDER holds another one's files.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.highlighters.reading import below
from equipoise_lab.bench import scripts
from equipoise_lab.maths.calibration import auc
from equipoise_lab.training.reader import is_held_out, whole

Row = dict[str, Any]
READ, COST, REFUSED, FAR, LONGEST = 3, 0.2, 0.8, 30, 1500


@dataclass(slots=True)
class Figures:
    """Of one field: ranks (0 is best), and the best scores of questions with and without an answer."""

    ranks: list[int] = field(default_factory=list)
    passages: list[int] = field(default_factory=list)
    yes: list[float] = field(default_factory=list)
    no: list[float] = field(default_factory=list)

    def row(self) -> dict[str, float]:
        """The figures that there are."""
        ranks, found = np.array(self.ranks), {}
        if self.passages:
            found["passage in 3"] = float(np.mean(np.array(self.passages) < READ))
        found["first"] = float(np.mean(ranks == 0))
        if self.no:
            found["AUC"] = float(
                auc(np.array(self.yes + self.no), np.array([True] * len(self.yes) + [False] * len(self.no)))
            )
            if len(self.yes) == len(ranks):
                least = np.quantile(self.no, REFUSED)
                found["right at 80%"] = float(np.mean((ranks == 0) & (np.array(self.yes) >= least)))
        return found


def kept_apart(name: str, most: int) -> Callable[[Path, CrossEncoder], Figures]:
    """`most` questions with an answer and half as many near misses of the sets left out of training."""

    def read(data: Path, reader: CrossEncoder) -> Figures:
        draw, figures = Random(5), Figures()
        passages = {row["passage"]: row for row in scripts.read(data / name / "passages.jsonl.xz")}
        apart = [row for row in scripts.read(data / name / "questions.jsonl.xz") if is_held_out(row)]
        yes, no = ([row for row in apart if bool(row["gold"]) is answered] for answered in (True, False))
        for row in [*draw.sample(yes, min(most, len(yes))), *draw.sample(no, min(most // 2, len(no)))]:
            _asked(row, passages, reader, figures)
        return figures

    return read


def _asked(row: Row, passages: dict[str, Row], reader: CrossEncoder, figures: Figures) -> None:
    names = list(dict.fromkeys([*row["near"], row["passage"]]))
    texts = [whole(passages[name], LONGEST) for name in names]
    scores = reader.scores(row["question"], texts)
    order = np.argsort(-scores, kind="stable").tolist()
    windows = [(n, at, text) for n in order[:READ] for at, text in _windows(passages[names[n]])]
    read = reader.scores(row["question"], [text for _, _, text in windows])
    best = max([float(scores[order[:READ]].max()), *read.tolist()])
    if not row["gold"]:
        figures.no.append(best)
        return
    worth = [
        float(score) + float(scores[n]) - COST * (len(at) - 1)
        for score, (n, at, _) in zip(read, windows, strict=True)
    ]
    ranked = sorted(range(len(windows)), key=lambda place: -worth[place])
    gold = [
        place
        for place, window in enumerate(ranked)
        if names[windows[window][0]] == row["passage"] and set(windows[window][1]) & set(row["gold"])
    ]
    figures.yes.append(best)
    figures.passages.append(order.index(names.index(row["passage"])))
    figures.ranks.append(gold[0] if gold else len(windows))


def _windows(passage: Row) -> Iterable[tuple[tuple[int, ...], str]]:
    units = passage["units"]
    for n, (start, end, heading, fragment) in enumerate(units):
        if not fragment:
            yield (n,), below(heading, passage["text"][start:end])
        if n + 1 < len(units) and units[n + 1][2] == heading:
            yield (n, n + 1), below(heading, passage["text"][start : units[n + 1][1]])


def sentences(text: str) -> list[tuple[int, int]]:
    """Roughly."""
    return [(m.start(), m.end()) for m in re.finditer(r"\S.*?(?:[.!?](?=\s)|\n|$)", text, re.S)]


def _first(
    reader: CrossEncoder, question: str, texts: Sequence[str], gold: Sequence[int]
) -> tuple[int, float]:
    scores = reader.scores(question, texts)
    order = np.argsort(-scores, kind="stable").tolist()
    return min(order.index(g) for g in gold), float(scores.max())


def squad2(data: Path, reader: CrossEncoder) -> Figures:
    """The sentence that answers, in the paragraph asked about; its look-alike questions."""
    draw, figures = Random(11), Figures()
    documents = {d["doc_id"]: d for d in scripts.read(data / "squad2/documents.jsonl")}
    asked = scripts.read(data / "squad2/questions.jsonl")
    parts = ([q for q in asked if q["answerable"] is answered] for answered in (True, False))
    for q in [q for part in parts for q in draw.sample(part, 150)]:
        text = documents[q["doc_id"]]["paragraphs"][q["paragraph"]]
        spans = sentences(text)
        texts = [text[a:b] for a, b in spans]
        if not q["answerable"]:
            figures.no.append(float(reader.scores(q["question"], texts).max()))
            continue
        gold = [n for n, (a, b) in enumerate(spans) if any(a <= x["start"] < b for x in q["answers"])]
        rank, best = _first(reader, q["question"], texts, gold)
        figures.ranks.append(rank)
        figures.yes.append(best)
    return figures


def covid_qa(data: Path, reader: CrossEncoder) -> Figures:
    """The piece of six sentences that answers, among thirty of its article."""
    draw, figures = Random(12), Figures()
    documents = {d["doc_id"]: d["text"] for d in scripts.read(data / "covid_qa/documents.jsonl.gz")}
    for q in draw.sample(scripts.read(data / "covid_qa/questions.jsonl"), 80):
        text = documents[q["doc_id"]]
        spans = sentences(text)
        pieces = [(spans[n][0], spans[min(n + 5, len(spans) - 1)][1]) for n in range(0, len(spans), 6)]
        gold = [n for n, (a, b) in enumerate(pieces) if any(a <= x["start"] < b for x in q["answers"])]
        if gold and len(pieces) > READ:
            kept = sorted({*gold, *draw.sample(range(len(pieces)), min(FAR, len(pieces)))})
            texts = [text[slice(*pieces[n])] for n in kept]
            figures.ranks.append(_first(reader, q["question"], texts, [kept.index(g) for g in gold])[0])
    return figures


def bioasq(data: Path, reader: CrossEncoder) -> Figures:
    """A question's own snippet among nineteen of others."""
    draw, figures = Random(13), Figures()
    asked = scripts.read(data / "bioasq12b/questions.jsonl")
    for q in draw.sample(asked, 150):
        others = draw.sample([o for o in asked if o is not q], 19)
        texts = [draw.choice(o["snippets"])["text"] for o in (q, *others)]
        scores = reader.scores(q["question"], texts)
        figures.ranks.append(int((scores[1:] > scores[0]).sum()))
        figures.yes.append(float(scores[0]))
        figures.no.append(float(scores[1:].max()))
    return figures


def hotpotqa(data: Path, reader: CrossEncoder) -> Figures:
    """A supporting sentence among all of ten paragraphs."""
    draw, figures = Random(14), Figures()
    for q in draw.sample(scripts.read(data / "hotpotqa_distractor/questions.jsonl"), 60):
        pairs = [(p["title"], n, s) for p in q["paragraphs"] for n, s in enumerate(p["sentences"])]
        gold = [k for k, (title, n, _) in enumerate(pairs) if [title, n] in q["supporting"]]
        texts = [f"{title}\n{s}" for title, _, s in pairs]
        figures.ranks.append(_first(reader, q["question"], texts, gold)[0])
    return figures


def repliqa(data: Path, reader: CrossEncoder) -> Figures:
    """The sentence that answers in its document; another document, which does not."""
    draw, figures = Random(15), Figures()
    documents = {d["doc_id"]: d["text"] for d in scripts.read(data / "repliqa_mini/documents.jsonl")}
    for q in scripts.read(data / "repliqa_mini/questions.jsonl"):
        text = documents[q["doc_id"]]
        spans = sentences(text)
        if q["answerable"] and q.get("passage"):
            end = q["start"] + len(q["passage"])
            gold = [n for n, (a, b) in enumerate(spans) if a < end and q["start"] < b]
            rank, best = _first(reader, q["question"], [text[a:b] for a, b in spans], gold)
            figures.ranks.append(rank)
            figures.yes.append(best)
            other = documents[draw.choice([d for d in documents if d != q["doc_id"]])]
            read = reader.scores(q["question"], [other[a:b] for a, b in sentences(other)])
            figures.no.append(float(read.max()))
    return figures


FIELDS: dict[str, Callable[[Path, CrossEncoder], Figures]] = {
    "squad2": squad2,
    "covid_qa": covid_qa,
    "bioasq": bioasq,
    "hotpotqa": hotpotqa,
    "repliqa": repliqa,
}


def main() -> None:
    parser = scripts.parser(__file__, __doc__)
    parser.add_argument("--reader", type=Path, nargs="*", default=[], help="folders of other readers' files")
    parser.add_argument("--questions", type=int, default=120, help="of each part that is kept apart")
    parser.add_argument("--only", nargs="*", help="only these fields")
    arguments = parser.parse_args()
    parts = {
        name: kept_apart(f"{kind}_questions", arguments.questions)
        for name, kind in (("manuals", "manual"), ("fields", "field"))
    }
    print("| field | reader | n | figures |\n|---|---|---|---|")
    for name, read in (parts | FIELDS).items():
        if arguments.only and name not in arguments.only:
            continue
        for folder in [None, *arguments.reader]:
            figures = read(arguments.data, CrossEncoder(folder=folder) if folder else CrossEncoder())
            said = ", ".join(f"{label} {value:.3f}" for label, value in figures.row().items())
            counts = f"{len(figures.ranks)} + {len(figures.no)}"
            print(f"| {name} | {folder.name if folder else 'package'} | {counts} | {said} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
