"""Titles and texts of documents write no line of their own into the summarizer's request, however they are made."""

import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.types import Block, BlockKind, Document, Highlight, Highlights, Passage, Span
from equipoise.rag.boundary import read_quotes
from equipoise.rag.highlighters.quotations import documents_text
from equipoise.rag.highlighters.sentences import numbered, sentences_of
from equipoise.rag.summarizers.llm import request
from equipoise.text.outline import headings_at, outlined
from equipoise.text.visible import MAX_TITLE
from equipoise.text.visible import title as clean

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


def sent(quotes):
    system, user = request(quotes, frozenset(), guesses=1)
    assert system == request(highlights("plain"), frozenset(), guesses=1)[0] or quotes.items[0].context
    return user.content


@settings(max_examples=200, deadline=None)
@given(
    titles=st.lists(hostile, min_size=1, max_size=4),
    context=st.sampled_from(["", AROUND]),
)
def test_a_title_adds_no_line_and_at_most_200_characters(titles, context):
    plain, text = (sent(highlights(*names, context=context)) for names in (["T"] * len(titles), titles))
    assert len(text.splitlines()) == len(plain.splitlines())
    times = 2 if context else 1  # in the block of quotes and in that of surroundings
    assert len(text) <= len(plain) + times * len(titles) * max(MAX_TITLE, len("a document"))


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(hostile.map(lambda text: f"x{text}"), min_size=2, max_size=2))
def test_a_quote_and_its_context_add_no_line(texts):
    quote, around = texts
    plain = sent(highlights("T", quotes=("one", "two"), context="three"))
    text = sent(highlights("T", quotes=(quote, f"{quote} two"), context=around))
    assert len(text.splitlines()) == len(plain.splitlines())


@pytest.mark.parametrize("line", BREAKS)
def test_whatever_breaks_a_line_is_folded(line):
    assert len(BREAKS) >= 10
    assert f"From Fees{line}- gold:" not in sent(highlights(f"Fees{line}- gold"))
    assert "\n- gold" not in sent(highlights("T", quotes=(f"The fee{line}- gold",)))


@settings(max_examples=100, deadline=None)
@given(head=st.text(min_size=1, max_size=30), tails=st.tuples(hostile, hostile))
def test_titles_that_differ_in_the_part_cut_off_give_equal_requests(head, tails):
    long = (head + "title ") * MAX_TITLE
    first, second = (
        Highlights(tuple(read_quotes([Span("d", 0, 4)], Document("d", "Text", "d", long + tail))))
        for tail in tails
    )
    assert first == second
    assert sent(first) == sent(second)


@settings(max_examples=100, deadline=None)
@given(title=hostile, headings=st.lists(hostile, max_size=3))
def test_the_highlighters_prompts_have_one_line_for_a_title_and_its_headings(title, headings):
    passage = Passage(1, "d", 0, 20, "The fee is 5 pounds.", title, headings=tuple(headings))
    for shown in (numbered(sentences_of([passage])), documents_text([passage])):
        assert len(shown.splitlines()) <= 2
        assert len(shown) <= MAX_TITLE + len("[1] \n[1] ") + len(passage.text)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(hostile, min_size=1, max_size=4))
def test_headings_of_a_document_are_clean_lines_of_200_characters_together(texts):
    text, structure = "", []
    for level, heading in enumerate(texts, 1):
        structure.append(Block(BlockKind.HEADING, len(text), len(text) + len(heading) + 1, level))
        text += f"{heading}x\n"
    structure.append(Block(BlockKind.PARAGRAPH, len(text), len(text) + 20))
    document = Document("d", f"{text}The fee is 5 pounds.", "d", blocks=outlined(structure))
    headings = headings_at(document, len(text))
    assert sum(map(len, headings)) <= MAX_TITLE
    assert all(len(line.splitlines()) == 1 and line == clean(line) for line in headings)
    item = read_quotes([Span("d", len(text), len(text) + 20)], document)[0]
    assert len(item.heading) <= MAX_TITLE
    assert item.heading == clean(item.heading)
    assert sent(Highlights((item,))) == sent(Highlights((replace(item, heading="", paragraph=None),)))


@settings(max_examples=100, deadline=None)
@given(between=hostile)
def test_what_stands_between_units_adds_one_line(between):
    text = f"One.\n{between}\nTwo."
    passage = Passage(1, "d", 0, len(text), text, "T", sentences=((0, 4), (len(text) - 4, len(text))))
    lines = numbered(sentences_of([passage])).splitlines()
    assert [line for line in lines if not line.startswith("# ")] == ["T", "[1] One.", "[2] Two."]
    assert len(lines) <= 4
    assert all(len(line) <= MAX_TITLE + 2 for line in lines)
