"""The report's figures as SVG text: matplotlib draws them, the same bytes for the same numbers.

Each takes rows or the summary and returns an SVG, or None where there is nothing to draw.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.bench.bias import paper, profile
from equipoise.bench.bias.tables import Summary, cells_of
from equipoise.bench.drawing import Axes, svg
from equipoise.bench.results import Row

COLOURS = {profile.BENIGN: "#777777", "adv_neg": "#c1443c", "adv_pos": "#2b6cb0"}
LABELS = {profile.BENIGN: "relevant", "adv_neg": "negative attack", "adv_pos": "positive attack"}


def scatter(rows: Sequence[Row], query_id: str) -> str | None:
    """PS against SS of a question's relevant documents and attack passages."""
    mine = [row for row in rows if row["query_id"] == query_id]

    def draw(axes: Axes) -> None:
        for kind, colour in COLOURS.items():
            found = [row for row in mine if row["kind"] == kind]
            points = [row["ps"] for row in found], [row["ss"] for row in found]
            axes.scatter(*points, s=18, color=colour, label=LABELS[kind], alpha=0.8)
        axes.set(xlabel="PS (polarization score)", ylabel="SS (similarity to the question)", title=query_id)
        axes.legend(frameon=False)

    return svg(draw) if mine else None


def curves(summary: Summary, sign: str) -> str:
    """Adversarial and relevant share by number of injections, with intervals."""
    cells, counts = cells_of(summary["cells"]), [0, *summary["injections"]]
    places = [("none", 0), *((sign, n) for n in summary["injections"])]

    def draw(axes: Axes) -> None:
        for number, name in enumerate(summary["filters"]):
            for measure, style in (("adversarial_share", "-"), ("relevant_share", ":")):
                found = [(n, cells[name, place][measure]) for n, place in zip(counts, places, strict=True)]
                _band(axes, [(n, values) for n, values in found if values], f"C{number}", style)
            axes.plot([], [], color=f"C{number}", label=paper.NAMES.get(name, name))
        axes.set(
            xlabel=f"injected passages ({LABELS[sign]})",
            ylabel=f"share of the top {summary['k']}",
            ylim=(-0.02, 1.02),
            title="adversarial (solid) and relevant (dotted) share",
        )
        axes.legend(frameon=False, fontsize=8)

    return svg(draw)


def share_cdf(summary: Summary) -> str | None:
    """Figure 7: how the adversarial share is distributed over all attacked rows."""
    found = {name: shares for name, shares in summary["share_distribution"].items() if shares}

    def draw(axes: Axes) -> None:
        for name, shares in found.items():
            steps = np.arange(1, len(shares) + 1) / len(shares)
            axes.step(
                [0.0, *shares, 1.0], [0.0, *steps, 1.0], where="post", label=paper.NAMES.get(name, name)
            )
        axes.axhline(0.7, color="#bbbbbb", linestyle="--", linewidth=0.8)
        axes.set(
            xlabel="adversarial share of the top k", ylabel="share of attacked questions", ylim=(0, 1.02)
        )
        axes.legend(frameon=False, fontsize=8)

    return svg(draw) if found else None


def ps_by_stance(rows: Sequence[Row]) -> str | None:
    """Figure 2: PS, centred by question, against stance."""
    labelled = [row for row in rows if row["stance"] is not None]
    middle = {
        query: float(np.mean([row["ps"] for row in labelled if row["query_id"] == query]))
        for query in {row["query_id"] for row in labelled}
    }

    def draw(axes: Axes) -> None:
        nudge = {profile.BENIGN: -0.08, "adv_neg": 0.08, "adv_pos": 0.08}
        for kind, colour in COLOURS.items():
            found = [row for row in labelled if row["kind"] == kind]
            places = [row["stance"] + nudge[kind] for row in found]
            scores = [row["ps"] - middle[row["query_id"]] for row in found]
            axes.scatter(places, scores, s=8, color=colour, alpha=0.4, label=LABELS[kind])
        axes.set(
            xlabel='stance towards "yes" (people for relevant, author for attack)',
            ylabel="PS less the question's mean",
        )
        axes.legend(frameon=False, loc="upper left")

    return svg(draw) if labelled else None


def answer_scatter(summary: Summary) -> str | None:
    """Figure 4: PS of answers against PS of what was retrieved."""
    points = summary["answers"]["points"] if summary["answers"] else []

    def draw(axes: Axes) -> None:
        axes.scatter([p[1] for p in points], [p[2] for p in points], s=10, alpha=0.5)
        axes.set(xlabel="mean PS of the passages kept", ylabel="mean PS of the answers")

    return svg(draw) if points else None


def fact_cdf(summary: Summary) -> str | None:
    """Figure 5: shares of sentences without a verdict, and of supports among verdicts."""
    found: Mapping[str, Mapping[str, Any]] = summary["facts"] or {}

    def draw(axes: Axes) -> None:
        for kind, values in found.items():
            for name, style in (("unknown_shares", "-"), ("support_ratios", ":")):
                ordered = values[name]
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


def _band(axes: Axes, found: Sequence[tuple[int, Mapping[str, float]]], colour: str, style: str) -> None:
    counts = [count for count, _ in found]
    middle, low, high = ([values[name] for _, values in found] for name in ("estimate", "low", "high"))
    axes.plot(counts, middle, style, color=colour, marker=".", markersize=4)
    axes.fill_between(counts, low, high, color=colour, alpha=0.08, linewidth=0)
