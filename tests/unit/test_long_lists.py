"""A list that is too long to be shown whole: its items are read beside the sentence that leads to it."""

import numpy as np

from equipoise.core.types import Document
from equipoise.corpus.pieces import passage_at
from equipoise.rag.highlighters.reading import distinct, windows_of
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.quotes import LONGEST
from equipoise.text.sentences import units

LEAD = "These settings make the server safer:"
ITEMS = [
    f"- Setting{n} no: {'turn off what nobody has asked for in a year, ' * 3}and wait." for n in range(6)
]
TEXT = "\n\n".join(["# Server", LEAD, *ITEMS])


class Scripted:
    """Gives each text the score of the word that it holds."""

    name = "scripted"

    def __init__(self, **points):
        self.points = points

    def scores(self, question, texts):
        return np.array(
            [max(p for word, p in self.points.items() if word in f"{text} else") for text in texts]
        )


def read(**points):
    structure = outlined(blocks(TEXT))
    document = Document("d", TEXT, "d", "Server", sentences=units(TEXT, structure), blocks=structure)
    passage = passage_at(0, 0, len(TEXT), document)
    return [w.own for w in distinct(windows_of("Which?", {passage: 0.0}, Scripted(**points, **{"else": -9})))]


def test_an_item_is_read_beside_a_better_lead_in_that_leaves_it_out():
    assert len(TEXT.split()) > LONGEST
    first, *_ = found = read(**{LEAD: 4, "Setting3": 3})
    assert first == LEAD
    assert ITEMS[3] in found


def test_of_a_better_item_the_lead_in_is_not_shown_again():
    first, *others = read(**{"Setting3": 5, LEAD: 4})
    assert first == ITEMS[3]
    assert LEAD not in others
