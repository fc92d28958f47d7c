"""The tables of the tool hijack benchmark, and all of them as Markdown."""

from equipoise_lab.bench import layouts
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.hijack.summary import ALL, Attacked, HijackSummary
from equipoise_lab.bench.layouts import shown
from equipoise_lab.bench.systems import PLAIN
from equipoise_lab.bench.tables import MISSING, Line, Table, as_markdown, percent


def markdown(summary: HijackSummary) -> str:
    """Every table of the report as Markdown."""
    return "\n".join(as_markdown(table) for table in tables(summary))


def tables(summary: HijackSummary) -> list[Table]:
    """Every table of a run: Table 8 of the paper beside ours, and what the paper does not count."""
    special = {"table_8": _table_8, "sources": _sources}
    return [
        special[name](layout, summary) if name in special else layouts.table(layout, summary)
        for name, layout in layouts.layouts("hijack").items()
    ]


def _table_8(layout: layouts.Layout, summary: HijackSummary) -> Table:
    """Plain RAG, each highlighter alone and each whole pipeline, over all attacks; the paper's beneath each group."""
    cells, paper = summary.overall, layouts.data("hijack", "paper")
    whole = [(cell, Line(cell.label, (_rate(cell.called), _rate(cell.valid)))) for cell in cells]
    groups = (
        [line for cell, line in whole if cell.pipeline in PLAIN],
        [
            Line(_alone(cell), (_rate(cell.highlighter_called), _rate(cell.highlighter_valid)))
            for cell in cells
            if cell.pipeline not in PLAIN
        ],
        [line for cell, line in whole if cell.pipeline not in PLAIN],
    )
    lines = [
        line
        for group, (label, numbers) in zip(groups, paper["table_8"].items(), strict=True)
        for line in (*group, Line(label, tuple(map(percent, numbers)), paper=True))
    ]
    return layouts.whole(layout, summary, lines, ours=True, prompts=paper["prompts"])


def _sources(layout: layouts.Layout, summary: HijackSummary) -> Table:
    lines = []
    for name in summary.pipelines:
        mine = [cell for cell in summary.attacks if cell.pipeline == name and cell.source != ALL]
        if name not in PLAIN and any(cell.highlighter_called for cell in mine):
            cells = (_two(cell.highlighter_called, cell.highlighter_valid) for cell in mine)
            lines.append(Line(_alone(mine[0]), tuple(cells)))
        if mine:
            lines.append(Line(mine[0].label, tuple(map(_whole, mine))))
    sources = dict.fromkeys(cell.source for cell in summary.attacks if cell.source != ALL)
    table = layouts.whole(layout, summary, lines, ours=True)
    head = ("", *(f"{source} ({summary.cases[source]})" for source in sources))
    return Table(table.title, head, table.lines, table.note)


def _alone(cell: Attacked) -> str:
    return f"H&S {cell.pipeline} (highlighter only)"


def _rate(rate: Estimate | None) -> str:
    return shown(rate, layouts.RATE)


def _two(called: Estimate | None, valid: Estimate | None) -> str:
    return MISSING if called is None or valid is None else f"{called.hits}; {valid.hits} of {called.n}"


def _whole(cell: Attacked) -> str:
    if cell.reached is None or cell.called is None or cell.valid is None:
        return _two(cell.called, cell.valid)
    return f"{cell.called.hits}; {cell.valid.hits}; {cell.reached.hits} of {cell.n}"
