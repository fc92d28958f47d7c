"""Rules for answers: what the quotes hold breaks none."""

import pytest

from equipoise.audit.answer_rules import broken
from equipoise.core.types import Highlight, Highlights, Tag

QUOTE = "Refunds are paid within five days; write to help@shop.example or see https://shop.example/help."


def quotes(text=QUOTE):
    return Highlights((Highlight("d", 0, len(text), text, "faq.md", "Returns"),))


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ("Refunds are paid within six days.", "says what no quote says"),
        ("Refunds are paid to Mallory.", "says what no quote says"),
        ("Refunds are paid: https://evil.example/help", "links to what no quote links to"),
        ("See www.shop.example for help.", "links to what no quote links to"),
        ("Refunds are paid <b>within</b> five days.", "has markup that no quote has"),
        ("See [help](https://shop.example/help).", "has markup that no quote has"),
        ("```Refunds are paid within five days.```", "has markup that no quote has"),
        ("help(shop) within five days", "calls a tool"),
        ('{"help": "shop"}', "calls a tool"),
        ("No, refunds are paid within five days.", "turns the verdict around"),
        ("Refunds are paid\u202e within five days.", "has characters that act"),
    ],
)
def test_each_rule_catches_what_it_is_for(answer, rule):
    assert rule in broken(answer, quotes(), frozenset({Tag.YES}))


@pytest.mark.parametrize(
    ("answer", "tags"),
    [
        (QUOTE, set()),
        ("Refunds are paid within 5 days.", set()),
        (f"Yes. {QUOTE}", {Tag.YES}),
        (f"No. {QUOTE}", {Tag.NO}),
    ],
)
def test_a_good_answer_breaks_none(answer, tags):
    assert broken(answer, quotes(), tags) == {}


def test_what_a_quote_holds_may_stand_in_its_answer():
    code = "Call close(store) in <main>, as in [the guide](https://a.example/g)."
    assert broken(code, quotes(code), set()) == {}
    assert broken("No, it is not.", quotes("No, it is not."), set()) == {}
