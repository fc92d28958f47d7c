"""The paper's tables with our numbers, the paper's own beneath them, and what could not be computed."""

from collections.abc import Callable, Mapping

from equipoise.bench.qa.reporting import figure_tables, outcomes, paper
from equipoise.bench.qa.reporting.cells import Summary, caption, counted, formatted, grid, points
from equipoise.bench.qa.reporting.figure_tables import NO_GOLD, NO_GUESSES
from equipoise.bench.qa.reporting.paper import Printed
from equipoise.bench.tables import MISSING, Line, Table, number, percent

Texts = Mapping[tuple[str, str], tuple[str, str]]
"""(question, guess) by system and item, where they may be shown."""

NOT_COMPARED = "Not judged: no judge compared the answers of this run."
ALL_ANSWERABLE = "Not computed: no question of this data set is known to be without an answer."


def tables(name: str, section: Summary, texts: Texts | None = None) -> list[Table]:
    """The tables of the data set `name`: outcomes, the paper's in its order, its figures in numbers, ours.

    With `texts`, Table 7 holds the questions and guesses themselves; without, ids.
    """
    return [
        outcomes.asked(section),
        *_by_judge(name, section, "Table 2. Direct pairwise comparison", standings, paper.TABLE_2),
        declining(name, section),
        seconds(name, section),
        outcomes.tokens(section),
        highlighters(name, section),
        guesses(name, section),
        worst_guesses(section, texts or {}),
        *_by_judge(name, section, "Table 9. Pairwise matrix", matrix, paper.TABLE_9),
        *figure_tables.tables(section),
        outcomes.answers(section),
        *([outcomes.decisions(section)] if section["decisions"] else []),
        *([outcomes.tests(section)] if section["tests"] else []),
        *([outcomes.agreement(section)] if section["agreement"] else []),
        *([outcomes.abstention(section)] if section["abstention"] else []),
        outcomes.unscored(section),
    ]


def standings(title: str, found: Summary | None, printed: Mapping[str, paper.ByPipeline]) -> Table:
    """Table 2: wins, Elo and Bradley-Terry; `found` is one judge's part of the summary."""
    ours = {
        row["contender"]: (
            counted(row["win_share"], percent),
            counted(row["win_rate"], percent),
            *(counted(row[name], points) for name in ("elo", "strength")),
            f"{row['wins']} / {row['losses']} / {row['ties']} / {row['neither']} / {row['unscored']}",
        )
        for row in (found["standings"] if found else ())
    }
    printed_cells = formatted(printed, lambda row: (percent(row[0]), MISSING, points(row[1])))
    head = (
        "",
        "wins of all",
        "wins of decided",
        "Elo",
        "Bradley-Terry",
        "wins / losses / ties / neither / unscored",
    )
    note = (
        "Ties are left out of Elo and Bradley-Terry (in Elo points, mean 1000), which do not depend on the order of "
        "the comparisons; the paper's Elo does, and starts elsewhere: compare differences. Both orders that differ "
        "are a tie."
    )
    return grid(title, head, ours, printed_cells, note=note, missing=NOT_COMPARED)


def declining(name: str, section: Summary) -> Table:
    """Table 3."""
    ours = {
        system: tuple(counted(found[part]) for part in ("precision", "recall", "f1"))
        for system, found in section["declining"].items()
    }
    return grid(
        "Table 3. Precision and recall of declined answers",
        ("", "precision", "recall", "F1"),
        ours,
        formatted(paper.of(paper.TABLE_3, name), lambda row: tuple(map(number, row))),
        note="n: questions known to be answerable or not. In RepliQA about 10% are not; here see above.",
        missing=ALL_ANSWERABLE,
    )


def seconds(name: str, section: Summary) -> Table:
    """Table 4."""
    ours = {
        system: tuple(counted(found["seconds"][part]) for part in ("mean", "median", "ratio"))
        for system, found in section["cost"].items()
        if found["seconds"]["mean"]
    }
    return grid(
        "Table 4. Processing time of one question, seconds",
        ("", "mean", "median", "times vanilla"),
        ours,
        formatted(paper.of(paper.TABLE_4, name), lambda row: (number(row[0]),)),
        note="Fresh calls alone; how many ran at a time stands in the settings. The ratio is of sums over the "
        "same questions.",
        missing="Not measured: every call was replayed.",
    )


