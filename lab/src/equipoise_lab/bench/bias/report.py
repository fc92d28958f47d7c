"""The tables of the bias benchmark, and all of them as Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise_lab.bench.bias.answered import AnswerCell, Answered
from equipoise_lab.bench.bias.metrics import Cell
from equipoise_lab.bench.bias.records import UNATTACKED, Condition
from equipoise_lab.bench.bias.summary import BiasSummary
from equipoise_lab.bench.layouts import data, filled, layouts, shown, whole
from equipoise_lab.bench.tables import MISSING, Line, Table, as_markdown

SIGNED = {"signed_shift": "signed shift", "moved": "questions moved the way of the attack"}
NOISE = {"noise": "shift by sampling alone"}
AnyCell = Cell | AnswerCell
Cells = Mapping[tuple[str, Condition], Any]
Printed = Mapping[Condition, float]
Grid = list[tuple[str, Mapping[Condition, Any] | None, Printed]]
"""(label, ours by condition or None, the paper's by condition)."""


def markdown(summary: BiasSummary) -> str:
    """Every table of the report as Markdown."""
    return "\n".join(as_markdown(table) for table in tables(summary))


def tables(summary: BiasSummary) -> list[Table]:
    """Tables 1 to 8 in the paper's order, what the paper says in its text, what it does not measure, its figures."""
    noise = [_noise(summary)] if summary.answers else []
    return [
        *_numbered(summary),
        *noise,
        _worst_and_time(summary),
        _by_filter("recall", summary),
        *likert_tables(summary),
        fact_table(summary),
    ]


def likert_tables(summary: BiasSummary) -> list[Table]:
    """Figure 2 in numbers, by a chat model's points; none where no model was asked."""
    if not summary.likert:
        return []
    layout = layouts("bias")["likert"]
    lines = [
        Line(f"{row.group}, {likert.model}", tuple(filled(cell, row=row) for cell in layout.cells))
        for likert in summary.likert
        for row in likert.rows
        if row.passages
    ]
    printed = _paper()["spearman"]
    lines.append(Line("GPT-5.2", tuple(filled(c, p=printed) for c in layout.published_cells), paper=True))
    return [whole(layout, summary, lines, ours=True)]


def fact_table(summary: BiasSummary) -> Table:
    """Figure 5 in numbers: sentences without a verdict, and supports among verdicts, by kind of passage."""
    layout, facts, lines = layouts("bias")["facts"], summary.facts or {}, []
    for kind, printed in _paper()["facts"].items():
        if kind in facts:
            lines.append(Line(kind, tuple(filled(cell, row=facts[kind]) for cell in layout.cells)))
        lines.append(
            Line(kind, tuple(filled(cell, p=printed) for cell in layout.published_cells), paper=True)
        )
    return whole(layout, summary, lines, ours=bool(facts))


def _numbered(summary: BiasSummary) -> list[Table]:
    return [
        _properties(summary),
        _by_filter("adversarial_share", summary),
        _by_filter("relevant_share", summary),
        _grid("shift", summary, _shifts(summary, summary.cells, "table_4")),
        _grid("signed_shift", summary, _measures(summary, summary.cells, SIGNED)),
        _answers(summary),
        _by_model("undefended", "none", summary),
        _evasion(summary),
        _by_model("defended", "biasdef", summary),
    ]


def _grid(
    name: str, summary: BiasSummary, rows: Grid, *, ours: bool = True, missing: str = "", **context: object
) -> Table:
    """A table with one column for each condition; where the paper did not run one, a dash."""
    layout, signs = layouts("bias")[name], {"adv_neg": "#Neg", "adv_pos": "#Pos"}
    lines = []
    for label, values, printed in rows:
        if values is not None:
            cells = (_cell(layout.cells, c, value=values[c]) for c in summary.conditions)
            lines.append(Line(label, tuple(cells)))
        if printed:
            cells = (_cell(layout.published_cells, c, p=printed.get(c)) for c in summary.conditions)
            lines.append(Line(label, tuple(cells), paper=True))
    head = ("Unattacked" if sign == UNATTACKED else f"{signs[sign]} {n}" for sign, n in summary.conditions)
    table = whole(layout, summary, lines, ours=ours, **context)
    return Table(table.title, ("", *head), table.lines, table.note, missing or table.missing)


def _cell(cells: Sequence[str], condition: Condition, **context: object) -> str:
    return filled(cells[0 if condition[0] == UNATTACKED else -1], **context)


def _by_filter(name: str, summary: BiasSummary) -> Table:
    """A table of one measure of each filter, named after the measure."""
    printed = layouts("bias")[name].published
    cells = _places(summary.cells)
    rows: Grid = [
        (
            _label(filter_name),
            {c: getattr(cells[filter_name, c], name) for c in summary.conditions},
            _printed(printed, filter_name),
        )
        for filter_name in summary.filters
    ]
    return _grid(name, summary, rows)


def _shifts(summary: BiasSummary, cells: Sequence[AnyCell], printed: str) -> Grid:
    places = _places(cells)
    return [
        (_label(name), _shift(name, summary, places), _printed(printed, name)) for name in summary.filters
    ]


def _shift(name: str, summary: BiasSummary, cells: Cells) -> dict[Condition, Any]:
    """Unattacked: the mean |PS| itself."""
    return {
        c: cells[name, c].mean_abs_ps if c[0] == UNATTACKED else cells[name, c].ps_shift
        for c in summary.conditions
    }


def _answers(summary: BiasSummary) -> Table:
    """Table 5: with several models a row for each filter and model."""
    if not summary.answers:
        return _without("answers", summary, {_label(name): name for name in _paper()["table_5"]})
    places = {answered.model: _places(answered.cells) for answered in summary.answers}
    rows: Grid = []
    for name in summary.filters:
        rows += [(_label(name) + by, _shift(name, summary, places[model]), {}) for model, by in _by(summary)]
        rows.append((_label(name), None, _printed("table_5", name)))
    return _grid("answers", summary, rows, model=", ".join(places))


def _by_model(name: str, filter_name: str, summary: BiasSummary) -> Table:
    """Table 6 or 8: one row for each model that answered."""
    models = {model: model for model in _paper()[layouts("bias")[name].published]}
    if not summary.answers:
        return _without(name, summary, models)
    if filter_name not in summary.filters:
        return _without(name, summary, models, f"Not computed: the filter {filter_name} was not run.")
    ours: Grid = [
        (_of_model(answered, summary), _shift(filter_name, summary, _places(answered.cells)), {})
        for answered in summary.answers
    ]
    return _grid(name, summary, [*ours, *_all_printed(name, models)])


def _of_model(answered: Answered, summary: BiasSummary) -> str:
    """The model and the corpus, and the number of questions where it did not answer all."""
    label = f"{answered.model}, {summary.config.get('corpus', 'this corpus')}"
    return label if answered.queries == summary.queries else f"{label}, {answered.queries} questions"


def _by(summary: BiasSummary) -> list[tuple[str, str]]:
    """Every model that answered, and what is added to a row's label for it: nothing where it is the only one."""
    models = [answered.model for answered in summary.answers]
    return [(model, f", {model}" if len(models) > 1 else "") for model in models]


def _without(name: str, summary: BiasSummary, labels: Mapping[str, str], missing: str = "") -> Table:
    """The paper's rows alone."""
    table = _grid(name, summary, _all_printed(name, labels), ours=False, missing=missing)
    return Table(table.title, table.head, table.lines, missing=table.missing)


def _all_printed(name: str, labels: Mapping[str, str]) -> Grid:
    table = layouts("bias")[name].published
    return [(label, None, _printed(table, row)) for label, row in labels.items()]


def _evasion(summary: BiasSummary) -> Table:
    cells = _places(summary.cells)
    rows: Grid = []
    chosen = [name for name in summary.filters if name.startswith("biasdef")]
    for which, label in (("both", "Property 1 & 2"), ("other", "Other")):
        for name in chosen:
            ours = {c: getattr(cells[name, c], f"evasion_{which}") for c in summary.conditions}
            rows.append((f"{label}, {_label(name)}", ours, {}))
        rows.append((label, None, _printed("table_7", which)))
    return _grid("evasion", summary, rows, ours=bool(chosen))


def _noise(summary: BiasSummary) -> Table:
    cells = {answered.model: answered.cells for answered in summary.answers}
    rows = [row for model, by in _by(summary) for row in _measures(summary, cells[model], SIGNED | NOISE, by)]
    return _grid("noise", summary, rows)


def _measures(
    summary: BiasSummary, cells: Sequence[AnyCell], measures: Mapping[str, str], by: str = ""
) -> Grid:
    """One row for each filter and measure."""
    places = _places(cells)
    return [
        (
            f"{_label(name)}{by}, {label}",
            {c: getattr(places[name, c], measure) for c in summary.conditions},
            {},
        )
        for name in summary.filters
        for measure, label in measures.items()
    ]


def _properties(summary: BiasSummary) -> Table:
    layout, lines = layouts("bias")["properties"], []
    for sign, label in {"adv_neg": "Negative EBI", "adv_pos": "Positive EBI"}.items():
        ours = summary.properties.get(sign)
        count = f" (n = {ours.count})" if ours else ""
        lines.append(Line(label + count, tuple(filled(cell, row=ours) for cell in layout.cells)))
        printed = _paper()["table_1"][sign]
        lines.append(
            Line(label, tuple(filled(cell, p=printed) for cell in layout.published_cells), paper=True)
        )
    return whole(layout, summary, lines, ours=True)


def _worst_and_time(summary: BiasSummary) -> Table:
    lines, paper = [], _paper()
    for name in summary.filters:
        worst, times = summary.worst_case[name], summary.milliseconds[name]
        said = MISSING
        if worst:
            ratio = worst.ratio if isinstance(worst.ratio, str) else shown(worst.ratio, "number")
            said = f"{ratio} ({worst.sign} {worst.injections})"
        lines.append(Line(_label(name), (said, _interval(times.filter_ms), _interval(times.retrieve_ms))))
        if name in paper["worst_case"]:
            cost = shown(paper["milliseconds"].get(name), "points")
            printed = (shown(paper["worst_case"][name], "short"), cost, MISSING)
            lines.append(Line(_label(name), printed, paper=True))
    return whole(layouts("bias")["worst"], summary, lines, ours=True)


def _interval(value: object) -> str:
    return shown(value, "number")


def _places(cells: Sequence[AnyCell]) -> Cells:
    return {(cell.filter, cell.condition): cell for cell in cells}


def _label(name: str) -> str:
    label: str = _paper()["names"].get(name, name)
    return label


def _printed(table: str, row: str) -> Printed:
    """A row of the paper by condition; empty where it has none."""
    values = _paper()[table].get(row, ()) if table else ()
    conditions = [(sign, n) for sign, n in _paper()["conditions"]]
    return dict(zip(conditions[len(conditions) - len(values) :], values, strict=True))


def _paper() -> Mapping[str, Any]:
    return data("bias", "paper")
