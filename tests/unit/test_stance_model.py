"""The embedded model of stance, on questions and texts written for it."""

import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import WeightsError
from equipoise.core.sync import run
from equipoise.core.types import Query
from equipoise.models.adapted import StanceModel
from equipoise.models.encoder import DATA
from equipoise.rag.stance import LONGEST, EmbeddedStance, windows

FERRY = "Should the harbour ferry be free for everybody?"
FOR = [
    "Everybody should ride the ferry for free. It takes cars off the bridge, and it opens the city to people who "
    "cannot pay. The cost is small and the benefit is large.",
    "A free ferry is the best thing that the council could do. Families would visit the island, shops would do "
    "better, and nobody would be left on the quay for want of a coin.",
    "Charging for the ferry makes no sense: the crew is paid either way. Let people on board without a ticket and the "
    "whole town gains.",
]
AGAINST = [
    "The ferry should not be free. Somebody has to pay for the fuel, and it would be taxpayers who never cross the "
    "water. Free rides would be a waste of money.",
    "Making the ferry free is a mistake. It would be overcrowded in summer, and the service would get worse for those "
    "who depend on it.",
    "Those who use a ferry ought to pay for it. Without fares there is no money for repairs, and a broken ferry helps "
    "nobody at all.",
]


@pytest.fixture(scope="module")
def stance():
    return EmbeddedStance(StanceModel(threads=2))


def sides(stance, question, texts):
    return run(stance.sides(Query(question), texts)).values


def test_texts_for_yes_and_for_no_are_told_apart(stance):
    """The last text of each side says so only by what follows from it: two pairs of nine may be taken the wrong way."""
    told = sides(stance, FERRY, FOR + AGAINST)
    assert told.shape == (6,)
    assert np.abs(told).max() <= 1
    logits = stance.logits(FERRY, FOR + AGAINST)
    assert (logits[:3, None] > logits[None, 3:]).sum() >= 7
    assert told[:2].min() > 0.5
    assert told[3:5].max() < -0.5


def test_a_question_that_is_denied_turns_the_sides_round(stance):
    texts = [*FOR[:2], *AGAINST[:2]]
    told = sides(stance, "Should the harbour ferry not be free for everybody?", texts)
    assert told[:2].max() < 0 < told[2:].min()


def test_nothing_is_asked_for_no_text(stance):
    assert sides(stance, FERRY, []).shape == (0,)
    assert np.isfinite(sides(stance, FERRY, [""])).all()


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(6)))
def test_neighbours_never_move_a_side(order):
    model = EmbeddedStance(StanceModel(threads=1))
    texts = FOR + AGAINST
    together = sides(model, FERRY, [texts[row] for row in order])
    alone = [sides(EmbeddedStance(model.model), FERRY, [texts[row]])[0] for row in order]
    assert together.tolist() == alone


@given(st.text(max_size=2_000))
def test_windows_hold_what_is_read_and_nothing_else(text):
    made = windows(text)
    assert made
    assert all(window in text[:LONGEST] for window in made)
    assert "".join("".join(made).split()) == "".join(text[:LONGEST].split()) or len(made) == 1


@pytest.mark.parametrize("name", [StanceModel.graph(), "crossencoder-l12-int8.onnx"])
def test_a_damaged_file_is_named(tmp_path, name):
    shutil.copytree(DATA, tmp_path / "data")
    content = bytearray((DATA / name).read_bytes())
    content[-100] ^= 1
    (tmp_path / "data" / name).write_bytes(content)
    with pytest.raises(WeightsError, match=name):
        StanceModel(folder=tmp_path / "data").scores("a", ["b"])
