"""The tables of the worlds."""

from collections.abc import Callable, Sequence

from equipoise_lab.bench.bias.worlds.summary import WorldCell, WorldsSummary
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.tables import MISSING, Line, Table, interval

ROWS = {
    "none": "no defence",
    "mmr": "MMR",
    "smart-without-nli": "SMART without NLI",
    "brra": "BRRA",
    "biasdef": "BiasDef",
    "biasdef-as-written": "BiasDef as written",
    "biasdef-global": "BiasDef, Algorithm 1's global rule",
    "quotas": "quotas alone, people's documents trusted",
    "voices-true": "voices, oracle: true stance",
    "quotas-voices-true": "quotas and voices, people's documents trusted, oracle",
    "voices-true-threshold-2": "oracle, threshold 2 instead of 1.5",
    "voices-true-echo": "oracle, with a rule against echoes",
    "voices-true-any-hand": "oracle, any hand: stance alone",
    "voices-true-unspared": "oracle, no passage of a voice spared",
    "voices-true-whatever-about": "oracle, whatever a passage is about",
    "voices-true-near": "oracle, joined with BiasDef",
    "near": "BiasDef on near copies alone",
    "voices-no-stance": "no stance: hands alone",
    "echo": "the rule against echoes alone",
    "voices-model": "voices, {model}'s stance",
    "quotas-voices-model": "quotas and voices, people's documents trusted, {model}",
    "voices-model-threshold-2": "{model}, threshold 2",
    "voices-model-echo": "{model}, with a rule against echoes",
    "voices-model-unspared": "{model}, no passage of a voice spared",
    "voices-model-whatever-about": "{model}, whatever a passage is about",
    "voices-embedded": "voices, the embedded model's stance",
    "quotas-voices-embedded": "quotas and voices, people's documents trusted, embedded",
    "voices-embedded-threshold-2": "embedded, threshold 2",
    "voices-embedded-echo": "embedded, with a rule against echoes",
    "voices-embedded-unspared": "embedded, no passage of a voice spared",
    "voices-embedded-whatever-about": "embedded, whatever a passage is about",
    "voices-embedded-near": "embedded, joined with BiasDef: the product's filter",
    "quotas-voices-embedded-near": "embedded, joined, and quotas: the product where people's documents are trusted",
}
WORLDS = {
    "clean": "none planted",
    "planted-1": "1 planted",
    "planted-5": "5 planted",
    "planted-10": "10 planted",
    "machine": "all by models, 5",
    "people": "by people, 5",
    "mixed": "mixed with people's sentences, 5",
    "roughened": "roughened style, 5",
    "less-relevant": "less relevant, 5",
    "spread": "spread, 5",
    "echoing": "echoing the question, 5",
    "neutral": "claiming to be neutral, 5",
    "rewritten": "rewritten from one passage, 3",
}
ADVERSARIAL = """
Of the five seats, those that planted passages take; a seat left empty is nobody's. Means over questions of means over \
both sides and the rotations of what is planted."""
RELEVANT = "Of the five seats, those that relevant passages take. All by models: people's relevant passages are gone."
BENIGN = """
Flagged of people's relevant passages where nothing is planted (hum0); of eight synthetic passages on all sides by one \
hand (syn8), of people's beside them, and the difference; of people's where three of them stand there twice, in other \
words; of planted passages at 5; seats left empty and trials of which nothing was kept, over all worlds."""

Value = Callable[[WorldCell], Estimate | None]


def tables(summary: WorldsSummary) -> list[Table]:
    """Adversarial and relevant shares by world, what is flagged without an attack, the judge, and the targets."""
    attacked = {name: title for name, title in WORLDS.items() if name != "clean"}
    return [
        _by_world(
            "Planted passages among the five", attacked, summary, lambda one: one.adversarial, ADVERSARIAL
        ),
        _by_world("Relevant passages among the five", WORLDS, summary, lambda one: one.relevant, RELEVANT),
        _benign(summary),
        *_judge(summary),
        _targets(summary),
    ]


def label(row: str, summary: WorldsSummary) -> str:
    """A row's name in tables."""
    return ROWS[row].format(model=summary.judged.model if summary.judged else "model")


def _by_world(title: str, worlds: dict[str, str], summary: WorldsSummary, value: Value, note: str) -> Table:
    lines = [
        Line(label(row, summary), tuple(_shown(summary.cell(row, world), value) for world in worlds))
        for row in _rows(summary)
    ]
    return Table(title, ("", *worlds.values()), tuple(lines), note.strip())


def _benign(summary: WorldsSummary) -> Table:
    columns: Sequence[tuple[str, str, Value]] = (
        ("hum0", "clean", lambda one: one.out_people),
        ("syn8", "synthetic", lambda one: one.out_synthetic),
        ("people beside syn8", "synthetic", lambda one: one.out_people),
        ("difference", "synthetic", lambda one: one.more_synthetic),
        ("twice", "twice", lambda one: one.out_people),
        ("planted, 5", "planted-5", lambda one: one.out_planted),
    )
    lines = []
    for row in _rows(summary):
        shares = [_shown(summary.cell(row, world), value) for _, world, value in columns]
        mine = [one for one in summary.cells if one.filter == row and one.trials]
        trials = sum(one.trials for one in mine)
        taken = sum(one.seats.value * one.trials for one in mine if one.seats)
        empty = f"{1 - taken / trials:.1%}" if trials else MISSING
        lines.append(
            Line(label(row, summary), (*shares, empty, f"{sum(one.empty for one in mine)} of {trials}"))
        )
    head = ("", *(name for name, _, _ in columns), "empty seats", "nothing kept")
    return Table("Flagged without cause, and with", head, tuple(lines), BENIGN.strip())


def _judge(summary: WorldsSummary) -> list[Table]:
    found = summary.judged
    if found is None:
        return []
    cells = (
        str(found.asked),
        str(found.silent),
        _auc(found.attack, found.attack_n),
        _auc(found.people, found.people_n),
    )
    head = ("", "texts asked about", "said neither", "AUC, attack passages", "AUC, people's passages")
    note = "Only of texts that a filter asked about: those of groups by one hand, and what else was kept."
    return [Table("Sides told by the model", head, (Line(found.model, cells),), note)]


def _targets(summary: WorldsSummary) -> Table:
    lines = [
        Line(
            f"{label(row, summary)}: {one.name}",
            (one.wanted, f"{one.measured:.3f}", "hit" if one.met else "miss"),
        )
        for row, found in summary.targets.items()
        for one in found
    ]
    return Table("Targets", ("", "wanted", "measured", ""), tuple(lines))


def _rows(summary: WorldsSummary) -> list[str]:
    found = {one.filter for one in summary.cells if one.trials}
    return [row for row in ROWS if row in found]


def _shown(found: WorldCell | None, value: Value) -> str:
    return MISSING if found is None else interval(value(found))


def _auc(value: float | None, count: int) -> str:
    return MISSING if value is None else f"{value:.3f} (n = {count})"
