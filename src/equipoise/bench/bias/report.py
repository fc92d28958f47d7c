"""The report: one HTML page that needs nothing but itself, and the same tables as Markdown."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from equipoise.bench.bias import paper, plots
from equipoise.bench.bias.tables import Line, Summary, Table, as_markdown, interval, tables
from equipoise.bench.results import Row

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.86rem}
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid #e4e4e4}
th:first-child,td:first-child{text-align:left}thead th{border-bottom:2px solid #999}
tr.paper{color:#8a8a8a;font-style:italic}.note{color:#555;font-size:.86rem;max-width:60rem}
.missing{color:#8a4b00}figure{display:inline-block;margin:1rem 1rem 1rem 0;max-width:34rem}
figcaption{font-size:.86rem;color:#333}img{width:100%;height:auto}dl{display:grid;grid-template-columns:auto 1fr}
dt{color:#666;padding-right:1rem}dd{margin:0}
"""

NO_STANCE = "Not computed: the corpus has no human stance labels (stance.tsv)."
NO_ANSWERS = "Not computed: no language model answered in this run (--llm)."
NO_FACTS = "Not computed: no fact checker was named (--facts)."


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by a name for its file; `svg` is None where it could not be drawn, for the reason `missing`."""

    name: str
    caption: str
    svg: str | None
    missing: str


def page(summary: Summary, drawn: Sequence[Figure]) -> str:
    """The whole report of a run as HTML, with its figures inside."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Bias benchmark</title>",
        f"<style>{STYLE}</style></head><body><h1>Passages planted to crowd out other views</h1>",
        f"<p>{escape(_opening(summary))}</p>",
        _definitions(summary),
        *(_table(table) for table in tables(summary)),
        _table(stance_table(summary)),
        _table(fact_table(summary)),
        "<h2>Figures</h2>",
        *(_figure(figure) for figure in drawn),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def markdown(summary: Summary) -> str:
    """Every table of the report as Markdown."""
    rows = [as_markdown(table) for table in tables(summary)]
    return "\n".join([*rows, as_markdown(stance_table(summary)), as_markdown(fact_table(summary))])


def stance_table(summary: Summary) -> Table:
    """Figure 2 in numbers: how PS agrees with stance."""
    found = summary["stance"]
    named = {
        "anchors": "human stance, axis of the synthetic passages (signed)",
        "own_axis": "human stance, first component of the labelled passages (size)",
        "random": "human stance, random directions (size)",
        "own_axis_auc": "AUC for against con, first component",
        "random_auc": "AUC for against con, random directions",
        "by_author": "attack passages, their author's stance, axis of the synthetic passages (signed)",
    }
    lines = [Line(label, (interval(found.get(name)),)) for name, label in named.items()]
    lines.append(Line("Spearman with a language model's 7 points", (f"{paper.SPEARMAN:.3f}",), paper=True))
    missing = "" if found.get("queries") else NO_STANCE
    note = (
        f"{found.get('queries', 0)} questions with at least 4 labelled passages on both sides; the others "
        f"({found.get('left_out', 0)}) cannot show a rank correlation."
    )
    return Table("Figure 2 in numbers. Spearman of PS with stance", ("", ""), tuple(lines), note, missing)


def fact_table(summary: Summary) -> Table:
    """Figure 5 in numbers: sentences without a verdict, and supports among verdicts, by kind of passage."""
    found = summary["facts"] or {}
    lines = []
    for kind, printed in paper.FACTS.items():
        if kind in found:
            lines.append(Line(kind, tuple(interval(found[kind][name]) for name in ("unknown", "support"))))
        lines.append(Line(kind, tuple(f"{printed[name]:.2f}" for name in ("unknown", "support")), paper=True))
    head = ("", "NOT ENOUGH INFO", "SUPPORTS / (SUPPORTS + REFUTES)")
    title = "Figure 5 in numbers. Fact checking sentence by sentence"
    return Table(title, head, tuple(lines), "Means over passages.", "" if found else NO_FACTS)


def figures(summary: Summary, profiles: Sequence[Row]) -> list[Figure]:
    """Figures 2, 4, 5 and 7 of the paper, curves by injections, and one question's passages."""
    first = min((row["query_id"] for row in profiles), default="")
    answers = summary["answers"] or {}
    rho = f"Spearman {answers['spearman']:.2f} over all points" if answers.get("spearman") is not None else ""
    return [
        Figure(
            "ps-by-stance",
            "Figure 2. PS against stance. The paper: Spearman 0.896 against a language model.",
            plots.ps_by_stance(profiles),
            NO_STANCE,
        ),
        Figure(
            "answers",
            f"Figure 4. PS of answers and of passages kept. {rho}",
            plots.answer_scatter(summary),
            NO_ANSWERS,
        ),
        Figure(
            "facts",
            "Figure 5. Fact checking: distributions over passages.",
            plots.fact_cdf(summary),
            NO_FACTS,
        ),
        Figure(
            "share-cdf",
            "Figure 7. Distribution of the adversarial share. The paper: BiasDef leaves none for over 70% of "
            "the questions (dashed).",
            plots.share_cdf(summary),
            "Not computed: nothing was injected.",
        ),
        Figure("shares-negative", "Shares by negative injections.", plots.curves(summary, "adv_neg"), ""),
        Figure("shares-positive", "Shares by positive injections.", plots.curves(summary, "adv_pos"), ""),
        Figure(
            "ps-ss", f"PS and SS of one question ({first}).", plots.scatter(profiles, first), "No passages."
        ),
    ]


def _opening(summary: Summary) -> str:
    return (
        f"{summary['queries']} questions, top {summary['k']}; intervals are {summary['level']:.0%}, by bootstrap "
        "over questions. The paper's numbers stand in grey beneath ours: another corpus, encoder and number "
        "of questions, so compare directions, not digits."
    )


def _definitions(summary: Summary) -> str:
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in summary["config"].items())
    return f"<dl>{rows}</dl>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    body = "".join(_line(line) for line in table.lines)
    missing = f"<p class='missing'>{escape(table.missing)}</p>" if table.missing else ""
    note = f"<p class='note'>{escape(table.note)}</p>" if table.note else ""
    grid = f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    return f"<h2>{escape(table.title)}</h2>{missing}{grid if table.lines else ''}{note}"


def _line(line: Line) -> str:
    label = f"{line.label} (paper)" if line.paper else line.label
    cells = "".join(f"<td>{escape(value)}</td>" for value in line.cells)
    return f"<tr{' class=paper' if line.paper else ''}><td>{escape(label)}</td>{cells}</tr>"


def _figure(figure: Figure) -> str:
    text = f"<figcaption>{escape(figure.caption)}</figcaption>"
    if figure.svg is None:
        return f"<figure>{text}<p class='missing'>{escape(figure.missing)}</p></figure>"
    data = b64encode(figure.svg.encode("utf-8")).decode("ascii")
    return f"<figure><img alt='{escape(figure.name)}' src='data:image/svg+xml;base64,{data}'>{text}</figure>"
