"""The bound of the quotas holds whatever is among the candidates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.sync import run
from equipoise.core.types import Filtered, Flag, Query, Trust
from equipoise.rag.filters import NoFilter, QuotaFilter, bound
from equipoise_lab.methods.filters import MmrFilter
from geometry import angles, candidates, random_candidates

QUERY = Query("?")


def filtered(chosen, given_, k=5):
    return run(chosen.filter(QUERY, given_, k=k))


def kept(result):
    return [passage.passage_id - 100 for passage in result.kept.passages]


def two_trusted(*, count=8):
    """Passages 5 and 7 are from trusted documents."""
    trust = {"d5": Trust.TRUSTED, "d7": Trust.TRUSTED}
    return candidates(angles(*range(0, 5 * count, 5)), trust=trust)


def test_seats_are_kept_for_trusted_documents():
    result = filtered(QuotaFilter(NoFilter(), untrusted=2), two_trusted())
    assert kept(result) == [0, 1, 5, 7]
    assert [flag.passage.passage_id - 100 for flag in result.flagged] == [2, 3, 4]
    assert {flag.reason for flag in result.flagged} == {
        "quota: at most 2 of 5 passages may come from untrusted documents"
    }


def test_where_nothing_is_trusted_no_seat_is_left_empty():
    chosen = QuotaFilter(NoFilter(), untrusted=2, applies=lambda: False)
    result = filtered(chosen, candidates(angles(0, 5, 10, 15, 20, 25)))
    assert (kept(result), result.flagged) == ([0, 1, 2, 3, 4], ())


def test_one_untrusted_document_has_a_quota_of_its_own():
    chosen = QuotaFilter(NoFilter(), per_document=1, applies=lambda: False)
    result = filtered(chosen, candidates(angles(0, 5, 10), doc_ids=["a", "a", "b"]))
    assert kept(result) == [0, 2]
    assert result.flagged[0].reason == "quota: at most 1 of 5 passages may come from one untrusted document"


def test_what_the_inner_filter_flags_keeps_its_reason():
    class First:
        async def filter(self, query, given_, *, k):
            return Filtered(given_.take(list(range(1, 1 + k))), (Flag(given_.passages[0], "first", 1.0),))

    result = filtered(QuotaFilter(First(), untrusted=1), two_trusted())
    assert kept(result) == [1, 5, 7]
    assert [flag.reason.split(":")[0] for flag in result.flagged] == ["first", "quota", "quota", "quota"]


@pytest.mark.parametrize(
    ("k", "untrusted", "applies", "expected"), [(5, 2, True, 2), (1, 2, True, 1), (5, 2, False, 5)]
)
def test_the_bound_by_hand(k, untrusted, applies, expected):
    assert bound(k, untrusted, applies=applies) == expected


@settings(max_examples=200, deadline=None)
@given(
    count=st.integers(0, 30),
    k=st.integers(1, 12),
    untrusted=st.integers(0, 12),
    per_document=st.integers(1, 5),
    seed=st.integers(0, 10_000),
    data=st.data(),
)
@pytest.mark.parametrize("inner", [NoFilter(), MmrFilter()], ids=["none", "mmr"])
def test_the_bound_holds_for_arbitrary_candidates(*, inner, count, k, untrusted, per_document, seed, data):
    owners = data.draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    held = data.draw(st.sets(st.integers(0, 5)))
    trust = {f"d{n}": Trust.TRUSTED for n in held}
    pool = random_candidates(count, seed=seed, doc_ids=[f"d{n}" for n in owners], trust=trust)
    result = filtered(QuotaFilter(inner, untrusted, per_document), pool, k)
    open_ones = [p.doc_id for p in result.kept.passages if p.doc_id not in trust]
    assert len(open_ones) <= bound(k, untrusted)
    assert all(open_ones.count(doc_id) <= per_document for doc_id in open_ones)
    assert len(result.kept) <= k
