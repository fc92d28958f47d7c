"""The report: summary, the paper's tables with our numbers and its own beneath them, and its figures.

What each table holds stands in `layout.toml`, what the paper prints in `paper.toml`; here are the few whose rows or
columns are not one path from the numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise_lab.bench import layouts, output, plots
from equipoise_lab.bench.layouts import Layout, filled, places, value_at
from equipoise_lab.bench.plots import Axes
from equipoise_lab.bench.qa import records
from equipoise_lab.bench.qa.numbers import RELATIONS, Numbers, caption, summarise
from equipoise_lab.bench.tables import MISSING, Table, TableLine, as_markdown, part

TITLE = "Questions answered over documents"
Printed = Mapping[str, Mapping[str, Any]]
"""What the paper prints, by its data set and pipeline."""

COLOURS = ("#2b6cb0", "#63a4d8", "#b7d3ea", "#d9d9d9", "#c1443c")
KINDS = {"pipeline": "pipeline", "tie": "tie", "neither": "neither", "highlights": "highlights alone"}
CONTAINS = ("equal", "contain the passage", "lie within it", "neither", "no highlights")


def write(folder: Path) -> Numbers:
    """Write summary.json and tables.md beside the files of a run; the summary.

    Works on runs without judges, comparisons, guesses or timings, and on records without text (`without_text`).
    The same files give the same bytes. Raises InputError for a folder without results or a file that cannot be
    read.
    """
    summary = summarise(records.read(folder))
    output.write(folder, summary, markdown(summary))
    return summary


def draw(folder: Path, summary: Numbers) -> None:
    """Write the figures of each data set into the folder `figures`. Raises MissingExtra without matplotlib."""
    for name, section in summary["datasets"].items():
        output.write_figures(folder, {f"{name}-{figure}": svg for figure, svg in figures(section)})


def markdown(summary: Numbers) -> str:
    """Every table as Markdown, ids instead of texts."""
    opening = (
        f"Intervals are {summary['level']:.0%}: Wilson's for shares, by bootstrap over questions for all else; n is "
        "the number of questions a number rests on. The paper's numbers (Highlight & Summarize, arXiv 2508.02872) "
        "stand in grey or italics beneath ours, without intervals as printed: other questions and other models, so "
        "compare directions, not digits."
    )
    rows = [f"# {TITLE}", "", opening, ""]
    for name, section in summary["datasets"].items():
        rows += [f"## {name}", "", *(as_markdown(table) for table in tables(name, section))]
    return "\n".join(rows)


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
    key = paper()["stand_ins"].get(key, key)
    return key if key in names() else None


def printed_of(table: str, dataset: str) -> Printed:
    """The part of a table to show beside a data set of ours: that of the same name, or else all of it."""
    every: Printed = paper()[table] if table else {}
    mine = [name for name in every if name.lower() in dataset.lower()]
    return {name: rows for name, rows in every.items() if not mine or name in mine}


def tables(name: str, section: Numbers) -> list[Table]:
    """The tables of the data set `name`: outcomes, the paper's in its order, its figures in numbers, ours."""
    shown = _worded(section)
    collected: list[Table] = []
    for key, layout in layouts.layouts("qa").items():
        if key in ("standings", "matrix"):
            make = _matrix if key == "matrix" else _table
            judged = [battle for battle in shown["battles"] if battle["standings"]]
            said = [(battle, f", {battle['caption']}") for battle in judged] or [(None, "")]
            collected += [make(layout, battle, name, judge=judge) for battle, judge in said]
        elif key == "worst_guesses":
            lines = [
                TableLine(
                    f"{system}, {guess['item_id']}", tuple(filled(cell, row=guess) for cell in layout.cells)
                )
                for system, guesses in section["worst_guesses"].items()
                for guess in guesses
            ]
            collected.append(layouts.whole(layout, section, lines, ours=bool(lines)))
        elif key == "unscored":
            collected.append(_unscored(layout, section))
        elif not layout.optional or value_at(shown, layout.rows):
            collected.append(_table(layout, shown, name))
    return collected


