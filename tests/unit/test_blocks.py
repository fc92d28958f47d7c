"""The blocks of plain text, Markdown and reStructuredText: small texts by hand, then properties over any text."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equipoise.core.types import DEEPEST, BlockKind, Document
from equipoise.corpus.chunks import passages
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.text.blocks import blocks
from equipoise.text.outline import heading_text, headings_at, outlined, paragraph_at
from equipoise.text.sentences import LONGEST, LONGEST_ROW, units
from timing import LINEAR, growth

SAY = "We keep the ferry running all year round."


def seen(text):
    """(kind's first letter, level, lead, first line) of every block."""
    return [(b.kind[0], b.level, b.intro, text[b.start : b.end].split("\n")[0]) for b in blocks(text)]


def kinds(text):
    return "".join(b.kind[0] for b in blocks(text))


def test_a_numbered_line_above_its_first_section_is_a_heading_wherever_it_stands():
    text = f"7. Rent a boat.\n\n8. The Keeper\n\n  8.1. Powers\n\n  {SAY}\n"
    assert [kind for kind, *_ in seen(text)] == ["i", "h", "h", "p"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"# Fees\n{SAY}\n\n## Late fees\n\n{SAY}", [1, 2]),
        (f"Fees\n====\n\n{SAY}\n\nLate fees\n---------\n{SAY}", [1, 2]),
        (f"====\nFees\n====\n\nTwo\n===\n\nThree\n~~~~~\n\n{SAY}", [1, 2, 3]),
        (f"1) Indentation\n--------------\n\n{SAY}", [1]),
        (f"{SAY}\n\n1. Broken locks\n\n{SAY}\n\n1.1. On network drives\n\n{SAY}", [7, 8]),
        (f"{SAY}\n3.2 Methods\n{SAY}", [8]),
        (f"{SAY}\n\nAppendix B. Tides\n\n{SAY}\n\nB.2. At night\n\n{SAY}\n\nB.2.1 In June\n{SAY}", [7, 8, 9]),
        (f"OPENING HOURS\n\n{SAY}\n\nHow to Reach the Northern Pier by Train and on Foot\n\n{SAY}", [15, 16]),
        (f"{SAY}\n\n-v <level>\n\n    {SAY}", [17]),
        (f"**(1) When does it run?**\n\n> {SAY}\n\n<h2 align='center'>Fares</h2>\n\n{SAY}", [14, 2]),
    ],
)
def test_headings(text, expected):
    assert [b.level for b in blocks(text) if b.kind is BlockKind.HEADING] == expected
    assert all(text[start:end] in (SAY, f"> {SAY}") for start, end in units(text, blocks(text)))


@pytest.mark.parametrize(
    "text",
    [
        f"{SAY}\n\nIt never stops.\n\n{SAY}",
        f"{SAY}\n\nthe fee is due\n\n{SAY}",
        "Only one line",
        f"{SAY}\n{SAY}\nand so on\n{SAY}",
        "1. Install it\n\n2. Run it\n\n3. Be glad",
        f"{SAY}\n\n127.0.0.1 localhost\n127.0.1.1 Harbour\n\n{SAY}",
        f"The keys to all of the doors are these:\n\n{SAY}",
    ],
)
def test_what_is_no_heading(text):
    assert "h" not in kinds(text)


def test_list_items_have_their_lead_in_and_depth():
    text = "You need:\n\n- a ticket\n- a coat:\n  - warm\n  - blue\n- food\n\nThat is all.\n\n- really"
    assert seen(text) == [
        ("p", 0, -1, "You need:"),
        ("i", 1, 0, "- a ticket"),
        ("i", 1, 0, "- a coat:"),
        ("i", 2, 2, "- warm"),
        ("i", 2, 2, "- blue"),
        ("i", 1, 0, "- food"),
        ("p", 0, -1, "That is all."),
        ("i", 1, -1, "- really"),
    ]


def test_a_paragraph_inside_an_item_is_read_with_a_short_item():
    text = f"- `fare`: the price\n\n  {SAY}\n\n{SAY}"
    assert seen(text) == [("i", 1, -1, "- `fare`: the price"), ("p", 0, 0, SAY), ("p", 0, -1, SAY)]


