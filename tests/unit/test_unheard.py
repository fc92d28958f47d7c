"""A refusal names what no document has, and says nothing of what one has or of words that only ask."""

import pytest

from equipoise.core.types import Passage, Query
from equipoise.rag.unheard import sentence_of, unheard

TEXT = "Shirts are washed and ironed for 2.90 EUR. A drum takes 8 kg. Jahresbeitrag: 40 Euro. Open on 2026-03-03."
ASKED = (Passage(0, "d", 0, len(TEXT), TEXT, title="Prices"),)


@pytest.mark.parametrize(
    ("question", "absent", "named"),
    [
        ("How much does it cost to iron trousers?", ("cost", "trousers"), ("trousers",)),
        ("What is the price of a 16 kg wash?", ("16",), ("16",)),
        ("What is the e-mail address?", ("e", "mail", "address"), ("e-mail",)),
        ("Who takes Trousers in 2019, on 3 March?", ("trousers", "2019", "3", "march"), ("Trousers", "2019")),
        ("Was kostet der Beitrag für Studenten?", ("kostet", "beitrag", "studenten"), ("Studenten",)),
        ("Who takes shirts?", (), ()),
        (
            "Do alpha, beta, gamma and delta count?",
            ("alpha", "beta", "gamma", "delta"),
            ("alpha", "beta", "gamma"),
        ),
    ],
)
def test_words_that_no_document_has_are_named_as_they_were_typed(question, absent, named):
    assert unheard(Query(question, out_of_corpus=absent), ASKED) == named


def test_they_make_one_sentence():
    assert sentence_of(()) == ""
    assert sentence_of(("16",)) == "None of them mentions “16”."
    assert sentence_of(("a", "b", "c")) == "None of them mentions “a”, “b” or “c”."
