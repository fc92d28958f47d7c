"""Figures 2 to 6 and 9 and those of declining, as SVG; None where there is nothing to draw."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise_lab.bench.drawing import Axes, svg
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.qa.reporting.abstention import Abstention
from equipoise_lab.bench.qa.reporting.battles import Battle
from equipoise_lab.bench.qa.reporting.measures import RELATIONS
from equipoise_lab.bench.qa.reporting.ratings import Correlation, Rating
from equipoise_lab.bench.qa.reporting.summary import Section

COLOURS = ("#2b6cb0", "#63a4d8", "#b7d3ea", "#d9d9d9", "#c1443c")
KINDS = {"pipeline": "pipeline", "tie": "tie", "neither": "neither", "highlights": "highlights alone"}
CONTAINS = {
    "both": "equal",
    "superstring": "contain the passage",
    "substring": "lie within it",
    "neither": "neither",
    "nothing": "no highlights",
}


def win_matrix(battle: Battle) -> str | None:
    """Figure 2: wins of the row over the column."""
    matrix = battle.matrix
    names = list(matrix)

    def draw(axes: Axes) -> None:
        wins = np.array(
            [[matrix[me][other].wins if other in matrix[me] else np.nan for other in names] for me in names]
        )
        axes.imshow(wins, cmap="Blues", vmin=0)
        for row, me in enumerate(names):
            for column, other in enumerate(names):
                if other in matrix[me]:
                    dark = wins[row, column] > 0.6 * np.nanmax(wins)
                    text = str(matrix[me][other].wins)
                    axes.text(column, row, text, ha="center", va="center", color="white" if dark else "black")
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="loses to the row", ylabel="wins over the column")

    return svg(draw, _size(len(names))) if names else None


def highest(rating: Rating) -> str | None:
    """Figure 3: times with the highest rating, ties included, with intervals."""
    wins, n = rating.highest.wins, rating.highest.n

    def draw(axes: Axes) -> None:
        for place, win in enumerate(wins.values()):
            share = Estimate.of(win.share)
            axes.barh(place, win.count, color=COLOURS[0], alpha=0.8)
            if share:
                axes.plot([share.low * n, share.high * n], [place, place], color="black", linewidth=1)
        _names(axes, list(wins))
        axes.set(xlabel=f"highest rating of all, of {n} questions", title=rating.judge)

    return svg(draw, _size(len(wins))) if n else None


def distribution(rating: Rating) -> str | None:
    """Figure 4: how often each rating was given, as shares."""
    given = {name: counts for name, counts in rating.distribution.items() if counts}
    values = sorted({value for counts in given.values() for value in counts}, key=float)

    def draw(axes: Axes) -> None:
        shades = _shades(len(values))
        shares = {
            value: [counts.get(value, 0) / sum(counts.values()) for counts in given.values()]
            for value in values
        }
        _stack(axes, list(given), shares, shades)
        axes.set(xlabel="share of answers", title=rating.judge)

    return svg(draw, _size(len(given))) if given else None


def alone(battle: Battle) -> str | None:
    """Figure 5: the pipeline, or its highlighter alone."""
    preferences = battle.alone

    def draw(axes: Axes) -> None:
        shares = {
            label: [getattr(each, kind).value for each in preferences.values()]
            for kind, label in KINDS.items()
        }
        _stack(axes, list(preferences), shares, [COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[4]])
        axes.set(xlabel="share of questions")

    return svg(draw, _size(len(preferences))) if preferences else None


def relations(section: Section) -> str | None:
    """Figure 6: highlights that contain the gold passage or lie in it."""
    by_system = section.relations

    def draw(axes: Axes) -> None:
        shares = {
            CONTAINS[kind]: [getattr(each, kind) / each.n for each in by_system.values()]
            for kind in RELATIONS
        }
        _stack(axes, list(by_system), shares, COLOURS)
        axes.set(xlabel="share of questions with a gold passage")

    return svg(draw, _size(len(by_system))) if by_system else None


def guess_scatter(correlation: Correlation) -> str | None:
    """Figure 9: performance against K-precision of the guess; the size of a dot is how many lie there."""
    places = correlation.points

    def draw(axes: Axes) -> None:
        xs, ys, counts = zip(*places, strict=True)
        axes.scatter(xs, ys, s=[14 * count for count in counts], alpha=0.5, color=COLOURS[0])
        axes.set(
            xlabel="K-precision of the best guess",
            ylabel=correlation.performance,
            title=correlation.contender,
        )

    return svg(draw) if places else None


def reliability(abstention: Mapping[str, Abstention]) -> str | None:
    """Frequency of answerable questions against the probability given; larger dots are bins of more questions."""
    by_system = {name: each.bins for name, each in abstention.items() if each.bins}

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linestyle="--", linewidth=0.8)
        for number, (name, bins) in enumerate(by_system.items()):
            xs, ys = [each.confidence for each in bins], [each.frequency for each in bins]
            axes.plot(xs, ys, color=f"C{number}", label=name)
            axes.scatter(xs, ys, s=[4 + each.n for each in bins], color=f"C{number}", alpha=0.6)
        axes.set(
            xlabel="probability that it can be answered", ylabel="share that can", xlim=(0, 1), ylim=(0, 1.02)
        )
        axes.legend(frameon=False, fontsize=8)

    return svg(draw) if by_system else None


def risk_coverage(abstention: Mapping[str, Abstention]) -> str | None:
    """Share of wrong answers against the share answered, most confident first."""
    curves = {name: each.risk_coverage for name, each in abstention.items() if each.risk_coverage}

    def draw(axes: Axes) -> None:
        for number, (name, curve) in enumerate(curves.items()):
            axes.plot([c for c, _ in curve], [r for _, r in curve], color=f"C{number}", label=name)
        axes.set(xlabel="coverage", ylabel="share of wrong answers", xlim=(0, 1), ylim=(0, 1.02))
        axes.legend(frameon=False, fontsize=8)

    return svg(draw) if curves else None


def _stack(
    axes: Axes, names: Sequence[str], shares: Mapping[str, Sequence[float]], colours: Sequence[Any]
) -> None:
    """Stacked horizontal bars, one a name, one part a label."""
    left = np.zeros(len(names))
    for (label, parts), colour in zip(shares.items(), colours, strict=True):
        axes.barh(range(len(names)), parts, left=left, color=colour, label=label)
        left = left + np.array(parts)
    _names(axes, names)
    axes.set_xlim(0, 1)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _names(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def _shades(count: int) -> list[tuple[float, float, float]]:
    """From red for the lowest to blue for the highest rating."""
    low, high = np.array([0.76, 0.27, 0.24]), np.array([0.17, 0.42, 0.69])
    steps = np.linspace(0, 1, count) if count > 1 else np.ones(count)
    return [tuple((1 - step) * low + step * high) for step in steps]


def _size(rows: int) -> tuple[float, float]:
    return 5.6, max(1.8, 0.9 + 0.45 * rows)
