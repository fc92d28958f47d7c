"""Retrieval, reranking and filtering: what is read, and what is not with its reason."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import CorpusError, ModelError, StoreLost
from equipoise.core.protocols import PassageFilter, Reranker, Retriever
from equipoise.core.types import Candidates, Filtered, Flag, Passage, Query
from equipoise.corpus.pieces import named_entries, search_text
from equipoise.models.adapted import RankingModel
from equipoise.models.crossencoder import READER
from equipoise.rag.journal import Journal
from equipoise.rag.versions import with_corrections, without_outdated_passages
from equipoise.text.support import content_stems
from equipoise.text.tokens import script_of

RERANKED, FOLLOWING = 6, 8
"""Candidates that a reranker reads of a question, and of a follow-up: the words of two questions find less. With 8 of
both, four more of 420 questions are answered rightly and eight more of 168 near misses answered, in a fifth more time
(benchmarks/LOG.md, "How much is read")."""

NAMING = 2
"""Further candidates that it reads, if they have an entry whose term the question names."""


def passage_scores(
    reranker: Reranker, query: Query, passages: Sequence[Passage]
) -> tuple[NDArray[np.float64], Query]:
    """The scores (n,) of the passages, each read below its title and headings, and the query with these scores in it.
    An entry whose term the question names is read by itself, too: the better score counts.

    What has a score in the query is not read again. Raises ModelError.
    """
    reading, stems = reader_of(reranker, query), content_stems(query.newest)
    texts = [(search_text(passage), *named_entries(passage, stems)) for passage in passages]
    keys = [[(reading.name, text) for text in some] for some in texts]
    if new := [key for some in keys for key in some if key not in query.read]:
        new = list(dict.fromkeys(new))
        made = reading.scores(query.text, [text for _, text in new])
        query = replace(query, read={**query.read, **dict(zip(new, made.tolist(), strict=True))})
    return np.array([max(query.read[key] for key in some) for some in keys], np.float64), query


def reranked(reranker: Reranker, query: Query, candidates: Candidates) -> tuple[Candidates, Query]:
    """The candidates with the first `RERANKED` of them, or `FOLLOWING`, and the next `NAMING` with an entry that the
    question names, in the order of the reranker's scores, ties as they came, and the query that knows these scores.

    `scores` stay those of retrieval; so does the order for a question in a script that rerankers do not read. Raises
    ModelError.
    """
    if script_of(query.text):
        return candidates, query
    most, stems = FOLLOWING if query.last else RERANKED, content_stems(query.newest)
    behind = range(most, len(candidates))
    naming = [row for row in behind if named_entries(candidates.passages[row], stems)][:NAMING]
    first = [*range(min(most, len(candidates))), *naming]
    scores, query = passage_scores(reranker, query, [candidates.passages[row] for row in first])
    order = [first[n] for n in np.argsort(-scores, kind="stable").tolist()]
    return candidates.take([*order, *(row for row in behind if row not in naming)]), query


@dataclass(frozen=True, slots=True)
class BothWays:
    """A reranker for a follow-up: the mean of its scores with the earlier question before it, and of the `last` one's.

    With both questions in one text, passages about the earlier one win; by itself, it often does not say what it is
    about.
    """

    reranker: Reranker
    last: str

    @property
    def name(self) -> str:
        """The reranker's name: the mean is on the same scale."""
        return self.reranker.name

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n,) as the reranker's. Raises ModelError."""
        return (self.reranker.scores(question, texts) + self.reranker.scores(self.last, texts)) / 2


def reader_of(reranker: Reranker, query: Query) -> Reranker:
    """The reranker for this query; for a follow-up `BothWays`, with READER for the ranking model, which learnt few."""
    if not query.last:
        return reranker
    return BothWays(READER if isinstance(reranker, RankingModel) else reranker, query.last)


NOT_SAID = "left out by the filter, which gave no reason"
TRIES = 3
"""How often a search is tried while the store is lost in the middle of it."""
OVER = "over the number of passages to read"


