"""The figures of the bias benchmark: 2, 4, 5 and 7 of the paper, PS by kind, shares by number planted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from equipoise_lab.bench import plots
from equipoise_lab.bench.bias import profile
from equipoise_lab.bench.bias.records import UNATTACKED, PassageRecord
from equipoise_lab.bench.bias.summary import BiasSummary
from equipoise_lab.bench.layouts import data
from equipoise_lab.bench.plots import Axes

T = TypeVar("T")

KINDS = {
    "synthetic": ("#1b7f4d", "synthetic"),
    profile.BENIGN: ("#888888", "relevant"),
    "adv_neg": ("#b83a1b", "negative attack"),
    "adv_pos": ("#0b61a4", "positive attack"),
}
"""Colour and name of each kind of passage."""
BINS = np.linspace(-0.4, 0.4, 33)
GOLDEN = 0.618034
"""Multiples of it leave the evenest gaps: points on one place of a scale are spread by it."""


def figures(summary: BiasSummary, passages: Sequence[PassageRecord]) -> Iterator[tuple[str, str, str]]:
    """(name, caption, SVG) of all that can be drawn."""
    labelled = [passage for passage in passages if passage.stance is not None]
    if labelled:
        points = [
            (p.kind, float(p.stance or 0), ps) for p, ps in zip(labelled, _centred(labelled), strict=True)
        ]
        label = "stance towards yes: people's of relevant passages, the author's of attacks"
        said = "Figure 2. PS against stance. The paper: Spearman 0.896 against a language model."
        yield "ps-by-stance", said, _cloud(label, points)
    for judged in summary.likert:
        if judged.points:
            label = f"stance by {judged.model}: 1 strongly against, 7 strongly in favour"
            name = "".join(c if c.isalnum() or c == "." else "-" for c in judged.model)
            said = f"Figure 2, with the points of {judged.model}."
            yield f"likert-{name}", said, _cloud(label, judged.points)
    if any(by.points for by in summary.answers):
        yield (
            "answers",
            f"Figure 4. PS of answers and of passages kept. {_correlations(summary)}",
            _answers(summary),
        )
    if summary.facts:
        yield "facts", "Figure 5. Fact checking: distributions over passages.", _facts(summary)
    if any(summary.share_distribution.values()):
        said = "Figure 7. Distribution of the adversarial share. The paper: BiasDef leaves none for over 70% of the "
        yield "share-cdf", said + "questions (dashed).", _shares(summary)
        for sign, side in (("adv_neg", "negative"), ("adv_pos", "positive")):
            yield f"shares-{side}", f"Shares by {side} injections.", _curves(summary, sign)
    if passages:
        yield "ps-histogram", "PS by kind of passage.", _histogram(passages)
        first = min(passage.query_id for passage in passages)
        yield "ps-ss", f"PS and SS of one question ({first}).", _one_question(passages, first)


def _one_question(passages: Sequence[PassageRecord], query_id: str) -> str:
    def draw(axes: Axes) -> None:
        for kind, mine in _by_kind([(p.kind, p) for p in passages if p.query_id == query_id]).items():
            colour, name = KINDS[kind]
            axes.scatter([p.ps for p in mine], [p.ss for p in mine], s=14, color=colour, label=name)
        axes.set(xlabel="PS (polarization score)", ylabel="SS (similarity to the question)")
        axes.legend()

    return plots.svg(draw)


def _histogram(passages: Sequence[PassageRecord]) -> str:
    def draw(axes: Axes) -> None:
        pairs = list(zip([passage.kind for passage in passages], _centred(passages), strict=True))
        for kind, some in _by_kind(pairs).items():
            colour, name = KINDS[kind]
            values = np.clip(some, BINS[0], BINS[-1])
            weights = np.full(len(values), 1 / len(values))
            axes.hist(
                values, BINS, weights=weights, histtype="step", color=colour, label=f"{name}, n = {len(some)}"
            )
        axes.set(xlabel="PS less the question's mean", ylabel="share of passages")
        axes.legend()

    return plots.svg(draw)


def _curves(summary: BiasSummary, sign: str) -> str:
    """Adversarial and relevant share by number of injections."""
    places = [(UNATTACKED, 0), *((sign, count) for count in summary.injections)]
    cells = {(cell.filter, cell.condition): cell for cell in summary.cells}

    def draw(axes: Axes, name: str) -> None:
        for row, filter_name in enumerate(summary.filters):
            aside = (row - (len(summary.filters) - 1) / 2) * 0.06
            measured = [
                (at, getattr(cells[filter_name, where], f"{name}_share")) for at, where in enumerate(places)
            ]
            plots.intervals(
                axes, [(at + aside, value) for at, value in measured if value], _label(filter_name)
            )
        axes.set_xticks(range(len(places)), [str(count) for _, count in places])
        label = f"{name} share of the top {summary.k}"
        axes.set(xlabel=f"passages planted, {KINDS[sign][1]}", ylabel=label, ylim=(0, 1.02))

    def relevant(axes: Axes) -> None:
        draw(axes, "relevant")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return plots.svg(lambda axes: draw(axes, "adversarial"), relevant, size=(4.2, 3.2))


def _shares(summary: BiasSummary) -> str:
    def draw(axes: Axes) -> None:
        axes.axhline(0.7, color="#bbbbbb", linestyle="--", linewidth=0.8)
        for name in summary.filters:
            if shares := summary.share_distribution[name]:
                plots.steps(axes, shares, _label(name))
        axes.set(xlabel=f"adversarial share of the top {summary.k}", ylabel="share of attacked rows")
        axes.legend()

    return plots.svg(draw)


def _answers(summary: BiasSummary) -> str:
    """PS of answers against PS of what was retrieved, a colour for each model."""

    def draw(axes: Axes) -> None:
        for by in summary.answers:
            axes.scatter(
                [x for _, x, _ in by.points], [y for _, _, y in by.points], s=12, alpha=0.6, label=by.model
            )
        axes.set(xlabel="mean PS of the passages kept", ylabel="mean PS of the answers")
        axes.legend()

    return plots.svg(draw)


def _facts(summary: BiasSummary) -> str:
    """Shares of sentences without a verdict, and of supports among verdicts."""

    def draw(axes: Axes, measure: str, label: str) -> None:
        for kind, values in (summary.facts or {}).items():
            if known := getattr(values, measure):
                plots.steps(axes, known, KINDS[kind][1], color=KINDS[kind][0])
        axes.set(xlabel=label, ylabel="share of passages")
        axes.legend()

    return plots.svg(
        lambda axes: draw(axes, "unknown_shares", "NOT ENOUGH INFO share"),
        lambda axes: draw(axes, "support_ratios", "support ratio"),
        size=(4.2, 3.2),
    )


def _cloud(label: str, points: Sequence[tuple[str, float, float]]) -> str:
    """PS against places on a scale; kinds that share a place lie beside each other, and points are spread."""

    def draw(axes: Axes) -> None:
        groups = _by_kind([(kind, (stance, ps)) for kind, stance, ps in points])
        shared = len({(kind, stance) for kind, stance, _ in points}) > len(
            {stance for _, stance, _ in points}
        )
        beside = len(groups) if shared else 1
        for place, (kind, mine) in enumerate(groups.items()):
            aside = 0.8 * ((place + 0.5) / beside - 0.5) if shared else 0.0
            xs = [at + aside + 0.6 / beside * ((n * GOLDEN) % 1 - 0.5) for n, (at, _) in enumerate(mine)]
            colour, name = KINDS[kind]
            axes.scatter(xs, [ps for _, ps in mine], s=8, alpha=0.6, color=colour, label=name)
        axes.set_xticks(sorted({stance for _, stance, _ in points}))
        axes.set(xlabel=label, ylabel="PS less the question's mean")
        axes.legend()

    return plots.svg(draw)


def _correlations(summary: BiasSummary) -> str:
    known = [(by.model, by.spearman) for by in summary.answers if by.spearman is not None]
    return "; ".join(f"Spearman {rho:.2f} over all points of {model}" for model, rho in known)


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


def _label(name: str) -> str:
    label: str = data("bias", "paper")["names"].get(name, name)
    return label
