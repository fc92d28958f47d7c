"""What people see of an answer: the best quote first, each with the line that leads to it."""

import pytest

from equipoise.apps.render import quotes, show
from equipoise.apps.terminal import Terminal
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Highlight, Highlights

LEAD = Highlight("d", 0, 20, "It has disadvantages:", "d.txt")
ITEM = Highlight("d", 30, 50, "- It is slow.", "d.txt")
OTHER = Highlight("e", 0, 10, "It is old.", "e.txt")


def test_the_best_quote_comes_first_and_a_lead_stays_with_its_item():
    highlights = Highlights((LEAD, ITEM, OTHER))
    assert quotes(Answer("x", highlights, best_first=(2, 0, 1))) == [[OTHER], [LEAD, ITEM]]
    assert quotes(Answer("x", highlights)) == [[LEAD, ITEM], [OTHER]]
    assert quotes(Answer("x", highlights, best_first=(1, 0))) == [[LEAD, ITEM], [OTHER]]


def test_a_lead_goes_with_nothing_from_elsewhere_or_above_it():
    assert quotes(Answer("x", Highlights((LEAD, OTHER)))) == [[LEAD], [OTHER]]
    assert quotes(
        Answer("x", Highlights((ITEM, Highlight("d", 60, 70, "So:", "d.txt"))), best_first=(1, 0))
    ) == [
        [Highlight("d", 60, 70, "So:", "d.txt")],
        [ITEM],
    ]


def test_a_refusal_may_have_quotes_too():
    assert quotes(Refusal(Reason.GUESS_TOO_FAR, "no", Highlights((OTHER,)))) == [[OTHER]]


@pytest.mark.parametrize("weak", [True, False])
def test_weak_evidence_is_said_once_and_before_the_quotes(capsys, weak):
    show(Answer("It is old.", Highlights((OTHER,)), weak=weak), Terminal())
    said = capsys.readouterr().out
    assert said.count("Weak evidence") == weak
    assert not weak or said.index("Weak evidence") < said.index("It is old.")
