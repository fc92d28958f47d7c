"""How a document is laid out, from the tree of its blocks; where things stand, and never what is no text of it."""

import pytest

from equipoise.apps.server.layout import laid_out
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from office_files import xlsx

TABLES = {
    "markdown": ("a.md", "| Plan | Price |\n|---|---|\n| Basic | 5; or 6 |\n| Pro | a: b |\n"),
    "html": (
        "a.html",
        "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td><td>5; or 6</td></tr>"
        "<tr><td>Pro</td><td>a: b</td></tr></table>",
    ),
    "csv": ("a.csv", "Plan,Price\nBasic,5; or 6\nPro,a: b\n"),
}
FERRIES = [
    ["No.", "Boat", "Adult", "Child"],
    ["Day trips"],
    ["F1", "Heron", "9", "4"],
    ["F2", "Tern; by night", "", "6"],
    ["Boat"],
    ["F3", "Whole boat", "300", "200"],
]


def web_table(*rows):
    """A table whose rows of one text span it, the first with the names of columns."""
    wide = len(rows[0])
    made = (
        [f"<td colspan={wide if len(row) == 1 else 1}>{text}</td>" for text in row]
        if number
        else [f"<th>{text}</th>" for text in row]
        for number, row in enumerate(rows)
    )
    return f"<table>{''.join('<tr>' + ''.join(cells) for cells in made)}</table>"


def sheet(*rows):
    merged = "".join(f'<mergeCell ref="A{at}:D{at}"/>' for at, row in enumerate(rows, 1) if len(row) == 1)
    texts = (
        "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' if text else "<c/>" for text in row)
        for row in rows
    )
    data = "".join(f"<row>{cells}</row>" for cells in texts)
    return xlsx(f"{data}</sheetData><mergeCells>{merged}</mergeCells><sheetData>")


def read(folder, name, text):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with Store.open(folder / "index.db", create=True) as store:
        index(folder / name, store, HashedWords())
        [row] = [row for row in store.listing() if row.source.endswith(name)]
        return store.document(row.doc_id)


def shown(document, start=0, end=None):
    """(kind, level, bullet, text with its styles, names of columns, rows) of each part."""

    def said(runs):
        return "".join(
            f"<{style}>{document.text[a:b]}</{style}>" if style else document.text[a:b]
            for a, b, style in runs
        )

    nodes = laid_out(document, start, len(document.text) if end is None else end)
    return [
        (
            node.kind,
            node.level,
            node.bullet,
            said(node.runs),
            [document.text[a:b] for a, b in node.head],
            [[said(cell) for cell in row] for row in node.rows],
        )
        for node in nodes
    ]


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_has_names_and_cells(tmp_path, kind):
    document = read(tmp_path, *TABLES[kind])
    rows = [["Basic", "5; or 6"], ["Pro", "a: b"]]
    assert shown(document) == [("table", 0, False, "", ["Plan", "Price"], rows)]


def test_a_row_without_a_cell_leaves_it_empty_and_one_of_another_form_is_whole(tmp_path):
    document = read(tmp_path, "a.csv", "Plan,Price,Days\nBasic,,3\nPro,9,4\n")
    assert shown(document)[0][-1] == [["Basic", "", "3"], ["Pro", "9", "4"]]
    document = read(tmp_path, "b.txt", "Plan | Price\nBasic | 5\nnothing of this | form | at all\n")
    assert all("".join(row) for *_, rows in shown(document) for row in rows)


@pytest.mark.parametrize(
    ("name", "text"), [("a.html", web_table(*FERRIES)), ("a.xlsx", sheet(*FERRIES))], ids=["html", "xlsx"]
)
def test_what_spans_a_table_is_a_row_of_it_and_no_part_of_a_cell_below(tmp_path, name, text):
    document = read(tmp_path, name, text)
    assert shown(document)[-1] == ("table", 0, False, "", FERRIES[0], FERRIES[1:])
    row = document.text.index("F3")
    [table] = shown(document, row - len("No.: "))
    assert table[-2:] == (FERRIES[0], FERRIES[-1:])


