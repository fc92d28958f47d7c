"""The report's figures: each takes records or the summary and returns an SVG, None where there is nothing to draw."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from equipoise_lab.bench import charts
from equipoise_lab.bench.bias import profile
from equipoise_lab.bench.bias.likert import Likert
from equipoise_lab.bench.bias.metrics import Cell
from equipoise_lab.bench.bias.records import UNATTACKED, PassageRecord
from equipoise_lab.bench.bias.summary import BiasSummary
from equipoise_lab.bench.charts import Axis, Chart, Dots, Entry, Line, Mark, Panel, Rule, Whiskers, scale
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.layouts import data
from equipoise_lab.bench.tables import number

T = TypeVar("T")

KINDS = {
    "synthetic": (2, "synthetic"),
    profile.BENIGN: (charts.GREY, "relevant"),
    "adv_neg": (1, "negative attack"),
    "adv_pos": (0, "positive attack"),
}
"""Colour and name of each kind of passage."""
WIDE = 480.0
"""Of a single panel."""
BINS = np.linspace(-0.4, 0.4, 33)
MANY = 5
"""Planted passages of which a figure's text tells the shares, beside the most there are."""
GOLDEN = 0.618034
"""Multiples of it leave the evenest gaps: points are spread by it."""


def scatter(passages: Sequence[PassageRecord], query_id: str) -> str | None:
    """PS against SS of a question's relevant documents and attack passages."""
    mine = [passage for passage in passages if passage.query_id == query_id]
    groups = _by_kind([(passage.kind, passage) for passage in mine])
    if not groups:
        return None
    marks = [
        Dots([(passage.ps, passage.ss) for passage in some], KINDS[kind][0], 6)
        for kind, some in groups.items()
    ]
    x = _around([passage.ps for passage in mine], "PS (polarization score)")
    y = _around([passage.ss for passage in mine], "SS (similarity to the question)")
    text = "; ".join(
        f"{KINDS[kind][1]}: mean PS {np.mean([passage.ps for passage in some]):.2f}, mean SS "
        f"{np.mean([passage.ss for passage in some]):.2f}"
        for kind, some in groups.items()
    )
    title = f"PS and SS of the passages of one question, {query_id}"
    return _single("ps-ss", title, text, Panel("", x, y, tuple(marks)), _kinds(groups, dots=True))


def histogram(passages: Sequence[PassageRecord]) -> str | None:
    """How PS is distributed, less the question's mean, by kind of passage."""
    groups = _by_kind(list(zip([passage.kind for passage in passages], _centred(passages), strict=True)))
    if not groups:
        return None
    marks, said, top = [], [], 0.0
    for kind, some in groups.items():
        colour, name = KINDS[kind]
        values = np.array(some)
        counts = np.histogram(np.clip(values, BINS[0], BINS[-1]), BINS)[0] / len(values)
        top = max(top, float(counts.max()))
        heights = [0.0, *counts.tolist(), 0.0]
        places = [float(BINS[0]), *BINS.tolist()]
        marks.append(Line(list(zip(places, heights, strict=True)), colour, steps=True))
        said.append(f"{name}: n = {len(values)}, mean {values.mean():+.3f}, deviation {values.std():.3f}")
    x = scale("PS less the question's mean", -0.4, 0.4, 0.1)
    y = scale("share of passages", 0.0, float(np.floor(top * 20) / 20 + 0.05), 0.05)
    panel = Panel("", x, y, tuple(marks))
    return _single("ps-histogram", "PS of passages by kind", "; ".join(said), panel, _kinds(groups))


def curves(summary: BiasSummary, sign: str) -> str:
    """Adversarial and relevant share by number of injections, with intervals, one panel each."""
    places = [(UNATTACKED, 0), *((sign, count) for count in summary.injections)]
    cells = {(cell.filter, cell.condition): cell for cell in summary.cells}
    side, panels = KINDS[sign][1], []
    for name, measure in (("adversarial", "adversarial_share"), ("relevant", "relevant_share")):
        marks: list[Mark] = []
        for place, filter_name in enumerate(summary.filters):
            aside = (place - (len(summary.filters) - 1) / 2) * 0.06
            points = [
                (at + aside, value)
                for at, where in enumerate(places)
                if (value := getattr(cells[filter_name, where], measure)) is not None
            ]
            marks += _with_intervals(points, _colour(place))
        x = charts.names(f"passages planted, {side}", [str(count) for _, count in places])
        y = scale(f"{name} share of the top {summary.k}", 0.0, 1.0, 0.2)
        panels.append(Panel("", x, y, tuple(marks)))
    wanted = {(sign, count) for count in (MANY, *summary.injections[-1:])}
    text = _shares(summary, lambda cell: cell.condition in wanted)
    title = f"What is left of the top {summary.k} under each filter, {side}"
    name = f"shares-{'negative' if sign == 'adv_neg' else 'positive'}"
    return charts.svg(Chart(name, title, text, tuple(panels), _filters(summary.filters)))


