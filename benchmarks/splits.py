"""One place that says which documents are for fitting and which for reporting."""

from collections.abc import Sequence
from hashlib import sha256

SEED = 20261121
FIT = frozenset(
    {"sq-Normans", "sq-Computational_complexity_theory", "sq-Steam_engine", "sq-European_Union_law"}
)
"""The squad2 articles used to fit thresholds and to try prompts; all the others are for reporting."""


def bias_report(query_ids: Sequence[str]) -> list[str]:
    """The attacked debate questions to report on: every second one in the order of their ids.

    The others are for fitting from now on. BiasDef's defaults were chosen on a half of these questions that
    was not recorded, so for them this half is not sure to be unseen.
    """
    return sorted(query_ids)[1::2]


def part_of(doc_id: str, *, report: float, validate: float) -> str:
    """ "report", "validate" or "train" for a document: by a hash of its id, so that nothing has to be listed.

    `report` documents are never trained on and nothing is chosen on them.
    """
    place = int(sha256(f"{SEED} {doc_id}".encode()).hexdigest()[:8], 16) / 16**8
    return "report" if place < report else "validate" if place < report + validate else "train"


def covid_part(doc_id: str) -> str:
    """The part of a covid_qa document: 20 of 70 report, 10 validate."""
    return part_of(doc_id, report=0.33, validate=0.1)


def bioasq_part(question_id: str) -> str:
    """The part of a bioasq12b question and its snippets: 96 of 202 report, 13 validate."""
    return part_of(question_id, report=0.45, validate=0.1)
