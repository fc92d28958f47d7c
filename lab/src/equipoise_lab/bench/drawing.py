"""Figures as SVG text: matplotlib draws them, the same bytes for the same numbers."""

from collections.abc import Callable
from io import StringIO
from typing import Any

from equipoise.core.errors import MissingExtra
from equipoise.core.plugins import LAB

STYLE: dict[str, Any] = {
    "svg.hashsalt": "equipoise",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

Axes = Any
"""A matplotlib Axes; the library has its own types, which a core install does not see."""


def svg(draw: Callable[[Axes], None], size: tuple[float, float] = (5.6, 3.6)) -> str:
    """What `draw` puts on new axes of `size` inches; raises MissingExtra without matplotlib."""
    figure_class, style = _matplotlib()
    with style(STYLE):
        figure = figure_class(figsize=size, layout="constrained")
        draw(figure.subplots())
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib as mpl  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("matplotlib", "bench", LAB) from error
    return Figure, mpl.rc_context
