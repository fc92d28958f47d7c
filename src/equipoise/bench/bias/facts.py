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

from equipoise.bench.bias.background import EmbeddedPassages
from equipoise.bench.bias.metrics import mean_interval
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.results import Lines, Row, as_json
from equipoise.core.errors import InputError, ModelReplyError, ModelUnavailable
from equipoise.core.protocols import CONTRADICTION, ENTAILMENT, NLI, Encoder
from equipoise.core.types import Passage
from equipoise.maths.similarity import top_k
from equipoise.models.abilities import encode_questions
from equipoise.text.sentences import sentence_spans

FACTS = "facts.jsonl"
FACT_KEY = ("checker", "id", "sentence")
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
        found = await self.nli.predict([(passage.text, sentence) for passage in near])
        sides = {FactVerdict.SUPPORTS: ENTAILMENT, FactVerdict.REFUTES: CONTRADICTION}
        best = {verdict: float(found[:, column].max(initial=0.0)) for verdict, column in sides.items()}
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


async def check_all(
    passages: Sequence[tuple[str, Passage]], checker: FactChecker, name: str, workspace: Workspace
) -> list[Row]:
    """A verdict for every sentence of the (kind, passage) pairs that the output folder does not hold yet, by key.

    `name` tells verdicts of different checkers apart.
    """
    with Lines(workspace.out / FACTS, FACT_KEY) as lines:
        wanted = set()
        for place, (kind, passage) in enumerate(passages):
            workspace.progress(place, len(passages), f"fact checking {passage.doc_id}")
            for number, (start, end) in enumerate(sentence_spans(passage.text)):
                key = (name, passage.doc_id, number)
                wanted.add(key)
                if key not in lines:
                    verdict = await checker.check(passage.text[start:end], source=passage.doc_id)
                    known = dict(zip(FACT_KEY, key, strict=True))
                    lines.append(known | {"kind": kind, "verdict": verdict.value})
        return [row for row in lines.finish() if lines.key_of(row) in wanted]


def shares(rows: Sequence[Row]) -> dict[str, dict[str, object]]:
    """By kind of passage: the share of sentences without a verdict (5a), and of supports among verdicts (5b).

    Means over passages with intervals. A passage without any verdict has no support ratio.
    Worked value: SUPPORTS, REFUTES, SUPPORTS, NOT ENOUGH INFO: 0.25 and 2/3.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        found.setdefault(row["kind"], {}).setdefault(row["id"], []).append(row["verdict"])
    return {
        kind: {
            "unknown": as_json(mean_interval((p, _unknown(verdicts)) for p, verdicts in by.items())),
            "support": as_json(mean_interval((p, support_ratio(verdicts)) for p, verdicts in by.items())),
            "support_ratios": sorted(r for v in by.values() if (r := support_ratio(v)) is not None),
            "unknown_shares": sorted(_unknown(verdicts) for verdicts in by.values()),
        }
        for kind, by in sorted(found.items())
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
