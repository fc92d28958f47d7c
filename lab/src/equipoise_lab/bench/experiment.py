"""Systems x scorers as one table: each score's estimate, and every system tested against a baseline (Holm)."""

from collections.abc import Sequence

from equipoise.evaluation.records import SampleRecord
from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.bench.paired import Scores, against
from equipoise_lab.bench.tables import MISSING, Line, Table, interval, percent

ESTIMATOR = Estimator(0.95, seed=20261121, resamples=4_000)


def compared(
    records: Sequence[SampleRecord], *, baseline: str, estimator: Estimator = ESTIMATOR, title: str = "Scores"
) -> Table:
    """One line for each scorer and system: mean (a share for flags) with interval, n, what was not scored, and the
    difference to `baseline` with its p-value. An error scores nothing and counts as not scored."""
    scores = _scores(records)
    tests = {(test.measure, test.system): test for test in against(
        {name: by for name, by in scores.items() if any(v is not None for v in by.get(baseline, {}).values())},
        lambda systems: baseline, seed=estimator.seed, level=estimator.level, resamples=estimator.resamples,
    )}  # fmt: skip
    lines = []
    for name, by in scores.items():
        known = [value for values in by.values() for value in values.values() if value is not None]
        flags = bool(known) and all(isinstance(value, bool) for value in known)
        for system, values in by.items():
            estimate = (estimator.share if flags else estimator.mean)(values.values())
            unscored = sum(value is None for value in values.values())
            test = tests.get((name, system))
            less = (
                f"{test.difference.estimate:+.2f} (p {test.p_holm:.4f})"
                if test and test.difference
                else MISSING
            )
            shown = interval(estimate, percent) if flags else interval(estimate)
            cells = (shown, str(len(values) - unscored), str(unscored), less)
            lines.append(Line(f"{name}: {system}", cells))
    return Table(title, ("", "estimate", "n", "not scored", f"less {baseline}"), tuple(lines))


def _scores(records: Sequence[SampleRecord]) -> dict[str, Scores]:
    """Values by scorer, system and sample; None after an error."""
    names = list(dict.fromkeys(name for record in records for name in record.scores))
    systems = list(dict.fromkeys(record.system for record in records))
    return {
        name: {
            system: {record.sample: record.score(name) for record in records if record.system == system}
            for system in systems
        }
        for name in names
    }
