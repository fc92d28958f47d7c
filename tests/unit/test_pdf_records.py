"""Tables of PDFs whose cells are easily taken for another's: names on several lines, sums, second lines of records."""

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from blocks_of import outline

X = (50, 200, 300, 400)


def drawn(*cells):
    """A page with (left, height, text); with a fourth value the text ends at `left`."""
    file = io.BytesIO()
    canvas = Canvas(file, (600, 800))
    canvas.setFont("Helvetica", 9)
    for left, base, text, *ends in cells:
        (canvas.drawRightString if ends else canvas.drawString)(left, base, text)
    canvas.save()
    return file.getvalue()


def rows(lines, *, top=700, step=12):
    """The cells of a table."""
    return [
        (left, top - at * step, text)
        for at, line in enumerate(lines)
        for left, text in zip(X, line, strict=False)
        if text
    ]


def said(data):
    return [text for kind, _, _, text in outline("a.pdf", data) if kind != "aside"]


def test_names_of_columns_may_stand_on_several_lines():
    head = [
        ("", "Price", "Price", "Deposit"),
        ("Boat", "per hour", "per day", "for a"),
        ("", "(euros)", "(euros)", "week"),
    ]
    data = [("Dinghy", "5", "20", "60"), ("Canoe", "6", "25", "70"), ("Raft", "8", "30", "80")]
    names = ("Boat", "Price per hour (euros)", "Price per day (euros)", "Deposit for a week")
    expected = ["; ".join(f"{name}: {value}" for name, value in zip(names, row, strict=True)) for row in data]
    assert said(drawn(*rows([*head, *data]))) == expected


def test_lines_without_amounts_are_no_names_where_rows_below_have_none_either():
    lines = [
        ("Boat", "Price", "Note", "By"),
        ("Dinghy", "5", "x y", "Ann"),
        ("Canoe", "none", "z y", "Bob"),
        ("Raft", "8", "v w", "Cy"),
    ]
    assert said(drawn(*rows(lines)))[0] == "Boat: Dinghy; Price: 5; Note: x y; By: Ann"


def test_a_sum_below_the_last_row_is_no_part_of_its_cell():
    lines = [
        ("Type", "Rate", "Revenue"),
        ("PM", "250", "3,000"),
        ("MT", "150", "3,600"),
        ("XL", "300", "3,600"),
    ]
    found = said(drawn(*rows(lines, step=20), (300, 700 - 3 * 20 - 11, "$10,200.00")))
    assert found == ["Type: PM; Rate: 250; Revenue: 3,000", "Type: MT; Rate: 150; Revenue: 3,600",
                     "Type: XL; Rate: 300; Revenue: 3,600", "Revenue: $10,200.00"]  # fmt: skip


def records(*second):
    """Three records of two lines each, the second ones without a first cell."""
    first = [
        ("SKU-8847", "A-12", "450", ""),
        ("SKU-9201", "C-15", "780", ""),
        ("SKU-4563", "D-22", "180", ""),
    ]
    cells = rows([("Code", "Place", "Expected", "Actual")])
    for at, (line, below) in enumerate(zip(first, second, strict=True)):
        cells += rows([line, below], top=680 - at * 30, step=11)
    return said(drawn(*cells))


def test_a_second_line_that_goes_on_and_fills_cells_may_be_another_record():
    assert records(("", "B-07", "", "289"), ("", "", "", "778"), ("", "", "", "156")) == [
        "Code: SKU-8847; Place: A-12; Expected: 450",
        "Place: B-07; Actual: 289",
        "Code: SKU-9201; Place: C-15; Expected: 780; Actual: 778",
        "Code: SKU-4563; Place: D-22; Expected: 180; Actual: 156",
    ]


def test_a_second_line_with_a_number_below_a_number_is_a_row():
    found = records(("", "from 9:00", "4", ""), ("", "from 9:00", "5", ""), ("", "from 9:00", "7", ""))
    assert found[:2] == ["Code: SKU-8847; Place: A-12; Expected: 450", "Place: from 9:00; Expected: 4"]


def test_other_names_below_a_table_begin_another_one():
    lines = [("Start", "Shows", "Gross", "Net"), ("12/20", "48", "12,500", "11,250"), ("12/31", "2", "500", "250"),
             ("Month", "Gross", "Net", "Seats"), ("May", "13,000", "11,500", "850"),
             ("June", "9,000", "8,000", "840")]  # fmt: skip
    assert said(drawn(*rows(lines)))[-2] == "Month: May; Gross: 13,000; Net: 11,500; Seats: 850"


@pytest.mark.parametrize("many", [2, 4])
def test_numbers_drawn_after_all_their_labels_stand_beside_them(many):
    labels = [(50, 700 - at * 14, text) for at, text in enumerate(("Parts", "Labour", "Tax", "Sum"))]
    numbers = [
        (420, 700 - at * 14, text, "r") for at, text in enumerate(("120.00", "80.00", "38.00", "238.00"))
    ]
    found = said(drawn(*labels, *numbers[:many]))
    beside = ["Parts | 120.00", "Labour | 80.00", "Tax | 38.00", "Sum | 238.00"]
    assert found == (beside if many > 2 else ["Parts Labour Tax Sum", "120.00 80.00"])