def _worded(section: Numbers) -> Numbers:
    """The numbers with what tables say of several of them together."""
    counts = {
        name: row
        | {f"{kind}_of": part(row[kind], row["rows"]) for kind in ("answered", "declined", "failed")}
        for name, row in section["counts"].items()
    }
    decisions = {
        name: row | {"maybe_part": part(row["maybe_open"], row["maybe"])}
        for name, row in section["decisions"].items()
    }
    ratings = [
        row
        | {"caption": caption(row)}
        | {"given": {n: {"mean": row["mean"][n], "distribution": d} for n, d in row["distribution"].items()}}
        for row in section["ratings"]
    ]
    battles = [row | {"caption": caption(row)} for row in section["battles"]]
    return section | {"counts": counts, "decisions": decisions, "ratings": ratings, "battles": battles}


def _table(layout: Layout, section: object, dataset: str, **context: object) -> Table:
    """Our rows by system, the paper's of the same pipeline beneath each, and those of its other pipelines."""
    printed = printed_of(layout.published, dataset)
    lines: list[TableLine] = []
    left, ours = list(names()) if layout.published else [], False
    for place in places(layout, section, paper=paper()):
        ours = True
        label = filled(layout.label, **place)
        lines.append(TableLine(label, tuple(filled(cell, **place) for cell in layout.cells)))
        if (key := pipeline_of(label)) in left:
            left.remove(str(key))
            lines += _printed(layout, str(key), printed)
    for key in left:
        lines += _printed(layout, key, printed)
    if layout.rows == "correlations" and lines:
        lines.append(TableLine("H&S Structured: an LLM judge", (f"{paper()['pearson']:.3f}",), paper=True))
    if layout.each == "highest.wins":
        lines += [
            TableLine(
                f"{judge}: {names()[key]}, RepliQA",
                (f"{count:,} of {n:,}", f"{count / n:.0%}", MISSING),
                paper=True,
            )
            for judge, wins in paper()["figure_3"].items()
            for key, (count, n) in wins.items()
        ]
    return layouts.whole(layout, section, lines, ours=ours, paper=paper(), **context)


def _printed(layout: Layout, key: str, printed: Printed) -> list[TableLine]:
    width = len(layout.head) - 1
    lines = []
    for dataset, rows in printed.items():
        if key in rows:
            cells = [filled(cell, p=rows[key], none=None) for cell in layout.published_cells]
            lines.append(
                TableLine(f"{names()[key]}, {dataset}", (*cells, *[MISSING] * width)[:width], paper=True)
            )
    return lines


def _matrix(layout: Layout, battle: Numbers | None, dataset: str, judge: str) -> Table:
    """Table 9: wins and ties of the row over the column, and totals."""
    ours = battle["matrix"] if battle else {}
    columns, lines = list(ours), []
    for me, row in ours.items():
        total = {name: sum(tally[name] for tally in row.values()) for name in ("wins", "ties", "neither")}
        lines.append(TableLine(me, tuple(_fight(tally) for tally in (*map(row.get, columns), total))))
    for name, rows in printed_of(layout.published, dataset).items():
        for key in names():
            fights = rows.get(key, {})
            cells = tuple(_battle(fights.get(str(pipeline_of(other)))) for other in columns)
            whole = _battle([sum(pair[part] for pair in fights.values()) for part in (0, 1)])
            lines.append(TableLine(f"{names()[key]}, {name}", (*cells, whole), paper=True))
    table = layouts.whole(layout, battle, lines, ours=bool(ours), judge=judge)
    return Table(table.title, ("", *columns, "total"), table.lines, table.note, table.missing)


def _unscored(layout: Layout, section: Numbers) -> Table:
    """How many rows each measure and judge had no value for."""
    counts, systems = section["counts"], section["contenders"]
    measured = next(iter(counts.values()))["unscored"] if counts else ()
    columns = {name: {who: count["unscored"][name] for who, count in counts.items()} for name in measured}
    columns |= {f"{row['judge']} by {row['model']}": row["unscored"] for row in section["ratings"]}
    lines = [
        TableLine(name, tuple(f"{by[who]} of {counts[who]['rows']}" for who in systems))
        for name, by in columns.items()
    ]
    without = "; ".join(f"{row['model']}: {row['unscored']}" for row in section["battles"] if row["unscored"])
    more = f" Comparisons without a verdict: {without}." if without else ""
    table = layouts.whole(layout, section, lines, ours=True, more=more)
    return Table(table.title, ("", *systems), table.lines, table.note)


