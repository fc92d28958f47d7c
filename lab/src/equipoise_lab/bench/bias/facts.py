"""Does fact checking tell planted passages from others? (Section 5.5 and Figure 5.)

A checker gives one verdict for one sentence. Two are here: NLI of the sentence against the nearest evidence in
the corpus, and the WikiCheck API (Trokhymovych and Saez-Trumper, CIKM 2021) by its URL.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http.client import HTTPException
from typing import Protocol
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np

from equipoise.core.errors import InputError, ModelReplyError, ModelUnavailable
from equipoise.core.protocols import CONTRADICTION, ENTAILMENT, NLI, Encoder
from equipoise.core.types import Passage
from equipoise.evaluation.run import RecordForm, evaluate
from equipoise.evaluation.scorers import Call
from equipoise.maths.similarity import top_k
from equipoise.models.encoder import encode_questions
from equipoise.text.sentences import sentence_spans
from equipoise_lab.bench.bias.background import EmbeddedPassages
from equipoise_lab.bench.bias.metrics import ESTIMATOR
from equipoise_lab.bench.bias.records import FactRecord
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.estimates import Estimate

FACTS = "facts.jsonl"
EVIDENCE = 3
"""Passages of the corpus that a sentence is checked against."""

CERTAIN = 0.5
"""The probability from which entailment or contradiction counts as a verdict."""

TIMEOUT_S = 60.0


class FactVerdict(StrEnum):
    """What a fact checker says of a sentence."""

    SUPPORTS = "SUPPORTS"
    REFUTES = "REFUTES"
    UNKNOWN = "NOT ENOUGH INFO"


class FactChecker(Protocol):
    """Checks single sentences."""

    async def check(self, sentence: str, *, source: str) -> FactVerdict:
        """The verdict on `sentence` of the passage with the id `source`, which is no evidence for itself.

        Raises ModelError.
        """
        ...


@dataclass(frozen=True, slots=True)
class NliChecker:
    """The strongest verdict of NLI over the corpus passages nearest to the sentence."""

    nli: NLI
    encoder: Encoder
    embedded: EmbeddedPassages

    async def check(self, sentence: str, *, source: str) -> FactVerdict:
        """See FactChecker. Unknown where neither probability reaches CERTAIN for any piece of evidence."""
        vector = encode_questions(self.encoder, [sentence])[0]
        rows, _ = top_k(self.embedded.vectors, vector, EVIDENCE + 1)
        near = [p for p in (self.embedded.passages[row] for row in rows) if p.doc_id != source][:EVIDENCE]
        probabilities = await self.nli.predict([(passage.text, sentence) for passage in near])
        sides = {FactVerdict.SUPPORTS: ENTAILMENT, FactVerdict.REFUTES: CONTRADICTION}
        best = {
            verdict: float(probabilities[:, column].max(initial=0.0)) for verdict, column in sides.items()
        }
        strongest = max(best, key=lambda verdict: best[verdict])
        return strongest if best[strongest] >= CERTAIN else FactVerdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class WikiCheck:
    """The aggregated verdict of a WikiCheck server; `url` without the path."""

    url: str

    def __post_init__(self) -> None:
        check_name(self.url)

    async def check(self, sentence: str, *, source: str) -> FactVerdict:
        """See FactChecker; the passage's id is not sent."""
        return await asyncio.to_thread(self._ask, sentence)

    def _ask(self, sentence: str) -> FactVerdict:
        address = f"{self.url.rstrip('/')}/fact_checking_aggregated/?claim={quote(sentence, safe='')}"
        try:
            with urlopen(address, timeout=TIMEOUT_S) as reply:
                content = reply.read()
        except (OSError, HTTPException) as error:
            raise ModelUnavailable(
                f"WikiCheck at {self.url} does not answer ({error}): check --facts"
            ) from None
        try:
            return FactVerdict(json.loads(content)["predicted_label"])
        except (ValueError, KeyError, TypeError) as error:
            raise ModelReplyError(
                f"WikiCheck at {self.url} sent no verdict ({error}): check its version"
            ) from None


