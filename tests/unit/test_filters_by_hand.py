"""Filters on geometry made by hand."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import InputError, ModelReplyError, SettingsError
from equipoise.core.settings import load
from equipoise.core.sync import run
from equipoise.core.types import Query, Trust
from equipoise.maths import biasdef
from equipoise.maths.biasdef import BiasDefSettings
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.coordinated import BEST, ByTrust
from equipoise.rag.filters import BiasDefFilter, NoFilter
from equipoise_lab.methods.filters import BrraFilter, InTurn, MmrFilter, SmartFilter
from geometry import angles, candidates, planted

QUERY = Query("?")


def filtered(chosen, pool, k=5):
    return run(chosen.filter(QUERY, pool, k=k))


def docs(result):
    return [passage.doc_id for passage in result.kept.passages]


def rows(result):
    return [passage.passage_id - 100 for passage in result.kept.passages]


def flagged(result):
    return [flag.passage.passage_id - 100 for flag in result.flagged]


def settings_of(**filter_):
    return load({f"filter.{key}": value for key, value in filter_.items()}, environment={}).settings


class TestMmr:
    def test_the_hand_computed_choice(self):
        """Angles 0, 5, -60: after the first, 0.5 * .996 - 0.5 * .996 = 0 and 0.5 * .5 - 0.5 * .5 = 0 tie; a
        trade-off of 0.4 decides for variety: .4 * .996 - .6 * .996 = -.199 against .4 * .5 - .6 * .5 = -.1."""
        result = filtered(MmrFilter(0.4), candidates(angles(0, 5, -60)), k=2)
        assert rows(result) == [0, 2]
        assert flagged(result) == [1]
        reason = "mmr: 1.00 like passage d0 [0:6], which is kept, and 1.00 like the question"
        assert result.flagged[0].reason == reason
        assert result.flagged[0].score == pytest.approx(np.cos(np.deg2rad(5)))

    def test_relevance_alone_keeps_the_first(self):
        result = filtered(MmrFilter(1.0), candidates(angles(0, 5, -60)), k=2)
        assert (rows(result), result.flagged) == ([0, 1], ())


class TestBrra:
    def test_without_noise_it_is_the_plain_top(self):
        result = filtered(BrraFilter(noise=0.0), candidates(angles(0, 10, 20, 30)), k=2)
        assert (rows(result), result.flagged) == ([0, 1], ())

    def test_a_lone_passage_gives_way_to_those_that_noise_finds(self):
        """In the plane noise turns the question by up to 90 degrees to either side; each copy retrieves four."""
        pool = candidates(angles(0, 40, -40, 41, -41, 42, -42, 43, -43))
        result = filtered(BrraFilter(copies=200), pool, k=1)
        assert rows(result) != [0]
        assert result.flagged[0].reason.startswith("brra: only number ")


class TestInTurn:
    def test_each_sees_what_the_one_before_left(self):
        pool = planted(1)
        once = filtered(BiasDefFilter(), pool)
        twice = filtered(InTurn((BiasDefFilter(), BiasDefFilter())), pool)
        assert flagged(twice)[: len(flagged(once))] == flagged(once)
        left = [row for row in range(len(pool)) if row not in flagged(once)]
        again = filtered(BiasDefFilter(), pool.take(left))
        assert set(flagged(twice)) == {*flagged(once), *flagged(again)}


class Said:
    """Contradiction between the texts of `pairs`, in both directions."""

    def __init__(self, *pairs, share=0.95):
        self.pairs, self.share = {frozenset(pair) for pair in pairs}, share

    async def predict(self, pairs):
        shares = [self.share if frozenset(pair) in self.pairs else 0.0 for pair in pairs]
        return np.array([[0.0, 1 - share, share] for share in shares], np.float32)


class TestSmart:
    """Three passages, equally relevant (0.8) and 0.7 alike, written so: c + one axis each.

    Without conflicts det(L) of any pair is r^4 (e0^2 - (0.7 w)^2) with w = exp(-sharpness) and e0 = 1: all equal, so
    rows 0, 1. With a conflict of 0.95 between 0 and 1, w for that pair is exp(-0.05): 0.7 * 0.951 = 0.666 against
    0.7 * 0.368 = 0.258, so row 2 is taken with row 0.
    """

    @pytest.fixture
    def trio(self):
        shared, own = np.sqrt(0.7), np.sqrt(0.3)
        turned = 0.8 / shared
        rows_ = [[shared, 0, *(own * np.eye(3)[n])] for n in range(3)]
        question = [turned, np.sqrt(1 - turned**2), 0, 0, 0]
        return candidates(rows_, question=question, texts=["up", "down", "sideways"])

    def test_the_geometry_is_what_it_says(self, trio):
        matrix = trio.embeddings @ trio.embeddings.T
        assert matrix == pytest.approx(np.where(np.eye(3), 1, 0.7), abs=1e-6)
        assert trio.scores == pytest.approx([0.8] * 3, abs=1e-6)

    def test_the_pair_that_does_not_conflict_is_preferred(self, trio):
        assert rows(filtered(SmartFilter(Said()), trio, k=2)) == [0, 1]
        result = filtered(SmartFilter(Said(("up", "down"))), trio, k=2)
        assert rows(result) == [0, 2]
        assert flagged(result) == [1]
        assert result.flagged[0].reason == "smart: contradicts passage d0 [0:2], which is kept (0.95)"
        assert result.flagged[0].score == pytest.approx(0.95)

    def test_conflicts_are_left_out_without_a_model(self, trio):
        assert rows(filtered(SmartFilter(None), trio, k=2)) == [0, 1]

    def test_repetition_is_named_where_nothing_conflicts(self):
        result = filtered(SmartFilter(), candidates(angles(0, 1, 60)), k=2)
        assert rows(result) == [0, 2]
        assert result.flagged[0].reason.startswith("smart: 1.00 like passage d0 [0:6], which is kept")

    def test_what_is_unlike_the_question_is_not_taken(self):
        result = filtered(SmartFilter(), candidates(angles(10, 100)), k=2)
        assert rows(result) == [0]
        assert result.flagged[0].reason == "smart: unlike the question (cosine -0.17)"

    def test_an_error_of_the_model_is_not_hidden(self, trio):
        class Failing:
            async def predict(self, pairs):
                raise ModelReplyError("it said nothing")

        with pytest.raises(ModelReplyError, match="it said nothing"):
            filtered(SmartFilter(Failing()), trio, k=2)


class TestBiasDef:
    CHOSEN = BiasDefFilter(BiasDefSettings(bins=6))

    def test_a_planted_cluster_is_taken_out_and_without_a_filter_it_is_all_there_is(self):
        for seed in range(5):
            pool = planted(seed)
            assert all(name.startswith("planted") for name in docs(filtered(NoFilter(), pool)))
            result = filtered(self.CHOSEN, pool)
            assert len(result.kept) == 5
            assert all(name.startswith("benign") for name in docs(result))
            assert flagged(result) == [0, 1, 2, 3, 4, 5]

    def test_reasons_say_what_was_measured(self):
        """The worked value of maths.biasdef: boundary between cos 6 and cos 40 degrees."""
        result = filtered(BiasDefFilter(), candidates(angles(5, 6, -40, -50, -60, -70)), k=3)
        assert flagged(result) == [0, 1]
        assert rows(result) == [2, 3, 4]
        first = result.flagged[0]
        assert first.reason.startswith(
            "max-kl: 1.00 like the question, above the boundary 0.88, and one-sided"
        )
        measured = biasdef.bias_def([1, 0], angles(5, 6, -40, -50, -60, -70))
        assert first.score == pytest.approx(measured.scores[0], abs=1e-6)

    def test_a_recovered_passage_is_flagged_by_its_distance(self):
        pool = planted(0)
        weak = pool.embeddings[:6].mean(axis=0) - 0.9 * np.eye(64)[0]
        more = candidates(
            np.vstack([pool.embeddings, weak]), question=pool.query_embedding, doc_ids=["d"] * 21
        )
        settings = BiasDefSettings(bins=6, max_flagged_share=0.5, distance=50.0)
        result = filtered(BiasDefFilter(settings), more, k=20)
        assert flagged(result) == [0, 1, 2, 3, 4, 5, 20]
        assert result.flagged[-1].reason.startswith("mahalanobis: in a one-sided cluster by its distance")

    def test_settings_reach_it(self):
        made = BiasDefFilter.from_components(
            Components(settings_of(bins=7, max_flagged_share=0.5), None, None)
        )
        assert made.parameters == dataclasses.replace(biasdef.DEFAULTS, bins=7, max_flagged_share=0.5)
        assert (
            BiasDefFilter.from_components(Components(settings_of(), None, None)).parameters
            == biasdef.DEFAULTS
        )


class TestByTrust:
    CHOSEN = ByTrust(BiasDefFilter(BiasDefSettings(bins=6)))

    def test_open_passages_are_flagged_as_by_the_filter_itself(self):
        pool = planted(1)
        assert filtered(self.CHOSEN, pool).flagged == filtered(TestBiasDef.CHOSEN, pool).flagged

    def test_a_trusted_passage_is_never_flagged_but_counts(self):
        trusted = {passage.doc_id: Trust.TRUSTED for passage in planted(1).passages[1:4]}
        result = filtered(self.CHOSEN, planted(1, trust=trusted))
        assert flagged(result) == [0, 4, 5]
        assert rows(result) == [1, 2, 3, 6, 7]

    def test_nothing_is_asked_where_everything_is_trusted(self):
        class Never:
            async def filter(self, query, candidates, *, k):
                raise AssertionError("asked")

        pool = planted(1, trust={passage.doc_id: Trust.TRUSTED for passage in planted(1).passages})
        result = filtered(ByTrust(Never()), pool)
        assert (rows(result), result.flagged) == ([0, 1, 2, 3, 4], ())

    def test_a_document_of_unknown_trust_counts_as_open(self):
        pool = dataclasses.replace(planted(1), documents={})
        result = filtered(ByTrust(TestBiasDef.CHOSEN), pool)
        assert flagged(result) == [0, 1, 2, 3, 4, 5]


class TestBuild:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [("none", NoFilter), ("mmr", MmrFilter), ("biasdef", BiasDefFilter)],
    )
    def test_names(self, name, kind):
        made = build.make("filter", build.FILTERS, name, Components(settings_of(name=name), None, None))
        assert isinstance(made, kind)

    def test_auto_is_the_best_by_trust(self):
        made = build.make("filter", build.FILTERS, "auto", Components(settings_of(), None, None))
        assert isinstance(made, ByTrust)
        assert isinstance(made.best, BEST)

    def test_smart_takes_its_settings(self):
        components = Components(settings_of(nli="none", nli_pairs=7, sharpness=2.0), None, None)
        assert build.make("filter", build.FILTERS, "smart", components) == SmartFilter(None, 7, 2.0)

    def test_an_unknown_name_lists_those_there_are(self):
        with pytest.raises(InputError, match="auto, none, biasdef, coordinated, quotas, mmr, smart"):
            build.make("filter", build.FILTERS, "best", Components(settings_of(), None, None))

    @pytest.mark.parametrize("wrong", [{"trade_off": 2}, {"bins": 1}, {"most": 0}, {"nli_pairs": -1}])
    def test_values_out_of_range_are_named(self, wrong):
        with pytest.raises(SettingsError, match=f"filter.{next(iter(wrong))}"):
            settings_of(**wrong)
