"""Untrusted documents as witnesses: read author by author, each by themselves, quoted by name, and never written about.

No language model reads them here. What authors say alike is one claim, and a claim says how many of its authors are
independent of each other. Claims that speak against each other are shown beside each other in equal space, whatever
the numbers (`maths.corroboration` states what p authors who are one person can do to that, and what not).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from equipoise.core.errors import ModelError
from equipoise.core.protocols import Highlighter, Observer, Reranker
from equipoise.core.results import Answer, Claim, Others, Statement
from equipoise.core.types import Candidates, Document, Highlight, Highlights, Passage, Query, Tag
from equipoise.corpus.spelling import strange
from equipoise.maths import corroboration
from equipoise.maths.checks import Mask
from equipoise.maths.independence import independent
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.coordinated import ABOUT, SameAuthor, Stance
from equipoise.rag.gathering import Gathering, as_read, best_first
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.sentence import SentenceHighlighter
from equipoise.rag.journal import Journal
from equipoise.rag.retrieval import joined
from equipoise.rag.saying import answer_text
from equipoise.rag.search import passage_scores
from equipoise.rag.sources import Source, Sources
from equipoise.text.claims import Compared
from equipoise.text.polar import has_sides
from equipoise.text.questions import Question
from equipoise.text.shingles import near_copy
from equipoise.text.style import style

SIDED = 20
"""Authors whose best passage is judged where a question has sides."""
EACH = 3
"""Statements of a side that are shown at most."""
NEAR = -4.0
"""The cross-encoder's logit from which on an author counts for a side, once one is about the question (ABOUT). Chosen
with EACH, as LEANS is."""
QUOTES = 2
"""Spans of one author that are quoted at most."""
LEANS = 0.1
"""From this value on a passage leans to a side. With ONE_AUTHOR chosen on 14 questions (benchmarks/LOG.md, "Sides")."""
ONE_AUTHOR = 2.0
"""Log-likelihood ratio of "same author" (`maths.coordinated`) from which on two authors count as one."""
STYLED = 60
"""Least words of a passage whose style says something about its author."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What untrusted documents say, the passages it was read in, if any, and the journal of it."""

    others: Others
    candidates: Candidates | None
    journal: Journal


