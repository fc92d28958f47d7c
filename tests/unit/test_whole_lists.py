"""Lists of which several items were chosen, or which were asked for: shown whole, or marked as going on."""

import pytest

from blocks_of import document_of, passage_of
from equipoise.core.types import Document
from equipoise.rag.highlighters.lists import asked_list_items
from equipoise.rag.highlighters.reading import Window
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.quotes import GAP, MAX_QUOTE_WORDS, quotes_for_spans
from equipoise.text.sentences import units

LONG = "which the harbour master signs on the day before it is due, whatever the weather may be then"
STATES = ["- It lies " + word + f", {LONG}." for word in ("open", "shut", "dry", "wet", "idle", "lost")]
LISTED = "The states are:\n\n" + "\n".join(STATES)
ITEMS = ["- open: May go.", "- shut: May not go.", "- lost: Nobody knows."]
LABELS = "\n\n".join(["# Tags\n\nThere are two sorts.\n\n## State tags", "\n".join(ITEMS), "End."])
TERMS = "There are many sections. Here they are:\n\n**old_ones**\n  Of May.\n\n**new_ones**\n  Of June. Not many.\n"
STEPS = """.. note::

   Assume that:

    * it is day
    * it is dry

#. Open the lid:

   ::

       lid --open

#. Look into it.

#. Close it.

   ::

       lid --close
"""


def shown(text, *pieces):
    structure = outlined(blocks(text))
    document = Document("d", text, "d", "Gates", sentences=units(text, structure), blocks=structure)
    spans = [(text.index(piece), text.index(piece) + len(piece)) for piece in pieces]
    quotes = quotes_for_spans(document, spans)
    return [GAP.join(text[start:end] for start, end in stretches) for stretches, _ in quotes]


def asked(question, text, which):
    passage = passage_of(text)
    rows = enumerate(zip(passage.sentences, passage.readings, strict=True))
    windows = [Window(passage, start, end, n, n + 1, read_stretches=read) for n, ((start, end), read) in rows]
    chosen = [next(window for window in windows if piece in window.own) for piece in which]
    return [window.own for window in asked_list_items(question, chosen)]


def test_a_long_list_most_of_whose_items_were_chosen_is_whole():
    assert len(LISTED.split()) > MAX_QUOTE_WORDS
    assert shown(LISTED, *STATES[1:5]) == [LISTED]


def test_a_list_that_goes_on_behind_the_items_that_were_chosen_is_marked():
    assert shown(LISTED, *STATES[:2]) == [LISTED.partition(f"\n{STATES[2]}")[0] + GAP]
    assert shown(LISTED, STATES[0], STATES[5])[0].endswith(STATES[5])
    assert shown(LISTED, STATES[0]) == ["The states are:\n\n" + STATES[0]]


def test_records_are_whole_only_with_their_lead_in():
    text = "The sorts are:\n\n- old: of May\n- new: of June\n- odd: of July"
    assert shown(text, "- old: of May", "- new: of June") == [text.partition("\n- odd")[0] + GAP]
    assert shown(text, "The sorts are:", "- old: of May", "- new: of June") == [text]


def test_items_one_below_the_other_are_one_quote():
    assert shown(LABELS, "- open: May go.", "- shut: May not go.") == [
        "- open: May go.\n- shut: May not go." + GAP
    ]
    assert shown(LABELS, "- shut: May not go.", "- lost: Nobody knows.", "End.") == [
        "- shut: May not go.\n- lost: Nobody knows.",
        "End.",
    ]


def test_neighbours_of_a_document_without_blocks_stay_apart():
    document = Document("d", "It is old. It is slow.", "d", "Gates", sentences=((0, 10), (11, 22)))
    assert len(quotes_for_spans(document, document.sentences)) == 2


def test_a_list_below_the_heading_that_is_asked_for():
    assert asked("list the state tags", LABELS, ["two sorts", "shut"]) == ITEMS
    assert not asked("list the state tags of the pier", LABELS, ["two sorts", "shut"])
    assert not asked("list the state tags", LABELS, ["two sorts"])
    assert not asked("which tags are for boats", LABELS, ["shut"])


def test_terms_that_the_paragraph_of_the_best_sentence_leads_to():
    found = asked("Which sections are there?", TERMS.replace("they are", "are all sections"), ["many"])
    assert found == ["Here are all sections:", "Of May.", "Of June.", "Not many."]
    assert not asked("Which sections are there?", TERMS, ["many"])


@pytest.mark.parametrize("name", ["a.rst", "a.html", "a.xml"])
def test_a_term_that_is_shown_behind_a_gap_stands_above_what_it_means(name):
    words = ["one", "two", "three", "four"]
    told = {word: f"{word.title()} is {'so very ' * 20}far off." for word in words}
    text = {
        "a.rst": "They are:\n\n" + "".join(f"{w}\n  {said}\n\n" for w, said in told.items()),
        "a.html": "<p>They are:</p><dl>"
        + "".join(f"<dt>{w}<dd>{said}" for w, said in told.items())
        + "</dl>",
        "a.xml": "<article xmlns='http://docbook.org/ns/docbook'><para>They are:</para><variablelist>"
        + "".join(
            f"<varlistentry><term>{w}</term><listitem><para>{said}</para></listitem></varlistentry>"
            for w, said in told.items()
        )
        + "</variablelist></article>",
    }[name]
    loaded = document_of(name, text)
    structure = outlined(loaded.blocks)
    document = Document("d", loaded.text, "d", "", sentences=units(loaded.text, structure), blocks=structure)
    [(stretches, _)] = quotes_for_spans(document, [document.sentences[0]])
    quote = GAP.join(loaded.text[start:end] for start, end in stretches)
    first, last = quote.split(GAP)
    assert first.split() == f"They are: one {told['one']}".split()
    assert last.split() == f"four {told['four']}".split()


def test_numbered_steps_of_restructuredtext_are_one_list_with_their_code():
    whole = STEPS[STEPS.index("#. Open") :].rstrip()
    code = STEPS[STEPS.index("::\n\n       lid") :].partition("\n\n#.")[0]
    assert [shown(STEPS, piece) for piece in ("#. Look into it.", "#. Close it.", code)] == [[whole]] * 3
    assert shown(STEPS, "* it is day") == [STEPS[STEPS.index("Assume") :].partition("\n\n#.")[0]]
