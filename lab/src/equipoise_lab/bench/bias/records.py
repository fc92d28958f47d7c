"""What is kept of a question under one condition and of what a filter made of it: ids and numbers, no text.

All measures are made from such records afterwards (`metrics`), so a run is repeated only where a filter changed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Flag, Query
from equipoise.evaluation.records import Record
from equipoise.evaluation.results import Key, grouped
from equipoise.evaluation.run import Ran, RecordForm
from equipoise.evaluation.scorers import System
from equipoise.maths.polarization import polarization_scores
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.background import EmbeddedPassages

UNATTACKED = "none"
DIGITS = 5

Condition = tuple[str, int]
"""(sign, injections): ("none", 0), ("adv_neg", 5)."""


class Flagged(BaseModel):
    """A passage that was taken out, why, and the filter's score for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    reason: str
    score: float | None


class UnderCondition(Record):
    """Base of what is about one question, one filter and one condition."""

    KEY: ClassVar[tuple[str, ...]] = ("query_id", "filter", "sign", "injections")

    query_id: str
    filter: str
    sign: str
    injections: int

    @property
    def condition(self) -> Condition:
        """Sign and number of injections."""
        return self.sign, self.injections

    @property
    def place(self) -> tuple[str, str, str, int]:
        """Query, filter, sign and number of injections."""
        return self.query_id, self.filter, self.sign, self.injections


C = TypeVar("C", bound=UnderCondition)


def by_place(records: Iterable[C]) -> dict[tuple[str, Condition], list[C]]:
    """The records by filter and condition."""
    return grouped(records, lambda record: (record.filter, record.condition))


class Rotated(UnderCondition):
    """Base of what is about one choice of passages: those from the one at `first` (from 0) on, and round."""

    KEY: ClassVar[tuple[str, ...]] = (*UnderCondition.KEY, "first")

    first: int


class BiasRecord(Rotated):
    """Ids, SS and PS of what was retrieved, best first; ids injected, kept and flagged."""

    injected: tuple[str, ...]
    candidates: tuple[str, ...]
    ss: tuple[float, ...]
    ps: tuple[float, ...]
    kept: tuple[str, ...]
    flagged: tuple[Flagged, ...]


class BiasTiming(Rotated):
    """Milliseconds of search and of the filter."""

    retrieve_ms: float
    filter_ms: float


class AnswerRecord(UnderCondition):
    """An answer to what a filter kept: its PS, None where the model wrote nothing, and its text."""

    KEY: ClassVar[tuple[str, ...]] = (*UnderCondition.KEY, "generation", "model")

    generation: int
    model: str
    ps: float | None
    text: str = ""


class PassageRecord(Record):
    """SS and PS of an attack passage or a relevant document. `stance` is towards "yes": the author's, or people's
    (None: nobody said). The properties are those of section 3, None for documents."""

    KEY: ClassVar[tuple[str, ...]] = ("query_id", "id")

    query_id: str
    id: str
    kind: str
    ss: float
    ps: float
    stance: int | float | None
    property_1: bool | None
    property_2: bool | None


class FactRecord(Record):
    """What a fact checker says of one sentence of a passage."""

    KEY: ClassVar[tuple[str, ...]] = ("checker", "id", "sentence")

    checker: str
    id: str
    sentence: int
    kind: str
    verdict: str


@dataclass(frozen=True, slots=True, eq=False)
class Planting:
    """A Sample: an attacked question under one condition, with the passages from the one at `first` on."""

    attacked: AttackedQuestion
    condition: Condition
    first: int = 0

    @property
    def sample_id(self) -> str:
        """Query, sign, number of injections, and the first of them."""
        sign, injections = self.condition
        return f"{self.attacked.attack.query_id} {sign} {injections} {self.first}"

    @property
    def planted(self) -> EmbeddedPassages:
        """What is planted."""
        sign, injections = self.condition
        written = self.attacked.planted[Kind.ADV_POS if sign == UNATTACKED else Kind(sign)]
        return written.rotated(injections, self.first)


@dataclass(frozen=True, slots=True, eq=False)
class BiasOutcome:
    """What was retrieved, in how many seconds, and what the filter made of it."""

    candidates: Candidates
    filtered: Filtered
    searched_s: float


@dataclass(frozen=True, slots=True, eq=False)
class FilterSystem:
    """A System: a filter on what was retrieved for a planting; `searched` holds that while its filters run."""

    name: str
    filter: PassageFilter
    searched: dict[str, tuple[Candidates, float]]
    k: int

    async def __call__(self, sample: Planting) -> BiasOutcome:
        """The first k after the filter. Raises what the filter raises."""
        candidates, seconds = self.searched[sample.sample_id]
        question = Query(sample.attacked.attack.question)
        return BiasOutcome(candidates, await self.filter.filter(question, candidates, k=self.k), seconds)


def _key(sample: Planting, system: System[Planting, BiasOutcome]) -> Key:
    return sample.attacked.attack.query_id, system.name, *sample.condition, sample.first


def _fields(sample: Planting, ran: Ran[BiasOutcome]) -> dict[str, Any]:
    candidates, filtered = ran.value.candidates, ran.value.filtered
    return {
        "injected": [passage.doc_id for passage in sample.planted.passages],
        "candidates": [passage.doc_id for passage in candidates.passages],
        "ss": _rounded(candidates.embeddings @ sample.attacked.vector),
        "ps": _rounded(polarization_scores(candidates.embeddings, sample.attacked.axis)),
        "kept": [passage.doc_id for passage in filtered.kept.passages],
        "flagged": [_flag(flag) for flag in filtered.flagged],
    }


def _times(sample: Planting, ran: Ran[BiasOutcome]) -> dict[str, float]:
    return {
        "retrieve_ms": round(ran.value.searched_s * 1e3, 3),
        "filter_ms": round(ran.seconds * 1e3, 3),
    }


FORM: RecordForm[Planting, BiasOutcome, BiasRecord] = RecordForm(BiasRecord, _key, _fields)
TIMES: RecordForm[Planting, BiasOutcome, BiasTiming] = RecordForm(BiasTiming, _key, _times)


def _flag(flag: Flag) -> Flagged:
    score = round(float(flag.score), DIGITS) if np.isfinite(flag.score) else None
    return Flagged(id=flag.passage.doc_id, reason=flag.reason, score=score)


def _rounded(values: Sequence[float] | np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), DIGITS) + 0.0 for value in values)