@dataclass(frozen=True, slots=True)
class _Testimony:
    """What was picked from one author's passages, the first passage of it, and its document."""

    author: str
    items: tuple[Highlight, ...]
    passage: Passage
    document: Document

    @property
    def text(self) -> str:
        """The quotes."""
        return " ".join(item.text for item in self.items)


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Hears the authors of untrusted documents that `search` finds, at most `authors` of them. `gathering` reads the
    passages of one author; it has no speller and no listener, since other authors' texts would influence these.
    `impersonated` names the trusted document that one impersonates, `stance` tells sides, `same_author` whether two
    authors are one; `english` are common words, and `about` tells by its logits which passages are about a question."""

    search: Sources
    impersonated: Callable[[Document], str]
    gathering: Gathering
    stance: Stance | None = None
    same_author: SameAuthor | None = None
    authors: int = 8
    english: Mapping[str, int] = field(default_factory=dict)
    about: Reranker = field(default_factory=CrossEncoder)

    async def collect_statements(
        self, question: Question, observer: Observer | None, *, silent: bool
    ) -> Heard:
        """What they say; `silent` as in `Others`. Where a model fails the journal names it, and nothing is heard."""
        query, journal = as_read(question, self.gathering.models, observer)
        found: Sequence[Source] = ()
        claims: tuple[Claim, ...] = ()
        contested = False
        try:
            with journal.stage("retrieve"):
                found = await asyncio.to_thread(self.search, query, most=max(self.authors, SIDED))
            if self.stance and len(found) > 1 and has_sides(query.text):
                near, query = await asyncio.to_thread(self._near, query, found)
                claims = await self._sides(self.stance, query, near, journal)
                contested = bool(claims)
            if not claims:
                claims, contested = await self._claims(query, found, journal)
        except ModelError as error:
            journal.note(failure=str(error))
            journal.spent(error.usage)
        others = Others(claims, contested, silent)
        return Heard(others, joined([source.passages for source in found]) if found else None, journal)

    async def _claims(
        self, query: Query, found: Sequence[Source], journal: Journal
    ) -> tuple[tuple[Claim, ...], bool]:
        """What each author says, grouped by what is claimed, the best supported first; and whether two claims speak
        against each other."""
        testimonies = await self._testimonies(query, found[: self.authors], journal, self.gathering)
        if not testimonies:
            return (), False
        texts = [one.text for one in testimonies]
        compared = Compared.of(query.text, texts)
        alike, apart = _mask(len(testimonies), compared.agree), _mask(len(testimonies), compared.contradict)
        dependent = self._dependent(texts, [one.passage.text for one in testimonies])
        groups = corroboration.claims(alike, dependent, range(len(testimonies)), apart)
        claims = [
            Claim(await self._statements([testimonies[row] for row in group.rows]), group.supporters)
            for group in groups
        ]
        first = [group.rows[0] for group in groups]
        return tuple(claims), bool(apart[np.ix_(first, first)].any())

    async def _sides(
        self, stance: Stance, query: Query, found: Sequence[Source], journal: Journal
    ) -> tuple[Claim, ...]:
        """Where authors take both sides of a question: as many statements of the one as of the other, by authors who
        are independent of each other."""
        passages = [source.passages.passages[0].text for source in found]
        with journal.stage("filter"):
            judged = await stance.sides(query, passages)
        journal.spent(judged.usage)
        values = np.nan_to_num(judged.values)
        rows = np.flatnonzero(np.abs(values) >= LEANS)
        dependent = self._dependent(passages, passages)[np.ix_(rows, rows)]
        alone = rows[list(independent(dependent))]  # one author speaks once, whatever sides it seems to take
        surest = alone[np.argsort(-np.abs(values[alone]), kind="stable")].tolist()
        taken = [[row for row in surest if values[row] * side > 0] for side in (1, -1)]
        if not all(taken):
            return ()
        certain = replace(self.gathering, highlighter=_always(self.gathering.highlighter))
        best = [
            [replace(found[row], passages=found[row].passages.take([0])) for row in some[:EACH]]
            for some in taken
        ]
        testimonies = [await self._testimonies(query, some, journal, certain) for some in best]
        space = min(map(len, testimonies))
        return tuple(
            [
                Claim(await self._statements(ones[:space]), len(some), tag)
                for tag, ones, some in zip((Tag.YES, Tag.NO), testimonies, taken, strict=True)
                if space
            ]
        )

    def _near(self, query: Query, found: Sequence[Source]) -> tuple[list[Source], Query]:
        """The sources whose best passage is near the question (NEAR), none unless one is about it (ABOUT), since sides
        mean nothing elsewhere; and the query with the new scores. Raises ModelError."""
        best = [source.passages.passages[0] for source in found]
        logits, query = passage_scores(self.about, query, best)
        near = (
            [found[row] for row in np.flatnonzero(logits >= NEAR).tolist()] if (logits >= ABOUT).any() else []
        )
        return near, query

    async def _testimonies(
        self, query: Query, found: Sequence[Source], journal: Journal, gathering: Gathering
    ) -> list[_Testimony]:
        """What each author says in the document that answers best, read by themselves; those who do not answer are left
        out."""
        testimonies = []
        for source in found:
            own = Journal(observer=journal.observer)
            unknown = strange(source.out_of_corpus, self.english)
            asked = replace(query, out_of_corpus=source.out_of_corpus, unknown=unknown)
            evidence = await gathering.read(asked, own, source.passages)
            journal.heard(own.trace)
            if evidence.kept is not None and evidence.highlights:
                quotes = evidence.highlights.items
                best = quotes[best_first(evidence.highlights, evidence.picked)[0]].doc_id
                items = tuple(item for item in quotes if item.doc_id == best)
                passage = next(passage for passage in evidence.kept.passages if passage.doc_id == best)
                testimonies.append(_Testimony(source.author, items, passage, evidence.kept.documents[best]))
        return testimonies

    async def _statements(self, testimonies: Sequence[_Testimony]) -> tuple[Statement, ...]:
        """The testimonies as they are shown; one that impersonates a trusted document loses its titles."""
        made = []
        for one in testimonies:
            name = await asyncio.to_thread(self.impersonated, one.document)
            items = tuple(replace(item, title="") for item in one.items) if name else one.items
            made.append(Statement(one.author, items, name))
        return tuple(made)

    def _dependent(self, texts: Sequence[str], passages: Sequence[str]) -> Mask:
        """(n, n): whether two of n authors may be one, or one has it from the other: what they say, `texts`, are near
        copies, or the `passages` it stands in are by one author."""
        copies = _mask(len(texts), lambda row, other: near_copy(texts[row], texts[other]))
        if self.same_author is None or len(texts) < 2:
            return copies
        long = np.array([len(text.split()) >= STYLED for text in passages])
        ratios = self.same_author.ratios([style(text) for text in passages])
        same: Mask = (ratios >= ONE_AUTHOR) & np.outer(long, long)
        np.fill_diagonal(same, val=False)
        return copies | same


def untrusted_answer(heard: Heard, journal: Journal) -> Answer:
    """The answer that rests on untrusted documents alone: it quotes and names them, and says so."""
    items = {item.span: item for item in heard.others.quotes}
    ordered = sorted(items)
    highlights = Highlights(tuple(items[span] for span in ordered))
    best = tuple(ordered.index(span) for span in items)
    return Answer(
        answer_text(heard.others), highlights, trace=journal.trace, best_first=best, others=heard.others
    )


def _mask(rows: int, related: Callable[[int, int], bool]) -> Mask:
    """(n, n): which two of n rows are related; none to itself."""
    mask = np.zeros((rows, rows), np.bool_)
    for row, other in combinations(range(rows), 2):
        mask[row, other] = mask[other, row] = related(row, other)
    return mask


def _always(highlighter: Highlighter) -> Highlighter:
    """The highlighter, one of ours with threshold 0: what it reads is known to be about the question already."""
    if isinstance(highlighter, ReaderHighlighter | SentenceHighlighter):
        return replace(highlighter, threshold=0.0)
    return highlighter
