"""What judges said of single answers: distributions, who was rated highest, how guesses go with it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.maths.rates import Interval
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.qa import metrics
from equipoise_lab.bench.qa.records import Judgement, QaRecord
from equipoise_lab.bench.qa.reporting.measures import ESTIMATOR
from equipoise_lab.maths.statistics import wilson

BySystem = Mapping[str, Sequence[Judgement]]


@dataclass(frozen=True, slots=True)
class Won:
    """How often a system had the highest rating of all."""

    count: int
    share: Interval | None


@dataclass(frozen=True, slots=True)
class Highest:
    """Who had the highest rating, ties included (Figure 3), on the `n` questions that all were rated on."""

    n: int
    wins: Mapping[str, Won]


@dataclass(frozen=True, slots=True)
class Rating:
    """One judge on one model: mean, how often each rating was given, wins by system, and what is missing."""

    judge: str
    model: str
    judges_itself: bool
    unscored: Mapping[str, int]
    mean: Mapping[str, Estimate | None]
    distribution: Mapping[str, Mapping[str, int]]
    highest: Highest

    @property
    def caption(self) -> str:
        """Who judged."""
        return caption(self.model, itself=self.judges_itself)

    @property
    def given(self) -> dict[str, dict[str, object]]:
        """Mean and distribution by system."""
        return {
            name: {"mean": self.mean[name], "distribution": counts}
            for name, counts in self.distribution.items()
        }


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson of a system's guess K-precision with a performance of its answers (Figure 9); `points` are
    (K-precision, performance, how many lie there)."""

    contender: str
    performance: str
    pearson: Interval | None
    points: list[list[float]]


def caption(model: str, *, itself: bool) -> str:
    """`judged by MODEL`, and whether that model judges itself."""
    return f"judged by {model}{', judged by the same model that answered' if itself else ''}"


def ratings(by: BySystem, systems: Sequence[str], models: set[str]) -> list[Rating]:
    """One for each judge and its model; `models` are those that answered."""
    raters = sorted({(judgement.judge, judgement.judge_model) for mine in by.values() for judgement in mine})
    return [_rating(rater, by, systems, models) for rater in raters]


def _rating(rater: tuple[str, str], by: BySystem, systems: Sequence[str], models: set[str]) -> Rating:
    mine = {
        name: [
            judgement for judgement in by.get(name, ()) if (judgement.judge, judgement.judge_model) == rater
        ]
        for name in systems
    }
    known = {
        name: {judgement.item_id: judgement.value for judgement in judgements if judgement.value is not None}
        for name, judgements in mine.items()
    }
    judged = {name: values for name, values in known.items() if mine[name]}
    return Rating(
        *rater,
        rater[1] in models,
        {name: len(mine[name]) - len(known[name]) for name in systems},
        {name: ESTIMATOR.mean(values.values()) for name, values in judged.items()},
        {name: _distribution(values) for name, values in judged.items()},
        _highest(judged),
    )


def _distribution(values: Mapping[str, float]) -> dict[str, int]:
    """How often each rating was given, the lowest rating first."""
    return {f"{rating:g}": count for rating, count in sorted(Counter(values.values()).items())}


def _highest(known: Mapping[str, Mapping[str, float]]) -> Highest:
    """Ties count for all of them; only questions count that all systems were rated on."""
    common = set.intersection(*(set(values) for values in known.values())) if known else set()
    best = {item: max(values[item] for values in known.values()) for item in common}
    won = {name: sum(known[name][item] == best[item] for item in common) for name in sorted(known)}
    share = {name: wilson(n, len(common), level=ESTIMATOR.level) for name, n in won.items()}
    return Highest(len(common), {name: Won(n, share[name]) for name, n in won.items()})


def correlations(by: Mapping[str, Sequence[QaRecord]], judged: BySystem) -> list[Correlation]:
    """By system and performance: the judges' ratings, and the answers' recall of the reference."""
    measured = []
    for name, records in by.items():
        guesses = _scored(records, "guess_k_precision")
        for performance, values in sorted(_performances(records, judged.get(name, ())).items()):
            points = [(guesses[item], values[item]) for item in sorted(guesses.keys() & values.keys())]
            if points:
                xs, ys = [p[0] for p in points], [p[1] for p in points]
                places = [[x, y, count] for (x, y), count in sorted(Counter(points).items())]
                pearson = metrics.pearson(xs, ys, level=ESTIMATOR.level)
                measured.append(Correlation(name, performance, pearson, places))
    return measured


def _performances(
    records: Sequence[QaRecord], judgements: Sequence[Judgement]
) -> dict[str, dict[str, float]]:
    performances = {"answer recall": _scored(records, "answer_recall")}
    for judgement in judgements:
        if judgement.value is not None:
            performances.setdefault(judgement.rater, {})[judgement.item_id] = judgement.value
    return performances


def _scored(records: Sequence[QaRecord], name: str) -> dict[str, float]:
    return {record.item_id: value for record in records if (value := record.score(name)) is not None}
