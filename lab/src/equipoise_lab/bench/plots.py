"""Figures as SVG text, drawn by matplotlib: what the figures of all benchmarks share."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

import numpy as np

from equipoise.core.errors import MissingExtra
from equipoise.core.plugins import LAB
from equipoise_lab.maths.rates import Estimate

STYLE: Any = {
    "svg.hashsalt": "equipoise",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
}

Axes = Any
"""A matplotlib Axes; the library has its own types, which a core install does not see."""
Draw = Callable[[Axes], None]


def svg(*draws: Draw, size: tuple[float, float] = (5.6, 3.6)) -> str:
    """What each of `draws` puts on axes of `size` inches, beside each other; raises MissingExtra without matplotlib."""
    try:
        import matplotlib as mpl  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("matplotlib", "bench", LAB) from error
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(size[0] * len(draws), size[1]), layout="constrained")
        for draw, axes in zip(draws, figure.subplots(1, len(draws), squeeze=False)[0], strict=True):
            draw(axes)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def steps(axes: Axes, values: Iterable[float], label: str, **how: Any) -> None:  # noqa: ANN401
    """The distribution of values from 0 to 1: the share that is at most x."""
    axes.ecdf(sorted(values), label=label, **how)
    axes.set(xlim=(0, 1), ylim=(0, 1.02))


def intervals(axes: Axes, points: Sequence[tuple[float, Estimate]], label: str) -> None:
    """Estimates at places of the horizontal axis, joined, with their intervals."""
    values = [value.value for _, value in points]
    reach = [
        [value.value - value.low for _, value in points],
        [value.high - value.value for _, value in points],
    ]
    axes.errorbar([x for x, _ in points], values, np.maximum(reach, 0), marker="o", markersize=3, label=label)


def stacked(
    names: Collection[str],
    shares: Mapping[str, Sequence[float]],
    colours: Sequence[Any],
    xlabel: str,
    title: str = "",
) -> str:
    """Stacked horizontal bars as SVG, one a name, one part a label."""

    def draw(axes: Axes) -> None:
        left = np.zeros(len(names))
        for (label, parts), colour in zip(shares.items(), colours, strict=True):
            axes.barh(range(len(names)), parts, left=left, label=label, color=colour)
            left += np.array(parts)
        rows(axes, list(names))
        axes.set(xlim=(0, 1), xlabel=xlabel, title=title)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return svg(draw, size=tall(len(names)))


def rows(axes: Axes, names: Sequence[str]) -> None:
    """Names at 0, 1, 2 and so on, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def tall(count: int) -> tuple[float, float]:
    """A size for so many rows."""
    return 5.6, max(1.8, 0.9 + 0.45 * count)


def scatter(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str,
    ylabel: str,
    colours: Sequence[str | None] = (),
    **how: Any,  # noqa: ANN401
) -> str:
    """Points of several series as SVG, each with a colour."""

    def draw(axes: Axes) -> None:
        for number, (label, (xs, ys)) in enumerate(series.items()):
            axes.scatter(xs, ys, label=label, color=colours[number] if colours else None, **how)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.legend()

    return svg(draw)
