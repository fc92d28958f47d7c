"""Places that people can look up: lines of the file, or a heading and a paragraph where a format has no lines."""

from pathlib import Path

import pytest

from equipoise.apps.render import where
from equipoise.core.results import Answer
from equipoise.core.types import BlockKind, Document, Highlights, Span
from equipoise.corpus.indexing import index
from equipoise.corpus.loaders import load
from equipoise.corpus.naming import document_id
from equipoise.corpus.pieces import passage_at
from equipoise.corpus.store import Store
from equipoise.rag.boundary import read_quotes
from equipoise.text.sentences import LONGEST_ROW, units
from hashed_words import HashedWords
from verified import verified


def document_of(name, data):
    (loaded,) = load(Path(name), data.encode())
    return loaded


def lines(name, data):
    """The line of the file that each block begins on, with its first words."""
    loaded = document_of(name, data)
    return [(b.line, loaded.text[b.start : b.start + 3]) for b in loaded.blocks]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.rst", "a.log"])
def test_lines_are_those_of_the_file(name, end):
    text = end.join(["", "# One", "", "two and", "more.", "", "- six"])
    assert lines(name, text) == [(2, "# O"), (4, "two"), (7, "- s")]


def test_blocks_of_a_manual_page_have_the_line_that_their_text_or_term_begins_on():
    page = (
        ".TH A 1\n.SH B\n.PP\nIt\nis.\n\n.TP\n\\-p\nPort.\n.IP \\-q 4\nQuiet.\n.sp\nx\\\ny\n.RS 4\nzed.\n.RE\n"
        ".nf\n\ncode\nmore\n.fi\n.TS\ntab(@);\nl l.\na@b\n.TE\n.sp\n\fEnd.\n"
    )
    expected = [
        (1, "a(1"),
        (2, "B\n\n"),
        (4, "It "),
        (8, "-p:"),
        (10, "-q:"),
        (13, "xy:"),
        (20, "cod"),
        (23, "a |"),
        (29, "End"),
    ]
    assert lines("a.1", page) == expected


def test_a_form_feed_is_no_line():
    text = "One.\f\nTwo.\n\fThree.\n\f\f\nFour."
    assert lines("a.txt", text) == [(1, "One"), (2, "Two"), (3, "Thr"), (5, "Fou")]


def test_hidden_text_keeps_its_lines():
    assert lines("a.md", "One.\n<!--\nx\n-->\n\nTwo.") == [(1, "One"), (6, "Two")]


def test_rows_are_on_the_line_they_begin_on():
    assert lines("a.csv", 'a,b\n1,2\n\n"3\n4",5\n6,7\n') == [(1, "a |"), (2, "a: "), (4, "a: "), (6, "a: ")]


def test_a_long_row_is_cut_between_columns_and_says_what_it_is_about():
    columns = [f"column {n}" for n in range(100)]
    row = ["Aruba", *(f"value {n}" for n in range(99))]
    loaded = document_of("a.csv", ",".join(columns) + "\n" + ",".join(row))
    pieces = [loaded.text[start:end] for start, end in units(loaded.text, loaded.blocks)]
    assert len(pieces) == len(loaded.blocks) - 1 > 1
    assert all(len(piece) <= LONGEST_ROW for piece in pieces)
    assert all(piece.startswith("column 0: Aruba; column ") for piece in pieces)
    said = [pair for piece in pieces for pair in piece.split("; ")[1:]]
    assert said == [f"{name}: {value}" for name, value in zip(columns[1:], row[1:], strict=True)]


def test_a_long_value_names_its_column_each_time():
    note = "We keep the ferry running all year round. " * 40
    loaded = document_of("a.csv", f"place,note\nAruba,{note}")
    rows = loaded.blocks[1:]
    pieces = [loaded.text[b.start : b.end] for b in rows]
    assert len(pieces) > 1
    assert all(piece.startswith("place: Aruba; note: We keep") for piece in pieces)
    assert all(b.kind is BlockKind.ROW and b.line == 2 for b in rows)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Index files of a folder through the worker processes; a function gives the stored document."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()

    def keep(name, data, fragment=""):
        (tmp_path / "docs" / name).write_text(data)
        with Store.open(tmp_path / "s.db", create=True) as store:
            index("docs", store, HashedWords())
            verified(store)
            return store.document(document_id(f"docs/{name}{fragment}"))

    return keep


TEXT = "# Fares\n\nIt is cheap.\n\n## Children\n\nYou pay:\n\n- half\n- nothing\n"


def test_blocks_come_back_from_the_store(stored):
    document = stored("a.md", TEXT)
    assert document.blocks == tuple(document.blocks)
    structure = [(b.kind.value, b.level, b.intro, b.line, b.under) for b in document.blocks]
    assert structure == [
        ("heading", 1, -1, 1, -1),
        ("paragraph", 0, -1, 3, 0),
        ("heading", 2, -1, 5, 0),
        ("paragraph", 0, -1, 7, 2),
        ("item", 1, 3, 9, 2),
        ("item", 1, 3, 10, 2),
    ]
    assert document.line_at(TEXT.index("nothing")) == 10


@pytest.mark.parametrize(
    ("name", "data", "quote", "shown"),
    [
        ("a.md", TEXT, "- nothing", 'docs/a.md, line 10, "Children"'),
        ("a.csv", "a,b\n1,2\n3,4\n", "a: 3; b: 4", "docs/a.csv, line 3"),
        ("a.jsonl", '{"id": "x", "text": "# Fares\\n\\nYes.\\n\\nIt is cheap."}', "It is cheap.",
         'docs/a.jsonl#x, "Fares", paragraph 2'),
        ("b.jsonl", '{"id": "x", "text": "It is cheap."}', "It is cheap.", "docs/b.jsonl#x, paragraph 1"),
    ],
)  # fmt: skip
def test_where_a_quote_is_found(stored, name, data, quote, shown):
    document = stored(name, data, "#x" if name.endswith("jsonl") else "")
    start = document.text.index(quote)
    item = read_quotes([Span(document.doc_id, start, start + len(quote))], document)[0]
    assert where(item) == shown
    assert where(passage_at(1, start, start + len(quote), document)) == shown
    (told,) = Answer(quote, Highlights((item,))).to_dict()["highlights"]
    assert (told["line"], told["heading"], told["paragraph"]) == (item.line, item.heading, item.paragraph)


def test_a_page_goes_before_everything():
    document = Document("d", "One. Two.", "a.pdf", sentences=((0, 4), (5, 9)), pages=(0, 5))
    assert where(read_quotes([Span("d", 5, 9)], document)[0]) == "a.pdf, page 2"
