"""Which numbers stand behind which sentences of an answer."""

from equipoise.apps.server.citing import cited
from equipoise.core.types import Highlight
from equipoise.rag.summarizers.extractive import joined

FIRST = Highlight("a", 0, 60, "You get:\n\n```sh\nrowan password --reset\n```", "a.md")
SECOND = Highlight("a", 80, 140, "You reset the mail with:\n\n```sh\nrowan mail --reset\n```", "a.md")
LAST = Highlight("a", 150, 190, "The link is valid for 30 minutes. It is sent once.", "a.md")
QUOTES = (LAST, FIRST, SECOND)


def shares(pieces):
    """The text that each row of quotes has, by row."""
    found, begun = {}, ""
    for text, rows in pieces:
        begun += text
        for row in rows:
            found[row], begun = begun.strip(), ""
    return found


def test_each_quote_of_an_answer_of_quotes_has_its_own_number_in_any_order():
    for order in (QUOTES, QUOTES[::-1], (SECOND, LAST, FIRST)):
        text = joined(order)
        pieces = cited(text, QUOTES)
        assert "".join(piece for piece, _ in pieces) == text
        assert shares(pieces) == {row: joined([quote]) for row, quote in enumerate(QUOTES)}


def test_a_verdict_stands_before_the_first_and_equal_quotes_have_a_number_each():
    twin = Highlight("b", 0, 50, LAST.text, "b.md")
    pieces = cited(f"Yes. {joined([LAST, twin])}", [LAST, twin])
    assert [rows for _, rows in pieces] == [(), (), (0,), (), (1,)]


def test_a_written_answer_is_cited_sentence_by_sentence_and_a_piece_of_a_word_is_no_quote():
    short = Highlight("c", 0, 6, "valid", "c.md")
    written = "The link is invalid after 30 minutes."
    assert [piece for piece, _ in cited(written, [short])] == [written]
    assert cited("The link is valid\nfor 30 minutes.", [LAST]) == [
        ("The link is valid\nfor 30 minutes.", (0,))
    ]
