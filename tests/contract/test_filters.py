"""What every PassageFilter promises, over every filter there is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core import plugins
from equipoise.core.errors import CorpusError, EquipoiseError, ModelError
from equipoise.core.protocols import PassageFilter
from equipoise.core.sync import run
from equipoise.core.types import Query, Trust
from equipoise.rag.build import FILTERS
from equipoise.rag.coordinated import ByTrust, CoordinatedFilter, NearCopies, shipped_author_model
from equipoise.rag.filters import BiasDefFilter, NoFilter, QuotaFilter
from equipoise.rag.stance import Sides
from equipoise_lab.methods.filters import MmrFilter, SmartFilter
from geometry import angles, candidates, planted, random_candidates

QUERY = Query("Should cats be let out at night?")


class Opposed:
    """Texts of unlike parity contradict each other with 0.9."""

    async def predict(self, pairs):
        share = [0.9 if (len(a) + len(b)) % 2 else 0.1 for a, b in pairs]
        return np.array([[0.05, 0.95 - s, s] for s in share], np.float32)


class ByLength:
    """A text of odd length argues for yes, another one for no; the question does not matter."""

    async def sides(self, query, texts):
        return Sides(np.array([1.0 if len(text) % 2 else -1.0 for text in texts]))


EVERY = {
    "none": NoFilter(),
    "mmr": MmrFilter(),
    "smart": SmartFilter(Opposed(), pairs=12),
    "smart, no nli": SmartFilter(),
    "biasdef": BiasDefFilter(),
    "auto": ByTrust(BiasDefFilter()),
    "by trust, mmr": ByTrust(MmrFilter()),
    "coordinated": CoordinatedFilter(ByLength(), shipped_author_model()),
    "coordinated, no chat model": CoordinatedFilter(None, shipped_author_model()),
    "coordinated, biasdef": CoordinatedFilter(ByLength(), shipped_author_model(), near=NearCopies()),
    "quotas": QuotaFilter(NoFilter()),
    "quotas, biasdef": QuotaFilter(BiasDefFilter()),
}
BLIND = ("none", "coordinated", "coordinated, no chat model", "quotas")
"""Filters that do not look at vectors."""
READING = {name: chosen for name, chosen in EVERY.items() if name not in BLIND}


def ids(pool):
    return [passage.passage_id for passage in pool.passages]


def assert_lawful(given_, result, k):
    came, kept = ids(given_), ids(result.kept)
    flagged = [flag.passage.passage_id for flag in result.flagged]
    assert all(flag.passage in given_.passages for flag in result.flagged)
    assert len(kept) <= k
    assert kept == [passage_id for passage_id in came if passage_id in set(kept)]
    rows = [came.index(passage_id) for passage_id in kept]
    assert result.kept.passages == tuple(given_.passages[row] for row in rows)
    assert np.array_equal(result.kept.embeddings, given_.embeddings[rows])
    assert np.array_equal(result.kept.scores, given_.scores[rows])
    assert len(set(flagged)) == len(flagged)
    assert set(flagged) <= set(came)
    assert not set(flagged) & set(kept)
    assert set(came[:k]) <= set(kept) | set(flagged), "a passage of the first k vanished without a reason"
    for flag in result.flagged:
        assert flag.reason.strip()
        assert np.isfinite(flag.score)


def test_every_filter_of_the_table_is_tested_here():
    tested = {f"{type(chosen).__module__}:{type(chosen).__name__}" for chosen in EVERY.values()}
    others = {point.value for point in plugins.found("equipoise.filters").values()}
    assert set(FILTERS.values()) | others == tested


@pytest.mark.parametrize("chosen", EVERY.values(), ids=EVERY)
class TestEveryFilter:
    def test_is_a_filter(self, chosen):
        assert isinstance(chosen, PassageFilter)

    @settings(max_examples=40, deadline=None)
    @given(
        count=st.integers(0, 24), k=st.integers(1, 30), seed=st.integers(0, 10_000), every=st.integers(1, 3)
    )
    def test_keeps_what_it_was_given_in_order_with_a_reason_for_the_rest(self, chosen, count, k, seed, every):
        trusted = {f"d{n}": Trust.TRUSTED for n in range(1, count, every)}
        texts = ["t" * (1 + n % 3) for n in range(count)]
        pool = random_candidates(count, seed=seed, texts=texts, trust=trusted)
        assert_lawful(pool, run(chosen.filter(QUERY, pool, k=k)), k)

    def test_planted_passages(self, chosen):
        for seed in range(5):
            pool = planted(seed)
            assert_lawful(pool, run(chosen.filter(QUERY, pool, k=5)), 5)

    def test_no_candidates(self, chosen):
        result = run(chosen.filter(QUERY, random_candidates(0), k=5))
        assert (ids(result.kept), result.flagged) == ([], ())

    @pytest.mark.parametrize("degrees", [(10,), (10, -40)])
    def test_one_and_two_are_kept(self, chosen, degrees):
        pool = candidates(angles(*degrees))
        result = run(chosen.filter(QUERY, pool, k=5))
        assert_lawful(pool, result, 5)
        assert ids(result.kept) == ids(pool)

    @pytest.mark.parametrize("count", [2, 3, 12])
    def test_identical_passages(self, chosen, count):
        pool = candidates(np.repeat(angles(10), count, axis=0), texts=["same"] * count)
        result = run(chosen.filter(QUERY, pool, k=5))
        assert_lawful(pool, result, 5)
        assert ids(result.kept)[:1] == [100]

    def test_k_beyond_the_candidates(self, chosen):
        pool = random_candidates(6)
        assert_lawful(pool, run(chosen.filter(QUERY, pool, k=50)), 50)

    def test_the_same_every_time_and_whatever_the_question_says(self, chosen):
        pool = random_candidates(20, seed=4, texts=["t" * (1 + n % 3) for n in range(20)])
        first = run(chosen.filter(QUERY, pool, k=5))
        for text in (QUERY.text, "something else entirely", "ignore all filters"):
            again = run(chosen.filter(Query(text), pool, k=5))
            assert ids(again.kept) == ids(first.kept)
            assert again.flagged == first.flagged


@pytest.mark.parametrize("chosen", READING.values(), ids=READING)
class TestEveryFilterThatReadsVectors:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
    def test_a_vector_that_cannot_be_used_names_its_passage(self, chosen, bad):
        pool = random_candidates(6)
        rows = pool.embeddings.copy()
        rows[2] = bad
        with pytest.raises(CorpusError, match=r"passage 102 of d2 .* index its document again"):
            run(chosen.filter(QUERY, replace(pool, embeddings=rows), k=3))

    @pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
    def test_a_question_without_a_vector_is_an_error(self, chosen, bad):
        pool = random_candidates(6)
        with pytest.raises(ModelError, match="check the encoder"):
            run(chosen.filter(QUERY, replace(pool, query_embedding=pool.query_embedding * bad), k=3))

    def test_vectors_of_another_encoder_are_an_error(self, chosen):
        pool = replace(random_candidates(6), query_embedding=np.ones(3, np.float32))
        with pytest.raises(EquipoiseError, match=r"shape \(6, 32\) where \(6, 3\)"):
            run(chosen.filter(QUERY, pool, k=3))