def test_a_table_whose_first_column_has_no_name(tmp_path):
    rows = [["", "Adult", "Child"], ["Day trips"], ["Heron", "9", "4"], ["Tern", "", "6"]]
    document = read(tmp_path, "a.html", web_table(*rows))
    assert shown(document)[-1][-2:] == (rows[0], rows[1:])


def test_tables_below_each_other_have_names_each(tmp_path):
    rows = [["Plan", "Price", "Days"], ["Basic", "5", "1"], ["Pro", "9", "2"]]
    others = [["Boat", "Deck", "Seats"], ["Heron", "upper", "40"], ["Tern", "lower", "9"]]
    document = read(tmp_path, "a.html", web_table(*rows) + web_table(*others))
    assert [part[-2:] for part in shown(document)] == [(rows[0], rows[1:]), (others[0], others[1:])]


def test_a_row_of_which_no_cells_can_be_told_is_whole(tmp_path):
    document = read(tmp_path, "a.json", '{"boats": [{"Boat": "Heron", "Fare": 9}]}')
    assert shown(document)[-1][-2:] == ([], [["boats > 1; Boat: Heron; Fare: 9"]])


def test_markdown_is_set(tmp_path):
    text = (
        "# Top #\n\nSome **bold**, *thin* and `a*b*c` [here](http://x.example/a_b_c), 2*3*4.\n\n> Quoted.\n"
    )
    assert [part[:4] for part in shown(read(tmp_path, "a.md", text))] == [
        ("heading", 1, False, "Top"),
        (
            "paragraph",
            0,
            False,
            "Some <strong>bold</strong>, <em>thin</em> and <code>a*b*c</code> here, 2*3*4.",
        ),
        ("paragraph", 0, False, "Quoted."),
    ]


def test_other_texts_are_as_they_are(tmp_path):
    text = "Some **bold** and [here](http://x.example) of a text.\n"
    assert shown(read(tmp_path, "a.txt", text))[0][3] == text.strip()


def test_lists_and_code(tmp_path):
    text = "1. One door.\n   - Deep one.\n2. Two doors.\n\n```sh\nls <b>\n```\n"
    assert [part[:4] for part in shown(read(tmp_path, "a.md", text))] == [
        ("item", 1, False, "1. One door."),
        ("item", 2, True, "Deep one."),
        ("item", 1, False, "2. Two doors."),
        ("code", 0, False, "ls <b>"),
    ]


def test_every_part_stands_in_what_was_asked_for_and_all_words_are_there(tmp_path):
    text = "\n\n".join(
        f"## Part {row}\n\nSome *words* of part {row}.\n\n| A | B |\n|---|---|\n| {row} | b |"
        for row in range(9)
    )
    document = read(tmp_path, "a.md", text)
    length = len(document.text)
    for start in range(0, length, 7):
        for node in laid_out(document, start, start + 40):
            runs = [*node.runs, *(run for row in node.rows for cell in row for run in cell)]
            assert all(start <= a < b <= start + 40 for a, b, _ in runs)
            assert all(start <= a <= b <= start + 40 for a, b in node.head)
    whole = " ".join(str(part) for part in shown(document))
    assert all(f"Part {row}" in whole and f"of part {row}." in whole for row in range(9))


def test_the_route_has_it_where_it_is_asked_for(served):
    [row, *_] = served.client.get("/v1/documents", headers=served.as_admin()).json()["data"]
    address = f"/v1/documents/{row['doc_id']}/text"
    plain = served.client.get(address, headers=served.as_asker()).json()
    laid = served.client.get(f"{address}?layout=true", headers=served.as_asker()).json()
    assert plain["layout"] == [] and laid["layout"][0]["kind"] == "paragraph"
    assert plain["text"] == laid["text"]
