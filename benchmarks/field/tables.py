"""The tables of the field benchmark: how questions ended, by set and by kind, with Wilson intervals."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from questions import ANSWERED

from equipoise_lab.bench.tables import grid, interval, percent
from equipoise_lab.maths.rates import wilson

Row = dict[str, Any]

_HEAD = (
    "questions",
    "right quote",
    "wrong quote",
    "wrongly refused",
    "rightly refused",
    "wrongly answered",
    "errors",
    "right quote, of those with an answer",
    "refused, of those without",
    "right passage read",
)
_CUTS = (0.0, 0.7, 0.8, 0.9, 1.0)
"""Where probabilities of answers that are shown are cut into groups; no answer is shown far below the first."""
_OUTCOMES = ("right", "wrong_quote", "wrongly_refused", "rightly_refused", "wrongly_answered", "error")


def page(rows: Sequence[Row]) -> str:
    """Tables in Markdown: by set, by kind, and the vague questions apart from the others, where rows say which are.

    A question that ended with an error counts as not right.
    """
    parts = [_table("set", rows, lambda row: row["set"]), _table("kind", rows, lambda row: row["kind"])]
    if all("vague" in row for row in rows):
        parts.append(_table("wording", rows, lambda row: "vague" if row["vague"] else "not vague"))
    return "\n\n".join([*parts, _parts(rows), *_words(rows), *_reliability(rows)])


def _table(name: str, rows: Sequence[Row], group: Callable[[Row], str]) -> str:
    groups = {
        label: [row for row in rows if group(row) == label] for label in dict.fromkeys(map(group, rows))
    }
    return grid((name, *_HEAD), [*(_line(label, some) for label, some in groups.items()), _line("all", rows)])


def _line(label: str, rows: Sequence[Row]) -> tuple[str, ...]:
    ended = Counter(row["outcome"] for row in rows)
    with_answer = [row for row in rows if row["kind"] in ANSWERED]
    without = len(rows) - len(with_answer)
    read = sum(bool(row.get("passages_right")) for row in with_answer)
    shares = (
        (ended["right"], len(with_answer)),
        (ended["rightly_refused"], without),
        (read, len(with_answer)),
    )
    counts = (str(ended[one]) for one in _OUTCOMES)
    return label, str(len(rows)), *counts, *(share(*one) for one in shares)


def share(count: int, of: int) -> str:
    """`count` of `of` as a percentage with its Wilson interval."""
    return interval(wilson(count, of), percent)


def _parts(rows: Sequence[Row]) -> str:
    """Questions over several documents are right with one part of the answer; how many have all of them."""
    several = [row for row in rows if row["kind"] == "several_documents"]
    whole = sum(row.get("parts", 0) >= row.get("parts_wanted", 1) for row in several)
    return f"Questions over several documents with every part of the answer: {whole} of {len(several)}."


def _words(rows: Sequence[Row]) -> Iterator[str]:
    """How much is shown, where rows say so."""
    if shown := [sum(row["words"]) for row in rows if row.get("words")]:
        yield f"Words shown by an answer: {statistics.median(shown):.0f} in the median, {max(shown)} at most."


def _reliability(rows: Sequence[Row]) -> Iterator[str]:
    """Of answers that are shown: how probable they are said to be, and how many are right."""
    shown = [
        (row["probability"], row["outcome"] == "right")
        for row in rows
        if row["outcome"] in ("right", "wrong_quote", "wrongly_answered")
        and row.get("probability") is not None
    ]
    groups = [
        [pair for pair in shown if low <= pair[0] < high or pair[0] == high == 1.0]
        for low, high in pairwise(_CUTS)
    ]
    lines = [
        (
            f"{low} to {high}",
            str(len(some)),
            f"{statistics.mean(chance for chance, _ in some):.2f}",
            share(sum(right for _, right in some), len(some)),
        )
        for (low, high), some in zip(pairwise(_CUTS), groups, strict=True)
        if some
    ]
    if lines:
        apart = sum(abs(sum(chance - right for chance, right in some)) for some in groups) / len(shown)
        yield grid(("probability", "answers shown", "mean", "right quote"), lines)
        yield f"Expected calibration error over these groups: {apart:.2f}."
