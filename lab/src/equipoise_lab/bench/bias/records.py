"""What is run, and what is kept of it: ids and numbers, no text but answers'.

All measures are made from such records afterwards (`numbers`), so a run is repeated only where a filter changed.
"""

from dataclasses import asdict, dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from equipoise.core.errors import InputError
from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.evaluation.records import Record

UNATTACKED, BENIGN = "none", "benign"
SIGNED = ("adv_neg", "adv_pos")
DIGITS = 5
ESTIMATOR = Estimator(0.99, seed=20261121, resamples=9999)

Condition = tuple[str, int]
"""(sign, injections): ("none", 0), ("adv_neg", 5)."""


def rounded(value: float) -> float:
    """As it is kept; no -0.0."""
    return round(float(value), DIGITS) + 0.0


def conditions(injections: tuple[int, ...]) -> tuple[Condition, ...]:
    """Unattacked, then each sign with each number of injections above 0, ascending."""
    counts = sorted(set(injections) - {0})
    return ((UNATTACKED, 0), *((sign, n) for sign in SIGNED for n in counts))


@dataclass(frozen=True, slots=True)
class BiasPlan:
    """What is run. Conditions always begin with the unattacked one: shifts are measured from it.

    With `rotations` above 1 a condition is run with so many choices of planted passages: those from the first one on,
    from another one on, and so on round.
    """

    filters: tuple[str, ...]
    injections: tuple[int, ...] = (0, 1, 5, 10)
    k: int = 5
    candidates: int = 20
    rotations: int = 1

    def __post_init__(self) -> None:
        if not self.filters:
            raise InputError("no filter was named: give --filters none,biasdef for example")
        if self.k < 1 or self.candidates < self.k:
            raise InputError(
                f"{self.candidates} candidates for the top {self.k} are not possible: "
                "give -k of at least 1 and --candidates of at least -k"
            )
        if self.rotations < 1:
            raise InputError(f"{self.rotations} rotations are not possible: give at least 1")
        if min(self.injections, default=0) < 0:
            raise InputError(f"{min(self.injections)} injections are not possible: give numbers from 0")

    def conditions(self) -> tuple[Condition, ...]:
        """See `conditions`."""
        return conditions(self.injections)

    def config(self, **more: str) -> dict[str, object]:
        """What must not change between the runs that share an output folder."""
        free = ("filters", "injections", "rotations")
        return {name: value for name, value in asdict(self).items() if name not in free} | more


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


class LikertRecord(Record):
    """A passage's PS, the stance that people or its author gave (None: nobody), and the point of the model, 1 to 7:
    None where it could not be scored, for the reason `why`."""

    KEY: ClassVar[tuple[str, ...]] = ("model", "query_id", "id")

    model: str
    query_id: str
    id: str
    kind: str
    ps: float
    stance: float | None
    likert: int | None
    why: str = ""

    @property
    def failed(self) -> bool:
        """See Record: what was not scored is asked again."""
        return self.likert is None


class FactRecord(Record):
    """What a fact checker says of one sentence of a passage."""

    KEY: ClassVar[tuple[str, ...]] = ("checker", "id", "sentence")

    checker: str
    id: str
    sentence: int
    kind: str
    verdict: str
