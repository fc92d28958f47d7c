"""The filters `coordinated`, which takes out passages by which one author crowds out the other side, and `auto`, which
does the same but never flags passages of trusted documents.

Several passages by one author on one side are a group (`maths.coordinated`). Authors are told by style, with a model
learnt from documents by people; sides by the operator's chat model or by the embedded one, only for passages that could
belong to a group, and only for a question that has sides (`text.polar.has_sides`): what no yes or no answers, nobody
can argue for or against. Only what is about the question counts, by the cross-encoder: a manual is by one author, too,
and the side of a passage about something else means nothing. Where no three candidates are by one author nothing is
asked and nothing changes. Where nobody tells sides nothing is flagged but copies: style alone says who wrote, not that
it is one-sided.

Rewrites of one text need not take a side that can be told, but are near-duplicates: of these BiasDef judges, for the
same questions (`NearCopies`). Alone it takes out four in ten of people's relevant passages where nobody attacks, so it
is asked only about passages that repeat each other in other words; whatever else it flags stays.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Protocol

import numpy as np

from equipoise.core.protocols import PassageFilter, Reranker
from equipoise.core.types import Candidates, Filtered, Flag, Passage, Query, Trust, Usage
from equipoise.maths.checks import Floats, Mask
from equipoise.maths.coordinated import THRESHOLD, AuthorModel, coordinated, likeness, suspects
from equipoise.maths.similarity import near_duplicates
from equipoise.models.crossencoder import READER
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.components import Components
from equipoise.rag.filters import BiasDefFilter, NoFilter, cosines
from equipoise.rag.search import passage_scores
from equipoise.rag.stance import ChatStance, EmbeddedStance, Sides
from equipoise.text.polar import has_sides
from equipoise.text.style import style

NEAR = 0.83
"""The cosine from which passages repeat each other: the least at which 132 claims that nobody attacks lose no more than
.005 of the relevant passages among the five (`benchmarks/LOG.md`). On the scale of the embedded encoder, as BiasDef's
parameters are."""
NEAR_WITHIN = 0.9
"""The same for two passages of one document: sections of a law or a manual share their title and words, too."""

ReasonAndScore = tuple[str, float]
"""A flag's reason and score."""


@dataclass(frozen=True, slots=True)
class NearCopies:
    """Finds clusters of passages of which each repeats another one, and BiasDef flags one."""

    biasdef: BiasDefFilter = field(default_factory=BiasDefFilter)
    least: float = NEAR
    within: float = NEAR_WITHIN

    async def one_sided(
        self, query: Query, candidates: Candidates, rows: Sequence[int]
    ) -> list[dict[int, ReasonAndScore]]:
        """The rows of each such cluster among `rows`, with why; BiasDef judges all candidates. A score is the cosine to
        the one that a passage is most like. Raises CorpusError or ModelError for vectors that cannot be used."""
        alike = cosines(candidates)[1][list(rows)][:, list(rows)]
        of = np.array([candidates.passages[row].doc_id for row in rows])
        groups = near_duplicates(alike, np.where(of[:, None] == of, self.within, self.least))
        if not groups:
            return []
        judged = await self.biasdef.filter(query, candidates, k=len(candidates))
        said = {flag.passage.passage_id: flag.reason for flag in judged.flagged}
        found = []
        for group in groups:
            numbers = [candidates.passages[rows[place]].passage_id for place in group]
            if reason := next((said[number] for number in numbers if number in said), None):
                passages = [candidates.passages[rows[place]] for place in group]
                reasons = _near_copy_reasons(passages, alike[np.ix_(group, group)], reason)
                found.append({rows[place]: why for place, why in zip(group, reasons, strict=True)})
        return found


def _near_copy_reasons(passages: Sequence[Passage], alike: Floats, reason: str) -> list[ReasonAndScore]:
    """The reason and score of each passage of a cluster; `alike` are their similarities (n, n)."""
    others = np.where(np.eye(len(passages), dtype=np.bool_), -np.inf, alike)
    reasons = []
    for row in others:
        near = passages[int(row.argmax())]
        reasons.append((f"near copies: {row.max():.2f} like {near.spot}; {reason}", float(row.max())))
    return reasons


LEARNT = "authorship.json"
NAMED = 3
"""Fellows that a reason names at most."""
TAKES = 0.5
"""From this value on a passage takes a side clearly enough to speak for it."""
GIVES_WAY = "coordinated: its seat is for a passage on a side that nobody else of those read takes"
ABOUT = 0.0
"""The cross-encoder's logit above which a passage is about the question: at 0 it holds both equally likely."""


class SameAuthor(Protocol):
    """Tells which texts one author wrote (`maths.coordinated.AuthorModel`)."""

    def ratios(self, styles: Sequence[tuple[float, ...]]) -> Floats:
        """(n, n) log-likelihood ratios of "same author" for styles (n, f)."""
        ...


class Stance(Protocol):
    """Tells which side of a question texts take."""

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """One value a text, from -1 (no) to 1 (yes), NaN where it cannot be told. Raises ModelError."""
        ...