def share_cdf(summary: BiasSummary) -> str | None:
    """Figure 7: how the adversarial share is distributed over all attacked rows."""
    known = {name: shares for name, shares in summary.share_distribution.items() if shares}
    if not known:
        return None
    marks = [
        Line(_cumulative(known[name]), _colour(place), steps=True)
        for place, name in enumerate(summary.filters)
        if name in known
    ]
    clean = ", ".join(
        f"{_label(name)} {np.mean([share == 0 for share in shares]):.0%}" for name, shares in known.items()
    )
    x = scale(f"adversarial share of the top {summary.k}", 0.0, 1.0, 0.2)
    y = scale("share of attacked rows", 0.0, 1.0, 0.2)
    text = f"Attacked rows without a planted passage: {clean}. Dashed in grey: over 70%, the paper's BiasDef."
    panel = Panel("", x, y, (Rule(0.7), *marks))
    title = "Figure 7: distribution of the adversarial share"
    return _single("share-cdf", title, text, panel, _filters(summary.filters))


def ps_by_stance(passages: Sequence[PassageRecord]) -> str | None:
    """Figure 2 with stances that people or authors gave: PS, centred by question, against stance."""
    labelled = [passage for passage in passages if passage.stance is not None]
    points = [
        (passage.kind, float(passage.stance or 0), ps)
        for passage, ps in zip(labelled, _centred(labelled), strict=True)
    ]
    label = "stance towards yes: people's of relevant passages, the author's of attacks"
    ticks = tuple((float(value), f"{value:+d}" if value else "0") for value in range(-2, 3))
    return _cloud("ps-by-stance", "PS and stance", Axis(label, -2.6, 2.6, ticks), points)


def likert(judged: Likert) -> str | None:
    """Figure 2: PS, centred by question, against the seven points that a chat model gave."""
    label = f"stance by {judged.model}: 1 strongly against, 7 strongly in favour"
    ticks = tuple((float(value), str(value)) for value in range(1, 8))
    title = "Figure 2: PS and the stance that a language model reads"
    return _cloud(likert_name(judged), title, Axis(label, 0.4, 7.6, ticks), judged.points)


def likert_name(judged: Likert) -> str:
    """The name of the figure of one model's points, which can be that of a file."""
    return "likert-" + "".join(
        letter if letter.isalnum() or letter == "." else "-" for letter in judged.model
    )


def answer_scatter(summary: BiasSummary) -> str | None:
    """Figure 4: PS of answers against PS of what was retrieved, a colour for each model."""
    models = [(by.model, [(x, y) for _, x, y in by.points]) for by in summary.answers if by.points]
    every = [value for _, points in models for point in points for value in point]
    if not every:
        return None
    marks = tuple(Dots(points, _colour(place), 5, faint=True) for place, (_, points) in enumerate(models))
    x, y = (_around(every, f"mean PS of {what}") for what in ("the passages kept", "the answers"))
    key = tuple(Entry(model, _colour(place), dot=True) for place, (model, _) in enumerate(models))
    text = "; ".join(
        f"{by.model}: Spearman {by.spearman:.2f} over {len(by.points)} points"
        for by in summary.answers
        if by.spearman is not None
    )
    title = "Figure 4: PS of answers and of what they were written from"
    return _single("answers", title, text, Panel("", x, y, marks), key)


def fact_cdf(summary: BiasSummary) -> str | None:
    """Figure 5: shares of sentences without a verdict, and of supports among verdicts."""
    facts = summary.facts or {}
    if not facts:
        return None
    panels = []
    for label, measure in (("NOT ENOUGH INFO share", "unknown_shares"), ("support ratio", "support_ratios")):
        marks = tuple(
            Line(_cumulative(getattr(values, measure)), KINDS[kind][0], steps=True)
            for kind, values in facts.items()
        )
        y = scale("share of passages", 0.0, 1.0, 0.2)
        panels.append(Panel("", scale(label, 0.0, 1.0, 0.2), y, marks))
    text = "; ".join(
        f"{KINDS[kind][1]}: {len(values.unknown_shares)} passages" for kind, values in facts.items()
    )
    title = "Figure 5: fact checking by kind of passage"
    return charts.svg(Chart("facts", title, text, tuple(panels), _kinds(facts)))


