"""Quotes are whole answers: what is shown for a sentence that was chosen, and that it follows from the spans alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.apps.remote import read_result
from equipoise.core.results import Answer
from equipoise.core.types import Candidates, Document, Passage, Span
from equipoise.corpus.chunks import passages
from equipoise.corpus.pieces import passage_at
from equipoise.rag.boundary import read_highlights, spans_of
from equipoise.rag.highlighters.sentences import numbered, sentences_of
from equipoise.rag.search import usable
from equipoise.text.blocks import blocks
from equipoise.text.labels import are_of_one_kind
from equipoise.text.outline import outlined
from equipoise.text.quotes import MAX_QUOTE_WORDS, stretches_to_read
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
WHOLE_LIST = LIST.removeprefix("The pier is old. ")
CODE = "# Starting\n\nIt has a switch. Start it like so:\n\n```\nferry --now\n```\n\nThen wait for a while."
ANNOUNCED = "It has a switch. Start it like so:\n\n```\nferry --now\n```"
POINTED = "Add the following line. It takes a while.\n\n```\nferry --now\n```"
BARE_CODE = "Start it like so:\n\n```\nferry --now\n```"
STEPS = (
    "## Casting off\n\n1. Start the engine.\n2. Take in the rope:\n   - from the stern\n3. Sound the horn.\n"
)
FARES = "The fares:\n\n- Children: 2\n- Adults: 4\n\nThey hold for a day."
CODES = "It ends with one of these:\n\n- 0 - Success\n- 23 - Partial transfer\n- 35 - Timeout\n"
NESTED = "# Fares\n\n- North pier\n  - day: 5\n  - week: 20\n- South pier\n  - day: 7\n  - week: 30\n"
LOCKERS = "1 port locker (signals)\n- flags\n- two flares\n\n2 stern locker (galley)\n- pans\n- a kettle\n"
DOTTED = "What lies where:\n\n1. Port locker\n   - flags\n   - two flares\n2. Stern locker\n   - pans\n   - a kettle\n"
VALVE = "What is done:\n\n1. Stop the pump\n   - press red\n   - wait\n2. Open the pump\n   - turn left\n   - lift it\n"
ABOVE = (
    "You get an estimate first.\n- Creep\n\n  The pages shift.\n- Gutter\n\n  The inner margin of a page.\n"
)
SENTENCES = "# Rules\n\n- Dogs stay on deck.\n- Bicycles are carried free of charge.\n"
TABLE = "Table 2: Fares by sort\n\n| Sort | Fare |\n|---|---|\n| Adult with a bicycle | 3 |\n| Child | 1 |\n"
LABEL = "# Help\n\nUse:\n\n.. code-block:: sh\n\n   ferry --help\n\nIt is long.\n"
OPTION = (
    "# Actions\n\n- -delete: Delete files; true if that went well. If it failed, a message is written. "
    f"{'Think twice before you use it on anything that you need. ' * 6}"
)
DENIED = "# Rules\n\n## Not carried\n\n1. Dogs.\n2. Carts.\n\n## Why not?\n\nThey are far too heavy."
SECTIONS = (
    "1. Waiting list. Thirty people wait for a berth, and the oldest entry is of May.\n"
    "2. Water. The pump broke in August and was mended three days later for much money.\n"
    "3. The autumn fair takes place on the pier on 10 October. Lucy brings the cakes.\n"
)
MAIL = "Is it still open? And when does the last ferry leave, at ten?\n\nIt leaves at half past ten."
ASKED = "Do I need a ticket for my dog? Dogs are carried free of charge."
RULE = "Leave is lost on 31 March.\n\nThis rule does not apply to the sick, who have until May.\n\nAsk Ms Brandt."
CASES = "Some stay. As a rule, if you stay for a day, pay 5. If you stay for more, pay 4. This does not apply to dogs."
LONG = f"{CASES} First of all. {'It goes on and on without an end in sight. ' * 8}Last of all."


@pytest.mark.parametrize(
    ("text", "piece", "shown"),
    [
        (LIST, "You may not cross with:", LIST),
        (LIST, "- dogs without a lead;", WHOLE_LIST),
        (
            LIST,
            "- torches of wax;",
            "You may not cross with:\n\n…\n\n- open fires, such as:\n  - torches of wax;",
        ),
        (CODE, "Start it like so:", ANNOUNCED),
        (CODE, "It has a switch.", ANNOUNCED),
        (CODE, "```\nferry --now\n```", BARE_CODE),
        (POINTED, "It takes a while.", POINTED),
        (CODE, "Then wait for a while.", "Then wait for a while."),
        (STEPS, "1. Start the engine.", STEPS.partition("\n\n")[2].rstrip()),
        (FARES, "- Adults: 4", "The fares:\n\n…\n\n- Adults: 4"),
        (CODES, "- 23 - Partial transfer", "It ends with one of these:\n\n…\n\n- 23 - Partial transfer"),
        (FARES, "The fares:", FARES.partition("\n\nThey")[0]),
        (NESTED, "- day: 7", "- South pier\n  - day: 7"),
        (LOCKERS, "- a kettle", LOCKERS[LOCKERS.index("2 stern") :].rstrip()),
        (DOTTED, "2. Stern locker", DOTTED.rstrip()),
        (
            DOTTED,
            "2. Stern locker\n   - pans",
            "What lies where:\n\n…\n\n2. Stern locker\n   - pans\n   - a kettle",
        ),
        (DOTTED, "- a kettle", "What lies where:\n\n…\n\n2. Stern locker\n   - pans\n   - a kettle"),
        (VALVE, "2. Open the pump\n   - turn left", VALVE.rstrip()),
        (ABOVE, "The pages shift.", "- Creep\n\n  The pages shift."),
        (SENTENCES, "- Dogs stay on deck.", "- Dogs stay on deck."),
        (TABLE, "| Child | 1 |", "Table 2: Fares by sort\n\n| Sort | Fare |\n\n…\n\n| Child | 1 |"),
        (TABLE, "| Sort | Fare |", TABLE.rstrip()),
        (LABEL, "ferry --help", LABEL[LABEL.index("Use:") : LABEL.index("\n\nIt")]),
        (
            OPTION,
            "If it failed, a message is written.",
            "- -delete: Delete files; true if that went well. If it failed, a message is written.",
        ),
        (DENIED, "2. Carts.", DENIED[DENIED.index("## Not") : DENIED.index("\n\n## Why")]),
        (DENIED, "They are far too heavy.", "They are far too heavy."),
        (SECTIONS, "Lucy brings the cakes.", SECTIONS.splitlines()[2]),
        (MAIL, "And when does the last ferry leave, at ten?", MAIL),
        (LONG, "First of all.", "First of all."),
        (RULE, "Leave is lost on 31 March.", RULE.rpartition("\n\n")[0]),
        (RULE, "This rule does not apply to the sick, who have until May.", RULE.rpartition("\n\n")[0]),
        (RULE, "Ask Ms Brandt.", "Ask Ms Brandt."),
        (LONG, "Some stay.", "Some stay."),
        (LONG, "If you stay for more, pay 4.", CASES.removeprefix("Some stay. ")),
    ],
)
def test_what_is_shown_with_a_sentence(text, piece, shown):
    assert quoted(text, piece) == ([shown], ())


def test_code_alone_below_its_heading_is_read_and_quoted_with_it():
    text = "## On Linux\n\nUse apt.\n\n## On Windows\n\n```\nwinget install Ferry\n```"
    source, shown = document(text), text.partition("apt.\n\n")[2]
    assert [text[slice(*one)] for one in stretches_to_read(source, source.sentences[-1])] == [shown]
    assert quoted(text, "```\nwinget install Ferry\n```")[0] == [shown]


def test_a_question_in_a_text_is_read_with_its_answer_or_not_at_all():
    source = document(ASKED)
    assert stretches_to_read(source, source.sentences[0]) == [(0, len(ASKED))]
    source = document(MAIL.partition("\n")[0])
    assert not any(stretches_to_read(source, unit) for unit in source.sentences)


def test_a_list_longer_than_a_quote_loses_its_middle_and_never_what_was_chosen():
    items = [f"- stone number {n} of the wall by the sea" for n in range(30)]
    text = "These are the stones:\n\n" + "\n".join(items)
    ((shown,), _) = quoted(text, items[15])
    pieces = shown.split("\n\n…\n\n")
    assert len(shown.split()) <= MAX_QUOTE_WORDS + 2
    assert pieces[0].startswith("These are the stones:\n\n- stone number 0 ")
    assert pieces[1] == items[15]
    assert pieces[2].endswith(items[29])


def test_an_item_of_a_text_that_is_one_long_list_stands_for_itself():
    items = [f"- stone number {n} of the wall by the sea" for n in range(60)]
    text = "These are the stones:\n\n" + "\n".join(items)
    ((shown,), _) = quoted(text, items[15])
    assert shown == f"These are the stones:\n\n…\n\n{items[15]}"


def test_a_list_whose_last_item_does_not_fit_says_that_it_goes_on():
    long = "a stone of the wall that stands by the sea and is older than the town " * 9
    text = f"These are the stones:\n\n- a large one\n- a small one\n- {long}\n"
    ((shown,), _) = quoted(text, "These are the stones:")
    assert shown == "These are the stones:\n\n- a large one\n- a small one\n\n…\n\n"


def test_a_lead_in_never_stands_without_the_beginning_of_what_it_leads_to():
    code = "\n".join(f"    set option {n} to the value of {n}" for n in range(60))
    text = f"{'It has many options, and all of them do something else. ' * 5}Set them so:\n\n{code}\n"
    ((shown,), _) = quoted(text, "Set them so:")
    assert "set option 0 " in shown
    assert "\n…\n" in shown or not shown.rstrip().endswith(":")


def test_two_spans_of_one_whole_are_one_quote_and_marked_in_it():
    source = document(LIST)
    chosen = ["- dogs without a lead;", "- carts."]
    spans = [Span("d", LIST.index(piece), LIST.index(piece) + len(piece)) for piece in chosen]
    (item,) = read_highlights(spans, whole(source), {"d": source}, SpanPolicy())[0].items
    assert item.text == WHOLE_LIST
    assert [item.text[start:end] for start, end in item.marks] == chosen
    assert item.chosen == tuple(spans)
    assert (item.start, item.end) == (LIST.index(WHOLE_LIST), len(LIST))


def test_json_tells_what_was_chosen_and_can_be_read_back():
    source = document(LIST)
    start = LIST.index("- carts.")
    highlights, _ = read_highlights([Span("d", start, start + 8)], whole(source), {"d": source}, SpanPolicy())
    told = Answer("x", highlights).to_dict()
    (shown,) = told["highlights"]
    assert (shown["text"], shown["spans"]) == (WHOLE_LIST, [[start, start + 8]])
    assert [shown["text"][low:high] for low, high in shown["marks"]] == ["- carts."]
    assert read_result(told).highlights == highlights


def test_a_quote_does_not_run_over_a_heading():
    text = "# Dogs\n\nDogs stay on the deck.\n\n# Cats\n\nCats sleep below it.\n"
    both = "Dogs stay on the deck.\n\n# Cats\n\nCats sleep below it."
    assert quoted(text, both) == (["Dogs stay on the deck.", "Cats sleep below it."], ())


def test_within_passages_nothing_else_is_shown():
    """A filter may have taken out what stands beside the passage of a quote."""
    rows = "\n".join(f"- the {'very ' * 20}old stone number {n}" for n in range(20))
    text = f"These are the stones:\n\n{rows}"
    item = "- the " + "very " * 20 + "old stone number 19"
    ((shown,), _) = quoted(text, item, within_passages=True)
    assert shown.endswith(item)
    assert "These are the stones" not in shown
    assert "These are the stones" in quoted(text, item)[0][0]


def test_entities_alone_are_no_text():
    ferry = document("Ferry\n\n&nbsp;\n\nIt sails at &lt;8&gt;.\n")
    assert [ferry.text[start:end] for start, end in ferry.sentences] == ["It sails at &lt;8&gt;."]


def test_a_heading_is_never_quoted():
    quotes, (dropped,) = quoted(CODE, "# Starting")
    assert (quotes, dropped.reason) == ([], DropReason.NO_SENTENCE)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("It floats.\n\nSee also\n\n[6] 10.\n", ["It floats."]),
        ("It floats.\n\n[6] 10.\n", ["It floats."]),
        ("It floats.\n\nNOTE!\n\n| Prev | Home | Next |\n", ["It floats."]),
        ("It floats.\n\nNo.\n", ["It floats.", "No."]),
        ("The fares are as follows:\n\n# More\n\nIt floats.\n", ["It floats."]),
        (f"It floats.\n\n{BARE_CODE}\n", ["It floats.", "Start it like so:", "```\nferry --now\n```"]),
        ("You get:\n\n- a fork\n- soap\n", ["You get:", "- a fork", "- soap"]),
    ],
)
def test_what_says_nothing_even_with_what_is_shown_beside_it_is_never_chosen(text, offered):
    (passage,) = whole(document(text))
    assert [sentence.text for sentence in sentences_of([passage])] == offered


def test_a_lead_in_is_read_with_what_it_leads_to():
    source = document(CODE)
    lead = CODE.index("Start it like so:")
    assert [CODE[start:end] for start, end in stretches_to_read(source, (lead, lead + 17))] == [ANNOUNCED]
    first = CODE.index("It has")
    assert stretches_to_read(source, (first, first + 16)) == [(first, first + 16)]


def test_an_item_is_read_with_its_parents_alone():
    place = NESTED.index("- day: 7")
    read = stretches_to_read(document(NESTED), (place, place + len("- day: 7")))
    assert [NESTED[start:end] for start, end in read] == ["- South pier\n  - day: 7"]
    place = NESTED.index("- week: 30")
    read = stretches_to_read(document(NESTED), (place, place + len("- week: 30")))
    assert [NESTED[start:end] for start, end in read] == ["- South pier", "- week: 30"]


def test_a_numbered_label_is_read_with_the_list_that_it_names():
    place = LOCKERS.index("2 stern")
    read = stretches_to_read(document(LOCKERS), (place, place + len("2 stern locker (galley)")))
    assert [LOCKERS[start:end] for start, end in read] == [LOCKERS[place:].rstrip()]


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        (DOTTED, "2. Stern locker", ["What lies where:", DOTTED[DOTTED.index("2. ") :].rstrip()]),
        (VALVE, "2. Open the pump", ["What is done:", "2. Open the pump"]),
    ],
)
def test_labels_of_one_kind_are_read_with_their_lists_and_steps_are_not(text, label, expected):
    place = text.index(label)
    read = stretches_to_read(document(text), (place, place + len(label)))
    assert [text[start:end] for start, end in read] == expected


@pytest.mark.parametrize(
    ("lead", "names", "are"),
    [
        ("On board:", ["Port locker", "Stern locker"], True),
        ("", ["Raum Elbe", "Raum Weser", "Raum Ems"], True),
        ("", ["Galley", "Stern locker"], False),
        ("", ["Stern locker"], False),
        ("", ["Open the valve", "Close the valve"], False),
        ("To fill it:", ["Open valve", "Close valve"], False),
        ("", ["Step one", "Step two"], False),
        ("", ["Tent 2 persons", "Tent 4 persons"], False),
    ],
)
def test_labels_of_one_kind_share_a_word_and_tell_nothing_to_do(lead, names, are):
    assert are_of_one_kind(lead, names) is are


def test_short_pieces_picked_here_and_there_are_few():
    text = "You get:\n\n- a fork\n- a knife\n\nYou give:\n\n- a coin\n\nYou keep:\n\n- a hat\n"
    quotes, (dropped,) = quoted(text, "- a knife", "- a coin", "- a hat")
    assert quotes == ["You get:\n\n- a fork\n- a knife", "You give:\n\n- a coin"]
    assert dropped.reason is DropReason.TOO_MANY_PIECES


def test_documents_without_blocks_are_quoted_as_they_were_chosen():
    plain = Document("d", LIST, "d.txt", sentences=units(LIST, blocks(LIST)))
    spans = [Span("d", *plain.sentences[-1])]
    highlights, _ = read_highlights(spans, whole(plain), {"d": plain}, SpanPolicy())
    assert [item.text for item in highlights.items] == ["- carts."]


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
def test_quotes_follow_from_the_set_of_spans(situation, chance):
    """Order and repetition change nothing, what comes out goes in unchanged, limits hold, and every word is the
    document's."""
    documents, passages, spans, policy = situation
    highlights, _ = read_highlights(spans, passages, documents, policy)
    shuffled = [*spans, *spans[:2]]
    chance.shuffle(shuffled)
    assert read_highlights(shuffled, passages, documents, policy)[0] == highlights
    assert read_highlights(spans_of(highlights), passages, documents, policy)[0] == highlights
    chosen = [
        sentence
        for span in spans_of(highlights)
        for sentence in documents[span.doc_id].sentences
        if span.start <= sentence[0] and sentence[1] <= span.end
    ]
    assert len(chosen) <= policy.max_sentences
    for item in highlights.items:
        text = documents[item.doc_id].text
        assert [item.text[slice(*mark)] for mark in item.marks] == [text[slice(*span)] for span in item.spans]
        assert all(piece in text[item.start : item.end] for piece in item.text.split("\n\n…\n\n"))


