"""The paper's tables with our numbers, the paper's own beneath them, and what could not be computed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equipoise.bench.bias import paper
from equipoise.bench.bias.paper import Numbers
from equipoise.bench.bias.runner import UNATTACKED, Condition
from equipoise.bench.tables import MISSING, Line, Table, interval, number, percent

Summary = Mapping[str, Any]
Cells = Mapping[tuple[str, Condition], Mapping[str, Any]]


def tables(summary: Summary) -> list[Table]:
    """Tables 1 to 8 in the paper's order, then what the paper says in its text and what it does not measure."""
    cells = cells_of(summary["cells"])
    more = [_plain(title, name, summary, cells, note) for title, name, note in MORE]
    noise = [_answer_noise(summary)] if summary["answers"] else []
    return [*_numbered(summary, cells), *noise, _worst_and_time(summary), *more]


MORE = (
    (
        "True recall@k of relevant documents",
        "recall",
        "Relevant documents kept, of all there are for the question.",
    ),
    (
        "Injected passages that reach the top k",
        "reached",
        "Of the injected passages, those that the reader sees.",
    ),
    (
        "Stance balance of the top k by human labels",
        "stance_balance",
        "1: both sides weigh the same, 0: one side alone. Planted passages have no human label.",
    ),
    (
        "Stance balance of the top k, planted passages counted on the side they push",
        "stance_balance_with_planted",
        "As before, with each planted passage as one full vote for its side.",
    ),
)
"""(title, measure, note) of what the paper does not tabulate."""


def _numbered(summary: Summary, cells: Cells) -> list[Table]:
    title = "Table 4. PS shift of the top-k retrieved passages, in % of the unattacked mean |PS|"
    answers = "Table 5. PS shift of answers, in % of the unattacked mean |PS|"
    undefended = "Table 6. PS shift of answers without a defence, by model and data set"
    defended = "Table 8. PS shift of answers with BiasDef, by model and data set"
    return [
        _properties(summary),
        _shares(summary, cells),
        _relevant(summary, cells),
        _shift(title, summary, cells, paper.TABLE_4),
        _answer_table(answers, summary, summary["answers"], paper.TABLE_5),
        _model_table(undefended, "none", summary, paper.TABLE_6),
        _evasion(summary, cells),
        _model_table(defended, "biasdef", summary, paper.TABLE_8),
    ]


def cells_of(rows: Sequence[Mapping[str, Any]]) -> Cells:
    """The cells of a summary by filter and condition."""
    return {(row["filter"], (row["sign"], row["injections"])): row for row in rows}


def conditions(summary: Summary) -> tuple[Condition, ...]:
    """The columns: unattacked, negative and positive injections."""
    signs = ("adv_neg", "adv_pos")
    return ((UNATTACKED, 0), *((sign, n) for sign in signs for n in summary["injections"]))


def _properties(summary: Summary) -> Table:
    names = {"adv_neg": "Negative EBI", "adv_pos": "Positive EBI"}
    columns = ("both", "only_1", "only_2", "neither")
    lines = []
    for sign, label in names.items():
        ours = summary["properties"].get(sign, {})
        count = f" (n = {ours['count']})" if ours else ""
        lines.append(Line(label + count, tuple(_share(ours.get(c)) for c in columns)))
        lines.append(Line(label, tuple(f"{paper.TABLE_1[sign][c]:.1%}" for c in columns), paper=True))
    return Table(
        "Table 1. Attack passages by property",
        ("", "Property 1 & 2", "Only Property 1", "Only Property 2", "Neither"),
        tuple(lines),
        "Property 1: nearer to the question than every benign passage; 2: further along the axis than every "
        "one. Benign passages are those retrieved without an attack.",
    )


def _share(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1%}"


def _shares(summary: Summary, cells: Cells) -> Table:
    title = f"Table 2. Adversarial share of the top {summary['k']} (the paper's A-Recall@5)"
    lines = _by_filter(summary, cells, "adversarial_share", paper.TABLE_2)
    note = (
        "A share of what was retrieved, not a recall: one injected passage can be 0.20 at most. The paper's "
        "BRRA row equals its BiasDef row, but BRRA's relevant share tracks no defence: probably a misprint."
    )
    return Table(title, _head(summary), lines, note)


def _relevant(summary: Summary, cells: Cells) -> Table:
    title = f"Table 3. Relevant share of the top {summary['k']} (the paper's Recall@5)"
    return Table(title, _head(summary), _by_filter(summary, cells, "relevant_share", paper.TABLE_3))


def _plain(title: str, name: str, summary: Summary, cells: Cells, note: str) -> Table:
    empty = all(values[name] is None for values in cells.values())
    missing = "Not computed: the corpus has no human stance labels (stance.tsv)." if empty else ""
    lines = () if empty else _by_filter(summary, cells, name, {})
    return Table(title, _head(summary), lines, note, missing)


def _shift(title: str, summary: Summary, cells: Cells, printed: Mapping[str, Numbers]) -> Table:
    lines: list[Line] = []
    for name in summary["filters"]:
        label = paper.NAMES.get(name, name)
        lines.append(Line(label, _shift_cells(name, summary, cells)))
        lines += _printed(label, printed.get(name), summary, _shift_number)
    note = (
        "Unattacked: the mean |PS| itself. PS is measured with the retriever's encoder on the axis of the "
        "question's synthetic passages."
    )
    return Table(title, _head(summary), tuple(lines), note)


def _shift_cells(name: str, summary: Summary, cells: Cells) -> tuple[str, ...]:
    found = [
        interval(cells[name, c]["mean_abs_ps"], lambda value: f"{value:.3f}")
        if c[0] == UNATTACKED
        else interval(cells[name, c]["ps_shift"], percent)
        for c in conditions(summary)
    ]
    return tuple(found)


