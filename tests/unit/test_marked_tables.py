"""Tables of Markdown, reStructuredText and AsciiDoc: rows with the names of their columns, on the lines of the file."""

import pytest

from blocks_of import document_of, outline

MARKDOWN = """# Fees

| Room | Week | End |
|:-----|-----:|----:|
| Attic \\| south | 30 | |
| Cellar | **20** | 25 |

After it.
"""
GRID = """Fees
====

+--------+-----------------+
| Room   | Fees            |
+        +--------+--------+
|        | Week   | End    |
+========+========+========+
| Attic  | 30     | 45     |
| south  |        |        |
+--------+--------+--------+
| Cellar | 20 always       |
+--------+-----------------+

After it.
"""
SIMPLE = """Fees
====

======  ====  ==========
Room    Week  End of
              the week
======  ====  ==========
Attic   30    45, with
              breakfast
Cellar  20    25
======  ====  ==========

After it.
"""
LISTS = """Fees
====

.. list-table:: By room
   :header-rows: 1

   * - Room
     - Week
     - End
   * - Attic
     - 30
     - 45, with
       breakfast

   * - Cellar
     - 20
     -

.. csv-table:: By tent
   :header: "Tent", "Night, in all"
   :widths: 10, 20

   "Small", 7
   "Large", "9"

.. csv-table::
   :header-rows: 1

   Boat,Hour
   Punt,4
"""
ADOC = """= Fees

.Rooms
|===
|Room |Week |End

|Attic |30 |45
|Cellar 2+|20

|Yard
|10
|15
|===

After it.
"""


def rows(name, text):
    document = document_of(name, text)
    return [
        (block.line, document.text[block.start : block.end])
        for block in document.blocks
        if block.kind.value == "row"
    ], document


@pytest.mark.parametrize(
    ("name", "text", "told", "last"),
    [
        ("a.md", MARKDOWN, [(5, "Room: Attic | south; Week: 30"), (6, "Room: Cellar; Week: **20**; End: 25")], 8),
        ("a.rst", SIMPLE, [(8, "Room: Attic; Week: 30; End of the week: 45, with breakfast"),
                           (10, "Room: Cellar; Week: 20; End of the week: 25")], 13),
        ("a.adoc", ADOC, [(7, "Room: Attic; Week: 30; End: 45"), (8, "Room: Cellar; Week: 20; End: 20"),
                          (10, "Room: Yard; Week: 10; End: 15")], 15),
    ],
)  # fmt: skip
def test_rows_say_the_names_of_their_columns_on_their_lines(name, text, told, last):
    found, document = rows(name, text)
    assert found == told
    assert document.blocks[-1].line == last
    assert text.splitlines()[last - 1] == "After it."


def test_a_drawn_grid():
    found, document = rows("a.rst", GRID)
    assert found == [
        (9, "Room: Attic south; Fees Week: 30; Fees End: 45"),
        (12, "Room: Cellar; Fees Week: 20 always; Fees End: 20 always"),
    ]
    assert document.blocks[-1].line == 15


def test_tables_of_directives():
    found, document = rows("a.rst", LISTS)
    assert found == [
        (10, "Room: Attic; Week: 30; End: 45, with breakfast"),
        (15, "Room: Cellar; Week: 20"),
        (23, "Tent: Small; Night, in all: 7"),
        (24, "Tent: Large; Night, in all: 9"),
        (30, "Boat: Punt; Hour: 4"),
    ]
    assert "By room" in document.text
    assert "list-table" not in document.text


@pytest.mark.parametrize("table", [LISTS, SIMPLE])
def test_tables_that_a_literal_block_shows_stay_as_they_are(table):
    shown = "\n".join(f"    {line}".rstrip() for line in table.splitlines()[3:])
    text = f"Fees\n====\n\nWrite::\n\n{shown}\n"
    assert document_of("a.rst", text).text == text.rstrip()


def test_what_only_has_bars_stays_as_it_is():
    text = "a | b | c is written with bars.\n\n    $ ls | sort | head -3"
    assert document_of("a.md", text).text == text


def test_aligned_columns_of_plain_text_stay_as_they_are():
    text = "Port     Fare\n-------  ----\nSkagen   21\nGrenaa   27"
    assert document_of("a.txt", text).text == text


def test_the_names_of_columns_stand_above_the_rows_without_the_tables_rules():
    document = document_of("a.md", MARKDOWN)
    assert document.text.startswith("# Fees\n\nRoom | Week | End\nRoom: Attic")


