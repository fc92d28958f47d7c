"""Properties 1 and 2 by hand values, and against real vectors."""

import numpy as np
import pytest

import sampled
from equipoise.core.errors import InputError
from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise_lab.attacks.passages import AttackPassage, Kind, Measures
from equipoise_lab.attacks.planting import planted
from equipoise_lab.attacks.properties import (
    benign_vectors,
    has_property_1,
    has_property_2,
    oriented_axis,
    property_shares,
    rank_in,
    yardstick,
)
from hashed_words import HashedWords


class Plane:
    """Texts are angles in degrees; vectors lie on the unit circle."""

    name, dimensions = "plane", 2

    def encode(self, texts):
        radians = np.radians([float(text) for text in texts])
        return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def passage(text, kind=Kind.SYNTHETIC, n=1, stance=None):
    return AttackPassage(f"{kind}{n}{text}", "q", "0", kind, n, text, stance)


def test_property_1_is_strict():
    assert has_property_1(0.7, [0.6, 0.5])
    assert not has_property_1(0.7, [0.7, 0.5])


@pytest.mark.parametrize(
    ("score", "kind", "expected"),
    [
        (0.31, Kind.ADV_POS, True),
        (0.3, Kind.ADV_POS, False),
        (-0.2, Kind.ADV_POS, False),
        (-0.2, Kind.ADV_NEG, True),
        (-0.1, Kind.ADV_NEG, False),
        (0.9, Kind.ADV_NEG, False),
        (0.9, Kind.SYNTHETIC, None),
    ],
)
def test_property_2_is_beyond_the_benign_range_on_its_side(score, kind, expected):
    assert has_property_2(score, [-0.1, 0.3], kind) is expected


def test_the_axis_points_to_where_stances_rise():
    anchors = [[0, 1], [2, 1]]
    assert oriented_axis(anchors, [1, -1]).tolist() == [-1, 0]
    assert oriented_axis(anchors, [-2, 0]).tolist() == [1, 0]
    assert oriented_axis(anchors, [None, None]).tolist() == oriented_axis(anchors, [1, 1]).tolist() == [1, 0]


def test_a_yardstick_by_hand():
    # Question at 0 degrees; anchors at +-60 differ along y only, stances rise upwards: the axis is (0, 1).
    anchors = [passage("60", stance=2), passage("-60", n=2, stance=-2)]
    benign = Plane().encode(["30", "-45"])
    measured = yardstick(Plane(), "0", anchors, benign).measure(
        [passage("20", Kind.ADV_POS), passage("35", Kind.ADV_POS), passage("-50", Kind.ADV_NEG)]
    )
    first, second, third = (p.measures for p in measured)
    assert first.ss == pytest.approx(0.939693, abs=1e-6)  # cos 20 > cos 30
    assert first.ps == pytest.approx(0.342020, abs=1e-6)  # sin 20 < sin 30
    assert (first.property_1, first.property_2) == (True, False)
    assert (second.property_1, second.property_2) == (False, True)
    assert (third.property_1, third.property_2) == (False, True)  # sin -50 < sin -45


def test_without_benign_passages_nothing_is_claimed():
    anchors = [passage("60"), passage("-60", n=2)]
    for bare in (yardstick(Plane(), "0", anchors), yardstick(Plane(), "0", anchors, np.empty((0, 2)))):
        (measured,) = bare.measure([passage("0", Kind.ADV_POS)])
        assert measured.measures == Measures(1.0, 0.0, None, None)
        assert bare.measure([]) == ()


def test_one_anchor_has_no_axis():
    with pytest.raises(InputError, match="at least 2 synthetic passages, not 1"):
        yardstick(Plane(), "0", [passage("60")])


def test_shares_by_hand():
    pairs = [(True, True), (True, False), (False, False), (True, True), (None, None)]
    shares = {"both": 0.5, "only_1": 0.25, "only_2": 0.0, "neither": 0.25, "count": 4}
    assert property_shares(pairs) == shares
    assert property_shares([]) == {}


def test_planted_passages_are_no_benign_ones(tmp_path):
    encoder = HashedWords()
    texts = ["tea is served", "coffee is served", "rain falls on hills", "green tea grows"]
    with Store.open(tmp_path / "s.db", create=True) as store:
        store.bind_encoder(encoder)
        store.add_documents(prepare([Document(f"d{i}", t, f"d{i}") for i, t in enumerate(texts)], encoder))
        before = benign_vectors(store, encoder, "tea", depth=3)
        attack = AttackPassage("x", "q", "tea", Kind.ADV_POS, 1, "tea tea tea")
        with planted(store, [attack], encoder):
            assert np.array_equal(benign_vectors(store, encoder, "tea", depth=3), before)
        assert before.shape == (3, 32)
        assert rank_in(store, encoder, "tea", 1.0) == 1
        assert rank_in(store, encoder, "tea", -1.0) == 5


def test_real_attack_passages_are_nearer_than_most_benign_ones(sample_data):
    """One question with real vectors: its passages are about it, and its axis is not nothing."""
    passages = sampled.attack(sample_data)
    anchors = [p for p in passages if p.kind is Kind.SYNTHETIC]
    measured = yardstick(EmbeddedEncoder(), passages[0].question, anchors).measure(passages)
    scores = {kind: np.mean([p.measures.ps for p in measured if p.kind is kind]) for kind in Kind}
    assert scores[Kind.ADV_POS] > scores[Kind.ADV_NEG]
    assert min(p.measures.ss for p in measured) > 0.3