class TestPassages:
    text = f"# Fares\n\n{'It is cheap. ' * 4}\n\n## Children\n\nThe following:\n\n- They pay half.\n"

    def test_a_passage_carries_its_headings_and_units(self):
        (passage,) = whole(document(self.text))
        assert passage.headings == ("Fares",)
        assert [sentence.text for sentence in sentences_of([passage])][-3:] == [
            "It is cheap.",
            "The following:",
            "- They pay half.",
        ]

    def test_a_prompt_shows_the_path_and_what_stands_between_the_units(self):
        shown = numbered(sentences_of(whole(document(self.text)))).split("\n")
        assert shown[0] == "Ferry > Fares"
        assert shown[-3:] == ["# Children", "[5] The following:", "[6] - They pay half."]

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


SPEED = "# Speed\n\nThe speed is a setting of the panel.\n\nIt can be set to off, fastest or quiet.\n"
LONG = f"The lamp is new. It has three colours. {'The fan is quiet as long as nothing is printed. ' * 8}"


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        (SPEED, "It can be", SPEED.removeprefix("# Speed").strip()),
        (
            SPEED.replace("panel.\n", "panel.\n\n# Modes\n"),
            "It can be",
            "It can be set to off, fastest or quiet.",
        ),
        (SPEED.replace("It can be set to", "It is best to set it to"), "It is best", ""),
        (LONG, "It has three", "The lamp is new. It has three colours."),
        (
            "- Thick paper is kept above.\n- They say so.\n",
            "They",
            "- Thick paper is kept above.\n- They say so.",
        ),
    ],
)
def test_a_sentence_that_begins_with_a_pronoun_comes_with_the_one_before_it(text, piece, expected):
    source = document(text)
    whole_sentence = next(
        text[a:b] for a, b in source.sentences if text[a:b].removeprefix("- ").startswith(piece)
    )
    (found,), _ = quoted(text, whole_sentence)
    assert found.removesuffix("\n\n…\n\n") == (expected or whole_sentence)
