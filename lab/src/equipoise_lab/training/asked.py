"""What the highlighter reads when it is asked the questions of a data set: its best windows, and which ones answer."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from equipoise.core.types import Query
from equipoise.rag.highlighters.deciding import text_for_decision
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.text.tokens import words
from equipoise_lab.evaluation.results import Lines
from equipoise_lab.training.loop import Report
from equipoise_lab.training.ranking import KEY, found_for
from equipoise_lab.training.reader import PASSAGES, QUESTIONS, is_held_out, rows

READ, WINDOWS = 4, 8
"""Passages that are read for a question; windows that are kept."""
SHARED = 0.6
"""Of the words of the shorter of two stretches, this share makes them one."""
NEAR, SEED = 0.4, 61
"""Share of near misses among the questions that are asked first."""


def ask(folder: Path, kept: Path, questions: int, report: Report) -> list[dict[str, Any]]:
    """A row for each of so many questions of a folder that training may see: `set`, `question`, `answerable`, and
    `windows`, the best first, each with `text` and whether it is `gold`. They are written to the file `kept` one by
    one, and what is there is not asked again."""
    passages = {row["passage"]: row for row in rows(folder / PASSAGES)}
    asked = _drawn([row for row in rows(folder / QUESTIONS) if not is_held_out(row)])[:questions]
    with Lines(kept, KEY) as lines:
        for n, row in enumerate(asked):
            key = {"folder": folder.name, "id": row["id"]}
            if lines.key_of(key) not in lines:
                lines.append(key | _read(row, passages))
            report(n + 1, len(asked), f"questions of {folder.name} asked")
        return [row for row in lines.rows() if row["folder"] == folder.name]


def _drawn(asked: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """In any order, NEAR of every stretch of them near misses, as long as there are any."""
    draw = Random(SEED)
    order = draw.sample(asked, len(asked))
    places = dict.fromkeys((True, False), 0)
    placed = []
    for row in order:
        answered = bool(row["gold"])
        placed.append((places[answered] / ((1 - NEAR) if answered else NEAR), row))
        places[answered] += 1
    return [row for _, row in sorted(placed, key=lambda one: one[0])]


def _read(row: dict[str, Any], passages: dict[str, Any]) -> dict[str, Any]:
    found = found_for(row, passages, READ)[: 2 * READ]
    windows = ReaderHighlighter().read(Query(row["question"]), found).windows[:WINDOWS]
    own = passages[row["passage"]]
    gold = [words(own["text"][own["units"][n][0] : own["units"][n][1]]) for n in row["gold"]]
    return {
        "set": row["set"],
        "question": row["question"],
        "answerable": bool(gold),
        "windows": [
            {
                "text": text_for_decision([w]),
                "gold": w.passage.doc_id == row["passage"] and _is_one(words(w.own), gold),
            }
            for w in windows
        ],
    }


def _is_one(said: Sequence[str], gold: Sequence[Sequence[str]]) -> bool:
    return any(
        len(set(said) & set(unit)) >= SHARED * min(len(set(said)), len(set(unit)))
        for unit in gold
        if unit and said
    )
