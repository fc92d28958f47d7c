"""Figures as SVG text, written here and by no library: the same bytes for the same numbers, on every machine.

A chart is panels beside each other, each with two axes and marks in the order they are drawn, and one key beneath. It
says what it shows (`title`) and what comes out (`text`) to those who cannot see it, has colours of its own for light
and dark surroundings, and tells series apart by dashes too. It needs nothing else, as a file and inside a page alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

XMLNS = ' xmlns="http://www.w3.org/2000/svg"'
"""What a file needs and a page does not."""

LIGHT = ("#0b61a4", "#b83a1b", "#1b7f4d", "#7b3fa0", "#9a5b00", "#00707f", "#b0307a", "#555555", "#2f4fd0")
DARK = ("#6fb1f0", "#ff8a6b", "#5fd39a", "#cfa4f5", "#ffbe5c", "#4fd3e0", "#f58cc6", "#b5b5b5", "#a0b0ff")
DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 3", "12 4", "4 2 1 2", "8 2", "3 6")
GREY = 7
"""The number of the colour for what stands in the background."""

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320, 230, 46, 14, 58, 42
ROW, LETTER, SAMPLE, GAP = 17, 6.0, 30, 16
"""Of the key: height of a row, width of a letter on average, of a sample of a line, and between two entries."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, with what stands at each tick."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


def scale(label: str, low: float, high: float, step: float, form: str = "g") -> Axis:
    """An axis with a tick every `step`. Worked value: 0 to 1 every .5 has ticks at 0, 0.5 and 1."""
    count = round((high - low) / step)
    values = [low + number * step for number in range(count + 1)]
    return Axis(label, low, high, tuple((value, f"{round(value, 9) + 0.0:{form}}") for value in values))


def bare(axis: Axis) -> Axis:
    """The axis without its words, for a panel that stands beside another one with them."""
    return Axis("", axis.low, axis.high, tuple((value, "") for value, _ in axis.ticks))


def names(label: str, words: Sequence[str]) -> Axis:
    """An axis of words, at 0, 1, 2 and so on."""
    return Axis(label, -0.5, len(words) - 0.5, tuple((float(at), word) for at, word in enumerate(words)))


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a panel's values are in the drawing."""

    left: float
    top: float
    width: float
    height: float
    horizontal: Axis
    vertical: Axis

    def x(self, value: float) -> str:
        """The place of a value of the horizontal axis."""
        share = (value - self.horizontal.low) / (self.horizontal.high - self.horizontal.low)
        return _number(self.left + share * self.width)

    def y(self, value: float) -> str:
        """The place of a value of the vertical axis, which points up."""
        share = (value - self.vertical.low) / (self.vertical.high - self.vertical.low)
        return _number(self.top + (1 - share) * self.height)


class Mark(Protocol):
    """Something that a panel shows."""

    def svg(self, frame: Frame) -> str:
        """Its drawing."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; with `steps` a value holds until the next one."""

    points: Sequence[Point]
    colour: int
    steps: bool = False

    def svg(self, frame: Frame) -> str:
        """See Mark."""
        parts = [f"M{frame.x(self.points[0][0])} {frame.y(self.points[0][1])}"]
        for x, y in self.points[1:]:
            parts.append(f"H{frame.x(x)}V{frame.y(y)}" if self.steps else f"L{frame.x(x)} {frame.y(y)}")
        return f'<path class="q-s{self.colour}" d="{"".join(parts)}"{_dashed(self.colour)}/>'


@dataclass(frozen=True, slots=True)
class Dots:
    """Points; `faint` ones lie over each other."""

    points: Sequence[Point]
    colour: int
    size: float = 5
    faint: bool = False

    def svg(self, frame: Frame) -> str:
        """See Mark."""
        path = "".join(f"M{frame.x(x)} {frame.y(y)}h0" for x, y in self.points)
        faint = ' stroke-opacity=".45"' if self.faint else ""
        return (
            f'<path class="q-s{self.colour}" d="{path}" stroke-width="{_number(self.size)}" '
            f'stroke-linecap="round"{faint}/>'
        )


