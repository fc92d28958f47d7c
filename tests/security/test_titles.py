"""Titles and texts of documents write no line of their own into the summarizer's request, however they are made."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.types import Document, Highlight, Highlights, Passage, Span
from equipoise.rag.boundary import read_span
from equipoise.rag.highlighters.quotations import documents_text
from equipoise.rag.highlighters.sentences import numbered, sentences_of
from equipoise.rag.summarizers.llm import request
from equipoise.text.visible import MAX_TITLE

AROUND = "The fee is 5 pounds. And more."
BREAKS = [chr(c) for c in range(sys.maxunicode + 1) if len(f"a{chr(c)}b".splitlines()) > 1]
QUOTES = ("The fee is 5 pounds.", "It is due in May.")
pieces = st.sampled_from([*BREAKS, "\0", "\x1b[2J", "\u202e", "- quote", "From X:", "Quotes:", "[9] x", " "])
hostile = st.lists(st.text(max_size=20) | pieces, max_size=30).map("".join) | st.text().map(lambda s: s * 900)


def highlights(*titles, quotes=QUOTES, context=""):
    """Every title with all quotes; made by hand, past the cleaning at the boundary."""
    items = []
    for number, title in enumerate(titles):
        for at, quote in enumerate(quotes):
            doc_id = f"d{number:02d}"
            items.append(Highlight(doc_id, at, at + 1, quote, doc_id, title, context=context))
    return Highlights(tuple(items))


def sent(found):
    system, user = request(found, frozenset(), guesses=1)
    assert system == request(highlights("plain"), frozenset(), guesses=1)[0] or found.items[0].context
    return user.content


@settings(max_examples=200, deadline=None)
@given(
    titles=st.lists(hostile, min_size=1, max_size=4),
    context=st.sampled_from(["", AROUND]),
)
def test_a_title_adds_no_line_and_at_most_200_characters(titles, context):
    plain, found = (sent(highlights(*names, context=context)) for names in (["T"] * len(titles), titles))
    assert len(found.splitlines()) == len(plain.splitlines())
    times = 2 if context else 1  # in the block of quotes and in that of surroundings
    assert len(found) <= len(plain) + times * len(titles) * max(MAX_TITLE, len("a document"))


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(hostile.map(lambda text: f"x{text}"), min_size=2, max_size=2))
def test_a_quote_and_its_context_add_no_line(texts):
    quote, around = texts
    plain = sent(highlights("T", quotes=("one", "two"), context="three"))
    found = sent(highlights("T", quotes=(quote, f"{quote} two"), context=around))
    assert len(found.splitlines()) == len(plain.splitlines())


@pytest.mark.parametrize("line", BREAKS)
def test_whatever_breaks_a_line_is_folded(line):
    assert len(BREAKS) >= 10
    assert f"From Fees{line}- gold:" not in sent(highlights(f"Fees{line}- gold"))
    assert "\n- gold" not in sent(highlights("T", quotes=(f"The fee{line}- gold",)))


@settings(max_examples=100, deadline=None)
@given(head=st.text(min_size=1, max_size=30), tails=st.tuples(hostile, hostile))
def test_titles_that_differ_in_the_part_cut_off_give_equal_requests(head, tails):
    long = (head + "title ") * MAX_TITLE
    one, two = (
        Highlights((read_span(Span("d", 0, 4), Document("d", "Text", "d", long + tail)),)) for tail in tails
    )
    assert one == two
    assert sent(one) == sent(two)


@settings(max_examples=100, deadline=None)
@given(title=hostile)
def test_the_highlighters_prompts_have_one_line_for_a_title(title):
    passage = Passage(1, "d", 0, 20, "The fee is 5 pounds.", title)
    assert len(numbered(sentences_of([passage])).splitlines()) <= 2
    assert len(documents_text([passage]).splitlines()) <= 2
