"""Tables of a report: our numbers, a paper's own beneath them in grey, and what could not be computed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from equipoise_lab.maths.rates import Estimate

MISSING = "–"

Show = Callable[[float], str]

_MARKDOWN = str.maketrans({"|": "\\|", "<": "&lt;", "\n": " ", "\r": " "})


@dataclass(frozen=True, slots=True)
class TableLine:
    """A row of a table; `paper` marks the printed numbers, which are shown in grey."""

    label: str
    cells: tuple[str, ...]
    paper: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report; `missing` says why there are no numbers of ours in it, or is empty."""

    title: str
    head: tuple[str, ...]
    lines: tuple[TableLine, ...]
    note: str = ""
    missing: str = ""


def number(value: float) -> str:
    """Two decimals."""
    return f"{value:.2f}"


def percent(value: float) -> str:
    """Whole per cent."""
    return f"{value:.0%}"


def interval(estimate: Estimate | None, show: Show = number) -> str:
    """`0.19 [0.12, 0.27]`, a dash for None."""
    if estimate is None:
        return MISSING
    return f"{show(estimate.value)} [{show(estimate.low)}, {show(estimate.high)}]"


def part(count: int, total: int) -> str:
    """A count and its share of a total; a dash for a total of 0."""
    return f"{count} ({count / total:.0%})" if total else MISSING


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as GitHub Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def as_markdown(table: Table) -> str:
    """The table as GitHub Markdown; the paper's numbers in italics."""
    parts = [f"### {table.title}", ""]
    if table.missing:
        parts += [table.missing, ""]
    if table.lines:
        rows = [
            (f"*{line.label}, paper*", *(f"*{cell}*" for cell in line.cells))
            if line.paper
            else (line.label, *line.cells)
            for line in table.lines
        ]
        head, *cells = ([cell.translate(_MARKDOWN) for cell in row] for row in (table.head, *rows))
        parts += [grid(head, cells), ""]
    return "\n".join([*parts, *([table.note, ""] if table.note else [])])
