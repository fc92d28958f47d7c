"""The report: one HTML page that needs nothing but itself, and the same tables as Markdown."""

from collections.abc import Sequence

from equipoise.bench import page as html
from equipoise.bench.bias import paper, plots
from equipoise.bench.bias.tables import Summary, tables
from equipoise.bench.page import Figure
from equipoise.bench.results import Row
from equipoise.bench.tables import Line, Table, as_markdown, interval

NO_STANCE = "Not computed: the corpus has no human stance labels (stance.tsv)."
NO_ANSWERS = "Not computed: no language model answered in this run (--llm)."
NO_FACTS = "Not computed: no fact checker was named (--facts)."


def page(summary: Summary, drawn: Sequence[Figure]) -> str:
    """The whole report of a run as HTML, with its figures inside."""
    parts = [
        html.paragraph(_opening(summary)),
        html.definitions(summary["config"]),
        *(html.table(table) for table in tables(summary)),
        html.table(stance_table(summary)),
        html.table(fact_table(summary)),
        "<h2>Figures</h2>",
        *(html.figure(figure) for figure in drawn),
    ]
    return html.page("Bias benchmark", "Passages planted to crowd out other views", parts)


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