def _cloud(name: str, title: str, x: Axis, points: Sequence[tuple[str, float, float]]) -> str | None:
    """PS against places on a scale. Points are spread so that they do not hide each other, and kinds of passages that
    share a place lie beside each other."""
    groups = _by_kind([(kind, (stance, ps)) for kind, stance, ps in points])
    if not groups:
        return None
    shared = len({(kind, stance) for kind, stance, _ in points}) > len({stance for _, stance, _ in points})
    beside = len(groups) if shared else 1
    marks, said = [], []
    for place, (kind, mine) in enumerate(groups.items()):
        colour, label = KINDS[kind]
        aside = 0.8 * ((place + 0.5) / beside - 0.5) if shared else 0.0
        spread = [
            (stance + aside + 0.6 / beside * ((n * GOLDEN) % 1 - 0.5), ps)
            for n, (stance, ps) in enumerate(mine)
        ]
        marks.append(Dots(spread, colour, 4, faint=True))
        means = {
            at: np.mean([ps for stance, ps in mine if stance == at]) for at in sorted({at for at, _ in mine})
        }
        said.append(f"{label}, mean PS at " + ", ".join(f"{at:g}: {mean:+.3f}" for at, mean in means.items()))
    y = _around([ps for _, _, ps in points], "PS less the question's mean")
    return _single(name, title, "; ".join(said), Panel("", x, y, tuple(marks)), _kinds(groups, dots=True))


def _single(name: str, title: str, text: str, panel: Panel, key: tuple[Entry, ...]) -> str:
    return charts.svg(Chart(name, title, text, (panel,), key, width=WIDE))


def _with_intervals(estimates: Sequence[tuple[float, Estimate]], colour: int) -> list[Mark]:
    if not estimates:
        return []
    points = [(at, value.value) for at, value in estimates]
    bars = [(at, value.low, value.high) for at, value in estimates]
    return [Whiskers(bars, colour), Line(points, colour), Dots(points, colour)]


def _cumulative(ordered: Sequence[float]) -> list[charts.Point]:
    """The steps of the distribution of ascending values from 0 to 1."""
    steps = {value: (place + 1) / len(ordered) for place, value in enumerate(ordered)}
    return [(0.0, 0.0), *steps.items(), (1.0, 1.0)]


def _shares(summary: BiasSummary, wanted: Callable[[Cell], bool]) -> str:
    """Adversarial and relevant share of the cells that are wanted, in words."""
    return "; ".join(
        f"{_label(cell.filter)}, {cell.injections} planted: adversarial {number(cell.adversarial_share.value)}, "
        f"relevant {number(cell.relevant_share.value)}"
        for cell in summary.cells
        if wanted(cell) and cell.adversarial_share and cell.relevant_share
    )


def _centred(passages: Sequence[PassageRecord]) -> list[float]:
    """The PS of each passage less the mean of its question's passages."""
    groups: dict[str, list[float]] = {}
    for passage in passages:
        groups.setdefault(passage.query_id, []).append(passage.ps)
    means: Mapping[str, float] = {query: float(np.mean(values)) for query, values in groups.items()}
    return [passage.ps - means[passage.query_id] for passage in passages]


def _by_kind(pairs: Sequence[tuple[str, T]]) -> dict[str, list[T]]:
    """By kind, in the order of KINDS, what there is of it."""
    return {kind: mine for kind in KINDS if (mine := [value for of, value in pairs if of == kind])}


def _around(values: Sequence[float], label: str) -> Axis:
    """An axis over the values, from one tenth to another."""
    low = float(np.floor(min(values) * 10) / 10)
    return scale(label, low, max(float(np.ceil(max(values) * 10) / 10), low + 0.1), 0.1)


def _kinds(shown: Mapping[str, object], *, dots: bool = False) -> tuple[Entry, ...]:
    return tuple(Entry(name, colour, dots) for kind, (colour, name) in KINDS.items() if kind in shown)


def _filters(names: Sequence[str]) -> tuple[Entry, ...]:
    return tuple(Entry(_label(name), _colour(place)) for place, name in enumerate(names))


def _colour(place: int) -> int:
    return place % len(charts.LIGHT)


def _label(name: str) -> str:
    label: str = data("bias", "paper")["names"].get(name, name)
    return label
