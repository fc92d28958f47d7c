"""Search in Qdrant: vectors, words, and what comes back as documents."""

from collections.abc import Iterable, Mapping, Sequence

import httpx
import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from equipoise.core.errors import CorpusError
from equipoise.core.types import Array
from equipoise.corpus import records, scoring
from equipoise.corpus.keywords import Keywords, QueryPlan
from equipoise.corpus.qdrant import points, writing
from equipoise.corpus.qdrant.points import VECTOR, Catalogue, Payload
from equipoise.corpus.records import Damage, Entry, Ids, Numbered
from equipoise.corpus.settling import CLOSE, MORE, settled
from equipoise.corpus.stems import Stems
from equipoise.text import visible

FAILURES = (ResponseHandlingException, UnexpectedResponse, httpx.HTTPError, OSError)
_MOST_TERMS = 1_000_000


class Words:
    """The words of the passages that a catalogue shows; see `keywords.Terms`."""

    def __init__(self, client: QdrantClient, name: str, now: Catalogue) -> None:
        self._client, self._name, self._now = client, name, now

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""
        return {
            stem: self._client.count(self._name, points.standing(stem), exact=True).count for stem in stems
        }

    def vocabulary(self) -> dict[str, int]:
        """See `keywords.Terms`."""
        hits = self._client.facet(self._name, "terms", limit=_MOST_TERMS, exact=True).hits
        counts = {str(hit.value): hit.count for hit in hits}
        return {term: counts[term] for term in sorted(counts) if len(term) >= 3 and term.isalpha()}

    def with_stem(self, stem: str) -> list[int]:
        """The passages that a term stands in, ascending."""
        hits = points.scrolled(self._client, self._name, points.standing(stem), False)
        return sorted(int(i) for i, _ in hits if self._now.holder(int(i)))

    def bm25(self, query: str, stems: Stems) -> list[tuple[int, float]]:
        """Every passage that a finding word stands in with its score, best first."""
        if not self._now.documents:
            return []
        plan = Keywords(self, stems).plan(query)
        if not plan.finding:
            return []
        words = [*plan.finding, *plan.others]
        by_word = dict(zip(words, map(writing.parts, stems.of_texts(words)), strict=True))
        payloads = self._holding([by_word[word][0] for word in plan.finding])
        times = {word: self._times(terms, payloads) for word, terms in by_word.items()}
        return scoring.scored(
            plan,
            times=times,
            holding=self._holding_each(plan, by_word),
            lengths={i: payload["length"] for i, payload in payloads.items()},
            passages=self._now.passages,
            tokens=self._now.tokens,
        )

    def _holding_each(self, plan: QueryPlan, by_word: Mapping[str, Sequence[str]]) -> dict[str, int]:
        single = self.frequencies([terms[0] for terms in by_word.values() if len(terms) == 1])
        return {
            word: single[terms[0]] if len(terms) == 1 else len(self._times(terms, self._holding(terms[:1])))
            for word, terms in by_word.items()
        }

    def _holding(self, terms: Sequence[str]) -> dict[int, Payload]:
        hits = points.scrolled(self._client, self._name, points.any_of(terms))
        return {int(i): payload for i, payload in hits if self._now.holder(int(i))}

    def _times(self, terms: Sequence[str], payloads: Mapping[int, Payload]) -> dict[int, int]:
        placed = [
            {i: payload["words"][term] for i, payload in payloads.items() if term in payload["words"]}
            for term in terms
        ]
        return scoring.phrase(placed)


def nearest(
    client: QdrantClient, name: str, now: Catalogue, vector: Array, k: int, *, exact: bool
) -> list[tuple[int, float]]:
    """At most `k` (passage id, cosine) for a unit vector (d,), best first, ties by id. Raises Damage."""
    if k < 1 or not now.documents:
        return []
    wanted = k + MORE
    while True:
        ids, vectors, enough = _best(client, name, now, vector, wanted, exact=exact)
        far = len(ids) >= k and float((vectors @ vector)[k - 1] - (vectors @ vector)[-1]) > CLOSE
        if enough or far:
            break
        wanted *= 2
    return settled(ids, vectors, vector, k)


def _best(
    client: QdrantClient, name: str, now: Catalogue, vector: Array, wanted: int, *, exact: bool
) -> tuple[Ids, Array, bool]:
    """The best points that are shown, and whether there are no more."""
    hits = client.query_points(
        name,
        query=vector.tolist(),
        using=VECTOR,
        limit=wanted,
        with_vectors=True,
        with_payload=False,
        search_params=models.SearchParams(exact=exact),
    ).points
    shown = [(int(hit.id), points.vector_of(hit.vector)) for hit in hits if now.holder(int(hit.id))]
    return *_arrays([(i, row) for i, row in shown if row is not None], len(vector)), len(hits) < wanted