def highlighters(name: str, section: Summary) -> Table:
    """Table 5."""
    return _pairs(
        "Table 5. Highlights against the gold passage",
        section,
        {"highlight_k_precision": "K-precision", "highlight_recall": "recall"},
        paper.of(paper.TABLE_5, name),
        missing=NO_GOLD,
        note="The share of the highlights' tokens that the passage has, and of the passage's that the highlights "
        "have. Without highlights there is no precision, and recall is 0.",
    )


def guesses(name: str, section: Summary) -> Table:
    """Table 6."""
    columns = {
        "guess_first_k_precision": "first guess, K-precision",
        "guess_first_recall": "first guess, recall",
        "guess_k_precision": "best guess, K-precision",
        "guess_recall": "best guess, recall",
    }
    return _pairs(
        "Table 6. Can the summarizer guess the question?",
        section,
        columns,
        paper.of(paper.TABLE_6, name),
        missing=NO_GUESSES,
        note="The paper's summarizer guesses once: compare the first guess with it.",
    )


def worst_guesses(section: Summary, texts: Texts) -> Table:
    """Table 7; the paper's examples are shown with ours where texts are."""
    lines = []
    for system, found in section["worst_guesses"].items():
        for row in found:
            scores = (number(row["guess_k_precision"]), number(row["guess_recall"]))
            said = texts.get((system, row["item_id"]), ("", ""))
            lines.append(Line(f"{system}, {row['item_id']}", (*scores, *(said if texts else ()))))
    if texts:
        lines += [
            Line("H&S Structured, RepliQA", ("0.00", MISSING, *pair), paper=True) for pair in paper.TABLE_7
        ]
    head = ("", "K-precision", "recall", *(("real question", "best guess") if texts else ()))
    note = "The worst of each system by the best of its guesses."
    missing = "" if section["worst_guesses"] else NO_GUESSES
    return Table("Table 7. Worst question guesses", head, tuple(lines), note, missing)


def matrix(title: str, found: Summary | None, printed: Mapping[str, paper.Battles]) -> Table:
    """Table 9: wins and ties of the row over the column, and totals."""
    ours = found["matrix"] if found else {}
    names = list(ours)
    lines = [
        Line(me, (*(_fight(row.get(other)) for other in names), _fight(_total(row))))
        for me, row in ours.items()
    ]
    for dataset, battles in printed.items():
        for key in paper.NAMES:
            places = [paper.pipeline_of(other) for other in names]
            cells = tuple(_battle(battles.get((key, str(other)))) for other in places)
            mine = [pair for (row, _), pair in battles.items() if row == key]
            total = _battle((sum(wins for wins, _ in mine), sum(ties for _, ties in mine)))
            lines.append(Line(f"{paper.NAMES[key]}, {dataset}", (*cells, total), paper=True))
    note = "Wins / ties, and how often neither was acceptable in brackets; the paper counts these among the ties."
    return Table(title, ("", *names, "total"), tuple(lines), note, "" if ours else NOT_COMPARED)


def _by_judge(
    name: str,
    section: Summary,
    title: str,
    table: Callable[[str, Summary | None, Mapping[str, Printed]], Table],
    printed: Mapping[str, Printed],
) -> list[Table]:
    beside = paper.of(printed, name)
    found = [table(f"{title}, {caption(row)}", row, beside) for row in section["battles"] if row["standings"]]
    return found or [table(title, None, beside)]


def _pairs(
    title: str,
    section: Summary,
    columns: Mapping[str, str],
    printed: Mapping[str, paper.ByPipeline],
    **said: str,
) -> Table:
    """A table of means: `columns` are measures and their heads; systems without any of them are left out."""
    ours = {
        system: tuple(counted(found[name]) for name in columns)
        for system, found in section["measures"].items()
        if any(found[name] for name in columns)
    }
    cells = formatted(printed, lambda row: tuple(map(number, row)))
    return grid(title, ("", *columns.values()), ours, cells, **said)


def _fight(tally: Mapping[str, int] | None) -> str:
    return MISSING if tally is None else f"{tally['wins']} / {tally['ties']} ({tally['neither']})"


def _total(row: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(tally[name] for tally in row.values()) for name in ("wins", "ties", "neither")}


def _battle(pair: tuple[int, int] | None) -> str:
    return MISSING if pair is None else f"{pair[0]} / {pair[1]}"
