"""What people see of an answer: the best quote first, as lines, what was chosen of it in bold."""

from dataclasses import replace

import pytest

from blocks_of import passage_of
from equipoise.apps.render import lines, show, show_passages
from equipoise.apps.terminal import Terminal
from equipoise.core.results import Answer, Trace
from equipoise.core.types import Flag, Highlight, Highlights, Passage

ITEM = Highlight("d", 30, 50, "- It is slow.", "d.txt")
OTHER = Highlight("e", 0, 10, "It is old.", "e.txt")


def test_the_best_quote_comes_first():
    highlights = Highlights((ITEM, OTHER))
    assert Answer("x", highlights, best_first=(1, 0)).quotes == (OTHER, ITEM)
    assert Answer("x", highlights).quotes == (ITEM, OTHER)


def marked(text, *chosen):
    marks = tuple((text.index(piece), text.index(piece) + len(piece)) for piece in chosen)
    return lines(Highlight("d", 0, len(text), text, "d.txt", marks=marks))


def test_a_quote_keeps_the_lines_of_lists_and_code_and_folds_those_of_paragraphs():
    old = f"It is {'very ' * 9}"
    code = "```\nferry --now\n\n  --fast\n```"
    text = f"{old}\nold. Run this:\n\ntimeout 3\npassword ?\n\nOr:\n\n{code}\n\n- a coat\n\n…\n\n- a hat"
    assert marked(text, "- a hat") == [
        [(f"{old}old. Run this:", "")],
        [("timeout 3", "")],
        [("password ?", "")],
        [("Or:", "")],
        [("```", "")],
        [("ferry --now", "")],
        [("  --fast", "")],
        [("```", "")],
        [("- a coat", "")],
        [("…", "")],
        [("- a hat", "bold")],
    ]


def test_items_of_lists_within_lists_are_indented_by_their_depth():
    text = "Do this first:\n\n- check the doors:\n    - oil them\n    - test the\n      lock:\n        - turn it\n- go."
    assert [line for [(line, _)] in marked(text)] == [
        "Do this first:", "- check the doors:", "  - oil them", "  - test the lock:", "    - turn it", "- go.",
    ]  # fmt: skip


def test_each_row_of_a_table_has_its_line():
    text = "The fares in\nsummer:\nSort | Fare\nSort: Adult; Fare: 4\nSort: Child; Fare: 2"
    assert marked(text, "Sort: Child; Fare: 2") == [
        [("The fares in summer:", "")],
        [("Sort | Fare", "")],
        [("Sort: Adult; Fare: 4", "")],
        [("Sort: Child; Fare: 2", "bold")],
    ]


def test_what_was_chosen_is_bold_where_more_is_shown():
    text = "It is old. It is slow.  It is dear."
    assert marked(text, "It is slow.") == [
        [("It is old. ", ""), ("It is slow.", "bold"), (" It is dear.", "")]
    ]
    assert marked(text, text) == [[("It is old. It is slow. It is dear.", "")]]
    assert lines(OTHER) == [[("It is old.", "")]]


def test_two_chosen_sentences_stay_apart():
    text = "It is old. It is slow.\n\nrun --fast -v\n\nIt is dear."
    assert marked(text, "It is old.", "It is slow.")[0] == [
        ("It is old.", "bold"), (" ", ""), ("It is slow.", "bold"),
    ]  # fmt: skip
    code = "```\nrun --fast -v\n```"
    assert marked(code, "run", "--fast -v")[1] == [("run", "bold"), (" ", ""), ("--fast -v", "bold")]


@pytest.mark.parametrize("weak", [True, False])
def test_weak_evidence_is_said_once_and_before_the_quotes(capsys, weak):
    show(Answer("It is old.", Highlights((OTHER,)), weak=weak), Terminal())
    said = capsys.readouterr().out
    assert said.count("Weak evidence") == weak
    assert not weak or said.index("Weak evidence") < said.index("It is old.")


def test_a_piece_of_code_keeps_its_lines_where_it_begins_within_the_first():
    text = "# make it\n    tool new 3.11  # or later, as you like it best, since both will do\n    tool use ${it}"
    assert [line for [(line, _)] in marked(text)] == text.split("\n")
    prose = (
        "It takes a while to make one of these, so that many\n    people do without it for years and years."
    )
    assert len(marked(prose)) == 1


def test_what_is_corrected_says_by_which_document_also_where_it_was_taken_out(capsys):
    own, other = replace(ITEM, corrected="d.txt"), replace(OTHER, corrected="new.txt")
    taken = Flag(Passage(0, "e", 0, 10, "It is old.", source="e.txt"), other.said_corrected, 0.5)
    answer = Answer("x", Highlights((own, other)), trace=Trace(flagged=(taken,)))
    show(answer, Terminal())
    said = capsys.readouterr().out
    assert "d.txt, corrected in the same document" in said
    assert "e.txt, corrected by new.txt\n" in said
    assert "e.txt, corrected by new.txt (score 0.50)" in said


def test_a_passage_that_is_listed_begins_with_what_was_asked(capsys):
    show_passages([passage_of("It is old. It leaves at nine. Dogs pay.")], Terminal(), "Does a dog pay?")
    assert "    … Dogs pay.\n" in capsys.readouterr().out
    show_passages([passage_of("It is old. It leaves at nine.")], Terminal(), "Why?")
    assert "    It is old. It leaves at nine.\n" in capsys.readouterr().out
