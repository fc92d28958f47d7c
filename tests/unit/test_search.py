"""The budget search: against exhaustive search, within its budget, and on real passages."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest

import sampled
from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.types import Candidates, Filtered, Passage, Query
from equipoise.maths.biasdef import bias_def
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag.filters import NoFilter
from equipoise.redteam.passages import AttackPassage, Kind
from equipoise.redteam.planter import is_planted
from equipoise.redteam.search import search_evasion
from equipoise.redteam.variants import variant_of, without_question_words

QUERY = Query("0")


class Plane:
    """Texts are angles in degrees."""

    name, dimensions = "plane", 2

    def encode(self, texts):
        radians = np.radians([float(text) for text in texts])
        return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32).reshape(-1, 2)


def candidates(*degrees):
    vectors = Plane().encode([str(d) for d in degrees])
    passages = tuple(Passage(10 + n, f"d{n}", 0, 1, str(d)) for n, d in enumerate(degrees))
    return Candidates(passages, vectors[:, 0], vectors, Plane().encode(["0"])[0])


def passage(degrees, n):
    return AttackPassage(f"p{n}", "q", "0", Kind.ADV_POS, n, str(degrees))


@dataclass
class Counting:
    """Another filter, watched."""

    inside: object
    calls: list = field(default_factory=list)

    async def filter(self, query, given, *, k):
        self.calls.append(given)
        return await self.inside.filter(query, given, k=k)


class NoTwins:
    """Takes out every passage that has another within 3 degrees."""

    async def filter(self, query, given, *, k):
        alike = given.embeddings @ given.embeddings.T > np.cos(np.radians(3))
        rows = [row for row in range(len(given)) if alike[row].sum() == 1]
        return Filtered(given.take(rows[:k]))


class BiasDef:
    """The defence of the paper as a filter."""

    async def filter(self, query, given, *, k):
        kept = bias_def(given.query_embedding, given.embeddings).kept
        return Filtered(given.take(list(kept)[:k]))


def search(watched, pool, **more):
    given = {"candidates": candidates(30, 40, 50, 60, 70, 80), "injections": 3, "k": 3, "budget": 60} | more
    return sync.run(
        search_evasion(
            watched, QUERY, given.pop("candidates"), pool, encoder=given.pop("encoder", Plane()), **given
        )
    )


def test_without_a_defence_the_nearest_pass_at_once():
    watched = Counting(NoFilter())
    found = search(watched, [passage(d, n) for n, d in enumerate((35, 5, 9, 1, 20))])
    assert [p.text for p in found.chosen] == ["5", "9", "1"]
    assert (found.share, found.calls, found.history) == (1.0, 1, ((1, 1.0),))
    assert len(watched.calls) == 1
    assert [p.text for p in watched.calls[0].passages] == ["1", "5", "9", "30", "40", "50"]
    assert len({p.passage_id for p in watched.calls[0].passages}) == 6


def test_what_a_better_set_needs_is_found():
    # Nearest first: 1, 2, 3 are twins and are all taken out. Three that lie apart pass.
    pool = [passage(d, n) for n, d in enumerate((1, 2, 3, -5, 10, 11, 20, -20))]
    found = search(NoTwins(), pool)
    reached = max(
        share_of(NoTwins(), [pool[row] for row in rows])
        for size in (1, 2, 3)
        for rows in combinations(range(len(pool)), size)
    )
    assert found.share == reached == 1.0
    assert found.calls <= 60
    assert share_of(NoTwins(), found.chosen) == found.share
    assert [share for _, share in found.history] == sorted(share for _, share in found.history)


def share_of(defence, chosen):
    return search(defence, chosen, budget=1, injections=len(chosen)).share


@pytest.mark.parametrize("budget", [1, 2, 7, 30])
def test_the_budget_is_never_exceeded_and_is_counted(budget):
    class Wall:
        async def filter(self, query, given, *, k):
            rows = [row for row, p in enumerate(given.passages) if not is_planted(p.doc_id)]
            return Filtered(given.take(rows[:k]))

    watched = Counting(Wall())
    found = search(watched, [passage(d, n) for n, d in enumerate(range(1, 9))], budget=budget)
    assert found.calls == len(watched.calls) == budget
    assert found.share == 0.0


def test_the_same_set_is_never_tried_twice_and_a_small_pool_ends_the_search():
    watched = Counting(NoTwins())
    found = search(watched, [passage(d, n) for n, d in enumerate((1, 2, 3))], budget=500)
    sets = [frozenset(p.doc_id for p in given.passages if is_planted(p.doc_id)) for given in watched.calls]
    assert len(sets) == len(set(sets)) == found.calls <= 7
    assert found.share == pytest.approx(1 / 3)  # one alone, or 1 and 3 with a hair between them are twins


def test_variants_are_tried_by_themselves():
    class OnlySmall:
        async def filter(self, query, given, *, k):
            rows = [r for r, p in enumerate(given.passages) if not is_planted(p.doc_id) or "~" in p.doc_id]
            return Filtered(given.take(rows[:k]))

    bases = [passage(d, n) for n, d in enumerate((1, 2, 3))]
    pool = bases + [variant_of(base, "x", str(10 + base.n)) for base in bases]
    found = search(OnlySmall(), pool)
    assert (found.share, found.calls) == (1.0, 2)
    assert {p.variant for p in found.chosen} == {"x"}


def test_the_same_seed_finds_the_same():
    pool = [passage(d, n) for n, d in enumerate((1, 2, 3, 4, 5, 6, 9, 14))]
    assert search(NoTwins(), pool, budget=20, seed=3) == search(NoTwins(), pool, budget=20, seed=3)


def test_no_candidates_and_bad_numbers():
    none = Candidates((), np.empty(0, np.float32), np.empty((0, 2), np.float32), Plane().encode(["0"])[0])
    assert search(NoFilter(), [passage(3, 1)], candidates=none).share == 1.0
    for bad in ({"injections": 0}, {"k": 0}, {"budget": 0}):
        with pytest.raises(InputError, match="at least 1"):
            search(NoFilter(), [passage(3, 1)], **bad)
    with pytest.raises(InputError, match="needs passages"):
        search(NoFilter(), [])


def test_a_search_beats_the_plain_attack_on_biasdef(sample_data):
    """Real passages and vectors, one question: the search never does worse than injecting the nearest ones."""
    encoder = EmbeddedEncoder()
    bases = [p for p in sampled.attack(sample_data) if p.kind is Kind.ADV_POS]
    texts = sampled.benign(sample_data, bases[0].query_id)
    question = encoder.encode([bases[0].question])[0]
    vectors = encoder.encode(texts)
    order = np.argsort(-(vectors @ question))
    benign = Candidates(
        tuple(Passage(int(r) + 1, f"d{r}", 0, 1, texts[r]) for r in order),
        (vectors @ question)[order], vectors[order], question,
    )  # fmt: skip
    given = {"candidates": benign, "encoder": encoder, "injections": 5, "k": 5}
    plain = search(BiasDef(), bases, **given, budget=1)
    found = search(BiasDef(), [*bases, *without_question_words(bases)], **given, budget=40)
    assert plain.share <= found.share
    assert found.share > 0.2
    assert found.calls <= 40
    print(
        f"plain {plain.share}, after {found.calls} calls {found.share}: {[p.passage_id for p in found.chosen]}"
    )
