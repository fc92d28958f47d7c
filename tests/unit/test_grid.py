"""Tables: what spans rows and columns, where the names of columns stand, and the text of a row, for all formats."""

import io

import docx
import pytest

from blocks_of import outline
from equipoise.corpus.loaders.grid import Cell, Row, grid_of, named, told
from office_files import odt, pptx, xlsx


def rows_of(*rows, marked=0):
    """Titles, names and rows of a table; a cell is a text, or a text with the rows and columns it spans."""
    cells = [[Cell(*cell) if isinstance(cell, tuple) else Cell(cell) for cell in row] for row in rows]
    grid = grid_of(cells, marked)
    return grid.titles, grid.names, [row.cells for row in grid.rows]


def test_a_table_of_names_and_values_says_each_value_behind_its_name():
    assert [
        row.text for row in told(["Property", "Value"], [Row(["Weight", "19 kg"]), Row(["Colour", ""])])
    ] == [
        "Weight: 19 kg",
        "Property: Colour",
    ]


def test_a_section_called_like_a_column_is_not_said_beside_that_column():
    names, rows = ["Code", "Boat", "Fare"], [["F3", "Heron", "9"], ["F4", "", "6"]]
    assert [named(names, row, "Boat") for row in rows] == [
        ["Code: F3; Boat: Heron; Fare: 9"],
        ["Code: F4; Boat; Fare: 6"],
    ]


def test_rows_of_a_label_and_a_value_are_such_lines():
    table = "<table><tr><td>Name:<td>Heron<tr><td>Call sign<td>LHX<tr><td>Built<td>1971</table>"
    assert outline("a.html", f"<body>{table}") == [
        ("paragraph", 0, "", "Name: Heron"),
        ("paragraph", 0, "", "Call sign: LHX"),
        ("paragraph", 0, "", "Built: 1971"),
    ]


class TestSpans:
    def test_a_cell_over_rows_stands_in_each_of_them(self):
        _, _, rows = rows_of(
            ["Ship", "Deck", "Seats"], [("Heron", 2), "upper", "40"], ["lower", "25"], ["Tern", "upper", "12"]
        )
        assert rows == [["Heron", "upper", "40"], ["Heron", "lower", "25"], ["Tern", "upper", "12"]]

    def test_a_cell_over_columns_stands_under_each_name(self):
        _, names, rows = rows_of(
            ["Day", "Morning", "Evening"], ["Monday", ("closed", 1, 2)], ["Tuesday", "8 to 12", "5 to 7"]
        )
        assert (names, rows[0]) == (["Day", "Morning", "Evening"], ["Monday", "closed", "closed"])

    def test_a_cell_over_rows_and_columns(self):
        _, _, rows = rows_of(["x", "y", "z"], ["a", ("both", 2, 2)], ["b"], ["c", "d", "e"], marked=1)
        assert rows == [["a", "both", "both"], ["b", "both", "both"], ["c", "d", "e"]]

    def test_a_long_cell_is_said_once(self):
        _, _, rows = rows_of(["Item", "Rule", "No."], ["Tent", ("word " * 40, 2), "1"], ["Boat", "2"])
        assert (rows[0][1][:4], rows[1]) == ("word", ["Boat", "", "2"])

    def test_spans_past_the_table_end_with_it(self):
        _, _, rows = rows_of([("Heron", 65_534), "upper"], ["lower"])
        assert rows == [["Heron", "upper"], ["Heron", "lower"]]

    def test_hostile_spans_cost_no_more_than_the_table_is_worth(self):
        _, _, rows = rows_of(*[[("x", 60_000, 1_000)] * 20] * 50)
        assert sum(map(len, rows)) < 30_000


