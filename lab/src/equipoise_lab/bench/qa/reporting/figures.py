"""Figures 2 to 6 and 9 of the paper as SVG, each where there is something to draw."""

from collections.abc import Iterator

import numpy as np

from equipoise_lab.bench import plots
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.plots import Axes
from equipoise_lab.bench.qa.reporting.battles import Battle
from equipoise_lab.bench.qa.reporting.measures import RELATIONS
from equipoise_lab.bench.qa.reporting.ratings import Correlation, Rating
from equipoise_lab.bench.qa.reporting.summary import Section

COLOURS = ("#2b6cb0", "#63a4d8", "#b7d3ea", "#d9d9d9", "#c1443c")
KINDS = {"pipeline": "pipeline", "tie": "tie", "neither": "neither", "highlights": "highlights alone"}
CONTAINS = ("equal", "contain the passage", "lie within it", "neither", "no highlights")


def figures(section: Section) -> Iterator[tuple[str, str]]:
    """(name, SVG) of all that can be drawn of a data set."""
    for number, battle in enumerate(section.battles):
        if battle.matrix:
            yield f"2-wins-{number}", _wins(battle)
        if battle.alone:
            yield f"5-alone-{number}", _alone(battle)
    for rating in section.ratings:
        name = f"{rating.judge}-{rating.model.replace('/', '-')}"
        if rating.highest.n:
            yield f"3-highest-{name}", _highest(rating)
        if any(rating.distribution.values()):
            yield f"4-ratings-{name}", _ratings(rating)
    if section.relations:
        yield "6-relations", _relations(section)
    for row in section.correlations:
        yield f"9-{row.contender}-{row.performance}".replace(" ", "-").replace("/", "-"), _guesses(row)


def _wins(battle: Battle) -> str:
    """Wins of the row over the column."""
    matrix, names = battle.matrix, list(battle.matrix)

    def draw(axes: Axes) -> None:
        wins = np.array(
            [[matrix[me][other].wins if other in matrix[me] else np.nan for other in names] for me in names]
        )
        axes.imshow(wins, cmap="Blues", vmin=0, vmax=1.6 * np.nanmax(wins))
        for (row, column), count in np.ndenumerate(wins):
            if not np.isnan(count):
                axes.text(column, row, f"{count:.0f}", ha="center", va="center")
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="loses to the row", ylabel="wins over the column", title=battle.caption)

    return plots.svg(draw, size=plots.tall(len(names)))


def _highest(rating: Rating) -> str:
    """Times with the highest rating, ties included, with intervals."""
    wins, n = rating.highest.wins, rating.highest.n

    def draw(axes: Axes) -> None:
        for place, win in enumerate(wins.values()):
            axes.barh(place, win.count, color=COLOURS[0], alpha=0.8)
            if share := Estimate.of(win.share):
                axes.plot([share.low * n, share.high * n], [place, place], color="black", linewidth=1)
        plots.rows(axes, list(wins))
        axes.set(xlabel=f"highest rating of all, of {n} questions", title=rating.judge)

    return plots.svg(draw, size=plots.tall(len(wins)))


def _ratings(rating: Rating) -> str:
    """How often each rating was given, as shares, from red for the lowest to blue for the highest."""
    given = {name: counts for name, counts in rating.distribution.items() if counts}
    values = sorted({value for counts in given.values() for value in counts}, key=float)
    shares = {
        value: [counts.get(value, 0) / sum(counts.values()) for counts in given.values()] for value in values
    }
    low, high = np.array([0.76, 0.27, 0.24]), np.array([0.17, 0.42, 0.69])

    def draw(axes: Axes) -> None:
        shades = [tuple((1 - step) * low + step * high) for step in np.linspace(0, 1, len(values))]
        plots.stack(axes, list(given), shares, shades)
        axes.set(xlabel="share of answers", title=rating.judge)

    return plots.svg(draw, size=plots.tall(len(given)))


def _alone(battle: Battle) -> str:
    """The pipeline, or its highlighter alone."""
    shares = {label: [getattr(e, kind).value for e in battle.alone.values()] for kind, label in KINDS.items()}

    def draw(axes: Axes) -> None:
        plots.stack(axes, list(battle.alone), shares, [COLOURS[0], *COLOURS[2:]])
        axes.set(xlabel="share of questions", title=battle.caption)

    return plots.svg(draw, size=plots.tall(len(battle.alone)))


def _relations(section: Section) -> str:
    """Highlights that contain the gold passage or lie in it."""
    by = section.relations
    shares = {
        label: [getattr(each, kind) / each.n for each in by.values()]
        for kind, label in zip(RELATIONS, CONTAINS, strict=True)
    }

    def draw(axes: Axes) -> None:
        plots.stack(axes, list(by), shares, COLOURS)
        axes.set(xlabel="share of questions with a gold passage")

    return plots.svg(draw, size=plots.tall(len(by)))


def _guesses(correlation: Correlation) -> str:
    """Performance against K-precision of the guess; the size of a dot is how many lie there."""

    def draw(axes: Axes) -> None:
        xs, ys, counts = zip(*correlation.points, strict=True)
        axes.scatter(xs, ys, s=[14 * count for count in counts], alpha=0.5, color=COLOURS[0])
        axes.set(
            xlabel="K-precision of the best guess",
            ylabel=correlation.performance,
            title=correlation.contender,
        )

    return plots.svg(draw)
