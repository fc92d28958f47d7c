"""Passages placed by their first and last words, with values worked out by hand."""

import json

import pytest

from equipoise.core import sync
from equipoise.core.types import Dropped, Passage, Query, Span
from equipoise.models.scripted import ScriptedChat
from equipoise.text.spans import DropReason
from equipoise_lab.methods.span import LONGEST, SpanHighlighter, place_between

TEXT = "The fee is 5 pounds. The fee is waived for members, who pay nothing. Members pay nothing at all."
FEES = Passage(1, "fees", 100, 100 + len(TEXT), TEXT, "Fees")
OWL = Passage(2, "owl", 0, 40, "Owls hunt at night; the fee is a mouse.", "")


def between(start, end, *passages):
    placed = place_between(start, end, passages or (FEES,))
    if isinstance(placed, Dropped):
        return placed.reason
    (passage,) = [p for p in (passages or (FEES,)) if p.doc_id == placed.doc_id]
    return passage.text[placed.start - passage.start : placed.end - passage.start]


@pytest.mark.parametrize(
    ("start", "end", "placed"),
    [
        ("The fee is", "5 pounds.", "The fee is 5 pounds."),
        (
            "The fee is waived",
            "pay nothing",
            "The fee is waived for members, who pay nothing",
        ),  # the first end
        ("The fee is waived for", "waived for members", "The fee is waived for members"),  # they overlap
        ("The fee is 5 pounds.", "The fee is 5 pounds.", "The fee is 5 pounds."),
        (
            "  the fee\nis waived",
            "members, who",
            "The fee is waived for members, who",
        ),  # white space and case
        ("The fee is waived fo", "Members pay nothing at all", TEXT[21:-1]),
    ],
)
def test_from_the_first_words_to_the_first_end_after_them(start, end, placed):
    assert between(start, end) == placed


def test_offsets_count_in_the_document():
    assert place_between("The fee is waived", "for members", [FEES]) == Span("fees", 121, 150)


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        ("No such words", "5 pounds.", DropReason.NOT_FOUND),
        ("Members pay nothing", "5 pounds.", DropReason.END_NOT_FOUND),  # it stands before
        ("The fee is", "no such words", DropReason.END_NOT_FOUND),
        ("", "5 pounds.", DropReason.NOT_FOUND),
        ("The fee is", " ", DropReason.END_NOT_FOUND),
    ],
)
def test_what_cannot_be_placed_says_why(start, end, reason):
    assert between(start, end) == reason


def test_both_ends_lie_in_one_passage():
    assert between("Owls hunt", "5 pounds.", OWL, FEES) == DropReason.END_NOT_FOUND
    assert between("The fee is", "5 pounds.", OWL, FEES) == "The fee is 5 pounds."
    assert between("the fee is", "a mouse", FEES, OWL) == "the fee is a mouse"


def test_an_exact_place_goes_before_an_approximate_one():
    long = "Every visitor of the reading room signs the green book at the desk"
    near = Passage(1, "near", 0, 80, f"{long.replace('signs', 'sign')}, says the porter.", "")
    exact = Passage(2, "exact", 0, 80, f"{long}, says the porter.", "")
    assert place_between(long, "the porter.", [near, exact]).doc_id == "exact"
    assert place_between(long, "the porter.", [near]).doc_id == "near"


def test_the_length_is_bounded():
    far = "Here it begins. " + "x " * (LONGEST // 2) + "Here it ends."
    passage = Passage(1, "far", 0, len(far), far, "")
    assert between("Here it begins.", "Here it ends.", passage) == DropReason.END_NOT_FOUND
    assert between("Here it begins.", "x x", passage).startswith("Here it begins. x")


def test_a_model_that_declines_highlights_nothing_though_it_names_passages():
    reply = {"answer": "NONE", "text_extracts": [{"start": "The fee is", "end": "5 pounds."}]}
    highlighter = SpanHighlighter(
        ScriptedChat([json.dumps(reply), json.dumps(reply | {"answer": "5 pounds"})])
    )
    declined, answered = (
        sync.run(highlighter.highlight(Query("What is the fee?"), [FEES])) for _ in range(2)
    )
    assert (declined.spans, declined.dropped) == (
        (),
        (Dropped(DropReason.DECLINED, quotation="The fee is ... 5 pounds."),),
    )
    assert answered.spans == (Span("fees", 100, 120),)