@pytest.mark.parametrize(
    ("text", "expected", "intro"),
    [
        ("Type this:\n\n```sh\nferry --now\n\nferry --later\n```\nDone.", "pcp", 0),
        ("Like so::\n\n    fare: 3\n\n    seats: 4\n\nDone.", "pcp", 0),
        ("For example:\n\n    ferry --now\n\nDone.", "pcp", 0),
        ("Type this:\n\nferry --now -x\n\nThat is all of it.", "pcp", 0),
        ("Look.\n\n.. code-block:: yaml\n\n   fare: 3\n\nDone.", "pacp", 0),
        ("# Use\n\n    ferry();\n\nDone.", "hcp", -1),
        (">>> 1 + 1\n>>> 2\n", "c", -1),
        (f"He said this to all of his men:\n\n    {SAY} {SAY}\n\nAnd left.", "ppp", None),
    ],
)
def test_code_is_one_block_with_the_line_that_announces_it(text, expected, intro):
    assert kinds(text) == expected
    assert intro is None or [b.intro for b in blocks(text) if b.kind is BlockKind.CODE] == [intro]


def test_rows_are_read_with_the_first_row_of_their_table():
    text = f"{SAY}\n\n| Sort | Fare |\n|---|---|\n| Adult | 3 |\n| Child | 1 |\n\n{SAY}\n\na\tb\tc\n1\t2\t3"
    assert [(kind, intro) for kind, _, intro, _ in seen(text)] == [
        ("p", -1), ("r", -1), ("a", -1), ("r", 1), ("r", 1), ("p", -1), ("r", -1), ("r", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "aside",
    [
        "1. Opening ........ 3\n2. Fares .......... 12",
        "[fares]: https://ferry.example/fares\n[Opening hours]: <hours.md> 'Hours'\n[1]: #notes",
        "1. Opening\n    1.1. Winter\n    1.2. Summer\n2. Fares",
        "Opening  3\nFares  12\nNotes  14",
        "- [Opening](#open)\n- [Fares](#fares)",
        "[![build](a.svg)](b) [docs](c)",
        '<a id="fares"></a>',
        "Page 3 of 10",
        "- 17 -",
        "(a)",
        "----------",
        ".. _fares:",
        "[fares]: https://example.org",
        ".. toctree::\n\n   fares\n   notes",
        "* * *",
    ],
)
def test_what_is_found_but_never_quoted(aside):
    text = f"{SAY}\n\n{aside}\n\n{SAY}"
    assert set(kinds(text)[1:-1]) == {"a"}
    assert [text[start:end] for start, end in units(text, blocks(text))] == [SAY, SAY]


def test_where_there_is_nothing_else_a_heading_is_quoted():
    assert units("# Fees", blocks("# Fees")) == ((0, 6),)


def test_front_matter_is_read_line_by_line():
    text = f"---\ntitle: Fees\nversion: 2.1\ntags:\n  - a\n  - b\n---\n# Fees\n\n{SAY}"
    assert kinds(text) == "apppahp"
    assert [text[block.start : block.end] for block in blocks(text)][2:4] == [
        "version: 2.1",
        "tags:\n  - a\n  - b",
    ]


def test_notes_are_read_with_what_refers_to_them():
    text = f"{SAY}\n\nIt is closed.[^a] {SAY}\n\nMore [#x]_ of it.\n\n"
    text += "[^a]: In May.\n[^b]: Of nothing.\n\n.. [#x] By sea."
    assert [block.intro for block in blocks(text)] == [-1, -1, -1, 1, -1, 2]


def test_a_term_is_read_with_what_stands_deeper_below_it():
    text = f"Our tags are:\n\n  ipv6\n      {SAY} The pier,\n      too.\n\n  late\n      {SAY}\n\n      {SAY}\n\n{SAY}"
    assert seen(text) == [
        ("p", 0, -1, "Our tags are:"),
        ("a", 1, 0, "ipv6"),
        ("i", 1, 1, f"{SAY} The pier,"),
        ("a", 1, 0, "late"),
        ("i", 1, 3, SAY),
        ("p", 0, 3, SAY),
        ("p", 0, -1, SAY),
    ]


@pytest.mark.parametrize("term", ["**old_ones**", "``--old``"])
def test_a_term_between_marks_is_a_term_also_where_it_looks_like_code(term):
    assert seen(f"They are:\n\n{term}\n    {SAY}\n") == [
        ("p", 0, -1, "They are:"),
        ("a", 1, 0, term),
        ("i", 1, 1, SAY),
    ]


def test_steps_that_number_themselves_are_items_of_their_own_list():
    text = "   So:\n\n   * early\n\n#. Do:\n\n   ::\n\n     go --now\n\n#. Wait.\n"
    assert [(str(block.kind), block.intro) for block in blocks(text)] == [
        ("paragraph", -1), ("item", 0), ("item", -1), ("code", 2), ("item", -1),
    ]  # fmt: skip
    assert [text[start:end] for start, end in units(text, blocks(text))][-1] == "#. Wait."


@pytest.mark.parametrize(
    "first", ["We keep it.", "x = (3)", "Fare: 4 EUR", "The ferry is there from the first of May on"]
)
def test_a_line_above_a_deeper_one_that_is_no_name_is_no_term(first):
    assert kinds(f"{first}\n    {SAY}") == "p"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "2025-03-04 13:07:44 ERROR job 7 failed: the disk is full",
            "2025-03-04T13:08:01Z INFO job 8 finished",
        ),
        (
            "Mar  4 13:07:44 mill sshd[12]: connection refused",
            "Mar 14 03:07:45 mill sshd[12]: connection closed",
        ),
        ("[2025-03-04 13:07] WARN the clock is late", "[2025-03-04 13:09] INFO the clock is right"),
        ("[9:12] <ada> Who has the key of the boat house?", "[9:13:02] <bo> It hangs at the gate."),
    ],
)
def test_entries_of_a_log_or_a_chat_stand_for_themselves(first, second):
    text = f"{first}\n  File mill.py, in turn\n{second}\n{second}"
    assert [text[b.start : b.end] for b in blocks(text)] == [
        f"{first}\n  File mill.py, in turn",
        second,
        second,
    ]
    running = f"{SAY} It left at\n13:07 and, on\n2025-03-04, came back in May\n14 days later."
    assert kinds(running) == "p"


