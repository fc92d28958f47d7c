"""How well it reads, field by field, beside what else can be had.

    python benchmarks/reading/run.py [--data data] [--reader FOLDER ...] [--only FIELD ...] [--publish]

The cases of `fields.py`, asked of `equipoise.highlight` and of systems that pick one unit: the package's reader and
those of other folders alone, and BM25. Nothing is refused here: `right` is the share of questions with an answer of
which what is shown holds some, `word F1` is against the best annotator's sentences, `AUC` of the score (probability,
logit) between questions with and without an answer, `right at 80%` the share that is right and has a score above that
of 80% of those without; `as it ships` what the fitted threshold makes of it. `pooled F1` counts the words of all
questions together by their places, those without an answer too, as acl-verbatim does: nothing is shown below a
threshold, that which ships and the best one in hindsight. Resumes; --publish puts rows and table beside this file. A
reader FOLDER holds the four files of `scripts/build_crossencoder.py`.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import log
from pathlib import Path
from typing import Any

import numpy as np

import equipoise
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.highlighters.evidence import calibration
from equipoise.text.tokens import content_words, words
from equipoise_lab.bench import scripts
from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.bench.tables import MISSING, Table, TableLine, as_markdown, interval
from equipoise_lab.evaluation.results import Lines
from equipoise_lab.maths.measures import auc
from equipoise_lab.maths.rates import Estimate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fields import FIELDS, Case, Place  # noqa: E402

ROWS, PAGE = "results.jsonl", "table.md"
KEY = ("field", "system", "id")
OURS = "equipoise.highlight"
ESTIMATOR = Estimator(level=0.95, seed=7, resamples=1000)
K1, B = 1.2, 0.75
WORD = re.compile(r"\S+")

Row = dict[str, Any]
Shown = tuple[list[Place], float]
"""What is shown, nothing refused, and the score that an answer is."""
System = Callable[[Case], Shown]
HEAD = (
    "field",
    "system",
    "n",
    "right",
    "word F1",
    "AUC",
    "right at 80% refused",
    "at 90%",
    "as it ships: right, refused",
    "pooled F1: as it ships, best",
    "words shown",
    "processor s",
)
NOTE = """
n: questions with an answer + without. 95% intervals (Wilson; bootstrap over questions). Systems that pick show one
unit: a sentence, of covid_qa a piece of six, of bioasq a snippet. The shipped reader was trained on questions about
manuals, most of these among them, and on none of the other fields; what decides on other documents of the first three
fields and of squad2. `published`: the weights before that training (commit a9c5e41)."""


def highlighted(case: Case) -> Shown:
    """The product's function."""
    found = equipoise.highlight(case.question, case.texts, titles=case.titles, threshold=0.0)
    return [(span.row, span.start, span.end) for span in found.spans], found.probability or 0.0


def best_by(reader: CrossEncoder) -> System:
    """The unit that a cross-encoder ranks first."""

    def best(case: Case) -> Shown:
        scores = reader.scores(case.question, [case.read(n) for n in range(len(case.units))])
        return [case.units[int(scores.argmax())]], float(scores.max())

    return best


def bm25(case: Case) -> Shown:
    """The unit of the highest BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = .75; counts over the case's units)."""
    said = [Counter(content_words(case.read(n))) for n in range(len(case.units))]
    mean = sum(one.total() for one in said) / len(said) or 1.0
    scores = np.zeros(len(said))
    for word in set(content_words(case.question)):
        holding = sum(word in one for one in said)
        weight = log(1 + (len(said) - holding + 0.5) / (holding + 0.5))
        counts = [(one[word], K1 * (1 - B + B * one.total() / mean)) for one in said]
        scores += [weight * count * (K1 + 1) / (count + norm) if count else 0.0 for count, norm in counts]
    return [case.units[int(scores.argmax())]], float(scores.max())


def scored(case: Case, system: System) -> Row:
    """How a system does on a case."""
    before = time.process_time()
    shown, score = system(case)
    seconds = time.process_time() - before
    said = [case.at(place) for place in shown]
    places = _words_at(case, shown)
    gold = max(
        (_words_at(case, part) for part in case.gold), key=lambda one: len(one & places), default=set()
    )
    return {
        "answer": bool(case.gold),
        "right": any(_is_right(case, one, gold) for one in shown for part in case.gold for gold in part),
        "f1": round(
            max((_f1(said, [case.at(place) for place in part]) for part in case.gold), default=0.0), 4
        ),
        "places": [len(places & gold), len(places), len(gold)],
        "score": round(score, 5),
        "words": sum(len(words(text)) for text in said),
        "seconds": round(seconds, 3),
    }


def _is_right(case: Case, shown: Place, gold: Place) -> bool:
    """Whether they share a character, or what is shown says elsewhere what answers: passages of law repeat others."""
    if shown[0] == gold[0] and shown[1] < gold[2] and gold[1] < shown[2]:
        return True
    return scripts.shows(case.at(shown), case.at(gold))


def _f1(mine: Sequence[str], gold: Sequence[str]) -> float:
    one, other = (Counter(words(" ".join(dict.fromkeys(texts)))) for texts in (mine, gold))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0


