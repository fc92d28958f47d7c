"""Quotes come with what they are read with: leads, and the canonical form of spans and their leads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.types import Candidates, Document, Passage, Span
from equipoise.corpus.chunks import passages
from equipoise.corpus.pieces import passage_at
from equipoise.rag.boundary import read_highlights
from equipoise.rag.highlighters.sentences import numbered, sentences_of
from equipoise.rag.search import usable
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined, with_leads
from equipoise.text.sentences import units
from equipoise.text.spans import DropReason, SpanPolicy


def document(text, doc_id="d"):
    structure = outlined(blocks(text))
    return Document(doc_id, text, "d.md", "Ferry", sentences=units(text, structure), blocks=structure)


def whole(*documents):
    """Each document as one passage."""
    return [passage_at(n, 0, len(d.text), d) for n, d in enumerate(documents)]


def quoted(text, *pieces, passages=None, **limits):
    source = document(text)
    spans = [Span("d", text.index(piece), text.index(piece) + len(piece)) for piece in pieces]
    highlights, dropped = read_highlights(
        spans, passages or whole(source), {"d": source}, SpanPolicy(**limits)
    )
    return [item.text for item in highlights.items], dropped


LIST = (
    "The pier is old. You may not cross with:\n\n- dogs without a lead;\n- open fires, such as:\n"
    "  - torches of wax;\n- carts."
)
CODE = "# Starting\n\nIt has a switch. Start it like so:\n\n```\nferry --now\n```\n\nThen wait for a while."
TITLED = "There are limits:\n\n- Greatest length\n\n  It has two metres. Nobody checks.\n\n- Other limits\n\n  None.\n"
TABLE = "| Sort | Fare |\n|---|---|\n| Adult with a bicycle | 3 |\n| Child | 1 |\n"


@pytest.mark.parametrize(
    ("text", "piece", "shown"),
    [
        (LIST, "- dogs without a lead;", ["You may not cross with:\n\n- dogs without a lead;"]),
        (LIST, "- carts.", ["You may not cross with:", "- carts."]),
        (
            LIST,
            "- torches of wax;",
            ["You may not cross with:", "- open fires, such as:\n  - torches of wax;"],
        ),
        (CODE, "```\nferry --now\n```", ["Start it like so:\n\n```\nferry --now\n```"]),
        (TABLE, "| Child | 1 |", ["| Sort | Fare |", "| Child | 1 |"]),
        (CODE, "Then wait for a while.", ["Then wait for a while."]),
        (TITLED, "It has two metres.", ["There are limits:\n\n- Greatest length\n\n  It has two metres."]),
        (TITLED, "Nobody checks.", ["There are limits:", "Nobody checks."]),  # a title apart says nothing
    ],
)
def test_what_a_unit_is_read_with(text, piece, shown):
    assert quoted(text, piece) == (shown, ())


def test_entities_alone_are_no_text():
    ferry = document("Ferry\n\n&nbsp;\n\nIt sails at &lt;8&gt;.\n")
    assert [ferry.text[start:end] for start, end in ferry.sentences] == ["It sails at &lt;8&gt;."]


def test_a_heading_is_never_quoted():
    quotes, (dropped,) = quoted(CODE, "# Starting")
    assert (quotes, dropped.reason) == ([], DropReason.NO_SENTENCE)


def test_a_lead_that_was_not_shown_stays_out():
    source = document(LIST)
    below = [passage_at(1, LIST.index("- carts"), len(LIST), source)]
    assert quoted(LIST, "- carts.", passages=below) == (["- carts."], ())


def test_leads_count_towards_the_limits():
    quotes, dropped = quoted(LIST, "- dogs without a lead;", max_sentences=1)
    assert quotes == ["You may not cross with:"]
    assert [drop.reason for drop in dropped] == [DropReason.TOO_MANY_SENTENCES]


TWO_LISTS = "You get:\n\n- a fork\n- a knife\n- a spoon\n\nYou give:\n\n- a coin\n- a hat\n- a song\n"


def test_what_an_item_is_read_with_is_no_piece():
    assert quoted(TWO_LISTS, "- a knife", "- a song") == (
        ["You get:", "- a knife", "You give:", "- a song"],
        (),
    )
    quotes, (dropped,) = quoted(TWO_LISTS, "- a knife", "- a coin", "- a song")
    assert quotes == ["You get:", "- a knife", "You give:\n\n- a coin"]
    assert dropped.reason is DropReason.TOO_MANY_PIECES


def test_documents_without_blocks_have_no_leads():
    plain = Document("d", LIST, "d.txt", sentences=units(LIST, blocks(LIST)))
    spans = tuple(Span("d", *sentence) for sentence in plain.sentences)
    assert with_leads(spans, {"d": plain}) == spans


LINES = st.sampled_from(
    ["Take this:", "It is so.", "- one", "- two:", "  - three", "    - four", "| a | b |", "# Head", "```", "x()",
     "See::", "    deep", "1. first", "Take this:"]
)  # fmt: skip
TEXTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n\n"])), max_size=14).map(
    lambda rows: "".join(line + end for line, end in rows)
)


@st.composite
def situations(draw):
    documents = {name: document(draw(TEXTS), name) for name in "ab"}
    offsets = st.integers(0, 120)
    proposed = draw(st.lists(st.builds(Span, st.sampled_from("ab"), offsets, offsets), max_size=8))
    every = [Span(d.doc_id, *sentence) for d in documents.values() for sentence in d.sentences]
    chosen = draw(st.lists(st.sampled_from(every), max_size=8)) if every else []
    policy = SpanPolicy(
        max_spans=draw(st.integers(1, 4)),
        max_sentences=draw(st.integers(1, 6)),
        max_sentences_per_span=draw(st.integers(1, 3)),
        max_pieces=draw(st.integers(1, 3)),
    )
    cuts = draw(st.lists(st.integers(0, 120), max_size=2))
    passages = [
        Passage(n, d.doc_id, a, b, d.text[a:b])
        for n, d in enumerate(documents.values())
        for a, b in [(0, len(d.text)), *([tuple(sorted(cuts))] if len(cuts) == 2 else [])]
        if a < b <= len(d.text)
    ]
    return documents, passages[draw(st.integers(0, 1)) :], [*proposed, *chosen], policy


@given(situations(), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_quotes_with_their_leads_are_canonical(situation, chance):
    """Only the set of spans matters, what comes out goes in unchanged, and the limits hold."""
    documents, passages, spans, policy = situation
    highlights, _ = read_highlights(spans, passages, documents, policy)
    shuffled = [*spans, *spans[:2]]
    chance.shuffle(shuffled)
    assert read_highlights(shuffled, passages, documents, policy)[0] == highlights
    assert (
        read_highlights([item.span for item in highlights.items], passages, documents, policy)[0]
        == highlights
    )
    assert len(highlights) <= policy.max_spans
    inside = [
        s
        for i in highlights.items
        for s in documents[i.doc_id].sentences
        if i.start <= s[0] and s[1] <= i.end
    ]
    assert len(inside) <= policy.max_sentences


class TestPassages:
    text = f"# Fares\n\n{'It is cheap. ' * 4}\n\n## Children\n\nThe following:\n\n- They pay half.\n"

    def test_a_passage_carries_its_headings_and_units(self):
        (passage,) = whole(document(self.text))
        assert passage.headings == ("Fares",)
        assert [sentence.text for sentence in sentences_of([passage])][-2:] == [
            "It is cheap.",
            "- They pay half.",
        ]

    def test_a_prompt_shows_the_path_and_what_stands_between_the_units(self):
        shown = numbered(sentences_of(whole(document(self.text)))).split("\n")
        assert shown[0] == "Ferry > Fares"
        assert shown[-2:] == ["# Children > The following:", "[5] - They pay half."]

    def test_one_made_by_hand_is_cut_into_sentences(self):
        passage = Passage(1, "d", 0, 12, "One. Two is.")
        assert [sentence.text for sentence in sentences_of([passage])] == ["One.", "Two is."]

    def test_contents_have_nothing_to_quote(self):
        text = "1. Fares ..... 3\n" * 20
        source = document(f"{self.text}\n{text}\nEnd of it.")
        start = source.text.index("1. Fares")
        assert passage_at(1, start, start + len(text) - 1, source).sentences == ()
        assert sentences_of([passage_at(1, start, start + len(text) - 1, source)]) == []

    def test_contents_are_found_by_search_and_not_read(self):
        text = f"{self.text}\n" + "1. Fares ..... 3\n" * 20
        source = document(text)
        cut = [passage_at(n, start, end, source) for n, (start, end) in enumerate(passages(source))]
        assert [bool(passage.sentences) for passage in cut] == [True, False]
        vectors = np.eye(2, dtype=np.float32)
        candidates = Candidates(tuple(reversed(cut)), vectors[0], vectors, vectors[0], {"d": source})
        assert usable(candidates, 5).passages == (cut[0],)