@cache
def shipped_author_model() -> AuthorModel:
    """The author model of this package, learnt from documents by people."""
    values = json.loads(files(__package__).joinpath(LEARNT).read_text("utf-8"))
    arrays = {name: np.array(values[name]) for name in ("mean", "scale", "axes", "own", "cross")}
    return AuthorModel(**arrays, constant=values["constant"])


@dataclass(frozen=True, slots=True)
class CoordinatedFilter:
    """Takes groups out, every copy of a text but the first, and near copies that BiasDef finds one-sided.

    A group that crowds nobody out stays: where nothing by another author is about the question, as in one firm's
    manual, taking it out would only leave less to read. With `spares` no side is silenced: where nothing else that is
    kept takes the side of a group, the next candidate that does gets a seat; where there is none, the first passage of
    that group stays, for what one person says once is information. `stance` None: sides are unknown, and there are no
    groups. `about`: tells by its logits which passages are about the question; None: all are. `near` None: near copies
    stay. They stay, too, where nothing else is about the question; of those that go none is spared.
    """

    stance: Stance | None
    same_author: SameAuthor
    about: Reranker | None = None
    threshold: float = THRESHOLD
    spares: bool = True
    near: NearCopies | None = None

    @classmethod
    def from_components(cls, components: Components) -> "CoordinatedFilter":
        """Built from the settings; raises ModelUnavailable where they want a language model and there is none. Another
        reranker than the cross-encoder has a scale of its own, for which ABOUT means nothing; another encoder than the
        embedded one, too, so without that near copies stay."""
        embedded = isinstance(components.encoder, EmbeddedEncoder)
        near = NearCopies(BiasDefFilter.from_components(components)) if embedded else None
        return cls(stance_of(components), shipped_author_model(), READER, near=near)

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k candidates that are not flagged; the last of these, at most k // 2, give their seats to those
        who speak for a side. A flag's score is how many fellows the passage has in its group, the cosine of a near copy
        (`NearCopies`), else 0. Raises what `stance` raises, and with `near` as `NearCopies` does."""
        copies = _copies(candidates)
        rows = [row for row in range(len(candidates)) if row not in copies]
        reasons = {
            row: (f"coordinated: the same text as {candidates.passages[first].spot}", 0.0)
            for row, first in copies.items()
        }
        passages = [candidates.passages[row] for row in rows]
        sided = has_sides(query.text)
        judged = _PassageJudgements(self.stance if sided else None, self.about, query, passages)
        alike = self._alike([passage.text for passage in passages] if judged.has_stance else [])
        if self.near and sided:
            for near in await self.near.one_sided(query, candidates, rows):
                others = [place for place, row in enumerate(rows) if row not in near and row not in reasons]
                reasons |= near if (await judged.about())[others].any() else {}
        speakers: list[int] = []
        for side, group in await self._groups(alike, judged):
            out = {place for place in range(len(rows)) if rows[place] in reasons} | set(group)
            left = [place for place in range(len(rows)) if place not in out]
            if await self._is_only_author(group, left, alike, judged):
                continue
            speaker = await self._speaker(side, group[0], left, k, judged) if self.spares else None
            speakers += [rows[speaker]] if speaker in left else []
            reasons |= {
                rows[place]: (_reason(candidates, rows, alike, group, place), float(len(group) - 1))
                for place in group
                if place != speaker and rows[place] not in reasons
            }
        free = [row for row in range(len(candidates)) if row not in reasons]
        kept = _seated(free, speakers, k)
        reasons |= {row: (GIVES_WAY, 0.0) for row in free[:k] if row not in kept}
        flags = tuple(Flag(candidates.passages[row], *reasons[row]) for row in sorted(reasons))
        return Filtered(candidates.take(kept), flags, judged.usage)

    def _alike(self, texts: Sequence[str]) -> Floats:
        if len(texts) < 2:
            return np.zeros((len(texts), len(texts)))
        return likeness(self.same_author.ratios([style(text) for text in texts]))

    async def _is_only_author(
        self, group: Sequence[int], left: Sequence[int], alike: Floats, judged: "_PassageJudgements"
    ) -> bool:
        """Whether nothing by another author among `left` is about the question."""
        apart = alike[np.ix_(left, group)].sum(axis=1) < self.threshold
        return not ((await judged.about())[left] & apart).any()

    async def _speaker(
        self, side: int, first_of_group: int, left: Sequence[int], k: int, judged: "_PassageJudgements"
    ) -> int:
        """The place that speaks for a group's side: the first of `left` that takes it, else `first_of_group`,
        which speaks also if k of `left` come before it: it is not read anyway. `left` is asked about k at a time."""
        if sum(place < first_of_group for place in left) >= k:
            return first_of_group
        for start in range(0, len(left), k):
            some = left[start : start + k]
            takes = await judged.sides(some) * side >= TAKES
            if takes.any():
                return some[int(takes.argmax())]
        return first_of_group

    async def _groups(self, alike: Floats, judged: "_PassageJudgements") -> list[tuple[int, list[int]]]:
        """Side, 1 or -1, and places of the passages of each group; nothing is asked where there can be none."""
        if not judged.has_stance or not suspects(alike, threshold=self.threshold).any():
            return []
        about = await judged.about()
        weights = np.where(np.outer(about, about), alike, 0.0)
        asked = suspects(weights, threshold=self.threshold)
        sides = np.zeros(len(alike))
        sides[asked] = await judged.sides(np.flatnonzero(asked).tolist())
        both = coordinated(weights, sides, threshold=self.threshold)
        return [
            (side, np.flatnonzero(group).tolist())
            for side, group in zip((1, -1), both, strict=True)
            if group.any()
        ]


def stance_of(components: Components) -> Stance | None:
    """What tells sides, by `filter.stance`; None for "none". "auto" never is a local language model: it would need
    seconds for each passage, and take out more of what people wrote."""
    stance = components.resolved.stance
    if stance == "none":
        return None
    if stance == "embedded":
        return EmbeddedStance()
    return ChatStance(components.need_chat("filter.stance chat"), components.options)


class _PassageJudgements:
    """Which passages are about the question, and their sides, each asked for once, and what that cost."""

    def __init__(
        self, stance: Stance | None, relevance: Reranker | None, query: Query, passages: Sequence[Passage]
    ) -> None:
        self._stance, self._relevance, self._query, self._passages = stance, relevance, query, passages
        self._about: Mask | None = None
        self._known: dict[int, float] = {}
        self.has_stance = stance is not None
        self.usage = Usage()

    async def about(self) -> Mask:
        """(n,): which passages are about the question; raises what `relevance` raises."""
        if self._about is None and self._relevance is not None:
            scores, _ = await asyncio.to_thread(passage_scores, self._relevance, self._query, self._passages)
            self._about = scores > ABOUT
        return np.ones(len(self._passages), np.bool_) if self._about is None else self._about

    async def sides(self, places: Sequence[int]) -> Floats:
        """(n,): 0 where a side cannot be told, and for what is not about the question, of which nothing is asked."""
        about = await self.about()
        new = [place for place in places if place not in self._known and about[place]]
        if new and self._stance:
            told = await self._stance.sides(self._query, [self._passages[place].text for place in new])
            self.usage += told.usage
            self._known |= zip(new, np.nan_to_num(told.values).tolist(), strict=True)
        return np.array([self._known.get(place, 0.0) for place in places])


def _seated(free: Sequence[int], speakers: Sequence[int], k: int) -> list[int]:
    """The first k of `free`, where the last give way to speakers behind them, at most k // 2."""
    behind = [row for row in speakers if row not in free[:k]][: k // 2]
    return sorted([*free[: k - len(behind)], *behind])


def _copies(candidates: Candidates) -> dict[int, int]:
    """Maps the row of each candidate that repeats an earlier text (case and white space aside) to the first one's."""
    first: dict[str, int] = {}
    keys = [" ".join(passage.text.casefold().split()) for passage in candidates.passages]
    return {row: first[key] for row, key in enumerate(keys) if first.setdefault(key, row) != row}


def _reason(
    candidates: Candidates, rows: Sequence[int], alike: Floats, group: Sequence[int], place: int
) -> str:
    """The reason of a flag, which names the fellows that the passage is written most like."""
    fellows = sorted(
        (other for other in group if other != place), key=lambda other: (-alike[place, other], other)
    )
    named = ", ".join(candidates.passages[rows[other]].spot for other in fellows[:NAMED])
    more = f" and {len(fellows) - NAMED} more" if len(fellows) > NAMED else ""
    return f"coordinated: written like {named}{more}, by an author who argues on one side"


BEST = CoordinatedFilter
"""What `filter.name = "auto"` uses for untrusted documents: the choice is measured in benchmarks/bias."""


@dataclass(frozen=True, slots=True)
class ByTrust:
    """The filter `best`, for passages from documents that anybody may have written.

    Passages of trusted documents take part in its statistics but are never flagged. Where no candidate is
    untrusted it is not even asked. Trust is that of `candidates.documents`; a passage whose document is not among them
    counts as untrusted.
    """

    best: PassageFilter

    @classmethod
    def from_components(cls, components: Components) -> "ByTrust":
        """`BEST`, built from the settings."""
        return cls(BEST.from_components(components))

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k of what `best` keeps and of the trusted passages that it flags; raises what `best` raises."""
        held = {
            doc_id for doc_id, document in candidates.documents.items() if document.trust is Trust.TRUSTED
        }
        trusted = {passage.passage_id for passage in candidates.passages if passage.doc_id in held}
        if all(passage.passage_id in trusted for passage in candidates.passages):
            return await NoFilter().filter(query, candidates, k=k)
        judged = await self.best.filter(query, candidates, k=k)
        flags = tuple(flag for flag in judged.flagged if flag.passage.passage_id not in trusted)
        flagged = {flag.passage.passage_id for flag in judged.flagged}
        chosen = {passage.passage_id for passage in judged.kept.passages} | (flagged & trusted)
        kept = [row for row, passage in enumerate(candidates.passages) if passage.passage_id in chosen]
        return Filtered(candidates.take(kept[:k]), flags, judged.usage)
