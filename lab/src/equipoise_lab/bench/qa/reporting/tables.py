"""The paper's tables with our numbers, the paper's own beneath them, and what could not be computed.

What each table holds stands in `layout.toml`, what the paper prints in `paper.toml`; here are the few whose rows or
columns are not one path from the numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise_lab.bench import layouts
from equipoise_lab.bench.judges.ranking import Tally
from equipoise_lab.bench.layouts import Layout, filled, places, value_at
from equipoise_lab.bench.qa.reporting.battles import Battle
from equipoise_lab.bench.qa.reporting.summary import Section
from equipoise_lab.bench.tables import MISSING, Line, Table

Printed = Mapping[str, Mapping[str, Any]]
"""What the paper prints, by its data set and pipeline."""


def paper() -> Mapping[str, Any]:
    """What the paper prints."""
    return layouts.data("qa", "paper")


def names() -> Mapping[str, str]:
    """The paper's names of its pipelines, in the order of its tables."""
    printed: Mapping[str, str] = paper()["names"]
    return printed


def pipeline_of(name: str) -> str | None:
    """The paper's pipeline that one of ours stands for, or None.

    Ours are "vanilla", "structured" or "structured+llm", with a model in brackets where several ran one.
    """
    key = name.split(" [", maxsplit=1)[0].split("+", maxsplit=1)[0]
    return key if key in names() else None


def printed_of(table: str, dataset: str) -> Printed:
    """The part of a table to show beside a data set of ours: that of the same name, or else all of it."""
    every: Printed = paper()[table] if table else {}
    mine = [name for name in every if name.lower() in dataset.lower()]
    return {name: rows for name, rows in every.items() if not mine or name in mine}


def tables(name: str, section: Section) -> list[Table]:
    """The tables of the data set `name`: outcomes, the paper's in its order, its figures in numbers, ours."""
    collected: list[Table] = []
    for key, layout in layouts.layouts("qa").items():
        if key in ("standings", "matrix"):
            collected += _by_judge(name, section, layout, matrix=key == "matrix")
        elif key == "worst_guesses":
            collected.append(_worst_guesses(layout, section))
        elif key == "unscored":
            collected.append(_unscored(layout, section))
        elif not layout.optional or value_at(section, layout.rows):
            collected.append(_table(layout, section, name))
    return collected


def _table(layout: Layout, section: object, dataset: str, **context: object) -> Table:
    """Our rows by system, the paper's of the same pipeline beneath each, and those of its other pipelines."""
    printed = printed_of(layout.published, dataset)
    lines: list[Line] = []
    left, ours = list(names()) if layout.published else [], False
    for place in places(layout, section, paper=paper()):
        ours = True
        label = filled(layout.label, **place)
        lines.append(Line(label, tuple(filled(cell, **place) for cell in layout.cells)))
        if (key := pipeline_of(label)) in left:
            left.remove(str(key))
            lines += _printed(layout, str(key), printed)
    for key in left:
        lines += _printed(layout, key, printed)
    if layout.rows == "correlations" and lines:
        lines.append(Line("H&S Structured: an LLM judge", (f"{paper()['pearson']:.3f}",), paper=True))
    if layout.each == "highest.wins":
        lines += _highest()
    return layouts.whole(layout, section, lines, ours=ours, paper=paper(), **context)


def _printed(layout: Layout, key: str, printed: Printed) -> list[Line]:
    width = len(layout.head) - 1
    return [
        Line(
            f"{names()[key]}, {dataset}",
            (*(filled(c, p=rows[key], none=None) for c in layout.published_cells), *[MISSING] * width)[
                :width
            ],
            paper=True,
        )
        for dataset, rows in printed.items()
        if key in rows
    ]


def _highest() -> list[Line]:
    return [
        Line(
            f"{judge}: {names()[key]}, RepliQA",
            (f"{count:,} of {n:,}", f"{count / n:.0%}", MISSING),
            paper=True,
        )
        for judge, wins in paper()["figure_3"].items()
        for key, (count, n) in wins.items()
    ]


def _by_judge(name: str, section: Section, layout: Layout, *, matrix: bool) -> list[Table]:
    """Tables 2 and 9, one for each judge that compared."""
    judged: Sequence[Battle | None] = [battle for battle in section.battles if battle.standings] or [None]
    collected = []
    for battle in judged:
        said = f", {battle.caption}" if battle else ""
        made = _matrix(layout, battle, name, said) if matrix else _table(layout, battle, name, judge=said)
        collected.append(made)
    return collected


def _matrix(layout: Layout, battle: Battle | None, dataset: str, said: str) -> Table:
    """Table 9: wins and ties of the row over the column, and totals."""
    ours = battle.matrix if battle else {}
    columns = list(ours)
    lines = [
        Line(me, (*(_fight(row.get(other)) for other in columns), _fight(sum(row.values(), Tally()))))
        for me, row in ours.items()
    ]
    for name, rows in printed_of(layout.published, dataset).items():
        for key in names():
            fights = rows.get(key, {})
            cells = tuple(_battle(fights.get(str(pipeline_of(other)))) for other in columns)
            total = _battle([sum(pair[part] for pair in fights.values()) for part in (0, 1)])
            lines.append(Line(f"{names()[key]}, {name}", (*cells, total), paper=True))
    table = layouts.whole(layout, battle, lines, ours=bool(ours), judge=said)
    return Table(table.title, ("", *columns, "total"), table.lines, table.note, table.missing)


def _worst_guesses(layout: Layout, section: Section) -> Table:
    """Table 7, by ids."""
    lines = [
        Line(f"{system}, {guess.item_id}", tuple(filled(cell, row=guess) for cell in layout.cells))
        for system, guesses in section.worst_guesses.items()
        for guess in guesses
    ]
    return layouts.whole(layout, section, lines, ours=bool(section.worst_guesses))


def _unscored(layout: Layout, section: Section) -> Table:
    """How many rows each measure and judge had no value for."""
    counts = section.counts
    measured = next(iter(counts.values())).unscored if counts else ()
    columns: dict[str, Mapping[str, int]] = {
        name: {who: count.unscored[name] for who, count in counts.items()} for name in measured
    }
    for row in section.ratings:
        columns[f"{row.judge} by {row.model}"] = row.unscored
    lines = [
        Line(name, tuple(f"{by[who]} of {counts[who].rows}" for who in section.systems))
        for name, by in columns.items()
    ]
    without = "; ".join(f"{row.model}: {row.unscored}" for row in section.battles if row.unscored)
    more = f" Comparisons without a verdict: {without}." if without else ""
    table = layouts.whole(layout, section, lines, ours=True, more=more)
    return Table(table.title, ("", *section.systems), table.lines, table.note)


def _fight(tally: Tally | None) -> str:
    return MISSING if tally is None else f"{tally.wins} / {tally.ties} ({tally.neither})"


def _battle(pair: Sequence[int] | None) -> str:
    return MISSING if pair is None else f"{pair[0]} / {pair[1]}"
