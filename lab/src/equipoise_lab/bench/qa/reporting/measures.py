"""Measures of the answers of each system: counts, means and shares, declining, yes and no, guesses, cost."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise_lab.bench.estimates import Estimate, Estimator
from equipoise_lab.bench.qa import metrics
from equipoise_lab.bench.qa.metrics import Decisions, Declining
from equipoise_lab.bench.qa.records import QaRecord, QaTiming
from equipoise_lab.bench.tables import part

ESTIMATOR = Estimator(0.95, seed=20261121, resamples=4_000)

SHARES = ("evidence_hit", "answer_hit", "decision_correct")
MEANS = (
    "answer_recall",
    "answer_k_precision",
    "answer_k_precision_documents",
    "highlight_recall",
    "highlight_k_precision",
    "guess_recall",
    "guess_k_precision",
    "guess_first_recall",
    "guess_first_k_precision",
)
RELATIONS = ("both", "superstring", "substring", "neither", "nothing")
"""Of the highlights to the gold passage; "nothing" was highlighted."""

WORST = 3
"""Guesses shown of each system (Table 7)."""

Records = Sequence[QaRecord]


@dataclass(frozen=True, slots=True)
class Counts:
    """Records, outcomes, reasons of what was declined or failed, and records without a value by measure."""

    rows: int
    answered: int
    declined: int
    failed: int
    reasons: Mapping[str, int]
    dropped: int
    unscored: Mapping[str, int]
    models: list[str]

    @property
    def answered_of(self) -> str:
        """Of all."""
        return part(self.answered, self.rows)

    @property
    def declined_of(self) -> str:
        """Of all."""
        return part(self.declined, self.rows)

    @property
    def failed_of(self) -> str:
        """Of all."""
        return part(self.failed, self.rows)


@dataclass(frozen=True, slots=True)
class Relations:
    """How many highlights contain the gold passage or lie in it (Figure 6); `either` is the share that does."""

    n: int
    both: int
    superstring: int
    substring: int
    neither: int
    nothing: int
    either: Estimate | None


@dataclass(frozen=True, slots=True)
class WorstGuess:
    """A guess of Table 7, the best one of its question."""

    item_id: str
    guess_k_precision: float | None
    guess_recall: float | None


@dataclass(frozen=True, slots=True)
class Spent:
    """Of one question: mean, median, and the ratio of sums to a base (Table 4)."""

    mean: Estimate | None
    median: Estimate | None
    ratio: Estimate | None


def counts(records: Records) -> Counts:
    """Of one system."""
    reasons = Counter(record.reason.partition(":")[0] for record in records if record.reason)
    return Counts(
        len(records),
        sum(record.answered for record in records),
        sum(record.declined for record in records),
        sum(record.failed for record in records),
        dict(sorted(reasons.items())),
        sum(record.dropped for record in records),
        {name: sum(record.score(name) is None for record in records) for name in (*SHARES, *MEANS)},
        sorted({record.model for record in records}),
    )


def measures(records: Records) -> dict[str, Estimate | None]:
    """Every score's mean or share, the share of answers that were grounded, and of answers at all."""
    return {
        "answered": ESTIMATOR.share(record.answered for record in records if not record.failed),
        "grounded": ESTIMATOR.share(record.grounded for record in records if record.answered),
        **{name: ESTIMATOR.share(record.score(name) for record in records) for name in SHARES},
        **{name: ESTIMATOR.mean(record.score(name) for record in records) for name in MEANS},
    }


def declining(records: Records) -> Declining | None:
    """Precision, recall and F1 of declining (Table 3); None without questions that cannot be answered.

    Failed questions said neither and are left out.
    """
    known = [record for record in records if record.answerable is not None and not record.failed]
    pairs = [(record.declined, not record.answerable) for record in known]
    if not any(unanswerable for _, unanswerable in pairs):
        return None
    return metrics.declining(pairs, seed=ESTIMATOR.seed, level=ESTIMATOR.level)


def decisions(records: Records) -> Decisions | None:
    """Accuracy and macro-F1 of yes and no, and what became of maybe; None without such questions.

    A declined question counts as neither yes nor no; failed ones are left out.
    """
    asked = [
        (record.decision, record.decided)
        for record in records
        if record.decision is not None and not record.failed
    ]
    return metrics.decisions(asked, seed=ESTIMATOR.seed, level=ESTIMATOR.level) if asked else None


def relations(records: Records) -> Relations | None:
    """None without gold passages, or for a system that never highlights."""
    if not any(record.highlights for record in records):
        return None
    kinds = Counter(kind for record in records if (kind := record.passage_relation) is not None)
    total = kinds.total()
    if not total:
        return None
    contained = sum(kinds[name] for name in RELATIONS[:3])
    either = ESTIMATOR.share([True] * contained + [False] * (total - contained))
    both, superstring, substring, neither, nothing = (kinds[name] for name in RELATIONS)
    return Relations(total, both, superstring, substring, neither, nothing, either)


def worst_guesses(records: Records) -> list[WorstGuess]:
    """The worst guesses (Table 7), worst first: by K-precision, then recall, then id."""
    guesses = [
        WorstGuess(record.item_id, precision, record.score("guess_recall"))
        for record in records
        if (precision := record.score("guess_k_precision")) is not None
    ]
    return sorted(
        guesses, key=lambda guess: (guess.guess_k_precision, guess.guess_recall or 0.0, guess.item_id)
    )[:WORST]


def cost(
    records: Records, timings: Sequence[QaTiming], base: tuple[Records, Sequence[QaTiming]] | None
) -> dict[str, Spent]:
    """Seconds, tokens and calls of a question.

    Seconds are of fresh calls alone. `base` are records and timings of the system compared with; a ratio
    rests on the questions that both have. Failed questions are left out: they ended early.
    """
    mine, compared = _used(records, timings), _used(*base) if base else None
    return {name: _spent(values, compared[name] if compared else None) for name, values in mine.items()}


def _spent(mine: Mapping[str, float], base: Mapping[str, float] | None) -> Spent:
    shared: Iterable[str] = sorted(mine.keys() & base.keys()) if base else ()
    return Spent(
        ESTIMATOR.mean(mine.values()),
        ESTIMATOR.mean(mine.values(), np.median),
        ESTIMATOR.ratio((mine[item], base[item]) for item in shared) if base else None,
    )


def _used(records: Records, timings: Sequence[QaTiming]) -> dict[str, dict[str, float]]:
    """Seconds, tokens and calls by question, without failed ones."""
    done = [record for record in records if not record.failed]
    items = {record.item_id for record in done}
    used = {"seconds": {timing.item_id: timing.seconds for timing in timings if timing.item_id in items}}
    for name in ("prompt_tokens", "completion_tokens", "calls"):
        used[name] = {record.item_id: float(getattr(record.usage, name)) for record in done if record.usage}
    return used
