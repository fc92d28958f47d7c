"""Cells and rows that the tables share: a number with its interval and n, ours above the paper's."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equipoise.bench.qa.reporting import paper
from equipoise.bench.tables import MISSING, Line, Show, Table, interval, number

Summary = Mapping[str, Any]


def counted(found: Mapping[str, float] | None, show: Show = number) -> str:
    """`0.19 [0.12, 0.27] n=40`, a dash for None."""
    return MISSING if found is None else f"{interval(found, show)} n={found['n']}"


def grid(
    title: str,
    head: Sequence[str],
    ours: Mapping[str, Sequence[str]],
    printed: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    note: str = "",
    missing: str = "",
) -> Table:
    """Our rows by system, the paper's of the same pipeline beneath each, and those of its other pipelines."""
    lines: list[Line] = []
    left = list(paper.NAMES)
    for name, cells in ours.items():
        lines.append(Line(name, tuple(cells)))
        if (key := paper.pipeline_of(name)) in left:
            left.remove(str(key))
            lines += _printed(str(key), printed, len(head) - 1)
    for key in left:
        lines += _printed(key, printed, len(head) - 1)
    return Table(title, tuple(head), tuple(lines), note, "" if ours else missing)


def caption(found: Summary) -> str:
    """`judged by MODEL`, and whether that model judges itself."""
    itself = ", judged by the same model that answered" if found["judges_itself"] else ""
    return f"judged by {found['model']}{itself}"


def formatted(
    printed: Mapping[str, paper.ByPipeline], show: Callable[[paper.Row], tuple[str, ...]]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """The paper's numbers as cells."""
    return {dataset: {key: show(row) for key, row in rows.items()} for dataset, rows in printed.items()}


def points(value: float) -> str:
    """A rating without decimals."""
    return f"{value:.0f}"


def part(count: int, total: int) -> str:
    """A count and its share of a total; a dash for a total of 0."""
    return f"{count} ({count / total:.0%})" if total else MISSING


def _printed(key: str, printed: Mapping[str, Mapping[str, Sequence[str]]], width: int) -> list[Line]:
    return [
        Line(f"{paper.NAMES[key]}, {dataset}", (*rows[key], *[MISSING] * width)[:width], paper=True)
        for dataset, rows in printed.items()
        if key in rows
    ]
