"""A list that is too long to be shown whole: its items are read beside the sentence that leads to it."""

import numpy as np

from blocks_of import passage_of
from equipoise.rag.highlighters.reading import distinct, windows_of
from equipoise.text.quotes import MAX_QUOTE_WORDS

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
    reader = Scripted(**points, **{"else": -9})
    return [w.own for w in distinct(windows_of("Which?", {passage_of(TEXT): 0.0}, reader))]


def test_an_item_is_read_beside_a_better_lead_in_that_leaves_it_out():
    assert len(TEXT.split()) > MAX_QUOTE_WORDS
    first, *_ = found = read(**{LEAD: 4, "Setting3": 3})
    assert first == LEAD
    assert ITEMS[3] in found


def test_of_a_better_item_the_lead_in_is_not_shown_again():
    first, *others = read(**{"Setting3": 5, LEAD: 4})
    assert first == ITEMS[3]
    assert LEAD not in others