def test_the_text_of_a_picture_and_its_caption_are_read():
    text = f"{SAY}\n\n![The gate is in Wall Street](a.png)\n\n![Logo](b.png)\n\n.. figure:: a.png\n\n   The old gate.\n"
    assert kinds(text) == "ppaap"


def test_a_table_whose_columns_spaces_part():
    text = f"{SAY}\n\nPort      Fare\n-------   ----\nSkagen    21.00\nGrenaa    27.50\n\n{SAY}"
    assert kinds(text) == "prarrp"
    assert [block.intro for block in blocks(text)][3:5] == [1, 1]


def test_long_code_is_cut_at_blank_lines_and_a_long_row_between_columns():
    code = "\n\n".join(["x = 1\n" * 40] * 5)
    row = "; ".join(f"column{n}: value {n}" for n in range(150))
    for text, most in ((f"```\n{code}\n```", LONGEST), (row, LONGEST_ROW)):
        (block,) = blocks(text) if most == LONGEST else [*blocks("a\tb\tc")]
        if most == LONGEST_ROW:
            block = type(block)(BlockKind.ROW, 0, len(text))
        cut = [text[start:end] for start, end in units(text, [block])]
        assert len(cut) > 2
        assert all(len(piece) <= most for piece in cut)
        assert "".join("".join(cut).split()) == "".join(text.split())
        assert all(piece.startswith(("x", "```", "column")) for piece in cut)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("## Late fees ##", "Late fees"),
        ("====\nFees\n====", "Fees"),
        ("<h2 class='a'>The <b>fares</b></h2>", "The fares"),
        ("**Fares**", "Fares"),
        ("#", ""),
        ("Fees\x1b[2J\u202e", "Fees [2J"),
    ],
)
def test_the_words_of_a_heading(raw, words):
    assert heading_text(raw) == words


def test_blocks_know_the_heading_they_stand_under():
    text = f"{SAY}\n\n# A\n\n{SAY}\n\n## B\n\n{SAY}\n\n# C\n\n{SAY}"
    assert [b.under for b in outlined(blocks(text))] == [-1, -1, 1, 1, 3, -1, 5]


@pytest.mark.parametrize(
    ("below", "intros"),
    [
        ("```\nwinget install ferry\n```", [-1, 0]),
        (".. code-block:: bash\n\n   ferry --now", [-1, -1, 0]),
        ("```\nferry a\n```\n\n```\nferry b\n```", [-1, 0, 0]),
        (f"{SAY}\n\n```\nferry a\n```\n\n```\nferry b\n```", [-1, -1, 1, -1]),
        ("```\n" + "ferry --now\n" * 50 + "```", [-1, -1]),
    ],
)
def test_short_code_right_below_a_heading_is_read_with_it(below, intros):
    assert [b.intro for b in outlined(blocks(f"## Install\n\n{below}"))] == intros


PIECES = st.sampled_from(
    ["\n", "\n\n", "  ", "- ", "1. ", "1.2 ", "# ", "====\n", "----", "```", "::", ":", "a | b |", "\t", "A b", "x.",
     "[a](b)", ".. a::", "<a>", "**", "....3", "\u2029", "\r", "é", "| ", "> "]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=8), max_size=50).map("".join))
