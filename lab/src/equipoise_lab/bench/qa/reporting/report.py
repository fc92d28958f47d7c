"""The report: summary, the tables as Markdown, and figures."""

from pathlib import Path

from equipoise_lab.bench import output
from equipoise_lab.bench.qa.reporting import recorded
from equipoise_lab.bench.qa.reporting.figures import figures
from equipoise_lab.bench.qa.reporting.summary import QaSummary, summarise
from equipoise_lab.bench.qa.reporting.tables import tables
from equipoise_lab.bench.tables import as_markdown

TITLE = "Questions answered over documents"


def write(folder: Path) -> QaSummary:
    """Write summary.json and tables.md beside the files of a run; the summary.

    Works on runs without judges, comparisons, guesses or timings, and on records without text (`without_text`).
    The same files give the same bytes. Raises InputError for a folder without results or a file that cannot be
    read, MissingExtra without scipy.
    """
    summary = summarise(recorded.read(folder))
    output.write(folder, summary, markdown(summary))
    return summary


def draw(folder: Path, summary: QaSummary) -> None:
    """Write the figures of each data set into the folder `figures`. Raises MissingExtra without matplotlib."""
    for name, section in summary.datasets.items():
        output.write_figures(folder, {f"{name}-{figure}": svg for figure, svg in figures(section)})


def markdown(summary: QaSummary) -> str:
    """Every table as Markdown, ids instead of texts."""
    rows = [f"# {TITLE}", "", _opening(summary), ""]
    for name, section in summary.datasets.items():
        rows += [f"## {name}", "", *(as_markdown(table) for table in tables(name, section))]
    return "\n".join(rows)


def _opening(summary: QaSummary) -> str:
    return (
        f"Intervals are {summary.level:.0%}: Wilson's for shares, by bootstrap over questions for all else; n is "
        "the number of questions a number rests on. The paper's numbers (Highlight & Summarize, arXiv 2508.02872) "
        "stand in grey or italics beneath ours, without intervals as printed: other questions and other models, so "
        "compare directions, not digits."
    )
