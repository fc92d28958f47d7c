"""The embedded cross-encoder: what it ranks, and that a score is a function of question and text alone."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import WeightsError
from equipoise.core.protocols import Reranker
from equipoise.models.adapted import RankingModel
from equipoise.models.crossencoder import MODEL, CrossEncoder
from equipoise.models.encoder import DATA

QUESTION = "When was the lighthouse of Kerrin finished?"
TEXTS = [
    "The lighthouse of Kerrin was finished in 1874.",
    "Its lamp burned rape-seed oil.",
    "The keeper, Ada Moss, lived there with her two sons.",
    "",
    "DNA is wound up by an enzyme.",
]


@pytest.fixture(scope="module")
def model():
    return CrossEncoder(threads=2)


ALONE = {CrossEncoder: CrossEncoder(threads=1), RankingModel: RankingModel(threads=1)}
BOTH = pytest.mark.parametrize("kind", ALONE)


def alone(kind, text):
    """The score of a text that is read by itself."""
    return ALONE[kind].scores(QUESTION, [text])[0]


def test_is_a_reranker_with_float64_scores_in_the_order_of_the_texts(model):
    assert isinstance(model, Reranker)
    scores = model.scores(QUESTION, TEXTS)
    assert scores.shape == (5,)
    assert scores.dtype == np.float64
    assert int(np.argmax(scores)) == 0
    assert scores[0] > 5 > -5 > scores[4]
    assert model.scores(QUESTION, TEXTS[::-1]).tolist() == scores[::-1].tolist()
    assert model.scores(QUESTION, []).shape == (0,)


def test_the_example_of_the_published_model_is_told_apart(model):
    """The model card's example, whose scores are 9.218 and -4.078 there; the trained one is less sure of yes."""
    scores = model.scores(
        "How many people live in Berlin?",
        [
            "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
            "Berlin is well known for its museums.",
        ],
    )
    assert np.allclose(scores, [8.0, -6.2], atol=1.0)


def test_what_ranks_says_what_the_reader_says(model):
    told = ALONE[RankingModel].scores(QUESTION, TEXTS)
    assert np.abs(told - model.scores(QUESTION, TEXTS)).max() < 3.0
    assert int(np.argmax(told)) == 0


@BOTH
@settings(deadline=None, max_examples=20)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=20), st.data())
def test_neighbours_never_move_a_score(kind, texts, data):
    row = data.draw(st.integers(0, len(texts) - 1))
    assert ALONE[kind].scores(QUESTION, texts)[row] == alone(kind, texts[row])


@BOTH
def test_a_full_batch_of_equal_lengths_never_moves_a_score(kind):
    texts = [
        f"the {colour} {thing} is {what} and nobody knows since when it has been so or who has seen it first"
        for colour in ("red", "blue", "white")
        for thing in ("car", "house")
        for what in ("old", "new", "small", "big", "good", "bad", "fast", "slow", "here", "gone")
    ]
    together = kind(threads=3).scores(QUESTION, texts)
    assert all(together[row] == alone(kind, text) for row, text in enumerate(texts))


def test_threads_get_their_own_scores(model):
    wanted = model.scores(QUESTION, TEXTS)
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda n: CrossEncoder.scores(model, f"{QUESTION}{' ' * n}", TEXTS), range(8)))
    assert all(np.array_equal(row, wanted) for row in rows)


def test_long_questions_and_texts_are_cut(model):
    text = "word " * 5000
    assert model.scores("why " * 64, [text])[0] == model.scores("why " * 5000, [text + "more"])[0]


def test_equal_texts_of_a_call_are_read_once_and_of_the_next_call_again(monkeypatch):
    model, read = CrossEncoder(threads=1), []
    monkeypatch.setattr(model, "_read", lambda _, texts: read.append(texts) or np.zeros(len(texts)))
    for _ in range(2):
        assert len(model.scores(QUESTION, [*TEXTS, TEXTS[0]])) == len(TEXTS) + 1
    assert read == [TEXTS, TEXTS]


def test_one_string_is_refused(model):
    with pytest.raises(TypeError, match=r"\[text\]"):
        model.scores(QUESTION, "a text")


def test_a_damaged_file_is_named(tmp_path):
    shutil.copytree(DATA, tmp_path / "data")
    content = bytearray((DATA / MODEL).read_bytes())
    content[-100] ^= 1
    (tmp_path / "data" / MODEL).write_bytes(content)
    with pytest.raises(WeightsError, match=r"build_crossencoder\.py"):
        CrossEncoder(folder=tmp_path / "data").scores("a", ["b"])