@dataclass(frozen=True, slots=True)
class Search:
    """What all pipelines begin with. `snapshot` holds the store still while several questions are searched for.

    `reranker` puts the candidates in order before the filter sees them, so that of those it does not take out the
    best `k` are kept. It reads the first of them; the others follow as they came. One with a method `load` loads
    its weights beside the search.
    """

    retriever: Retriever
    filter: PassageFilter
    reranker: Reranker | None = None
    k: int = 5
    candidates: int = 20
    snapshot: Callable[[], AbstractContextManager[None]] = nullcontext

    async def find(self, query: Query, journal: Journal) -> Candidates:
        """At most `k` passages that passed the filter; what was taken out is in the journal."""
        (retrieved,) = await self.retrieve_all([(query, journal)])
        return (await self.sift(query, retrieved, journal))[0]

    async def retrieve_all(self, asked: Sequence[tuple[Query, Journal]]) -> list[Candidates | ModelError]:
        """What is found for each question, all in one snapshot; an encoder's failure is that question's result.

        Raises CorpusError, also for passages that do not stand in the documents that came with them.
        """
        searching = asyncio.to_thread(self._retrieve, asked)
        return (await asyncio.gather(searching, asyncio.to_thread(self._load)))[0]

    async def sift(
        self, query: Query, retrieved: Candidates | ModelError, journal: Journal
    ) -> tuple[Candidates, Query]:
        """What is kept of what was found, and the query with the scores it has by then; raises the ModelError that was
        found, and what the filter raises."""
        if isinstance(retrieved, ModelError):
            raise retrieved
        found, outdated = without_outdated_passages(query.newest, retrieved)
        if self.reranker is not None:
            with journal.stage("rerank"):
                found, query = await asyncio.to_thread(reranked, self.reranker, query, found)
        with journal.stage("filter"):
            filtered = accounted(found, await self.filter.filter(query, found, k=self.k), self.k)
        journal.spent(filtered.usage)
        kept = with_corrections(filtered.kept, found, filtered.flagged, self.k)
        journal.filtered(kept, (*outdated, *filtered.flagged))
        return kept, query

    def _load(self) -> None:
        """Load the reranker's weights, where it can; what fails here fails again where they are used."""
        if load := getattr(self.reranker, "load", None):
            with suppress(ModelError):
                load()

    def _retrieve(self, asked: Sequence[tuple[Query, Journal]]) -> list[Candidates | ModelError]:
        """Tries again in a new snapshot, TRIES in all, where the store was lost: another host may have it by then."""
        for _ in range(TRIES - 1):
            with suppress(StoreLost):
                return self._retrieved(asked)
        return self._retrieved(asked)

    def _retrieved(self, asked: Sequence[tuple[Query, Journal]]) -> list[Candidates | ModelError]:
        with self.snapshot() if len(asked) > 1 else nullcontext():
            return [self._retrieve_one(query, journal) for query, journal in asked]

    def _retrieve_one(self, query: Query, journal: Journal) -> Candidates | ModelError:
        with journal.stage("retrieve"):
            try:
                return usable(self.retriever.retrieve(query, k=self.candidates), self.candidates)
            except ModelError as error:
                return error


def usable(candidates: Candidates, k: int) -> Candidates:
    """The first `k` candidates, each passage once, without those that hold nothing to quote (contents, navigation):
    they are found by search, and would take the place of one that can be read.

    Raises CorpusError for a passage whose document is not among `documents`, or has another text there.
    """
    for passage in candidates.passages:
        document = candidates.documents.get(passage.doc_id)
        if document is None or not 0 <= passage.start < passage.end <= len(document.text):
            raise _foreign(passage)
        if document.text[passage.start : passage.end] != passage.text:
            raise _foreign(passage)
    first: dict[int, int] = {}
    for row, passage in enumerate(candidates.passages):
        if passage.sentences is None or passage.sentences:
            first.setdefault(passage.passage_id, row)
    rows = list(first.values())[:k]
    return candidates if len(rows) == len(candidates) else candidates.take(rows)


def accounted(candidates: Candidates, filtered: Filtered, k: int) -> Filtered:
    """The filter's result held to its protocol: at most `k` of the passages of `candidates`, in the filter's order, and
    a flag for each of the first `k` that is not among them. What carries a flag is not kept.

    Raises CorpusError for a kept passage that was not retrieved.
    """
    row_of = {passage.passage_id: row for row, passage in enumerate(candidates.passages)}
    kept = list(dict.fromkeys(passage.passage_id for passage in filtered.kept.passages))
    if strange := [number for number in kept if number not in row_of]:
        raise CorpusError(
            f"the filter kept passage {strange[0]}, which was not retrieved: let it choose only"
        )
    out = {flag.passage.passage_id for flag in filtered.flagged}
    rows = [row_of[number] for number in kept if number not in out]
    named = {*rows, *(row_of[number] for number in out if number in row_of)}
    unsaid = [row for row in range(min(k, len(candidates))) if row not in named]
    flags = [*_flags(candidates, rows[k:], OVER), *_flags(candidates, unsaid, NOT_SAID)]
    return Filtered(candidates.take(rows[:k]), (*filtered.flagged, *flags), filtered.usage)


def _flags(candidates: Candidates, rows: Sequence[int], reason: str) -> list[Flag]:
    return [Flag(candidates.passages[row], reason, float(candidates.scores[row])) for row in rows]


def _foreign(passage: Passage) -> CorpusError:
    return CorpusError(
        f"the retriever gave passage {passage.passage_id}, which does not stand in {passage.doc_id!r} as it came with "
        "it: put the document of every passage into Candidates.documents"
    )
