"""The tables of the field benchmark: how questions ended, by set and by kind, with Wilson intervals."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from questions import ANSWERED

from equipoise.bench.estimates import Estimate
from equipoise.bench.tables import interval, percent
from equipoise.maths.statistics import wilson

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
    "words shown (median)",
)
_OUTCOMES = ("right", "wrong_quote", "wrongly_refused", "rightly_refused", "wrongly_answered", "error")


def page(rows: Sequence[Row]) -> str:
    """Three tables in Markdown: by set, by kind, and the vague questions apart from the others.

    A question that ended with an error counts as not right. Rows of before `vague` and `words` go by their kind alone.
    """
    by_set = _table("set", rows, lambda row: row["set"])
    by_kind = _table("kind", rows, lambda row: row["kind"])
    by_wording = _table("wording", rows, _wording)
    return f"{by_set}\n\n{by_kind}\n\n{by_wording}\n\n{_parts(rows)}"


def _wording(row: Row) -> str:
    return "vague" if row.get("vague", row["kind"] == "vague") else "not vague"


def _table(name: str, rows: Sequence[Row], group: Callable[[Row], str]) -> str:
    groups = {
        label: [row for row in rows if group(row) == label] for label in dict.fromkeys(map(group, rows))
    }
    lines = [_line(label, some) for label, some in groups.items()]
    return "\n".join([_cells((name, *_HEAD)), "|" + "---|" * (len(_HEAD) + 1), *lines, _line("all", rows)])


def _line(label: str, rows: Sequence[Row]) -> str:
    ended = Counter(row["outcome"] for row in rows)
    with_answer = [row for row in rows if row["kind"] in ANSWERED]
    without = len(rows) - len(with_answer)
    read = sum(bool(row.get("passages_right")) for row in with_answer)
    shares = (
        (ended["right"], len(with_answer)),
        (ended["rightly_refused"], without),
        (read, len(with_answer)),
    )
    shown = [sum(row["words"]) for row in rows if row.get("words")]
    counts = (str(ended[one]) for one in _OUTCOMES)
    median = f"{statistics.median(shown):.0f}" if shown else "-"
    return _cells((label, str(len(rows)), *counts, *(share(*one) for one in shares), median))


def share(count: int, of: int) -> str:
    """`count` of `of` as a percentage with its Wilson interval."""
    return interval(Estimate.of(wilson(count, of)), percent)


def _parts(rows: Sequence[Row]) -> str:
    """Questions over several documents are right with one part of the answer; how many have all of them."""
    several = [row for row in rows if row["kind"] == "several_documents"]
    whole = sum(row.get("parts", 0) >= row.get("parts_wanted", 1) for row in several)
    return f"Questions over several documents with every part of the answer: {whole} of {len(several)}."


def _cells(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"