def test_a_grid_of_markdown_whose_rules_say_how_columns_are_set():
    border, below = "+-------+-------+", "+:======+======:+"
    grid = [border, "| Boat  | Week  |", below, "| Punt  | 33.00 |", border, "| Heron | 41.50 |", border]
    assert document_of("a.md", "# Fees\n\n" + "\n".join(grid)).text.splitlines()[-3:] == [
        "Boat | Week",
        "Boat: Punt; Week: 33.00",
        "Boat: Heron; Week: 41.50",
    ]


BOXES = """Fees

┌────────┬──────┬─────┐
│ Room   │ Week │ End │
├────────┼──────┼─────┤
│ Attic, │ 30   │ 45  │
│ south  ├──────┼─────┤
│        │ 31   │ 46  │
├────────┼──────┼─────┤
│ Cellar │ 20   │     │
└────────┴──────┴─────┘

After it.
"""
PRINTED = """db> select * from fees;
+--------+------+
| room   | week |
+--------+------+
| Attic  |   30 |
| Cellar |   20 |
+--------+------+
2 rows in set
"""
LINKED = """Fees

+----------------+
| Room   | Week  |
|--------+-------|
| Attic, | 30    |
| south  |       |
|--------+-------|
| Cellar | 20    |
+----------------+
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOXES, [(6, "Room: Attic, south; Week: 30; End: 45"), (8, "Room: Attic, south; Week: 31; End: 46"),
                 (10, "Room: Cellar; Week: 20")]),
        (PRINTED, [(5, "room: Attic; week: 30"), (6, "room: Cellar; week: 20")]),
        (LINKED, [(6, "Room: Attic, south; Week: 30"), (9, "Room: Cellar; Week: 20")]),
    ],
)  # fmt: skip
def test_tables_that_plain_text_draws(text, told):
    found, document = rows("a.txt", text)
    assert found == told
    assert document.text.endswith(text.splitlines()[-1]) or text is LINKED


@pytest.mark.parametrize(
    "drawing",
    [
        "┌──────┐    ┌──────┐\n│ host ├────┤ disk │\n└──────┘    └──────┘",
        "┌──────┐\n│ host │\n└──────┘",
        "┌──────┬──────┐\n│ 部屋 │ 週 │\n└──────┴──────┘",
        "src\n├── a.py\n└── b.py",
    ],
)
def test_other_drawings_of_plain_text_stay_as_they_are(drawing):
    text = f"It is drawn.\n\n{drawing}\n\nAfter it."
    assert document_of("a.txt", text).text == text


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("|Name |Week\n\n|Plana|22\n|Attic\n|30", ["Name | Week", "Name: Plana; Week: 22", "Name: Attic; Week: 30"]),
        ('[cols="1,1"]\n|===\nh|Name h|Age\n|Ann |30\n|Bob\n\n|31',
         ["Name | Age", "Name: Ann; Age: 30", "Name: Bob; Age: 31"]),
        ("[cols=2*,options=header]\n|===\n|A |B\n|1\n|2\n|3 |4", ["A | B", "A: 1; B: 2", "A: 3; B: 4"]),
        ('[cols="h,1"]\n|===\n|Size |5 m\n|Mass |6 kg\n|Age |7', ["Size: 5 m", "Mass: 6 kg", "Age: 7"]),
        ("|A |B |C\n\n2+|both |x\n.2+|tall |1 |2\n|3 |4\n2*|twice |z",
         ["A | B | C", "A: both; B: both; C: x", "A: tall; B: 1; C: 2", "A: tall; B: 3; C: 4",
          "A: twice; B: twice; C: z"]),
        ("|A |B\n\n|1\n\na|first\n\nmore of it\n|2 |3", ["A | B", "A: 1; B: first more of it", "A: 2; B: 3"]),
    ],
)  # fmt: skip
def test_cells_of_asciidoc_fill_the_columns_whatever_their_lines(table, rows):
    source = table if table.startswith("[") else f"|===\n{table}"
    found = [
        text for kind, _, _, text in outline("a.adoc", f"= Doc\n\n{source}\n|===\n") if kind != "heading"
    ]
    assert [text for text in found if not text.startswith(("[", "|==="))] == rows


def test_a_table_of_asciidoc_in_another_format_is_kept_as_it_is():
    text = "= Doc\n\n[%header,format=csv]\n|===\na,b|c\n1,2\n|===\n"
    assert "a,b|c\n1,2" in document_of("a.adoc", text).text