def _words_at(case: Case, places: Sequence[Place]) -> set[tuple[int, int]]:
    """Text number and start of each word that shares a character with one of the places."""
    return {
        (row, word.start())
        for row, start, end in places
        for word in WORD.finditer(case.texts[row])
        if start < word.end() and word.start() < end
    }


def page(rows: Sequence[Row]) -> str:
    """The table of all rows."""
    order = {field: n for n, field in enumerate(FIELDS)}
    lines = []
    for field in sorted({row["field"] for row in rows}, key=lambda name: order[name]):
        of_field = [row for row in rows if row["field"] == field]
        for system in sorted({row["system"] for row in of_field}, key=lambda name: (name != OURS, name)):
            of_system = [row for row in of_field if row["system"] == system]
            lines.append(TableLine(field, (system, *_cells(of_system, ours=system == OURS))))
    note = "`make bench-reading`. " + NOTE.strip()
    return as_markdown(Table("Reading, field by field", HEAD, tuple(lines), note))


def _cells(rows: Sequence[Row], *, ours: bool) -> Iterator[str]:
    yes, no = ([row for row in rows if row["answer"] is answered] for answered in (True, False))
    yield f"{len(yes)} + {len(no)}"
    yield interval(ESTIMATOR.share(row["right"] for row in yes))
    yield interval(ESTIMATOR.mean([row["f1"] for row in yes]))
    for estimate in _against(yes, no) if no else [None] * 3:
        yield interval(estimate)
    least = calibration().threshold
    right, refused = (
        sum(row["right"] and row["score"] >= least for row in yes),
        sum(row["score"] < least for row in no),
    )
    yield f"{right} of {len(yes)}, {refused} of {len(no)}" if ours else MISSING
    best = max(_pooled(rows, row["score"]) for row in rows)
    yield f"{_pooled(rows, least):.2f}, {best:.2f}" if ours else f"{MISSING}, {best:.2f}"
    yield f"{np.median([row['words'] for row in yes]):.0f}"
    yield f"{np.median([row['seconds'] for row in rows]):.2f}"


def _pooled(rows: Sequence[Row], least: float) -> float:
    """Word F1 of all rows together, where nothing is shown with a score below `least`."""
    shared, shown = (sum(row["places"][n] for row in rows if row["score"] >= least) for n in (0, 1))
    total = shown + sum(row["places"][2] for row in rows)
    return 2 * shared / total if total else 0.0


def _against(yes: Sequence[Row], no: Sequence[Row]) -> list[Estimate]:
    """AUC, and what is right above the scores of 80% and of 90% without an answer; both kinds drawn anew."""
    draw = np.random.default_rng(ESTIMATOR.seed)
    right, above, below = (
        np.array([row[name] for row in part], np.float64)
        for name, part in (("right", yes), ("score", yes), ("score", no))
    )
    every = []
    for n in range(ESTIMATOR.resamples + 1):
        mine, theirs = (
            draw.integers(0, len(part), len(part)) if n else np.arange(len(part)) for part in (yes, no)
        )
        high, low = above[mine], below[theirs]
        labels = [True] * len(high) + [False] * len(low)
        over = [float((right[mine] * (high > np.quantile(low, share))).mean()) for share in (0.8, 0.9)]
        every.append([auc(np.concatenate([high, low]), labels) or 0.0, *over])
    bounds = np.quantile(every[1:], (0.025, 0.975), axis=0)
    return [
        Estimate(value, *ends, n=len(yes) + len(no))
        for value, ends in zip(every[0], bounds.T.tolist(), strict=True)
    ]


def _cases(data: Path, only: Sequence[str] | None) -> Iterator[tuple[str, Case]]:
    for name, (folder, cases) in FIELDS.items():
        if only and name not in only:
            continue
        if not (data / folder).is_dir():
            scripts.say(0, 0, f"{name}: {data / folder} is not there, left out")
            continue
        yield from ((name, case) for case in cases(data))


def main() -> None:
    """Ask what is missing, and print or publish."""
    parser = scripts.parser(__file__, __doc__, "bench-reading", table=True)
    parser.add_argument("--reader", type=Path, nargs="*", default=[], help="folders of other readers' files")
    parser.add_argument("--only", nargs="*", help="only these fields")
    parser.add_argument("--publish", action="store_true", help="put rows and table beside this file")
    arguments = parser.parse_args()
    if arguments.table:
        (HERE / PAGE).write_text(page(scripts.read(HERE / ROWS)), "utf-8")
        return
    systems: dict[str, System] = {
        OURS: highlighted,
        "the reader, best unit": best_by(CrossEncoder()),
        "BM25": bm25,
    }
    systems |= {
        f"{folder.name}, best unit": best_by(CrossEncoder(folder=folder)) for folder in arguments.reader
    }
    with Lines(arguments.out / ROWS, KEY) as lines:
        for name, cases in groupby(_cases(arguments.data, arguments.only), key=lambda one: one[0]):
            every = [case for _, case in cases]
            for system, ask in systems.items():
                for case in every:
                    if (name, system, case.name) not in lines:
                        lines.append({"field": name, "system": system, "id": case.name} | scored(case, ask))
                scripts.say(len(every), len(every), f"{name}: {system}")
            print(page([row for row in lines.rows() if row["field"] == name]), flush=True)
        rows = lines.rows()
    if arguments.publish:
        scripts.write(HERE / ROWS, rows)
        (HERE / PAGE).write_text(page(rows), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
