"""From the files of a run to its numbers, its tables and one HTML page that needs nothing but itself."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from equipoise.bench import page as html
from equipoise.bench.page import Figure
from equipoise.bench.qa.metrics import best_guess
from equipoise.bench.qa.reporting import figure_tables, paper, plots, recorded
from equipoise.bench.qa.reporting.cells import caption, counted
from equipoise.bench.qa.reporting.figure_tables import NOT_ALONE, NOT_JUDGED
from equipoise.bench.qa.reporting.measures import by_system
from equipoise.bench.qa.reporting.recorded import Run, without_text
from equipoise.bench.qa.reporting.summary import Summary, summarise
from equipoise.bench.qa.reporting.tables import NOT_COMPARED, Texts, tables
from equipoise.bench.results import Row, write_atomically
from equipoise.bench.tables import as_markdown, interval

__all__ = ["figures", "markdown", "page", "without_text", "write"]

SUMMARY, TABLES, REPORT = "summary.json", "tables.md", "report.html"
TITLE = "Questions answered over documents"


def write(folder: Path) -> Summary:
    """Write summary.json, tables.md and report.html beside the files of a run; the summary.

    Works on runs without judges, comparisons, guesses or timings, and on rows without text (`without_text`).
    The same files give the same bytes. Raises InputError for a folder without results or a file that cannot be
    read, MissingExtra without scipy, matplotlib or evalica.
    """
    run = recorded.read(folder)
    summary = summarise(run)
    content = json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_atomically(folder / SUMMARY, content.encode("utf-8"))
    write_atomically(folder / TABLES, markdown(summary).encode("utf-8"))
    write_atomically(folder / REPORT, page(summary, run).encode("utf-8"))
    return summary


def markdown(summary: Summary) -> str:
    """Every table as Markdown, ids instead of texts."""
    rows = [f"# {TITLE}", "", _opening(summary), ""]
    for name, section in summary["datasets"].items():
        rows += [f"## {name}", "", *(as_markdown(table) for table in tables(name, section))]
    return "\n".join(rows)


def page(summary: Summary, run: Run) -> str:
    """The whole report as HTML; `run` gives the texts of Table 7."""
    parts = [html.paragraph(_opening(summary)), html.definitions(_meta(summary["meta"]))]
    for name, section in summary["datasets"].items():
        texts = _texts(run.of(name).results, section)
        parts += [
            f"<h1>{escape(name)}</h1>",
            *(html.table(table) for table in tables(name, section, texts)),
            "<h2>Figures</h2>",
            *(html.figure(figure) for figure in figures(section)),
        ]
    return html.page("Question answering benchmark", TITLE, parts)


def figures(section: Summary) -> list[Figure]:
    """Figures 2 to 6 and 9 of the paper, and two of declining by probability where it was measured."""
    return [
        *_compared(section),
        *_rated(section),
        Figure(
            "relations",
            f"Figure 6. Highlights against the gold passage. The paper: {paper.FIGURE_6}",
            plots.relations(section),
            figure_tables.NO_GOLD,
        ),
        *_guessed(section),
        *(_declined(section) if section["abstention"] else ()),
    ]


def _compared(section: Summary) -> list[Figure]:
    """Figures 2 and 5."""
    two, five = "Figure 2. Wins in pairs, ties left out", f"Figure 5. {paper.FIGURE_5} Here"
    if not section["battles"]:
        return [Figure("wins", f"{two}.", None, NOT_COMPARED), Figure("alone", f"{five}:", None, NOT_ALONE)]
    found = []
    for row in section["battles"]:
        found.append(Figure("wins", f"{two}, {caption(row)}.", plots.win_matrix(row), NOT_COMPARED))
        found.append(Figure("alone", f"{five}, {caption(row)}.", plots.alone(row), NOT_ALONE))
    return found


def _rated(section: Summary) -> list[Figure]:
    """Figures 3 and 4."""
    three, four = "Figure 3. Times with the highest rating, ties included", "Figure 4. Ratings"
    if not section["ratings"]:
        return [
            Figure("highest", f"{three}.", None, NOT_JUDGED),
            Figure("ratings", f"{four}.", None, NOT_JUDGED),
        ]
    found = []
    for row in section["ratings"]:
        what = f"{row['judge']}, {caption(row)}"
        missing = "No question was rated for all systems."
        found.append(Figure("highest", f"{three}: {what}.", plots.highest(row), missing))
        found.append(Figure("ratings", f"{four}: {what}.", plots.distribution(row), NOT_JUDGED))
    return found


def _guessed(section: Summary) -> list[Figure]:
    """Figure 9, one for each performance: of Structured as in the paper, or else of the first that guessed."""
    title = f"Figure 9. Does a good guess go with a good answer? The paper: {paper.FIGURE_9}"
    if not section["correlations"]:
        return [Figure("guesses", title, None, figure_tables.NO_GUESSES)]
    names = [row["contender"] for row in section["correlations"]]
    shown = next((name for name in names if paper.pipeline_of(name) == paper.STRUCTURED), names[0])
    return [
        Figure(
            "guesses",
            f"{title} Here {counted(row['pearson'])}.",
            plots.guess_scatter(row),
            figure_tables.NO_GUESSES,
        )
        for row in section["correlations"]
        if row["contender"] == shown
    ]


def _declined(section: Summary) -> list[Figure]:
    found = section["abstention"]
    errors = ", ".join(f"{name} {interval(each['ece'])}" for name, each in found.items())
    areas = ", ".join(f"{name} {interval(each['aurc'])}" for name, each in found.items())
    missing = "Not computed: no row has a label."
    return [
        Figure(
            "reliability",
            f"Reliability of the probability to be answerable; larger dots: more questions. Error: {errors}.",
            plots.reliability(found),
            missing,
        ),
        Figure("risk", f"Risk and coverage. AURC: {areas}.", plots.risk_coverage(found), missing),
    ]


def _texts(rows: Sequence[Row], section: Summary) -> Texts:
    """Questions and best guesses of Table 7, where the rows have them."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for system, mine in by_system(rows).items():
        wanted = {row["item_id"] for row in section["worst_guesses"].get(system, ())}
        for row in mine:
            if row["item_id"] in wanted and row.get("guesses"):
                question: str = row["question"]
                best = best_guess(question, row["guesses"])
                said = next(one for one in row["guesses"] if best_guess(question, [one]) == best)
                found[system, row["item_id"]] = question, said
    return found


def _opening(summary: Summary) -> str:
    return (
        f"Intervals are {summary['level']:.0%}: Wilson's for shares, by bootstrap over questions for all else; n is "
        "the number of questions a number rests on. The paper's numbers (Highlight & Summarize, arXiv 2508.02872) "
        "stand in grey or italics beneath ours, without intervals as printed: other questions and other models, so "
        "compare directions, not digits."
    )


def _meta(meta: Summary) -> Summary:
    """One line a setting; objects as JSON."""
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        for name, value in meta.items()
    }
