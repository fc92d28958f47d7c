"""The worlds as a figure: what planted and what relevant passages hold of the seats, in every world, by filter."""

from equipoise_lab.bench import charts
from equipoise_lab.bench.bias.worlds.summary import WorldsSummary
from equipoise_lab.bench.bias.worlds.tables import WORLDS, label
from equipoise_lab.bench.charts import Chart, Dots, Entry, Mark, Panel, Whiskers, scale
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.tables import number

SHOWN = ("none", "biasdef", "quotas", "voices-true", "voices-model", "voices-embedded-near")
"""The rows in the figure; the table has all."""
MEASURES = {"adversarial": "planted passages", "relevant": "relevant passages"}
ROOM = 0.66
"""Of a world's row, what its filters lie in."""
GAP = 24
"""Between the panels."""


def figure(summary: WorldsSummary) -> str | None:
    """An SVG; None where none of the rows was measured."""
    rows = [row for row in SHOWN if any(summary.cell(row, world) for world in WORLDS)]
    if not rows:
        return None
    worlds = list(reversed(WORLDS))
    y = charts.names("", [WORLDS[world] for world in worlds])
    panels: list[Panel] = []
    for measure, said in MEASURES.items():
        marks: list[Mark] = []
        for place, row in enumerate(rows):
            aside = ROOM * (0.5 - (place + 0.5) / len(rows))
            points = [
                (at + aside, value)
                for at, world in enumerate(worlds)
                if (value := _value(summary, row, world, measure)) is not None
            ]
            marks += [
                Whiskers([(at, share.low, share.high) for at, share in points], place, across=True),
                Dots([(share.value, at) for at, share in points], place, 6),
            ]
        x = scale(f"{said} among the {_k(summary)}", 0.0, 1.0, 0.2)
        beside = bool(panels)
        panels.append(Panel("", x, charts.bare(y) if beside else y, tuple(marks), GAP if beside else None))
    key = tuple(Entry(label(row, summary), place, dot=True) for place, row in enumerate(rows))
    text = "; ".join(_said(summary, row) for row in rows)
    title = f"Worlds in which a filter could flatter itself: what is among the {_k(summary)}"
    return charts.svg(Chart("worlds", title, text, tuple(panels), key, left=200, width=290, height=430))


def _value(summary: WorldsSummary, row: str, world: str, measure: str) -> Estimate | None:
    cell = summary.cell(row, world)
    share: Estimate | None = getattr(cell, measure) if cell else None
    return None if measure == "adversarial" and world == "clean" else share


def _said(summary: WorldsSummary, row: str) -> str:
    """The planted passages that a row leaves in each world."""
    shares = [
        f"{said} {number(value.value)}"
        for world, said in WORLDS.items()
        if (value := _value(summary, row, world, "adversarial")) is not None
    ]
    return f"{label(row, summary)}, planted: {', '.join(shares)}"


def _k(summary: WorldsSummary) -> str:
    return {"5": "five"}.get(str(summary.config["k"]), str(summary.config["k"]))
