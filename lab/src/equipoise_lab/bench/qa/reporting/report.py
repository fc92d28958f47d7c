"""From the files of a run to its numbers, its tables and one HTML page that needs nothing but itself."""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from equipoise_lab.bench import layouts
from equipoise_lab.bench import page as html
from equipoise_lab.bench.page import Figure
from equipoise_lab.bench.qa.metrics import best_guess
from equipoise_lab.bench.qa.reporting import plots, recorded
from equipoise_lab.bench.qa.reporting.recorded import Run
from equipoise_lab.bench.qa.reporting.summary import QaSummary, Section, summarise
from equipoise_lab.bench.qa.reporting.tables import Texts, paper, pipeline_of, tables
from equipoise_lab.bench.tables import as_markdown, interval

TITLE = "Questions answered over documents"
STRUCTURED = "structured"


def write(folder: Path) -> QaSummary:
    """Write summary.json, tables.md and report.html beside the files of a run; the summary.

    Works on runs without judges, comparisons, guesses or timings, and on records without text (`without_text`).
    The same files give the same bytes. Raises InputError for a folder without results or a file that cannot be
    read, MissingExtra without scipy, matplotlib or evalica.
    """
    run = recorded.read(folder)
    summary = summarise(run)
    html.write(folder, summary, markdown(summary), page(summary, run))
    return summary


def markdown(summary: QaSummary) -> str:
    """Every table as Markdown, ids instead of texts."""
    rows = [f"# {TITLE}", "", _opening(summary), ""]
    for name, section in summary.datasets.items():
        rows += [f"## {name}", "", *(as_markdown(table) for table in tables(name, section))]
    return "\n".join(rows)


def page(summary: QaSummary, run: Run) -> str:
    """The whole report as HTML; `run` gives the texts of Table 7."""
    parts = [html.paragraph(_opening(summary)), html.definitions(_meta(summary.meta))]
    for name, section in summary.datasets.items():
        texts = _texts(run.of(name), section)
        parts += [
            f"<h1>{escape(name)}</h1>",
            *(html.table(table) for table in tables(name, section, texts)),
            "<h2>Figures</h2>",
            *(html.figure(figure) for figure in figures(section)),
        ]
    return html.page("Question answering benchmark", TITLE, parts)


def figures(section: Section) -> list[Figure]:
    """Figures 2 to 6 and 9 of the paper, and two of declining by probability where it was measured."""
    six = f"Figure 6. Highlights against the gold passage. The paper: {paper()['figure_6']}"
    return [
        *_compared(section),
        *_rated(section),
        Figure("relations", six, plots.relations(section), _missing("relations")),
        *_guessed(section),
        *(_declined(section) if section.abstention else ()),
    ]


def _compared(section: Section) -> list[Figure]:
    """Figures 2 and 5."""
    two, five = "Figure 2. Wins in pairs, ties left out", f"Figure 5. {paper()['figure_5']} Here"
    wins, alone = _missing("standings"), _missing("alone")
    if not section.battles:
        return [Figure("wins", f"{two}.", None, wins), Figure("alone", f"{five}:", None, alone)]
    return [
        figure
        for row in section.battles
        for figure in (
            Figure("wins", f"{two}, {row.caption}.", plots.win_matrix(row), wins),
            Figure("alone", f"{five}, {row.caption}.", plots.alone(row), alone),
        )
    ]


def _rated(section: Section) -> list[Figure]:
    """Figures 3 and 4."""
    three, four = "Figure 3. Times with the highest rating, ties included", "Figure 4. Ratings"
    missing = _missing("rated")
    if not section.ratings:
        return [
            Figure("highest", f"{three}.", None, missing),
            Figure("ratings", f"{four}.", None, missing),
        ]
    drawn = []
    for row in section.ratings:
        what, none = f"{row.judge}, {row.caption}", "No question was rated for all systems."
        drawn.append(Figure("highest", f"{three}: {what}.", plots.highest(row), none))
        drawn.append(Figure("ratings", f"{four}: {what}.", plots.distribution(row), missing))
    return drawn


def _guessed(section: Section) -> list[Figure]:
    """Figure 9, one for each performance: of Structured as in the paper, or else of the first that guessed."""
    title = f"Figure 9. Does a good guess go with a good answer? The paper: {paper()['figure_9']}"
    missing = _missing("correlations")
    if not section.correlations:
        return [Figure("guesses", title, None, missing)]
    systems = [row.contender for row in section.correlations]
    chosen = next((name for name in systems if pipeline_of(name) == STRUCTURED), systems[0])
    return [
        Figure(
            "guesses",
            f"{title} Here {layouts.shown(row.pearson, 'number+n')}.",
            plots.guess_scatter(row),
            missing,
        )
        for row in section.correlations
        if row.contender == chosen
    ]


def _declined(section: Section) -> list[Figure]:
    by_system = section.abstention
    errors = ", ".join(f"{name} {interval(each.ece)}" for name, each in by_system.items())
    areas = ", ".join(f"{name} {interval(each.aurc)}" for name, each in by_system.items())
    missing = "Not computed: no row has a label."
    return [
        Figure(
            "reliability",
            f"Reliability of the probability to be answerable; larger dots: more questions. Error: {errors}.",
            plots.reliability(by_system),
            missing,
        ),
        Figure("risk", f"Risk and coverage. AURC: {areas}.", plots.risk_coverage(by_system), missing),
    ]


def _texts(run: Run, section: Section) -> Texts:
    """Questions and best guesses of Table 7, where the records have them."""
    texts: dict[tuple[str, str], tuple[str, str]] = {}
    for system, records in run.by_system(run.results).items():
        wanted = {guess.item_id for guess in section.worst_guesses.get(system, ())}
        for record in records:
            if record.item_id in wanted and record.guesses:
                best = best_guess(record.question, record.guesses)
                said = next(guess for guess in record.guesses if best_guess(record.question, [guess]) == best)
                texts[system, record.item_id] = record.question, said
    return texts


def _missing(name: str) -> str:
    return layouts.layouts("qa")[name].missing


def _opening(summary: QaSummary) -> str:
    return (
        f"Intervals are {summary.level:.0%}: Wilson's for shares, by bootstrap over questions for all else; n is "
        "the number of questions a number rests on. The paper's numbers (Highlight & Summarize, arXiv 2508.02872) "
        "stand in grey or italics beneath ours, without intervals as printed: other questions and other models, so "
        "compare directions, not digits."
    )


def _meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """One line a setting; objects as JSON."""
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        for name, value in meta.items()
    }
