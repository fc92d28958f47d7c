"""Yes and no: which questions want them, which quotes bear them, and what an answer turns around."""

import pytest

from equipoise.core import sync
from equipoise.core.types import Highlight, Highlights, Tag
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.boundary import crossing_tags
from equipoise.rag.summarizers.llm import LlmSummarizer
from equipoise.text.polar import denies, has_sides, is_yes_no, reversed_claims, supported, verdict_in
from equipoise.text.spans import DropReason

YES, NO = frozenset({Tag.YES}), frozenset({Tag.NO})
NOTHING = "Nothing is refunded after one hundred days."


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Can I return it after 30 days?", True),
        ("I bought a kettle. Can I return it?", True),
        ("Will you give refunds after 30 days?", True),
        ("Do you know whether dogs may enter?", True),
        ("Can you tell me if dogs may enter?", True),
        ("Can you tell me when I can return it?", False),
        ("Hello, could you please explain how the lock works?", False),
        ("Do you know who founded it?", False),
        ("Ignore all that. Can you list the fees?", False),
        ("May I ask how much a ticket costs?", False),
        ("Is it red or blue?", False),
        ("When can I return it?", False),
    ],
)
def test_questions_that_want_yes_or_no(question, wanted):
    assert is_yes_no(question) is wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Should the bridge be built?", True),
        ("Should tea or coffee be free?", True),
        ("The bridge should be built", True),
        ("We met by the river. Is the bridge worth its price?", True),
        ("Do you know whether the bridge is worth its price?", True),
        ("Why should the bridge be built?", False),
        ("On which side should the bridge begin?", False),
        ("Can you tell me when the bridge opens?", False),
        ("What does the bridge cost?", False),
        ("bridge", False),
        ("", False),
    ],
)
def test_questions_that_have_sides(question, wanted):
    assert has_sides(question) is wanted


@pytest.mark.parametrize(
    ("tags", "quotes", "crossing"),
    [
        (YES, [NOTHING], frozenset()),
        (NO, [NOTHING], NO),
        (YES, ["Kettles can be returned."], YES),
        (NO, ["Kettles can be returned."], frozenset()),
        (NO, [NOTHING, "Kettles can be returned."], frozenset()),
        (YES, ["Kettles can be returned.", NOTHING], frozenset()),
        (YES | NO, ["Kettles can be returned."], frozenset()),
        (YES | NO, [NOTHING], frozenset()),
        (YES, [], frozenset()),
        (NO, ["Both are washed every Friday, but not in frost."], frozenset()),
        (NO, [f"{NOTHING} Garden tools can be returned."], frozenset()),
        (NO, [f"{NOTHING} Paint is not taken back."], NO),
        (YES, ["You mustn’t open the box."], frozenset()),
    ],
)
def test_a_verdict_stands_only_before_quotes_that_bear_it(tags, quotes, crossing):
    assert supported(tags, quotes) == crossing


def test_a_verdict_that_does_not_cross_has_its_reason():
    highlights = quoted(NOTHING)
    assert crossing_tags(NO, highlights) == (NO, ())
    (drop,) = crossing_tags(YES, highlights)[1]
    assert (drop.reason, drop.quotation) == (DropReason.UNSUPPORTED, "yes")
    both = crossing_tags(YES | NO, highlights)
    assert both[0] == frozenset()
    assert [(drop.reason, drop.quotation) for drop in both[1]] == [
        (DropReason.TWO_VERDICTS, "no"),
        (DropReason.TWO_VERDICTS, "yes"),
    ]


@pytest.mark.parametrize("text", ["It is not so.", "It isn't so.", "NONE left", "That is forbidden."])
def test_what_denies(text):
    assert denies(text)
    assert not denies("It is so, in the notebook of Norway.")


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("Yes.", Tag.YES),
        ("“No”, it is shut.", Tag.NO),
        ("no", Tag.NO),
        ("No dogs.", None),
        ("Nothing.", None),
    ],
)
def test_the_verdict_of_an_answer(answer, wanted):
    assert verdict_in(answer) is wanted


QUOTE = "The ferry does not carry lorries above five tonnes; bicycles travel for free."


@pytest.mark.parametrize(
    ("answer", "tags", "expected"),
    [
        ("The ferry does not carry lorries above five tonnes.", frozenset(), ()),
        ("The ferry carries lorries above five tonnes.", frozenset(), ("The ferry carries lorries above five tonnes",)),
        ("Bicycles do not travel for free.", frozenset(), ("Bicycles do not travel for free",)),
        ("Bicycles do not travel.", frozenset(), ()),  # two words: too few to tell
        ("No, the ferry does not carry lorries above five tonnes.", NO, ()),
        ("No, the ferry does not carry lorries above five tonnes.", YES, ("No",)),
        ("No, the ferry does not carry lorries above five tonnes.", frozenset(), ("No",)),
        ("Bicycles travel for free.", frozenset(), ()),
    ],
)  # fmt: skip
def test_what_an_answer_turns_around(answer, tags, expected):
    assert reversed_claims(answer, [QUOTE], tags) == expected


@pytest.mark.parametrize(
    ("reply", "tags", "grounded"),
    [
        ("The ferry does not carry lorries above five tonnes; bicycles travel for free.", NO, True),
        ("Yes, the ferry carries lorries above five tonnes; bicycles travel for free.", NO, False),
        ("No, the ferry does not carry lorries above five tonnes; bicycles travel for free.", YES, False),
        ("The ferry carries lorries above five tonnes; bicycles travel for free.", frozenset(), False),
    ],
)
def test_a_summary_that_turns_its_quotes_gives_way_to_them(reply, tags, grounded):
    summarizer = LlmSummarizer(ScriptedChat([f'{{"answer": "{reply}"}}']))
    summary = sync.run(summarizer.summarize(quoted(QUOTE), tags=tags))
    assert summary.grounded is grounded
    assert QUOTE in summary.answer or grounded


def quoted(text):
    return Highlights((Highlight("d", 0, len(text), text, "d.txt", "Ferry"),))
