"""Columns on the pages of a PDF: text in two of them, aligned and ruled tables, pages that lie on their side."""

import io
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A5, landscape
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

from equipoise.corpus.loaders import load

STYLES = getSampleStyleSheet()
GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")


def texts(data):
    (loaded,) = load(Path("a.pdf"), data)
    return [(block.kind.value, loaded.text[block.start : block.end]) for block in loaded.blocks]


def drawn(*lines, turn=0):
    """A page with (x, y, text); `turn` by that many quarters for a page that is shown from its side."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5)
    canvas.setPageRotation(90 * turn)
    canvas.setFont("Helvetica", 10)
    for x, y, text in lines:
        canvas.drawString(x, y, text)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def flowing(*flowables, size=A5):
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=size, leftMargin=30, rightMargin=30).build(list(flowables))
    return buffer.getvalue()


LEFT = """The heron breeds in the reeds by the
old mill from March on. Nobody may
walk there before the end of June,
not even along the dam. The gate is
locked by the warden every evening
at nine.""".splitlines()
RIGHT = """Boats are hired at the north shore.
A rowing boat for two costs twelve
euros an hour and is handed back
with its oars. Life jackets hang in
the shed and cost nothing at all for
children under ten.""".splitlines()


def test_lines_drawn_across_two_columns_are_read_column_by_column():
    lines = [
        (x, 500 - 13 * row, text)
        for row, pair in enumerate(zip(LEFT, RIGHT, strict=True))
        for x, text in zip((40, 230), pair, strict=True)
    ]
    assert texts(drawn((40, 530, "News of the lake"), *lines))[1:] == [
        ("paragraph", " ".join(LEFT)),
        ("paragraph", " ".join(RIGHT)),
    ]


def test_short_cells_in_two_columns_are_a_table():
    rows = [
        ("Heron", "12.50"),
        ("Tern", "8.00"),
        ("Coot", "7.25"),
        ("Rail", "9.10"),
        ("Teal", "6.00"),
        ("Smew", "5.00"),
    ]
    lines = [
        (x, 500 - 13 * n, text) for n, row in enumerate(rows) for x, text in zip((40, 230), row, strict=True)
    ]
    assert texts(drawn(*lines)) == [("row", " | ".join(row)) for row in rows]


def test_numbers_that_end_below_each_other_and_a_wide_name_are_in_columns():
    rows = [
        ("Berth", "Length of the boat (m)", "Fee"),
        ("A 1", "6", "112"),
        ("A 20", "11", "9"),
        ("A 300", "7", "80"),
    ]
    lines = []
    for number, row in enumerate(rows):
        for right, text in zip((70, 200, 240), row, strict=True):
            width = stringWidth(text, "Helvetica", 10)
            lines.append((right - width if right > 70 else 40, 500 - 14 * number, text))
    assert texts(drawn(*lines))[1] == ("row", "Berth: A 1; Length of the boat (m): 6; Fee: 112")


def test_a_row_goes_on_in_the_next_line_of_a_cell():
    rows = [
        (500, "Item", "Rule", "Fee"), (480, "Tent", "to be taken down", "5"), (469, "", "before noon", ""),
        (449, "Boat", "no engine", "9"), (429, "Grill", "on the beach only", "2"),
    ]  # fmt: skip
    lines = [
        (x, y, text) for y, *cells in rows for x, text in zip((40, 120, 260), cells, strict=True) if text
    ]
    assert texts(drawn(*lines))[1:3] == [
        ("row", "Item: Tent; Rule: to be taken down before noon; Fee: 5"),
        ("row", "Item: Boat; Rule: no engine; Fee: 9"),
    ]


def test_a_table_goes_on_below_the_names_on_the_next_page():
    rows = [["Berth", "Night", "Week"], *([f"B {n}", f"{n}.50", str(6 * n)] for n in range(1, 60))]
    data = flowing(Table(rows, repeatRows=1, style=[GRID]))
    (loaded,) = load(Path("a.pdf"), data)
    told = texts(data)
    assert len(loaded.pages) > 1
    assert told == [
        ("aside", "Berth | Night | Week"),
        *(("row", f"Berth: B {n}; Night: {n}.50; Week: {6 * n}") for n in range(1, 60)),
    ]
    row = next(block for block in loaded.blocks if "B 59;" in loaded.text[block.start : block.end])
    assert row.start >= loaded.pages[-1]


def test_cells_between_rules_hold_several_lines_and_span_others():
    def cell(text):
        return Paragraph(text, STYLES["Normal"])

    rows = [
        ["Room", "Fees", ""],
        ["", "Weekday", "Weekend"],
        [
            cell("Attic with the view over the whole lake and the mill"),
            cell("30 euros, heating included"),
            "45",
        ],
        ["Cellar", "20", ""],
    ]
    style = [GRID, ("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (2, 0)), ("SPAN", (1, 3), (2, 3))]
    assert texts(flowing(Table(rows, colWidths=[100, 90, 90], style=style))) == [
        ("aside", "Room | Fees Weekday | Fees Weekend"),
        (
            "row",
            "Room: Attic with the view over the whole lake and the mill; "
            "Fees Weekday: 30 euros, heating included; Fees Weekend: 45",
        ),
        ("row", "Room: Cellar; Fees Weekday: 20; Fees Weekend: 20"),
    ]


def test_a_row_broken_by_a_page_is_one():
    first = Table(
        [["Item", "Rule", "Fee"], ["Boat", "no engine", "9"], ["Tent", "down", "5"]],
        style=[GRID],
        colWidths=80,
    )
    rest = Table([["", "before noon", ""], ["Grill", "on the beach", "2"]], style=[GRID], colWidths=80)
    assert texts(flowing(first, PageBreak(), rest))[2:] == [
        ("row", "Item: Tent; Rule: down before noon; Fee: 5"),
        ("row", "Item: Grill; Rule: on the beach; Fee: 2"),
    ]


@pytest.mark.parametrize("turn", [1, 3])
def test_a_page_that_lies_on_its_side_is_read_as_its_letters_stand(turn):
    lines = [
        "The first line of the page is read",
        "before the second one of the page,",
        "and that before the third.",
    ]
    data = drawn(*((40, 300 - 13 * row, text) for row, text in enumerate(lines)), turn=turn)
    assert texts(data) == [("paragraph", " ".join(lines))]


def test_numbered_lines_and_code_are_no_table():
    lines = [
        (x, 500 - 13 * n, t)
        for n in range(5)
        for x, t in ((40, f"{n + 1}."), (70, f"Step {n} of the work is done."))
    ]
    assert all(kind == "item" for kind, _ in texts(drawn(*lines)))


def test_landscape_pages_are_as_wide_as_they_are():
    rows = [["Berth", *(f"Month {n}" for n in range(1, 8))], *([f"C {n}", *("x" * 3,) * 7] for n in range(5))]
    assert texts(flowing(Table(rows), size=landscape(A5)))[1][1].startswith(
        "Berth: C 0; Month 1: xxx; Month 2: xxx"
    )


def test_a_word_cut_in_a_short_line_is_put_together():
    lines = [
        "The rotor-",
        "blade is cleaned once in every year, and the bear-",
        "ings are greased at the same time by the owner.",
    ]
    text = "The rotorblade is cleaned once in every year, and the bearings are greased at the same time by the owner."
    assert texts(drawn(*((40, 500 - 13 * row, line) for row, line in enumerate(lines)))) == [
        ("paragraph", text)
    ]