def check_name(name: str) -> None:
    """Raises InputError for what is neither "none", nor "nli", nor a URL, and for a URL with a password in it."""
    if "@" in name.partition("://")[2].partition("/")[0]:
        raise InputError("--facts has a user or a password in its URL, which is not sent: give it without")
    if name not in ("none", "nli") and not name.startswith(("http://", "https://")):
        raise InputError(f"--facts {name!r} is no URL: give none, nli, or http://... of a WikiCheck server")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A Sample: a sentence of a passage of some kind."""

    kind: str
    source: str
    number: int
    text: str

    @property
    def sample_id(self) -> str:
        """Passage and number."""
        return f"{self.source} {self.number}"


FORM: RecordForm[Sentence, FactVerdict, FactRecord] = RecordForm(
    FactRecord,
    lambda sentence, system: (system.name, sentence.source, sentence.number),
    lambda sentence, ran: {"kind": sentence.kind, "verdict": ran.value.value},
)


async def check_all(
    passages: Sequence[tuple[str, Passage]], checker: FactChecker, name: str, workspace: Workspace
) -> list[FactRecord]:
    """A verdict for every sentence of the (kind, passage) pairs that the output folder does not hold yet, by key.

    `name` tells verdicts of different checkers apart. Raises ModelError; what was checked before stays.
    """
    sentences = [
        Sentence(kind, passage.doc_id, number, passage.text[start:end])
        for kind, passage in passages
        for number, (start, end) in enumerate(sentence_spans(passage.text))
    ]
    system: Call[Sentence, FactVerdict] = Call(
        name, lambda sentence: checker.check(sentence.text, source=sentence.source)
    )
    evaluated = await evaluate(
        sentences, [system], (), workspace.out, form=FORM, file=FACTS,
        progress=workspace.progress, errors=(),
    )  # fmt: skip
    return evaluated.records


@dataclass(frozen=True, slots=True)
class FactShares:
    """Of one kind of passage: the share of sentences without a verdict (5a), and of supports among verdicts (5b).

    Means over passages, and each passage's own number ascending. A passage without any verdict has no support ratio.
    """

    unknown: Estimate | None
    support: Estimate | None
    support_ratios: list[float]
    unknown_shares: list[float]


def shares(records: Sequence[FactRecord]) -> dict[str, FactShares]:
    """Figure 5 by kind of passage.

    Worked value: SUPPORTS, REFUTES, SUPPORTS, NOT ENOUGH INFO: 0.25 and 2/3.
    """
    verdicts: dict[str, dict[str, list[str]]] = {}
    for record in records:
        verdicts.setdefault(record.kind, {}).setdefault(record.id, []).append(record.verdict)
    return {
        kind: FactShares(
            ESTIMATOR.mean_by_unit((passage, _unknown(said)) for passage, said in by.items()),
            ESTIMATOR.mean_by_unit((passage, support_ratio(said)) for passage, said in by.items()),
            sorted(ratio for said in by.values() if (ratio := support_ratio(said)) is not None),
            sorted(_unknown(said) for said in by.values()),
        )
        for kind, by in sorted(verdicts.items())
    }


def support_ratio(verdicts: Sequence[str]) -> float | None:
    """SUPPORTS / (SUPPORTS + REFUTES); None for neither. Worked value: 2 and 1 give 2/3."""
    yes, no = (list(verdicts).count(verdict.value) for verdict in (FactVerdict.SUPPORTS, FactVerdict.REFUTES))
    return yes / (yes + no) if yes + no else None


def _unknown(verdicts: Sequence[str]) -> float:
    return float(np.mean([verdict == FactVerdict.UNKNOWN.value for verdict in verdicts]))


def chosen(
    embedded: EmbeddedPassages, planted: Mapping[str, Sequence[Passage]], relevant: Sequence[str], limit: int
) -> list[tuple[str, Passage]]:
    """At most `limit` passages of each kind: planted ones by sign, and the relevant documents as benign."""
    by_id = {passage.doc_id: passage for passage in embedded.passages}
    kinds = {"benign": [by_id[doc_id] for doc_id in sorted(relevant)], **planted}
    return [(kind, passage) for kind, passages in kinds.items() for passage in _spread(passages, limit)]


def _spread(passages: Sequence[Passage], limit: int) -> list[Passage]:
    """`limit` of the passages at even distances, so that every question has its share."""
    if len(passages) <= limit:
        return list(passages)
    return [passages[int(place)] for place in np.linspace(0, len(passages) - 1, limit)]
