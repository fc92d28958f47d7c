"""A follow-up reaches the highlighter with the earlier question and by itself; anything else only as it is."""

import pytest

from equipoise import Library
from equipoise.core.types import Proposal


class Noting:
    """A highlighter that finds nothing and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    async def highlight(self, query, passages):
        self.asked.append((query.text, query.last))
        return Proposal(())


BEFORE = ("Who owned the mill of Tasel?",)


@pytest.mark.parametrize(
    ("question", "before", "asked"),
    [
        (
            "And when did he sell it?",
            BEFORE,
            [(f"{BEFORE[0]} And when did he sell it?", "And when did he sell it?")],
        ),
        ("And when did he sell it?", (), [("And when did he sell it?", "")]),
        ("Where is the mill of Tasel?", BEFORE, [("Where is the mill of Tasel?", "")]),
        (
            "Who owned the mill of Tasel, and when was it sold?",
            (),
            [(BEFORE[0], ""), (f"{BEFORE[0]} when was it sold?", "when was it sold?")],
        ),
    ],
)
def test_what_the_highlighter_is_asked(tmp_path, question, before, asked):
    (tmp_path / "mill.md").write_text("The mill of Tasel was sold in 1812 by its owner, a baker.\n", "utf-8")
    highlighter = Noting()
    with Library.create(tmp_path / "index.db") as library:
        library.index(tmp_path / "mill.md")
    with Library.open(tmp_path / "index.db", highlighter=highlighter) as library:
        library.ask(question, before=before)
    assert highlighter.asked == asked
