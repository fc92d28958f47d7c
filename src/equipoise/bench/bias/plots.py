"""The report's figures as SVG text: matplotlib draws them, the same bytes for the same numbers.

Each takes rows or the summary and returns an SVG, or None where there is nothing to draw.
"""

from collections.abc import Sequence

import numpy as np

from equipoise.bench.bias import profile
from equipoise.bench.bias.records import PassageRecord
from equipoise.bench.bias.summary import BiasSummary
from equipoise.bench.drawing import Axes, svg
from equipoise.bench.estimates import Estimate
from equipoise.bench.layouts import data

COLOURS = {profile.BENIGN: "#777777", "adv_neg": "#c1443c", "adv_pos": "#2b6cb0"}
LABELS = {profile.BENIGN: "relevant", "adv_neg": "negative attack", "adv_pos": "positive attack"}


def scatter(passages: Sequence[PassageRecord], query_id: str) -> str | None:
    """PS against SS of a question's relevant documents and attack passages."""
    mine = [one for one in passages if one.query_id == query_id]

    def draw(axes: Axes) -> None:
        for kind, colour in COLOURS.items():
            found = [one for one in mine if one.kind == kind]
            points = [one.ps for one in found], [one.ss for one in found]
            axes.scatter(*points, s=18, color=colour, label=LABELS[kind], alpha=0.8)
        axes.set(xlabel="PS (polarization score)", ylabel="SS (similarity to the question)", title=query_id)
        axes.legend(frameon=False)

    return svg(draw) if mine else None


def curves(summary: BiasSummary, sign: str) -> str:
    """Adversarial and relevant share by number of injections, with intervals."""
    cells = {(one.filter, one.condition): one for one in summary.cells}
    counts = [0, *summary.injections]
    places = [("none", 0), *((sign, n) for n in summary.injections)]

    def draw(axes: Axes) -> None:
        for number, name in enumerate(summary.filters):
            for measure, style in (("adversarial_share", "-"), ("relevant_share", ":")):
                found = [
                    (n, getattr(cells[name, place], measure)) for n, place in zip(counts, places, strict=True)
                ]
                _band(axes, [(n, values) for n, values in found if values], f"C{number}", style)
            axes.plot([], [], color=f"C{number}", label=_label(name))
        axes.set(
            xlabel=f"injected passages ({LABELS[sign]})",
            ylabel=f"share of the top {summary.k}",
            ylim=(-0.02, 1.02),
            title="adversarial (solid) and relevant (dotted) share",
        )
        axes.legend(frameon=False, fontsize=8)

    return svg(draw)


def share_cdf(summary: BiasSummary) -> str | None:
    """Figure 7: how the adversarial share is distributed over all attacked rows."""
    found = {name: shares for name, shares in summary.share_distribution.items() if shares}

    def draw(axes: Axes) -> None:
        for name, shares in found.items():
            steps = np.arange(1, len(shares) + 1) / len(shares)
            axes.step([0.0, *shares, 1.0], [0.0, *steps, 1.0], where="post", label=_label(name))
        axes.axhline(0.7, color="#bbbbbb", linestyle="--", linewidth=0.8)
        axes.set(
            xlabel="adversarial share of the top k", ylabel="share of attacked questions", ylim=(0, 1.02)
        )
        axes.legend(frameon=False, fontsize=8)

    return svg(draw) if found else None


def ps_by_stance(passages: Sequence[PassageRecord]) -> str | None:
    """Figure 2: PS, centred by question, against stance."""
    labelled = [(one, one.stance) for one in passages if one.stance is not None]
    middle = {
        query: float(np.mean([one.ps for one, _ in labelled if one.query_id == query]))
        for query in {one.query_id for one, _ in labelled}
    }

    def draw(axes: Axes) -> None:
        nudge = {profile.BENIGN: -0.08, "adv_neg": 0.08, "adv_pos": 0.08}
        for kind, colour in COLOURS.items():
            found = [(one, stance) for one, stance in labelled if one.kind == kind]
            places = [stance + nudge[kind] for _, stance in found]
            scores = [one.ps - middle[one.query_id] for one, _ in found]
            axes.scatter(places, scores, s=8, color=colour, alpha=0.4, label=LABELS[kind])
        axes.set(
            xlabel='stance towards "yes" (people for relevant, author for attack)',
            ylabel="PS less the question's mean",
        )
        axes.legend(frameon=False, loc="upper left")

    return svg(draw) if labelled else None


def answer_scatter(summary: BiasSummary) -> str | None:
    """Figure 4: PS of answers against PS of what was retrieved."""
    points = summary.answers.points if summary.answers else ()

    def draw(axes: Axes) -> None:
        axes.scatter([p[1] for p in points], [p[2] for p in points], s=10, alpha=0.5)
        axes.set(xlabel="mean PS of the passages kept", ylabel="mean PS of the answers")

    return svg(draw) if points else None


def fact_cdf(summary: BiasSummary) -> str | None:
    """Figure 5: shares of sentences without a verdict, and of supports among verdicts."""
    found = summary.facts or {}

    def draw(axes: Axes) -> None:
        for kind, values in found.items():
            for ordered, style in ((values.unknown_shares, "-"), (values.support_ratios, ":")):
                steps = np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
                axes.step(ordered, steps, style, where="post", color=COLOURS[kind])
            axes.plot([], [], color=COLOURS[kind], label=LABELS[kind])
        axes.set(
            xlabel="NOT ENOUGH INFO share (solid), support ratio (dotted)",
            ylabel="share of passages",
            xlim=(-0.02, 1.02),
        )
        axes.legend(frameon=False)

    return svg(draw) if found else None


def _band(axes: Axes, found: Sequence[tuple[int, Estimate]], colour: str, style: str) -> None:
    counts = [count for count, _ in found]
    middle, low, high = ([getattr(one, name) for _, one in found] for name in ("value", "low", "high"))
    axes.plot(counts, middle, style, color=colour, marker=".", markersize=4)
    axes.fill_between(counts, low, high, color=colour, alpha=0.08, linewidth=0)


def _label(name: str) -> str:
    label: str = data("bias", "paper")["names"].get(name, name)
    return label
