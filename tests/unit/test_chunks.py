from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.types import Document
from equipoise.corpus.chunks import MOST, TARGET, passages
from equipoise.text.blocks import blocks
from equipoise.text.sentences import sentence_spans, units

SENTENCE = "The quick brown fox jumps over the lazy dog again and again today. "  # 67 characters


def document(text):
    return Document("d", text, "d.txt", sentences=sentence_spans(text))


def texts(text):
    return [text[start:end] for start, end in passages(document(text))]


def test_a_short_text_is_one_passage():
    assert texts("One sentence.\n\nAnother one.") == ["One sentence.\n\nAnother one."]


def test_nothing_gives_no_passage():
    assert texts(" \n\n ") == []


def test_paragraphs_are_packed_and_never_torn_when_they_fit():
    paragraph = (SENTENCE * 6).strip()  # 401 characters: two fit into 900, three do not
    assert texts("\n\n".join([paragraph] * 4)) == [f"{paragraph}\n\n{paragraph}"] * 2


def test_a_long_paragraph_is_cut_between_sentences_into_like_pieces():
    pieces = texts((SENTENCE * 30).strip())  # 2,009 characters: three pieces of about 670
    assert [len(piece) for piece in pieces] == [669, 669, 669]
    assert all(piece.endswith("today.") for piece in pieces)


def test_a_heading_stays_with_the_text_after_it():
    paragraph = (SENTENCE * 12).strip()
    pieces = texts(f"{paragraph}\n\nRefunds and returns\n\n{paragraph}\n\n## Delivery\n\n{paragraph}")
    assert [piece.split("\n")[0] for piece in pieces] == [paragraph, "Refunds and returns", "## Delivery"]


def test_the_short_beginning_of_a_section_stays_with_what_comes_next_in_it():
    long = (SENTENCE * 5).strip()
    settings = [f"## `{name}`\n\n- Default: 72\n\n{long}" for name in ("one", "two", "three", "four")]
    pieces = texts("\n\n".join(settings))
    assert "\n\n".join(pieces) == "\n\n".join(settings)
    assert [piece.count("Default") for piece in pieces] == [piece.count(long) for piece in pieces]
    assert all(piece.startswith("## ") for piece in pieces)


def test_sentences_are_found_where_the_document_has_none():
    assert passages(Document("d", "One. Two.", "d.txt")) == [(0, 9)]


pieces_of_text = st.lists(
    st.sampled_from(
        [
            "\n\n",
            "\n",
            " ",
            "# Head\n\n",
            "A title",
            "- item\n",
            "x" * 700,
            SENTENCE,
            SENTENCE * 5,
            "é. ",
            "12.",
            "\u2028",
        ]
    )
    | st.text(max_size=40),
    max_size=60,
).map("".join)


@given(pieces_of_text)
def test_every_sentence_lies_in_exactly_one_passage_of_bounded_length(text):
    made = document(text)
    spans = passages(made)
    assert all(0 <= start < end <= len(text) and end - start <= MOST for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for start, end in made.sentences:
        assert sum(low <= start and end <= high for low, high in spans) == 1
    starts = {start for start, _ in made.sentences}
    ends = {end for _, end in made.sentences}
    assert all(start in starts and end in ends for start, end in spans)


@given(st.integers(1, 200))
def test_neighbours_could_not_have_been_one_passage_of_the_target_length(sentences):
    spans = passages(document(SENTENCE * sentences))
    assert all(after[1] - before[0] > TARGET for before, after in pairwise(spans))


MANUAL = """Options that are read:

- --tidy: Takes away what is not in the source.

  {rest}

- --trial: Says what would happen.

  {rest}
"""


def test_an_option_of_a_manual_begins_a_passage_with_its_own_text():
    text = MANUAL.format(rest=(SENTENCE * 6).strip())
    structure = blocks(text)
    made = Document("d", text, "d.md", sentences=units(text, structure), blocks=structure)
    first, second = (text[start:end] for start, end in passages(made))
    assert first.startswith("Options that are read:")
    assert "--trial" not in first
    assert second.startswith("- --trial: Says what")


def test_short_items_stay_with_what_leads_to_them():
    text = "Bring along:\n\n- bread: a loaf\n- salt: a pinch\n\n" + SENTENCE
    structure = blocks(text)
    made = Document("d", text, "d.md", sentences=units(text, structure), blocks=structure)
    assert [text[start:end] for start, end in passages(made)] == [text.strip()]


def test_a_term_is_in_the_passage_of_what_it_means():
    entries = [f"  term{n}x\n      {SENTENCE * 3}" for n in range(12)]
    made = texts("Our terms.\n\n" + "\n\n".join(entries))
    assert len(made) > 2
    for n in range(12):
        (passage,) = [one for one in made if f"term{n}x" in one]
        assert passage.split(f"term{n}x")[1].lstrip().startswith("The quick brown fox")