def _fight(tally: Mapping[str, int] | None) -> str:
    return MISSING if tally is None else f"{tally['wins']} / {tally['ties']} ({tally['neither']})"


def _battle(pair: Sequence[int] | None) -> str:
    return MISSING if pair is None else f"{pair[0]} / {pair[1]}"


def figures(section: Numbers) -> Iterator[tuple[str, str]]:
    """(name, SVG) of all that can be drawn of a data set: figures 2 to 6 and 9 of the paper."""
    for number, battle in enumerate(section["battles"]):
        if battle["matrix"]:
            yield f"2-wins-{number}", _wins(battle)
        if by := battle["alone"]:
            shares = {label: [each[kind].value for each in by.values()] for kind, label in KINDS.items()}
            colours = [COLOURS[0], *COLOURS[2:]]
            yield (
                f"5-alone-{number}",
                plots.stacked(by, shares, colours, "share of questions", caption(battle)),
            )
    for rating in section["ratings"]:
        name = f"{rating['judge']}-{rating['model'].replace('/', '-')}"
        if rating["highest"]["n"]:
            yield f"3-highest-{name}", _highest(rating)
        if any(rating["distribution"].values()):
            yield f"4-ratings-{name}", _ratings(rating)
    if by := section["relations"]:
        shares = {
            label: [each[kind] / each["n"] for each in by.values()]
            for kind, label in zip(RELATIONS, CONTAINS, strict=True)
        }
        yield "6-relations", plots.stacked(by, shares, COLOURS, "share of questions with a gold passage")
    for row in section["correlations"]:
        name = f"9-{row['contender']}-{row['performance']}".replace(" ", "-").replace("/", "-")
        xs, ys, counts = zip(*row["points"], strict=True)
        yield name, plots.scatter(
            {row["contender"]: (xs, ys)}, "K-precision of the best guess", row["performance"], [COLOURS[0]],
            s=[14 * count for count in counts], alpha=0.5,
        )  # fmt: skip


def _wins(battle: Numbers) -> str:
    """Wins of the row over the column."""
    matrix, names = battle["matrix"], list(battle["matrix"])

    def draw(axes: Axes) -> None:
        wins = np.array(
            [[matrix[me].get(other, {"wins": np.nan})["wins"] for other in names] for me in names]
        )
        axes.imshow(wins, cmap="Blues", vmin=0, vmax=1.6 * np.nanmax(wins))
        for (row, column), count in np.ndenumerate(wins):
            if not np.isnan(count):
                axes.text(column, row, f"{count:.0f}", ha="center", va="center")
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="loses to the row", ylabel="wins over the column", title=caption(battle))

    return plots.svg(draw, size=plots.tall(len(names)))


def _highest(rating: Numbers) -> str:
    """Times with the highest rating, ties included, with intervals."""
    wins, n = rating["highest"]["wins"], rating["highest"]["n"]

    def draw(axes: Axes) -> None:
        for place, win in enumerate(wins.values()):
            axes.barh(place, win["count"], color=COLOURS[0], alpha=0.8)
            if share := win["share"]:
                axes.plot([share.low * n, share.high * n], [place, place], color="black", linewidth=1)
        plots.rows(axes, list(wins))
        axes.set(xlabel=f"highest rating of all, of {n} questions", title=rating["judge"])

    return plots.svg(draw, size=plots.tall(len(wins)))


def _ratings(rating: Numbers) -> str:
    """How often each rating was given, as shares, from red for the lowest to blue for the highest."""
    given = {name: counts for name, counts in rating["distribution"].items() if counts}
    values = sorted({value for counts in given.values() for value in counts}, key=float)
    shares = {
        value: [counts.get(value, 0) / sum(counts.values()) for counts in given.values()] for value in values
    }
    low, high = np.array([0.76, 0.27, 0.24]), np.array([0.17, 0.42, 0.69])
    shades = [tuple((1 - step) * low + step * high) for step in np.linspace(0, 1, len(values))]
    return plots.stacked(given, shares, shades, "share of answers", rating["judge"])