@dataclass(frozen=True, slots=True)
class Whiskers:
    """Intervals (place, low, high), upright, or `across` the panel."""

    bars: Sequence[tuple[float, float, float]]
    colour: int
    across: bool = False

    def svg(self, frame: Frame) -> str:
        """See Mark."""
        if self.across:
            path = "".join(f"M{frame.x(low)} {frame.y(at)}H{frame.x(high)}" for at, low, high in self.bars)
        else:
            path = "".join(f"M{frame.x(at)} {frame.y(low)}V{frame.y(high)}" for at, low, high in self.bars)
        return f'<path class="q-s{self.colour}" d="{path}" stroke-width="1.2" stroke-opacity=".7"/>'


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the panel at a value of the vertical axis, or upright at one of the horizontal axis."""

    value: float
    upright: bool = False

    def svg(self, frame: Frame) -> str:
        """See Mark."""
        if self.upright:
            path = f"M{frame.x(self.value)} {_number(frame.top)}v{_number(frame.height)}"
        else:
            path = f"M{_number(frame.left)} {frame.y(self.value)}h{_number(frame.width)}"
        return f'<path class="q-s{GREY}" d="{path}" stroke-width="1" stroke-dasharray="5 4"/>'


@dataclass(frozen=True, slots=True)
class Panel:
    """Two axes and what stands between them. `left` is room for the words of its vertical axis, that of its chart where
    None."""

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the key; `dot` where the series is one of dots."""

    label: str
    colour: int
    dot: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure. `name` tells its parts from those of other figures in a page. `left` is room for the words of the
    vertical axis, `width` and `height` are those of a panel between its axes."""

    name: str
    title: str
    text: str
    panels: tuple[Panel, ...]
    key: tuple[Entry, ...] = ()
    left: float = LEFT
    width: float = WIDTH
    height: float = HEIGHT


def svg(chart: Chart) -> str:
    """The chart as the text of an SVG file."""
    lefts = [chart.left if panel.left is None else panel.left for panel in chart.panels]
    wide = sum(lefts) + len(lefts) * (chart.width + RIGHT)
    begins = [sum(lefts[: number + 1]) + number * (chart.width + RIGHT) for number in range(len(lefts))]
    rows = _rows(chart.key, wide - 2 * RIGHT)
    bottom = TOP + chart.height + BOTTOM
    high = bottom + len(rows) * ROW + 6
    name = escape(chart.name, quote=True)
    parts = [
        f'<svg{XMLNS} class="q" role="img" aria-labelledby="{name}-title {name}-text" '
        f'viewBox="0 0 {_number(wide)} {_number(high)}" width="{_number(wide)}" height="{_number(high)}" '
        'fill="none" stroke-width="1.8">',
        f'<title id="{name}-title">{escape(chart.title)}</title>',
        f'<desc id="{name}-text">{escape(chart.text)}</desc>',
        f"<style>{_style()}</style>",
        f'<rect class="q-bg" width="{_number(wide)}" height="{_number(high)}"/>',
        _said(RIGHT, 20, chart.title, "q-title"),
        *(_panel(panel, begin, chart) for panel, begin in zip(chart.panels, begins, strict=True)),
        *(
            _entry(entry, x, bottom + 10 + row * ROW)
            for row, placed in enumerate(rows)
            for entry, x in placed
        ),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _panel(panel: Panel, left: float, chart: Chart) -> str:
    frame = Frame(left, TOP, chart.width, chart.height, panel.x, panel.y)
    bottom = TOP + chart.height
    across = "".join(
        f"M{_number(left)} {frame.y(value)}h{_number(chart.width)}" for value, _ in panel.y.ticks
    )
    return "\n".join(
        [
            f'<path class="q-grid" d="{across}"/>',
            f'<path class="q-axis" d="M{_number(left)} {_number(bottom)}h{_number(chart.width)}"/>',
            *(_said(left - 6, float(frame.y(at)) + 4, word, "q-end") for at, word in panel.y.ticks),
            *(_said(float(frame.x(at)), bottom + 15, word, "q-mid") for at, word in panel.x.ticks),
            _said(left - 6 if panel.y.label else left, TOP - 8, panel.y.label or panel.title, "q-text"),
            _said(left + chart.width, TOP - 8, panel.title if panel.y.label else "", "q-end"),
            _said(left + chart.width / 2, bottom + 33, panel.x.label, "q-mid"),
            *(mark.svg(frame) for mark in panel.marks),
        ]
    )


def _rows(key: Sequence[Entry], width: float) -> list[list[tuple[Entry, float]]]:
    """The entries of a key with their places, in as many rows as they need."""
    rows: list[list[tuple[Entry, float]]] = []
    x = width
    for entry in key:
        wide = SAMPLE + LETTER * len(entry.label) + GAP
        if not rows or x + wide > RIGHT + width:
            rows.append([])
            x = RIGHT
        rows[-1].append((entry, x))
        x += wide
    return rows


def _entry(entry: Entry, x: float, y: float) -> str:
    if entry.dot:
        path = f"M{_number(x + 12)} {_number(y)}h0"
        sample = f'<path class="q-s{entry.colour}" d="{path}" stroke-width="7" stroke-linecap="round"/>'
    else:
        path = f"M{_number(x)} {_number(y)}h{SAMPLE - 6}"
        sample = f'<path class="q-s{entry.colour}" d="{path}"{_dashed(entry.colour)}/>'
    return sample + _said(x + SAMPLE, y + 4, entry.label, "q-text")


def _said(x: float, y: float, text: str, kind: str) -> str:
    if not text:
        return ""
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{escape(text)}</text>'


def _dashed(colour: int) -> str:
    return f' stroke-dasharray="{DASHES[colour]}"' if DASHES[colour] else ""


def _style() -> str:
    """The colours, and those of dark surroundings; nothing beyond the chart has these classes."""
    font = "font-family:system-ui,sans-serif;font-size:11px"
    return (
        f".q text{{{font}}}.q .q-title{{font-weight:600;font-size:13px}}"
        ".q-end{text-anchor:end}.q-mid{text-anchor:middle}"
        f"{_colours('#fff', '#222', '#e2e2e2', '#777', LIGHT)}"
        f"@media(prefers-color-scheme:dark){{{_colours('#16181d', '#e6e6e6', '#33373f', '#999', DARK)}}}"
    )


def _colours(ground: str, ink: str, grid: str, axis: str, series: Sequence[str]) -> str:
    strokes = "".join(f".q-s{number}{{stroke:{colour}}}" for number, colour in enumerate(series))
    return (
        f".q-bg{{fill:{ground}}}.q text{{fill:{ink}}}.q .q-grid{{stroke:{grid};stroke-width:1}}"
        f".q .q-axis{{stroke:{axis};stroke-width:1}}{strokes}"
    )


def _number(value: float) -> str:
    """At most one decimal, never "-0"."""
    return f"{round(value, 1) + 0.0:g}"
