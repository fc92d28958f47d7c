"""Quality against processor time: how many passages are ranked, in how many of them sentences are read, and around how
many of these wider windows.

    python benchmarks/speed/curve.py [--data data] [--answered 20] [--near-misses 8]

Questions of `manual_questions` and `field_questions` over sets kept apart when what ranks and what decides were
trained, each indexed by itself and asked with the pipeline's own settings, once for each of POINTS. Right: a quote has
nine tenths of the words of a unit that answers. Processor time of the question in this process, which hardly depends on
what else the machine does. Writes curve.md beside this file.
"""

import time
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from questions import answers, documents, rows_of

from equipoise import Library
from equipoise.core.results import Answer
from equipoise.rag import search
from equipoise.rag.highlighters import reading
from equipoise_lab.bench import scripts
from equipoise_lab.bench.tables import grid, interval
from equipoise_lab.maths.rates import wilson
from equipoise_lab.training.reader import is_held_out

HERE = Path(__file__).resolve().parent
Point = tuple[int, int, int]
SHIPPED: Point = (search.RERANKED, reading.READ, reading.SEEDS)
POINTS: tuple[Point, ...] = (
    (2, 1, 1),
    (4, 2, 2),
    SHIPPED,
    (8, 3, 4),
    (12, 3, 4),
    (20, 5, 8),
)
"""Candidates that are ranked, passages whose sentences are read, and sentences around which windows are grown."""
SETS = (
    "enigma-doc",
    "notmuch-doc",
    "icinga2-doc",
    "gh-alphagov-gds-way",
    "gh-owasp-cheatsheets",
    "dc-law",
    "own-a",
)
FOLDERS = ("manual_questions", "field_questions")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the units that answer it, none where nothing does."""

    of: str
    question: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether anything was answered and a quote was right, and the processor seconds."""

    answered: bool
    right: bool
    seconds: float


def drawn(data: Path, answered: int, near_misses: int) -> list[Asked]:
    """So many questions of each set with an answer, and without."""
    draw, found = Random(39), []
    for folder in FOLDERS:
        passages = {row["passage"]: row for row in scripts.read(data / folder / "passages.jsonl.xz")}
        of_set: dict[str, list[Asked]] = {name: [] for name in SETS}
        for row in scripts.read(data / folder / "questions.jsonl.xz"):
            if row["set"] in of_set and (row["set"] == "dc-law" or is_held_out(row)):
                gold = tuple(answers(row, passages[row["passage"]]))
                of_set[row["set"]].append(Asked(row["set"], row["question"], gold))
        for every in of_set.values():
            for part, most in (
                ([a for a in every if a.gold], answered),
                ([a for a in every if not a.gold], near_misses),
            ):
                found += draw.sample(part, min(most, len(part)))
    return found


def outcome(library: Library, asked: Asked) -> Outcome:
    """A question as it is asked."""
    began = time.process_time()
    result = library.ask(asked.question)
    seconds = time.process_time() - began
    right = isinstance(result, Answer) and any(
        scripts.shows(quote.text, unit) for unit in asked.gold for quote in result.highlights.items
    )
    return Outcome(isinstance(result, Answer), right, seconds)


def at(point: Point, library: Library, asked: list[Asked]) -> list[Outcome]:
    """All questions with so many passages ranked, read and grown."""
    search.RERANKED, reading.READ, reading.SEEDS = point
    try:
        return [outcome(library, one) for one in asked]
    finally:
        search.RERANKED, reading.READ, reading.SEEDS = SHIPPED


def row(point: Point, asked: list[Asked], found: list[Outcome], shipped: list[Outcome]) -> tuple[str, ...]:
    """A line of the table; lost and gained are questions with an answer, held against what ships."""
    yes = [pair for one, *pair in zip(asked, found, shipped, strict=True) if one.gold]
    no = [each for one, each in zip(asked, found, strict=True) if not one.gold]
    took, took_shipped = (np.array([one.seconds for one in part]) for part in (found, shipped))
    return (
        ", ".join(map(str, point)) + (" (shipped)" if point == SHIPPED else ""),
        interval(wilson(sum(one.right for one, _ in yes), len(yes))),
        f"{sum(was.right > one.right for one, was in yes)}, {sum(one.right > was.right for one, was in yes)}",
        interval(wilson(sum(not one.answered for one in no), len(no))),
        f"{np.median(took):.2f}, {np.quantile(took, 0.95):.2f}",
        f"{took.mean() / took_shipped.mean():.2f}, {np.median(took / took_shipped):.2f}",
    )


def page(asked: list[Asked], outcomes: dict[Point, list[Outcome]]) -> str:
    """The table."""
    rows = [row(point, asked, found, outcomes[SHIPPED]) for point, found in outcomes.items()]
    head = (
        "ranked, read, grown",
        "right",
        "lost, gained",
        "near misses refused",
        "s: median, 95%",
        "ratio to shipped: of means, median",
    )
    answered = sum(bool(one.gold) for one in asked)
    said = (
        f"`make bench-curve`: {scripts.machine()}; {answered} questions with an answer and "
        f"{len(asked) - answered} near misses over {', '.join(SETS)}; processor time, 95% intervals (Wilson)."
    )
    return f"{said}\n\n{grid(head, rows)}\n"


def main() -> None:
    """Ask, print, write."""
    parser = scripts.parser(__file__, __doc__)
    parser.add_argument("--answered", type=int, default=20)
    parser.add_argument("--near-misses", type=int, default=8)
    given = parser.parse_args()
    asked = drawn(given.data, given.answered, given.near_misses)
    outcomes: dict[Point, list[Outcome]] = {point: [] for point in POINTS}
    for name, group in groupby(asked, key=lambda one: one.of):
        of_set = list(group)
        with TemporaryDirectory() as place:
            folder = Path(place) / "docs"
            documents(rows_of(given.data, name)[1], folder)
            with Library.create(Path(place) / "index.db") as library:
                library.index(folder)
                library.ask(of_set[0].question)
                for n, point in enumerate(POINTS):
                    outcomes[point] += at(point, library, of_set)
                    scripts.say(n + 1, len(POINTS), name)
    made = page(asked, outcomes)
    (HERE / "curve.md").write_text(made, "utf-8")
    print(made)


if __name__ == "__main__":
    main()