def vectors(
    client: QdrantClient, name: str, now: Catalogue, passage_ids: Sequence[int]
) -> tuple[NDArray[np.bool_], Array]:
    """Which of the passages (n,) have vectors, and these (m, d), in the order asked for. Raises Damage."""
    asked = [int(passage_id) for passage_id in passage_ids]
    wanted = [i for i in dict.fromkeys(asked) if now.holder(i)]
    ids, embeddings = _arrays(_stored(client, name, wanted), int(now.meta.get("dimensions", "0")))
    place = {int(passage_id): row for row, passage_id in enumerate(ids)}
    known = np.array([passage_id in place for passage_id in asked], np.bool_)
    return known, embeddings[[place[passage_id] for passage_id in asked if passage_id in place]]


def matrix(client: QdrantClient, name: str, now: Catalogue) -> tuple[Ids, Array]:
    """All ids (n,), ascending, and their unit vectors (n, d), both read-only. Raises Damage."""
    width = int(now.meta.get("dimensions", "0"))
    rows: list[tuple[int, Sequence[float]]] = []
    if now.documents:
        for i, payload in points.scrolled(client, name, None, False, vectors=True):
            if payload[VECTOR] is not None and now.holder(int(i)):
                rows.append((int(i), payload[VECTOR]))
    ids, embeddings = _arrays(sorted(rows, key=lambda row: row[0]), width)
    ids.flags.writeable = embeddings.flags.writeable = False
    return ids, embeddings


def numbered(client: QdrantClient, name: str, numbers: Sequence[int], *, vectors: bool) -> list[Numbered]:
    """Documents by number, those that are there, in the order asked for. Raises Damage."""
    hits = client.retrieve(writing.beside(name), list(numbers), with_payload=True)
    payloads = {hit.id: hit.payload or {} for hit in hits}
    made: list[Numbered] = []
    for number in numbers:
        if number not in payloads:
            continue
        payload = payloads[number]
        document, spans = points.read_document(payload)
        rows = None
        if vectors and payload["embedded"] and spans:
            stored = _stored(client, name, list(range(payload["first"], payload["first"] + len(spans))))
            rows = _arrays(stored, len(stored[0][1]) if stored else 0)[1]
        elif vectors and payload["embedded"]:
            rows = np.empty((0, 0), np.float32)
        made.append(Numbered(number, payload["path"], payload["first"], Entry(document, spans, rows)))
    return made


def verify(
    client: QdrantClient, name: str, now: Catalogue, documents: Iterable[Numbered], stems: Stems
) -> None:
    """Raises Damage for anything that `QdrantStore` would not have written."""
    matrix(client, name, now)
    try:
        for numbered in documents:
            if numbered.entry.spans:
                records.check_entry(numbered.entry, int(now.meta.get("dimensions", "0")))
            for i, (words, length) in enumerate(writing.placed(numbered, stems), numbered.first):
                hits = client.retrieve(name, [i], with_payload=True)
                payload = (hits[0].payload if hits else None) or {}
                if payload.get("words") != words or payload.get("length") != length:
                    raise Damage("full text search does not hold the words of the passages")
    except CorpusError as error:
        raise Damage(str(error)) from error


def said(error: BaseException) -> str:
    """One line of what failed."""
    return visible.title(str(error).strip().partition("\n")[0] or type(error).__name__)


def _stored(client: QdrantClient, name: str, ids: Sequence[int]) -> list[tuple[int, Sequence[float]]]:
    if not ids:
        return []
    hits = client.retrieve(name, list(ids), with_payload=False, with_vectors=True)
    rows = [(int(hit.id), points.vector_of(hit.vector)) for hit in hits]
    return sorted([(i, row) for i, row in rows if row is not None], key=lambda pair: pair[0])


def _arrays(rows: Sequence[tuple[int, Sequence[float]]], width: int) -> tuple[Ids, Array]:
    ids = np.array([i for i, _ in rows], np.int64)
    vectors = np.empty((len(rows), width), np.float32)
    for place, (_, row) in enumerate(rows):
        vectors[place] = row
    if not records.are_unit(vectors):
        raise Damage("the vectors are not of length 1")
    return ids, vectors
