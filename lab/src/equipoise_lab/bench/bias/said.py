"""What models said of passages: points on a scale (Figure 2) and verdicts on sentences (Figure 5), as numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench.bias.records import BENIGN, ESTIMATOR, SIGNED, FactRecord, LikertRecord, rounded
from equipoise_lab.evaluation.results import grouped
from equipoise_lab.maths.measures import auc, spearman
from equipoise_lab.maths.rates import Estimate

LEAST = 4
"""Scored passages of a question in Figure 2: with two, any direction correlates perfectly."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": (Kind.SYNTHETIC.value, BENIGN, Kind.ADV_NEG.value, Kind.ADV_POS.value),
    "synthetic (the anchors)": (Kind.SYNTHETIC.value,),
    "by people": (BENIGN,),
    "planted": SIGNED,
}
"""The rows of the table of Figure 2, with the kinds of passages in each."""


def likert(records: Sequence[LikertRecord]) -> list[dict[str, Any]]:
    """Figure 2, one for each model, by name: correlations of its points within a question, for passages of some kinds;
    `points` are (kind, point of the scale, PS less the mean of the question's scored passages)."""
    models = grouped(records, lambda record: record.model)
    made = []
    for name in sorted(models):
        scored = [record for record in models[name] if record.likert is not None]
        means = {
            query: float(np.mean([record.ps for record in some]))
            for query, some in grouped(scored, lambda record: record.query_id).items()
        }
        made.append(
            {
                "model": name,
                "rows": [_likert_row(group, kinds, models[name]) for group, kinds in GROUPS.items()],
                "points": [
                    (one.kind, float(one.likert or 0), rounded(one.ps - means[one.query_id]))
                    for one in scored
                ],
            }
        )
    return made


def shares(records: Sequence[FactRecord]) -> dict[str, Any]:
    """Figure 5 by kind of passage: the share of sentences without a verdict (5a), and of supports among verdicts (5b).

    Means over passages, and each passage's own number ascending. A passage without any verdict has no support ratio.
    Worked value: SUPPORTS, REFUTES, SUPPORTS, NOT ENOUGH INFO: 0.25 and 2/3.
    """
    made = {}
    for kind, some in sorted(grouped(records, lambda record: record.kind).items()):
        said = [[one.verdict for one in each] for each in grouped(some, lambda record: record.id).values()]
        unknown = [each.count("NOT ENOUGH INFO") / len(each) for each in said]
        support = [support_ratio(each) for each in said]
        made[kind] = {
            "unknown": ESTIMATOR.mean_by_unit(enumerate(unknown)),
            "support": ESTIMATOR.mean_by_unit(enumerate(support)),
            "support_ratios": sorted(ratio for ratio in support if ratio is not None),
            "unknown_shares": sorted(unknown),
        }
    return made


def support_ratio(verdicts: Sequence[str]) -> float | None:
    """SUPPORTS / (SUPPORTS + REFUTES); None for neither. Worked value: 2 and 1 give 2/3."""
    yes, no = verdicts.count("SUPPORTS"), verdicts.count("REFUTES")
    return yes / (yes + no) if yes + no else None


def _likert_row(group: str, kinds: Sequence[str], records: Sequence[LikertRecord]) -> dict[str, Any]:
    """Means over the questions with at least LEAST scored passages; `auc` is how often a passage with a positive stance
    gets a higher point than one with a negative stance."""
    mine = [record for record in records if record.kind in kinds]
    scored = [record for record in mine if record.likert is not None]
    by_query = sorted(grouped(scored, lambda record: record.query_id).items())
    questions = [(query, some) for query, some in by_query if len(some) >= LEAST]

    def mean(first: str, second: str) -> Estimate | None:
        return ESTIMATOR.mean_by_unit((query, _correlation(some, first, second)) for query, some in questions)

    return {
        "group": group,
        "queries": len(questions),
        "passages": len(mine),
        "unscored": len(mine) - len(scored),
        "with_ps": mean("ps", "likert"),
        "with_stance": mean("stance", "likert"),
        "auc": ESTIMATOR.mean_by_unit((query, _auc(some)) for query, some in questions),
        "ps_with_stance": mean("stance", "ps"),
    }


def _correlation(records: Sequence[LikertRecord], first: str, second: str) -> float | None:
    """Within a question; of stances, over those that somebody gave."""
    known = [one for one in records if getattr(one, first) is not None]
    return spearman([getattr(one, first) for one in known], [float(getattr(one, second)) for one in known])


def _auc(records: Sequence[LikertRecord]) -> float | None:
    sided = [record for record in records if record.stance]
    return auc([float(one.likert or 0) for one in sided], [(one.stance or 0) > 0 for one in sided])