@example("```\n> ")
@settings(max_examples=300, deadline=None)
def test_blocks_are_ordered_trimmed_and_cover_everything(text):
    structure = blocks(text)
    assert "".join("".join(text[b.start : b.end].split()) for b in structure) == "".join(text.split())
    assert all(a.end <= b.start for a, b in pairwise(structure))
    assert all(text[b.start : b.end] == text[b.start : b.end].strip() for b in structure)
    assert all(-1 <= b.intro < row and 0 <= b.level <= DEEPEST for row, b in enumerate(structure))
    quoted = units(text, structure)
    assert bool(quoted) == bool(text.strip())
    assert all(any(b.start <= start and end <= b.end for b in structure) for start, end in quoted)


def test_a_document_of_numbered_sections_says_its_headings_by_numbers():
    section = "{}.1 Running the ferry\n\nWe keep it running.\n\nharbour_mode =\n\nA word alone\n\nAnd on.\n\n"
    text = "Harbour Manual\n\nIt is short.\n\n" + "".join(section.format(number) for number in range(1, 10))
    headings = [text[b.start : b.end] for b in blocks(text) if b.kind is BlockKind.HEADING]
    assert headings == ["Harbour Manual", *(f"{number}.1 Running the ferry" for number in range(1, 10))]


def test_chapters_with_numbers_leave_sections_without_them_their_headings():
    chapter = "Chapter {}. Ferry of the year\n\nWe keep it running.\n\nRunning it\n\nIt goes on.\n\n"
    text = "".join(chapter.format(number) for number in range(1, 10))
    levels = [b.level for b in blocks(text) if b.kind is BlockKind.HEADING]
    assert levels == [7, 16] * 9


ENTRIES = """# Options

- --tidy: Takes files away.

  It asks first.

  It can be slow.

- --trial: Only says so.

Then there is more.
"""


def test_what_stands_in_an_entry_is_below_its_name():
    structure = outlined(blocks(ENTRIES))
    document = Document("d", ENTRIES, "d.md", "Tool", blocks=structure, sentences=units(ENTRIES, structure))
    slow, trial, more = map(ENTRIES.index, ("It can", "- --trial", "Then"))
    assert headings_at(document, slow) == ("Options", "--tidy")
    assert paragraph_at(document, slow) == 2
    assert headings_at(document, trial) == headings_at(document, more) == ("Options",)
    passage = passage_at(0, slow, len(ENTRIES), document)
    assert passage.headings == ("Options", "--tidy")
    assert passage.sections == ((trial - slow, ("Options",)),)
    assert "Options > --tidy\nIt can be slow." in search_text(passage)


@pytest.mark.parametrize("text", ["x", "It is so. "])
def test_the_cost_of_the_passages_of_one_block_grows_with_its_length(text):
    def work(size):
        whole = text * (size // len(text))
        made = outlined(blocks(whole))
        document = Document("d", whole, "d.txt", sentences=units(whole, made), blocks=made)
        return lambda: [passage_at(n, *span, document) for n, span in enumerate(passages(document))]

    assert growth(work, least=50_000, most=400_000).ratio < LINEAR


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("the receipt\n\nproof of value\n\na photograph\n\nClaims are paid at once.", "piiip"),
        ("The receipt;\n\nProof of value; and\n\nA photograph.\n\nClaims are paid at once.", "piiip"),
        ("Receipt of posting\n\nPhotograph of the packaging\n\nClaims are paid at once.", "piip"),
        ("The receipt\n\nProof of value\n\nInsurance\n\nInsurance costs 3 euros.", "piihp"),
        ("The receipt is needed.\n\nProof is needed.", "ppp"),
        ("the receipt\n\nClaims are paid at once.", "ppp"),
    ],
)
def test_lines_below_a_lead_in_are_items_without_marks(below, expected):
    assert kinds(f"The sender needs the following for a claim:\n\n{below}") == expected


@pytest.mark.parametrize("text", ["A receipt\n\n", "You need these for a claim:\n\n"])
def test_the_cost_of_items_without_marks_grows_with_their_number(text):
    def work(size):
        whole = "You need these for a claim:\n\n" + text * (size // len(text))
        return lambda: blocks(whole)

    assert growth(work, least=20_000, most=160_000).ratio < LINEAR


@pytest.mark.parametrize("mark", "•‣▪■◦●∗⁃*-+")
def test_bullets_of_all_kinds_begin_items(mark):
    assert kinds(f"We have:\n{mark} oars\n{mark} two masts") == "pii"
