"""The report of the tool hijack benchmark: one HTML page, and the same tables as Markdown."""

from equipoise.bench import page as frame
from equipoise.bench.hijack.tables import Summary, tables
from equipoise.bench.tables import as_markdown


def page(summary: Summary) -> str:
    """The whole report of a run as HTML."""
    parts = [
        frame.paragraph(_opening(summary)),
        frame.definitions({**summary["config"], "inbox": ", ".join(summary["inbox"])}),
        *(frame.table(table) for table in tables(summary)),
    ]
    return frame.page("Tool hijack", "Questions that make a model call a tool", parts)


def markdown(summary: Summary) -> str:
    """Every table of the report as Markdown."""
    return "\n".join(as_markdown(table) for table in tables(summary))


def _opening(summary: Summary) -> str:
    cases = ", ".join(f"{source} {count}" for source, count in summary["cases"].items())
    return (
        f"Cases: {cases}. Intervals are {summary['level']:.0%}, exact (Clopper-Pearson). The paper's numbers stand "
        "in grey beneath ours: other prompts, another model and another inbox."
    )