class TestNames:
    def test_two_rows_of_names(self):
        _, names, rows = rows_of(
            [("Berth", 2), ("Summer", 1, 2)], ["Week", "Month"], ["A 1", "70", "240"], ["A 2", "65", "210"]
        )
        assert names == ["Berth", "Summer Week", "Summer Month"]
        assert rows[0] == ["A 1", "70", "240"]

    def test_two_rows_of_names_with_an_empty_corner(self):
        _, names, _ = rows_of(["Berth", ("Summer", 1, 2)], ["", "Week", "Month"], ["A 1", "70", "240"])
        assert names == ["Berth", "Summer Week", "Summer Month"]

    def test_titles_above_the_names(self):
        titles, names, _ = rows_of(
            [("Prices", 1, 3)],
            ["as of May", "", ""],
            ["Tea", "Cup", "Pot"],
            ["green", "2", "5"],
            ["black", "2", "4"],
        )
        assert (titles, names) == (["Prices", "as of May"], ["Tea", "Cup", "Pot"])

    def test_notes_of_several_cells_stand_above_the_names(self):
        titles, names, rows = rows_of(
            ["Depot North", "", "printed in May"],
            ["Contact:", "Ms Ray", ""],
            ["Part", "Size", "Price"],
            ["Pump", "L", "12.50"],
            ["Hose", "M", "3.10"],
        )
        assert titles == ["Depot North | printed in May", "Contact: Ms Ray"]
        assert (names, rows[0]) == (["Part", "Size", "Price"], ["Pump", "L", "12.50"])

    @pytest.mark.parametrize(
        "rows",
        [
            [
                ["", "Cup", "Pot"],
                ["Green", "mild", "strong"],
                ["Black", "strong", "mild"],
                ["Red", "weak", "good"],
            ],
            [
                ["Tea", "Cup", ""],
                ["Green", "mild", "cold"],
                ["Black", "strong", "hot"],
                ["Red", "weak", "hot"],
            ],
        ],
    )
    def test_names_that_leave_a_column_out_are_no_notes(self, rows):
        assert rows_of(*rows) == ([], rows[0], rows[1:])

    def test_groups_of_columns_without_merged_cells(self):
        _, names, rows = rows_of(
            ["", "2024", "", "2025", ""],
            ["Quay", "Spring", "Autumn", "Spring", "Autumn"],
            ["East", "1", "2", "3", "4"],
        )
        assert names == ["Quay", "2024 Spring", "2024 Autumn", "2025 Spring", "2025 Autumn"]
        assert rows == [["East", "1", "2", "3", "4"]]

    def test_groups_of_columns_beside_an_empty_corner(self):
        _, names, _ = rows_of(["", ("2024", 1, 2)], ["Quay", "Spring", "Autumn"], ["East", "1", "2"])
        assert names == ["Quay", "2024 Spring", "2024 Autumn"]

    def test_years_are_names(self):
        assert rows_of(["Region", "2023", "2024"], ["North", "7", "9"], ["South", "4", "5"])[1] == [
            "Region", "2023", "2024"
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "rows",
        [
            [["Name", "Heron"], ["Length", "24 m"], ["Flag", "Danish"]],  # names in the first column
            [["12", "13", "14"], ["15", "16", "17"], ["18", "19", "20"]],
            [["a", "b", "c"]],
            [["This is a sentence.", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]],
        ],
    )
    def test_no_names(self, rows):
        assert rows_of(*rows)[1:] == ([], rows)

    def test_what_the_file_says_holds(self):
        assert rows_of(["Name", "Heron"], ["Length", "24 m"], ["Flag", "Danish"], marked=1)[1] == [
            "Name",
            "Heron",
        ]

    def test_names_that_are_said_again_are_no_row(self):
        names = ["Tea", "Cup", "Pot"]
        assert rows_of(names, ["green", "2", "5"], names, ["black", "2", "4"])[2] == [
            ["green", "2", "5"], ["black", "2", "4"]
        ]  # fmt: skip


class TestText:
    def test_a_long_row_is_cut_between_columns_below_its_first_cell(self):
        names, cells = ["id", *(f"c{n}" for n in range(9))], ["X 7", *("word " * 50 for _ in range(9))]
        texts = list(named(names, [cell.strip() for cell in cells]))
        assert len(texts) > 1
        assert all(text.startswith("id: X 7; c") and len(text) <= 1_000 for text in texts)
        assert sum(text.count("c") for text in texts) == 9


SPANS = [
    ("aside", 0, "", "Room | Fees Weekday | Fees Weekend"),
    ("row", 0, "", "Room: Attic; Fees Weekday: 30; Fees Weekend: 45"),
    ("row", 0, "", "Room: Cellar; Fees Weekday: 20; Fees Weekend: 20"),
    ("aside", 0, "Room | Fees Weekday | Fees Weekend", "Out of doors"),
    ("row", 0, "", "Room: Yard; Out of doors; Fees Weekday: 10; Fees Weekend: 15"),
    ("row", 0, "Room | Fees Weekday | Fees Weekend", "Keys are kept by the porter."),
]


