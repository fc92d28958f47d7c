"""The comparison judge: verdicts in the caller's order, whatever order the model saw."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.judges.comparison import (
    DECLINED,
    Comparison,
    ComparisonJudge,
    Order,
    Preference,
    Vote,
    consistency,
    first_place_share,
    request,
    seeded_order,
)

QUESTION = "How long is the Harlow bridge?"
GOOD, BAD = "It is 212 metres long.", "It is made of stone."


def reply(better):
    return json.dumps({"explanation": "because", "better": better})


def compare(script, first=GOOD, second=BAD, order=Order.AS_IS, informed=False, **more):
    chat = ScriptedChat(script)
    judge = ComparisonJudge(chat, informed=informed)
    how = {"question": QUESTION, "first": first, "second": second, "order": order} | more
    return sync.run(judge.compare(**how)), chat


def prefers(text):
    """A model that likes the answer with `text` in it, wherever it stands."""

    def answer(messages):
        shown = messages[-1].content
        return reply("1" if shown.index(text) < shown.index("Answer 2:") else "2")

    return answer


@pytest.mark.parametrize(
    ("order", "said", "meant"),
    [
        (Order.AS_IS, "1", Preference.FIRST),
        (Order.AS_IS, "2", Preference.SECOND),
        (Order.SWAPPED, "1", Preference.SECOND),
        (Order.SWAPPED, "2", Preference.FIRST),
        (Order.AS_IS, "tie", Preference.TIE),
        (Order.SWAPPED, "tie", Preference.TIE),
        (Order.SWAPPED, "neither", Preference.NEITHER),
    ],
)
def test_verdicts_are_in_the_callers_order(order, said, meant):
    comparison, chat = compare([reply(said)], order=order)
    assert comparison.verdict is meant
    assert comparison.votes[0].swapped == (order is Order.SWAPPED)
    assert comparison.usage.calls == 1
    shown = chat.requests[0].messages[-1].content
    assert (shown.index(GOOD) > shown.index(BAD)) == (order is Order.SWAPPED)


@pytest.mark.parametrize("order", Order)
def test_a_judge_that_knows_is_right_in_every_order(order):
    for first, second, meant in ((GOOD, BAD, Preference.FIRST), (BAD, GOOD, Preference.SECOND)):
        comparison, _ = compare(prefers(GOOD), first, second, order)
        assert comparison.verdict is meant


@settings(deadline=None)
@given(st.text(), st.tuples(st.text(), st.text()), st.integers(0, 9))
def test_the_seeded_order_shows_the_same_request_whoever_is_named_first(question, names, seed):
    order, turned = (seeded_order(question, pair, seed=seed) for pair in (names, names[::-1]))
    assert (order is turned) == (names[0] == names[1])


def test_the_seeded_order_is_even_and_needs_no_global_state():
    orders = [seeded_order(f"question {n}", ("hs", "vanilla"), seed=1) for n in range(1000)]
    assert 440 < orders.count(Order.SWAPPED) < 560
    assert orders == [seeded_order(f"question {n}", ("hs", "vanilla"), seed=1) for n in range(1000)]
    other = [seeded_order(f"question {n}", ("hs", "vanilla"), seed=2) for n in range(1000)]
    assert 400 < sum(a is b for a, b in zip(orders, other, strict=True)) < 600


def test_junk_is_unscored_and_an_absent_model_is_an_error():
    comparison, _ = compare(["both are nice", "really"])
    assert comparison.verdict is None
    assert comparison.explanation.startswith("not scored")
    comparison, _ = compare([ModelReplyError("cut off")], order=Order.SWAPPED)
    assert (comparison.verdict, comparison.consistent) == (None, None)
    with pytest.raises(ModelUnavailable):
        compare([ModelUnavailable("no endpoint")])


def test_the_papers_judge_sees_neither_reference_nor_examples():
    for more in ({}, {"reference": "212 m"}):
        system, user = compare([reply("1")], **more)[1].requests[0].messages
        assert "212 m" not in user.content.replace(GOOD, "")
        assert "Reference" not in system.content + user.content
        assert "Example" not in system.content


def test_an_informed_judge_sees_the_reference_where_there_is_one():
    plain = compare([reply("1")], informed=True)[1].requests[0].messages
    full = compare([reply("1")], informed=True, reference="212 m\nQuestion:")[1].requests[0].messages
    assert "Reference:" not in plain[1].content
    assert "Reference:\n| 212 m\n| Question:\nAnswer 1:" in full[1].content
    assert plain[0] == full[0]
    assert "Example:" in plain[0].content


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (None, None, Preference.NEITHER),
        (None, " ", Preference.NEITHER),
        ("Yes. ", "Yes.", Preference.TIE),
    ],
)
def test_equal_answers_need_no_model(first, second, verdict):
    comparison, chat = compare([], first, second)
    assert (comparison.verdict, comparison.votes, comparison.consistent) == (verdict, (), None)
    assert not chat.requests


def test_declining_stands_outside_the_fence_where_no_answer_can_write_it():
    _, chat = compare([reply("1")], None, DECLINED)
    lines = chat.requests[0].messages[-1].content.splitlines()
    assert lines[lines.index("Answer 1:") + 1] == DECLINED
    assert lines[lines.index("Answer 2:") + 1] == f"| {DECLINED}"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["\n", "\r", "Answer 2:", "Reference:", "|", "</s>", "x"])).map("".join))
def test_no_answer_gets_out_of_its_fence(text):
    def frame(first):
        lines = request("q", (first, "b"), "")[-1].content.splitlines()
        return [line for line in lines if not line.startswith("|")]

    assert frame(text) == frame("a")


def both(first, second):
    return Comparison(Preference.TIE, "", (Vote(first, "", False), Vote(second, "", True)))


def test_consistency_and_first_place_by_hand():
    win, lose, tie = Preference.FIRST, Preference.SECOND, Preference.TIE
    single = Comparison(win, "", (Vote(win, "", True),))
    comparisons = [both(win, win), both(win, lose), both(tie, tie), both(None, win), single]
    agreed = consistency(comparisons)
    assert (agreed.value, agreed.n) == (0.666667, 3)
    # shown first won: yes no | yes yes | - - | - no | no: 3 of 6
    placed = first_place_share(comparisons)
    assert (placed.value, placed.n) == (0.5, 6)
    assert first_place_share([both(win, lose)]).value == 1.0
    assert consistency([single]) is None
    assert first_place_share([]) is None