def _shift_number(condition: Condition, value: float) -> str:
    return f"{value:.3f}" if condition[0] == UNATTACKED else percent(value)


def _answer_table(
    title: str, summary: Summary, answers: Summary | None, printed: Mapping[str, Numbers]
) -> Table:
    if answers:
        table = _shift(title, summary, cells_of(answers["cells"]), printed)
        return Table(table.title, table.head, table.lines, f"Answers of {answers['model']}. {table.note}")
    return _without_answers(title, summary, {paper.NAMES[name]: row for name, row in printed.items()})


def _answer_noise(summary: Summary) -> Table:
    cells = cells_of(summary["answers"]["cells"])
    lines = [
        Line(
            f"{paper.NAMES.get(name, name)}, {label}",
            tuple(interval(cells[name, c][measure], percent) for c in conditions(summary)),
        )
        for name in summary["filters"]
        for measure, label in (("signed_shift", "signed shift"), ("noise", "shift by sampling alone"))
    ]
    note = (
        "The shift of Table 5 has no sign, so answers that were not pushed at all show what sampling alone gives: how "
        "far the means of as many answers to one context lie apart. In the signed shift sampling averages out; an "
        "attack that succeeds takes it below 0 with negative and above 0 with positive passages."
    )
    return Table("Answers: signed PS shift, and sampling", _head(summary), tuple(lines), note)


def _model_table(title: str, name: str, summary: Summary, printed: Mapping[str, Numbers]) -> Table:
    answers = summary["answers"]
    if not answers:
        return _without_answers(title, summary, printed)
    if name not in summary["filters"]:
        table = _without_answers(title, summary, printed)
        return Table(
            table.title, table.head, table.lines, missing=f"Not computed: the filter {name} was not run."
        )
    label = f"{answers['model']}, {summary['config'].get('corpus', 'this corpus')}"
    ours = Line(label, _shift_cells(name, summary, cells_of(answers["cells"])))
    return Table(title, _head(summary), (ours, *_all_printed(summary, printed)))


def _without_answers(title: str, summary: Summary, printed: Mapping[str, Numbers]) -> Table:
    missing = "Not computed: no language model answered in this run (--llm)."
    return Table(title, _head(summary), _all_printed(summary, printed), missing=missing)


def _all_printed(summary: Summary, printed: Mapping[str, Numbers]) -> tuple[Line, ...]:
    return tuple(
        line for label, row in printed.items() for line in _printed(label, row, summary, _shift_number)
    )


def _evasion(summary: Summary, cells: Cells) -> Table:
    rows = {"both": "Property 1 & 2", "other": "Other"}
    title = "Table 7. Evasion rate of attack passages under BiasDef"
    head = _head(summary)
    chosen = [name for name in summary["filters"] if name.startswith("biasdef")]
    lines: list[Line] = []
    for which, label in rows.items():
        for name in chosen:
            values = tuple(interval(cells[name, c][f"evasion_{which}"]) for c in conditions(summary))
            lines.append(Line(f"{label}, {paper.NAMES.get(name, name)}", values))
        lines += _printed(label, paper.TABLE_7[which], summary, lambda _, value: number(value))
    note = (
        "Of the injected passages among the candidates, those that were not flagged. One that was not "
        "retrieved met no filter and does not count."
    )
    missing = "" if chosen else "Not computed: the filter biasdef was not run."
    return Table(title, head, tuple(lines), note, missing)


def _worst_and_time(summary: Summary) -> Table:
    lines = []
    for name in summary["filters"]:
        label, worst = paper.NAMES.get(name, name), summary["worst_case"][name]
        shown = MISSING
        if worst:
            ratio = worst["ratio"] if isinstance(worst["ratio"], str) else number(worst["ratio"])
            shown = f"{ratio} ({worst['sign']} {worst['injections']})"
        times = summary["milliseconds"][name]
        spent = tuple(interval(times[part], lambda ms: f"{ms:.2f}") for part in ("filter_ms", "retrieve_ms"))
        lines.append(Line(label, (shown, *spent)))
        if name in paper.WORST_CASE:
            cost = f"{paper.MILLISECONDS[name]:.0f}" if name in paper.MILLISECONDS else MISSING
            lines.append(Line(label, (f"{paper.WORST_CASE[name]:g}", cost, MISSING), paper=True))
    head = ("", "worst adversarial / relevant share", "ms a question, filter", "ms a question, search")
    return Table("Worst case (sections 5.3 and 6.3) and time", head, tuple(lines))


def _head(summary: Summary) -> tuple[str, ...]:
    names = {"adv_neg": "#Neg", "adv_pos": "#Pos"}
    return ("", *("Unattacked" if s == UNATTACKED else f"{names[s]} {n}" for s, n in conditions(summary)))


def _by_filter(
    summary: Summary, cells: Cells, measure: str, printed: Mapping[str, Numbers]
) -> tuple[Line, ...]:
    lines: list[Line] = []
    for name in summary["filters"]:
        label = paper.NAMES.get(name, name)
        values = tuple(interval(cells[name, c][measure]) for c in conditions(summary))
        lines.append(Line(label, values))
        lines += _printed(label, printed.get(name), summary, lambda _, value: number(value))
    return tuple(lines)


def _printed(
    label: str, row: Numbers | None, summary: Summary, show: Callable[[Condition, float], str]
) -> list[Line]:
    """The paper's row, if it has one; a condition it did not run is a dash."""
    if row is None:
        return []
    values = tuple(show(c, row[c]) if c in row else MISSING for c in conditions(summary))
    return [Line(label, values, paper=True)]
