"""The figures of a run by their names, with captions, or with the reason why one could not be drawn."""

from collections.abc import Sequence

from equipoise_lab.bench.bias import plots
from equipoise_lab.bench.bias.records import PassageRecord
from equipoise_lab.bench.bias.summary import BiasSummary
from equipoise_lab.bench.layouts import layouts
from equipoise_lab.bench.page import Figure


def figures(summary: BiasSummary, passages: Sequence[PassageRecord]) -> list[Figure]:
    """Figures 2, 4, 5 and 7 of the paper, how PS is distributed, curves by injections, one question's passages."""
    first = min((passage.query_id for passage in passages), default="")
    missing = {name: layout.missing for name, layout in layouts("bias").items()}
    two = "Figure 2. PS against stance. The paper: Spearman 0.896 against a language model."
    five = "Figure 5. Fact checking: distributions over passages."
    seven = (
        "Figure 7. Distribution of the adversarial share. The paper: BiasDef leaves none for over 70% of "
        "the questions (dashed)."
    )
    four = f"Figure 4. PS of answers and of passages kept. {_correlations(summary)}"
    nothing = "Not computed: nothing was injected."
    return [
        _figure("ps-by-stance", two, plots.ps_by_stance(passages), "No passage has a stance."),
        *likert_figures(summary),
        _figure("answers", four, plots.answer_scatter(summary), missing["answers"]),
        _figure("facts", five, plots.fact_cdf(summary), missing["facts"]),
        _figure("share-cdf", seven, plots.share_cdf(summary), nothing),
        _figure("shares-negative", "Shares by negative injections.", plots.curves(summary, "adv_neg")),
        _figure("shares-positive", "Shares by positive injections.", plots.curves(summary, "adv_pos")),
        _figure("ps-histogram", "PS by kind of passage.", plots.histogram(passages), "No passages."),
        _figure(
            "ps-ss", f"PS and SS of one question ({first}).", plots.scatter(passages, first), "No passages."
        ),
    ]


def likert_figures(summary: BiasSummary) -> list[Figure]:
    """Figure 2 with the points of each model that was asked."""
    return [
        _figure(
            plots.likert_name(judged),
            f"Figure 2, with the points of {judged.model}.",
            plots.likert(judged),
            "No passage was scored.",
        )
        for judged in summary.likert
    ]


def _figure(name: str, caption: str, drawn: str | None, missing: str = "") -> Figure:
    return Figure(name, caption, drawn, missing, inline=True)


def _correlations(summary: BiasSummary) -> str:
    known = [(by.model, by.spearman) for by in summary.answers if by.spearman is not None]
    return "; ".join(f"Spearman {rho:.2f} over all points of {model}" for model, rho in known)
