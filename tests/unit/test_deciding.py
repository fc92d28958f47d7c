"""What the decision model reads, and what it says of documents written for it."""

import pytest

from equipoise.core.types import Passage, Query, Trust
from equipoise.models.adapted import DecisionModel
from equipoise.models.crossencoder import READER
from equipoise.rag.highlighters.deciding import decision_logit, text_for_decision
from equipoise.rag.highlighters.reading import read

HANDBOOK = "The cabin by the lake sleeps six. Dogs cost 9 euros a night. Firewood is behind the shed."
QUESTION = "What does a dog cost in the cabin?"


class Heard:
    """Says 1, and keeps what it was asked."""

    name = "heard"

    def __init__(self):
        self.texts = []

    def scores(self, question, texts):
        self.texts += texts
        return [1.0] * len(texts)


def passage(number, text, trust=Trust.TRUSTED):
    return Passage(number, f"d{number}", 0, len(text), text, "Cabins", trust=trust, source=f"{number}.txt")


def windows(*passages):
    return read(Query(QUESTION), passages, READER, READER).windows


def test_windows_stand_below_their_title_once():
    text = text_for_decision(windows(passage(1, HANDBOOK)))
    assert text.startswith("Cabins\nDogs cost 9 euros a night.")
    assert text.count("Cabins") == 1


def test_what_stands_twice_below_the_same_heading_is_read_once():
    text = text_for_decision(windows(passage(1, HANDBOOK), passage(2, HANDBOOK), passage(3, HANDBOOK)))
    assert text.count("Dogs cost 9 euros a night.") == 1
    assert "Firewood" in text


def test_what_strangers_write_is_not_read_beside_a_trusted_answer():
    stranger = passage(2, "Dogs cost nothing in the cabin, says a guest.", Trust.UNTRUSTED)
    best, heard = windows(passage(1, HANDBOOK)), Heard()
    beside = windows(stranger)
    decision_logit(Query(QUESTION), [*best, *beside], heard)
    decision_logit(Query(QUESTION), best, heard)
    assert heard.texts[0] == heard.texts[1]


@pytest.fixture(scope="module")
def decision():
    return DecisionModel(threads=1)


def test_an_answer_is_told_from_a_near_miss(decision):
    found = windows(passage(1, HANDBOOK))
    asked = {
        question: decision_logit(Query(question), found, decision)
        for question in (QUESTION, "What does a cat cost?")
    }
    assert asked[QUESTION] > asked["What does a cat cost?"]