class TestFormats:
    def test_html(self):
        page = (
            "<table><tr><th rowspan=2>Room<th colspan=2>Fees<tr><th>Weekday<th>Weekend"
            "<tr><td>Attic<td>30<td>45<tr><td>Cellar<td colspan=2>20"
            "<tr><th colspan=3>Out of doors<tr><td>Yard<td>10<td>15"
            "<tr><td colspan=3>Keys are kept by the porter.</table>"
        )
        assert outline("a.html", f"<body>{page}") == SPANS

    def test_odt(self):
        def row(*cells):
            return f"<table:table-row>{''.join(cells)}</table:table-row>"

        def cell(text, rows=1, columns=1):
            spans = f'table:number-rows-spanned="{rows}" table:number-columns-spanned="{columns}"'
            covered = "<table:covered-table-cell/>" * (columns - 1)
            return f"<table:table-cell {spans}><text:p>{text}</text:p></table:table-cell>{covered}"

        head = row(cell("Room", 2), cell("Fees", 1, 2)) + row(
            "<table:covered-table-cell/>", cell("Weekday"), cell("Weekend")
        )
        body = (
            row(cell("Attic"), cell("30"), cell("45"))
            + row(cell("Cellar"), cell("20", 1, 2))
            + row(cell("Out of doors", 1, 3))
            + row(cell("Yard"), cell("10"), cell("15"))
            + row(cell("Keys are kept by the porter.", 1, 3))
        )
        table = f"<table:table><table:table-header-rows>{head}</table:table-header-rows>{body}</table:table>"
        assert outline("a.odt", odt(table)) == SPANS

    def test_rtf(self):
        def row(*cells):
            edges = "".join(f"{merged}\\cellx{edge}" for _, edge, merged in cells)
            texts = "".join(f"{text}\\cell " for text, _, _ in cells)
            return f"\\trowd{edges} \\intbl {texts}\\row "

        table = "".join(
            [
                row(("Room", 2000, "\\clvmgf"), ("Fees", 4000, "\\clmgf"), ("", 6000, "\\clmrg")),
                row(("", 2010, "\\clvmrg"), ("Weekday", 4000, ""), ("Weekend", 6000, "")),
                row(("Attic", 2000, ""), ("30", 4000, ""), ("45", 6000, "")),
                row(("Cellar", 2000, ""), ("20", 6000, "")),
                row(("Out of doors", 6000, "")),
                row(("Yard", 2000, ""), ("10", 4000, ""), ("15", 6000, "")),
                row(("Keys are kept by the porter.", 6000, "")),
            ]
        )
        assert outline("a.rtf", f"{{\\rtf1 {table}\\pard}}") == SPANS

    def test_pptx(self):
        def row(*cells):
            return f"<tr>{''.join(cells)}</tr>"

        def cell(text, more=""):
            return f"<tc{more}><txBody><p><r><t>{text}</t></r></p></txBody></tc>"

        across, down = cell("", ' hMerge="1"'), cell("", ' vMerge="1"')
        table = "".join(
            [
                row(cell("Room", ' rowSpan="2"'), cell("Fees", ' gridSpan="2"'), across),
                row(down, cell("Weekday"), cell("Weekend")),
                row(cell("Attic"), cell("30"), cell("45")),
                row(cell("Cellar"), cell("20", ' gridSpan="2"'), across),
                row(cell("Out of doors", ' gridSpan="3"'), across, across),
                row(cell("Yard"), cell("10"), cell("15")),
                row(cell("Keys are kept by the porter.", ' gridSpan="3"'), across, across),
            ]
        )
        frame = f'<graphicFrame><tbl><tblPr firstRow="1"/>{table}</tbl></graphicFrame>'
        assert outline("a.pptx", pptx(frame)) == SPANS

    def test_docx(self):
        document = docx.Document()
        table = document.add_table(7, 3)
        table.cell(0, 0).merge(table.cell(1, 0)).text = "Room"
        table.cell(0, 1).merge(table.cell(0, 2)).text = "Fees"
        for row, texts in enumerate(("|Weekday|Weekend", "Attic|30|45", "Cellar|20|", "|", "Yard|10|15"), 1):
            for column, text in enumerate(texts.split("|")):
                if text:
                    table.cell(row, column).text = text
        table.cell(3, 1).merge(table.cell(3, 2))
        table.cell(4, 0).merge(table.cell(4, 2)).text = "Out of doors"
        table.cell(6, 0).merge(table.cell(6, 2)).text = "Keys are kept by the porter."
        data = io.BytesIO()
        document.save(data)
        assert outline("a.docx", data.getvalue()) == SPANS

    def test_xlsx(self):
        def row(*cells):
            written = (f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>' for place, text in cells)
            return f"<row>{''.join(written)}</row>"

        rows = [
            row(("A1", "Room"), ("B1", "Fees")),
            row(("B2", "Weekday"), ("C2", "Weekend")),
            row(("A3", "Attic"), ("B3", "30"), ("C3", "45")),
            row(("A4", "Cellar"), ("B4", "20")),
            row(("A5", "Out of doors")),
            row(("A6", "Yard"), ("B6", "10"), ("C6", "15")),
            row(("A7", "Keys are kept by the porter.")),
        ]
        merged = "".join(f'<mergeCell ref="{ref}"/>' for ref in ("A1:A2", "B1:C1", "B4:C4", "A5:C5", "A7:C7"))
        sheet = f"{''.join(rows)}</sheetData><mergeCells>{merged}</mergeCells><sheetData>"
        assert outline("a.xlsx", xlsx(sheet))[1:] == SPANS
