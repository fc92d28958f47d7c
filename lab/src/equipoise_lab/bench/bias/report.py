"""The tables and figures of the bias benchmark, from its numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from equipoise_lab.bench import plots
from equipoise_lab.bench.bias.numbers import Numbers
from equipoise_lab.bench.bias.records import BENIGN, UNATTACKED, Condition, PassageRecord, conditions
from equipoise_lab.bench.layouts import data, filled, layouts, shown, whole
from equipoise_lab.bench.plots import Axes
from equipoise_lab.bench.tables import MISSING, Table, TableLine, as_markdown

T = TypeVar("T")
Values = Mapping[Condition, Any]
Grid = list[tuple[str, Values | None, Values]]
"""(label, ours by condition or None, the paper's by condition)."""
Of = Callable[[Numbers], Any]

SIGNS = {"signed_shift": "signed shift", "moved": "questions moved the way of the attack"}
NOISE = {"noise": "shift by sampling alone"}
KINDS = {
    "synthetic": ("#1b7f4d", "synthetic"),
    BENIGN: ("#888888", "relevant"),
    "adv_neg": ("#b83a1b", "negative attack"),
    "adv_pos": ("#0b61a4", "positive attack"),
}
"""Colour and name of each kind of passage."""
BINS = np.linspace(-0.4, 0.4, 33)
GOLDEN = 0.618034
"""Multiples of it leave the evenest gaps: points on one place of a scale are spread by it."""


def markdown(summary: Numbers) -> str:
    """Every table of the report as Markdown."""
    return "\n".join(as_markdown(table) for table in tables(summary))


def tables(s: Numbers) -> list[Table]:
    """Tables 1 to 8 in the paper's order, what the paper says in its text, what it does not measure, its figures."""
    several = len(s["answers"]) > 1
    models = [(each, f", {each['model']}" if several else "") for each in s["answers"]]
    noise = [row for each, by in models for row in _measures(s, each["cells"], SIGNS | NOISE, by)]
    chosen = [name for name in s["filters"] if name.startswith("biasdef")]
    evasion = [
        row
        for which, label in (("both", "Property 1 & 2"), ("other", "Other"))
        for row in (
            *((f"{label}, {_label(f)}", _row(s, s["cells"], f, _of(f"evasion_{which}")), {}) for f in chosen),
            (label, None, _printed("table_7", which)),
        )
    ]
    return [
        _properties(s),
        _by_filter("adversarial_share", s, _of("adversarial_share")),
        _by_filter("relevant_share", s, _of("relevant_share")),
        _by_filter("shift", s, _shift),
        _grid("signed_shift", s, _measures(s, s["cells"], SIGNS)),
        _answers(s, models),
        _by_model("undefended", "none", s),
        _grid("evasion", s, evasion, ours=bool(chosen)),
        _by_model("defended", "biasdef", s),
        *([_grid("noise", s, noise)] if s["answers"] else []),
        _worst_and_time(s),
        _by_filter("empty_share", s, _of("empty_share")),
        _by_filter("recall", s, _of("recall")),
        *([_likert(s)] if s["likert"] else []),
        _facts(s),
    ]


def _grid(
    name: str, s: Numbers, rows: Grid, *, ours: bool = True, missing: str = "", **more: object
) -> Table:
    """A table with one column for each condition; where the paper did not run one, a dash."""
    layout, columns = layouts("bias")[name], conditions(tuple(s["injections"]))
    lines = []
    for label, values, printed in rows:
        if values is not None:
            lines.append(TableLine(label, tuple(_cell(layout.cells, c, value=values[c]) for c in columns)))
        if printed:
            cells = (_cell(layout.published_cells, c, p=printed.get(c)) for c in columns)
            lines.append(TableLine(label, tuple(cells), paper=True))
    head = (f"#{sign[4:].title()} {n}" if n else "Unattacked" for sign, n in columns)
    table = whole(layout, s, lines, ours=ours, **more)
    return Table(table.title, ("", *head), table.lines, table.note, missing or table.missing)


def _cell(cells: Sequence[str], condition: Condition, **context: object) -> str:
    return filled(cells[0 if condition[0] == UNATTACKED else -1], **context)


def _row(s: Numbers, cells: Sequence[Numbers], name: str, of: Of) -> Values:
    """A measure of the filter `name` by condition."""
    places = {(c["filter"], c["sign"], c["injections"]): c for c in cells}
    return {c: of(places[name, *c]) for c in conditions(tuple(s["injections"]))}


def _of(measure: str) -> Of:
    return lambda cell: cell[measure]


def _shift(cell: Numbers) -> object:
    """Unattacked: the mean |PS| itself."""
    return cell["mean_abs_ps" if cell["sign"] == UNATTACKED else "ps_shift"]


def _by_filter(name: str, s: Numbers, of: Of) -> Table:
    """A table of one measure of each filter."""
    published = layouts("bias")[name].published
    rows: Grid = [(_label(f), _row(s, s["cells"], f, of), _printed(published, f)) for f in s["filters"]]
    return _grid(name, s, rows)


def _measures(s: Numbers, cells: Sequence[Numbers], measures: Mapping[str, str], by: str = "") -> Grid:
    """One row for each filter and measure."""
    return [
        (f"{_label(name)}{by}, {label}", _row(s, cells, name, _of(measure)), {})
        for name in s["filters"]
        for measure, label in measures.items()
    ]


def _answers(s: Numbers, models: Sequence[tuple[Numbers, str]]) -> Table:
    """Table 5: with several models a row for each filter and model."""
    if not models:
        return _without("answers", s, {_label(name): name for name in _paper()["table_5"]})
    rows: Grid = []
    for name in s["filters"]:
        rows += [(_label(name) + by, _row(s, each["cells"], name, _shift), {}) for each, by in models]
        rows.append((_label(name), None, _printed("table_5", name)))
    return _grid("answers", s, rows, model=", ".join(each["model"] for each, _ in models))


def _by_model(name: str, filter_name: str, s: Numbers) -> Table:
    """Table 6 or 8: one row for each model that answered; how many questions, where it did not answer all."""
    published = layouts("bias")[name].published
    models = {model: model for model in _paper()[published]}
    if not s["answers"]:
        return _without(name, s, models)
    if filter_name not in s["filters"]:
        return _without(name, s, models, f"Not computed: the filter {filter_name} was not run.")
    rows: Grid = []
    for each in s["answers"]:
        label = f"{each['model']}, {s['config'].get('corpus', 'this corpus')}"
        label += "" if each["queries"] == s["queries"] else f", {each['queries']} questions"
        rows.append((label, _row(s, each["cells"], filter_name, _shift), {}))
    return _grid(name, s, [*rows, *((label, None, _printed(published, label)) for label in models)])


def _without(name: str, s: Numbers, labels: Mapping[str, str], missing: str = "") -> Table:
    """The paper's rows alone."""
    published = layouts("bias")[name].published
    rows: Grid = [(label, None, _printed(published, row)) for label, row in labels.items()]
    table = _grid(name, s, rows, ours=False, missing=missing, model="")
    return Table(table.title, table.head, table.lines, missing=table.missing)


def _properties(s: Numbers) -> Table:
    layout, lines = layouts("bias")["properties"], []
    for sign, label in {"adv_neg": "Negative EBI", "adv_pos": "Positive EBI"}.items():
        ours, printed = s["properties"].get(sign), _paper()["table_1"][sign]
        count = f" (n = {ours['count']})" if ours else ""
        lines += [_line(label + count, layout.cells, row=ours), _printed_line(label, layout, printed)]
    return whole(layout, s, lines, ours=True)


def _worst_and_time(s: Numbers) -> Table:
    lines, paper = [], _paper()
    for name in s["filters"]:
        worst, times, said = s["worst_case"][name], s["milliseconds"][name], MISSING
        if worst:
            ratio = worst["ratio"] if worst["ratio"] == "inf" else shown(worst["ratio"], "number")
            said = f"{ratio} ({worst['sign']} {worst['injections']})"
        spent = (shown(times[part], "number") for part in ("filter_ms", "retrieve_ms"))
        lines.append(TableLine(_label(name), (said, *spent)))
        if name in paper["worst_case"]:
            cost = shown(paper["milliseconds"].get(name), "points")
            printed = (shown(paper["worst_case"][name], "short"), cost, MISSING)
            lines.append(TableLine(_label(name), printed, paper=True))
    return whole(layouts("bias")["worst"], s, lines, ours=True)


def _likert(s: Numbers) -> Table:
    """Figure 2 in numbers, by a chat model's points."""
    layout = layouts("bias")["likert"]
    lines = [
        _line(f"{row['group']}, {each['model']}", layout.cells, row=row)
        for each in s["likert"]
        for row in each["rows"]
        if row["passages"]
    ]
    return whole(layout, s, [*lines, _printed_line("GPT-5.2", layout, _paper()["spearman"])], ours=True)


def _facts(s: Numbers) -> Table:
    """Figure 5 in numbers: sentences without a verdict, and supports among verdicts, by kind of passage."""
    layout, facts, lines = layouts("bias")["facts"], s["facts"] or {}, []
    for kind, printed in _paper()["facts"].items():
        if kind in facts:
            lines.append(_line(kind, layout.cells, row=facts[kind]))
        lines.append(_printed_line(kind, layout, printed))
    return whole(layout, s, lines, ours=bool(facts))


def _line(label: str, cells: Sequence[str], **context: object) -> TableLine:
    return TableLine(label, tuple(filled(cell, **context) for cell in cells))


def _printed_line(label: str, layout: Any, printed: object) -> TableLine:  # noqa: ANN401
    return TableLine(label, tuple(filled(cell, p=printed) for cell in layout.published_cells), paper=True)


def _label(name: str) -> str:
    label: str = _paper()["names"].get(name, name)
    return label


def _printed(table: str, row: str) -> Values:
    """A row of the paper by condition; empty where it has none."""
    values = _paper()[table].get(row, ()) if table else ()
    every = [(sign, n) for sign, n in _paper()["conditions"]]
    return dict(zip(every[len(every) - len(values) :], values, strict=True))


def _paper() -> Mapping[str, Any]:
    return data("bias", "paper")


def figures(s: Numbers, passages: Sequence[PassageRecord]) -> Iterator[tuple[str, str, str]]:
    """(name, caption, SVG) of all that can be drawn: figures 2, 4, 5 and 7 of the paper, PS by kind, shares by number
    planted."""
    centred = list(zip(passages, _centred(passages), strict=True))
    if labelled := [(p.kind, float(p.stance), ps) for p, ps in centred if p.stance is not None]:
        label = "stance towards yes: people's of relevant passages, the author's of attacks"
        said = "Figure 2. PS against stance. The paper: Spearman 0.896 against a language model."
        yield "ps-by-stance", said, _cloud(label, labelled)
    for judged in s["likert"]:
        if judged["points"]:
            model = judged["model"]
            label = f"stance by {model}: 1 strongly against, 7 strongly in favour"
            name = "".join(c if c.isalnum() or c == "." else "-" for c in model)
            yield f"likert-{name}", f"Figure 2, with the points of {model}.", _cloud(label, judged["points"])
    if any(by["points"] for by in s["answers"]):
        known = [(by["model"], by["spearman"]) for by in s["answers"] if by["spearman"] is not None]
        said = "; ".join(f"Spearman {rho:.2f} over all points of {model}" for model, rho in known)
        yield "answers", f"Figure 4. PS of answers and of passages kept. {said}", plots.scatter(
            {by["model"]: ([x for _, x, _ in by["points"]], [y for _, _, y in by["points"]]) for by in s["answers"]},
            "mean PS of the passages kept", "mean PS of the answers", s=12, alpha=0.6,
        )  # fmt: skip
    if s["facts"]:
        yield "facts", "Figure 5. Fact checking: distributions over passages.", _facts_drawn(s["facts"])
    if any(s["share_distribution"].values()):
        said = "Figure 7. Distribution of the adversarial share. The paper: BiasDef leaves none for over 70% of the "
        yield "share-cdf", said + "questions (dashed).", _shares(s)
        for sign, side in (("adv_neg", "negative"), ("adv_pos", "positive")):
            yield f"shares-{side}", f"Shares by {side} injections.", _curves(s, sign)
    if passages:
        yield "ps-histogram", "PS by kind of passage.", _histogram([(p.kind, ps) for p, ps in centred])
        first = min(passage.query_id for passage in passages)
        mine = _by_kind([(p.kind, p) for p in passages if p.query_id == first])
        yield "ps-ss", f"PS and SS of one question ({first}).", plots.scatter(
            {KINDS[kind][1]: ([p.ps for p in some], [p.ss for p in some]) for kind, some in mine.items()},
            "PS (polarization score)", "SS (similarity to the question)",
            colours=[KINDS[kind][0] for kind in mine], s=14,
        )  # fmt: skip


def _histogram(pairs: Sequence[tuple[str, float]]) -> str:
    def draw(axes: Axes) -> None:
        for kind, some in _by_kind(pairs).items():
            colour, name = KINDS[kind]
            values = np.clip(some, BINS[0], BINS[-1])
            weights = np.full(len(values), 1 / len(values))
            label = f"{name}, n = {len(some)}"
            axes.hist(values, BINS, weights=weights, histtype="step", color=colour, label=label)
        axes.set(xlabel="PS less the question's mean", ylabel="share of passages")
        axes.legend()

    return plots.svg(draw)


def _curves(s: Numbers, sign: str) -> str:
    """Adversarial and relevant share by number of injections."""
    places = [(UNATTACKED, 0), *((sign, count) for count in s["injections"])]

    def draw(axes: Axes, name: str) -> None:
        for row, filter_name in enumerate(s["filters"]):
            aside = (row - (len(s["filters"]) - 1) / 2) * 0.06
            values = _row(s, s["cells"], filter_name, _of(f"{name}_share"))
            points = [(at + aside, values[where]) for at, where in enumerate(places) if values[where]]
            plots.intervals(axes, points, _label(filter_name))
        axes.set_xticks(range(len(places)), [str(count) for _, count in places])
        label = f"{name} share of the top {s['k']}"
        axes.set(xlabel=f"passages planted, {KINDS[sign][1]}", ylabel=label, ylim=(0, 1.02))

    def relevant(axes: Axes) -> None:
        draw(axes, "relevant")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return plots.svg(lambda axes: draw(axes, "adversarial"), relevant, size=(4.2, 3.2))


def _shares(s: Numbers) -> str:
    def draw(axes: Axes) -> None:
        axes.axhline(0.7, color="#bbbbbb", linestyle="--", linewidth=0.8)
        for name in s["filters"]:
            if shares := s["share_distribution"][name]:
                plots.steps(axes, shares, _label(name))
        axes.set(xlabel=f"adversarial share of the top {s['k']}", ylabel="share of attacked rows")
        axes.legend()

    return plots.svg(draw)


def _facts_drawn(facts: Numbers) -> str:
    """Shares of sentences without a verdict, and of supports among verdicts."""

    def draw(axes: Axes, measure: str, label: str) -> None:
        for kind, values in facts.items():
            if values[measure]:
                plots.steps(axes, values[measure], KINDS[kind][1], color=KINDS[kind][0])
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
        places = sorted({stance for _, stance, _ in points})
        shared = len({(kind, stance) for kind, stance, _ in points}) > len(places)
        beside = len(groups) if shared else 1
        for place, (kind, mine) in enumerate(groups.items()):
            aside = 0.8 * ((place + 0.5) / beside - 0.5) if shared else 0.0
            xs = [at + aside + 0.6 / beside * ((n * GOLDEN) % 1 - 0.5) for n, (at, _) in enumerate(mine)]
            colour, name = KINDS[kind]
            axes.scatter(xs, [ps for _, ps in mine], s=8, alpha=0.6, color=colour, label=name)
        axes.set_xticks(places)
        axes.set(xlabel=label, ylabel="PS less the question's mean")
        axes.legend()

    return plots.svg(draw)


def _centred(passages: Sequence[PassageRecord]) -> list[float]:
    """The PS of each passage less the mean of its question's passages."""
    groups: dict[str, list[float]] = {}
    for passage in passages:
        groups.setdefault(passage.query_id, []).append(passage.ps)
    means = {query: float(np.mean(values)) for query, values in groups.items()}
    return [passage.ps - means[passage.query_id] for passage in passages]


def _by_kind(pairs: Sequence[tuple[str, T]]) -> dict[str, list[T]]:
    """By kind, in the order of KINDS, what there is of it."""
    return {kind: mine for kind in KINDS if (mine := [value for of, value in pairs if of == kind])}
