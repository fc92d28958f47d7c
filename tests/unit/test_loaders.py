import io
import json
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import LOADERS, load
from hostile_files import docx as docx_of


def document_of(name, data):
    documents = load(Path(name), data.encode() if isinstance(data, str) else data)
    assert len(documents) == 1
    return documents[0]


def refusal(name, data):
    with pytest.raises(UnreadableFile) as caught:
        load(Path(name), data)
    assert caught.value.path == name
    assert "\n" not in caught.value.reason
    return caught.value.reason


class TestText:
    def test_it_stays_as_it_is(self):
        loaded = document_of("notes/today.txt", "One.\n\n  Two.\n")
        assert (loaded.text, loaded.title) == ("One.\n\n  Two.", "today")

    def test_line_ends_become_newlines(self):
        assert document_of("a.txt", "a\r\nb\rc\fd").text == "a\nb\nc\n\nd"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
    def test_encodings(self, encoding):
        assert document_of("a.txt", "Größe: 5 €".encode(encoding)).text == "Größe: 5 €"

    def test_big_endian_utf_16_with_its_mark(self):
        assert document_of("a.txt", b"\xfe\xff" + "Größe".encode("utf-16-be")).text == "Größe"

    def test_control_characters_become_spaces(self):
        assert document_of("a.log", "red \x1b[31mtext\x1b]\x07\tand tab").text == "red text ] \tand tab"

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"", "empty"),
            (b" \n\t ", "empty"),
            (b"\x00\x01", "zero bytes"),
            (bytes(range(1, 256)) * 4, "binary"),
            (b"\xff\xfea", "not valid utf-16"),
        ],
    )
    def test_what_is_not_text_is_refused(self, data, says):
        assert says in refusal("a.txt", data)

    def test_an_unknown_type_names_the_known_ones(self):
        assert ".md" in refusal("a.xyz", b"x")


class TestTitles:
    @pytest.mark.parametrize(
        ("name", "text", "title"),
        [
            ("a.md", "text\n\n# The  *first* one #\n\n# second", "The *first* one"),
            ("a.md", "---\ntitle: 'In front'\n---\n# Heading", "In front"),
            ("a.md", "---\nauthor: me\n---\n# Heading", "Heading"),
            ("a.md", "```\n# no heading\n```\n\nUnder\n=====\n", "Under"),
            ("a.markdown", "~~~\n```\n# code\n~~~\n## Two", "Two"),
            ("a.md", "no heading\n\n---\n\nmore", "a"),
            ("a.md", "#hashtag", "a"),
            ("a.rst", "=====\nTitle\n=====\n\ntext", "Title"),
            ("a.rst", "plain", "a"),
            ("a.txt", "Title\n=====", "a"),
        ],
    )
    def test_the_first_heading_or_the_name(self, name, text, title):
        loaded = document_of(name, text)
        assert loaded.title == title
        assert loaded.text == text.rstrip()


class TestHtml:
    def text(self, body):
        return document_of("a.html", f"<html><body>{body}</body></html>").text

    def test_blocks_are_paragraphs_and_inline_elements_run_on(self):
        body = "<h1>Head</h1><p>One <b>bold</b>\n  word,<br>next line.</p><div>Two<p>Three</div>tail"
        assert self.text(body) == "Head\n\nOne bold word,\nnext line.\n\nTwo\n\nThree\n\ntail"

    def test_entities_are_decoded(self):
        assert self.text("<p>Fish &amp; chips &lt;5&nbsp;&euro; &#x1F989;") == "Fish & chips <5 € 🦉"

    def test_table_rows_are_lines(self):
        body = (
            "<table><caption>Prices</caption><thead><tr><th>What<th>Cost</tr></thead>"
            "<tr><td>Tea<td><p>2</p><p>€</p></tr><tr><td> <td></tr></table>"
        )
        assert (
            self.text(f"before{body}after") == "before\n\nPrices\nWhat | Cost\nWhat: Tea; Cost: 2 €\n\nafter"
        )

    def test_a_table_for_layout_is_read_as_blocks(self):
        body = "<table><tr><td><p>One.</p><p>Two.</p><table><tr><td>a<td>b</table></td></tr></table>"
        assert self.text(body) == "One.\n\nTwo.\n\na | b"

    def test_lists_are_marked(self):
        body = "<ul><li>one<li><p>two</p><p>more</p><li><ul><li>deep</ul></ul><p>after"
        assert self.text(body) == "- one\n\n- two\n\nmore\n\n  - deep\n\nafter"

    @pytest.mark.parametrize("close", ["", "</li>"])
    def test_lists_within_lists_are_indented(self, close):
        body = f"<ul><li>You need:{close}<ul><li>first day<ul><li>noon</ul><li>last day</ul><li>A form</ul>"
        text = "- You need:\n\n  - first day\n\n    - noon\n\n  - last day\n\n- A form"
        assert self.text(body) == text

    def test_preformatted_text_is_kept(self):
        assert self.text("<p>code:</p><pre>if x:\n    <b>y</b> = 1\n</pre>") == "code:\n\nif x:\n    y = 1"

    @pytest.mark.parametrize(
        "hidden",
        [
            "<script>x</script>",
            "<style>x</style>",
            "<noscript>x</noscript>",
            "<template>x</template>",
            "<!-- x -->",
            "<p hidden>x</p>",
            "<div style='color:red; DISPLAY : none'>x</div>",
            "<span style='font-size:0px'>x</span>",
            "<span style='visibility:hidden'>x<b>x</b></span>",
        ],
    )
    def test_what_a_browser_does_not_show_is_left_out(self, hidden):
        assert self.text(f"<p>seen</p>{hidden}<p>too</p>") == "seen\n\ntoo"

    def test_small_type_is_not_hidden(self):
        assert self.text("<p style='font-size:0.8em'>seen</p>") == "seen"

    def test_titles(self):
        assert document_of("a.html", "<title> The\npage </title><h1>Head</h1>").title == "The page"
        assert document_of("a.htm", "<h1>Head <i>line</i></h1>").title == "Head line"
        assert document_of("a.htm", "<p>x").title == "a"
        assert document_of("a.htm", "<svg><title>icon</title></svg><p>x").title == "a"

    def test_the_declared_encoding_is_used(self):
        page = "<meta charset='iso-8859-2'><p>Łódź</p>"
        assert document_of("a.html", page.encode("iso-8859-2")).text == "Łódź"
        assert document_of("a.html", "<meta charset=nonsense><p>Łódź".encode()).text == "Łódź"

    def test_depth_as_browsers_show_it(self):
        assert self.text("<div>" * 500 + "deep") == "deep"
        assert self.text("<p><span><i>" * 2_000 + "deep") == "deep"

    def test_a_page_without_text_is_refused(self):
        assert "no text" in refusal("a.html", b"<html><body><script>x</script></body></html>")


def damaged(name, data):
    try:
        load(Path(name), data)
    except UnreadableFile as error:
        assert error.reason


def word(build):
    document = docx.Document()
    build(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


class TestDocx:
    def contract(self, document):
        document.add_heading("Contract", 1)
        document.add_paragraph("Between us.")
        table = document.add_table(2, 3)
        for cell, text in zip((c for row in table.rows for c in row.cells), "abcdef", strict=True):
            cell.text = text
        table.cell(1, 0).merge(table.cell(1, 1))
        inner = table.cell(0, 2).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "x", "y"
        document.add_paragraph("After it.", style="List Bullet")

    def test_everything_comes_in_order(self):
        loaded = document_of("a.docx", word(self.contract))
        assert loaded.text == "Contract\n\nBetween us.\n\na | b | c x | y\nd e | f\n\nAfter it."
        assert loaded.title == "Contract"

    def test_titles(self):
        def titled(document):
            document.core_properties.title = "From the properties"
            document.add_heading("Heading")

        assert document_of("a.docx", word(titled)).title == "From the properties"
        assert document_of("name.docx", word(lambda d: d.add_paragraph("Text."))).title == "name"

    def test_what_cannot_be_read_is_refused(self):
        assert "broken" in refusal("a.docx", b"PK\3\4 no zip file")
        assert "password" in refusal("a.docx", bytes.fromhex("d0cf11e0a1b11ae1") + b"rest")
        assert "no text" in refusal("a.docx", word(lambda d: None))

    @settings(deadline=None)
    @given(st.binary(min_size=1, max_size=40), st.integers(0, 30_000))
    def test_damage_is_read_or_refused_and_nothing_else(self, noise, at):
        whole = WHOLE_DOCX
        damaged("a.docx", whole[:at] + noise + whole[at + len(noise) :])


class TestHostileDocx:
    """Small files that ask for much."""

    def test_a_cell_over_a_billion_columns_is_one_cell(self):
        cell = (
            "<w:tc><w:tcPr><w:gridSpan w:val='1000000000'/></w:tcPr><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>"
        )
        assert document_of("a.docx", docx_of(f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>")).text == "x"

    def test_what_unpacks_to_much_more_than_its_file_is_refused(self):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("word/document.xml", b" " * 60_000_000)
        assert "unpacks to more than" in refusal("a.docx", buffer.getvalue())

    def test_entities_are_refused(self):
        bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><a>&b;</a>'
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("word/document.xml", bomb)
        assert "Word file is broken" in refusal("a.docx", buffer.getvalue())

    def test_nested_tables_and_styles_that_are_based_on_each_other(self):
        assert "nested" in refusal(
            "a.docx", docx_of("<w:tbl><w:tr><w:tc>" * 1_000 + "</w:tc></w:tr></w:tbl>" * 1_000)
        )
        circle = "".join(
            f'<w:style w:type="paragraph" w:styleId="{a}"><w:basedOn w:val="{b}"/></w:style>'
            for a, b in (("a", "b"), ("b", "a"))
        )
        body = '<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>'
        assert document_of("a.docx", docx_of(body, styles=circle)).text == "x"


WHOLE_DOCX = word(lambda d: d.add_paragraph("Some text."))


class TestTables:
    def test_rows_say_the_names_of_their_columns(self):
        assert (
            document_of("prices.csv", 'name,note\nTea,"hot, green"\nMilk,\n').text
            == "name | note\nname: Tea; note: hot, green\nname: Milk"
        )

    @pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found(self, mark):
        data = mark.join(["a", "b"]) + "\n" + mark.join(["1", "2"])
        assert document_of("t.csv", "\ufeff" + data).text == "a | b\na: 1; b: 2"

    def test_quotes_hold_delimiters_and_lines(self):
        data = '"first; really";second\n"line one\n\nline two";x\n'
        assert (
            document_of("t.csv", data).text
            == "first; really | second\nfirst; really: line one line two; second: x"
        )

    def test_a_tsv_is_not_guessed(self):
        assert document_of("t.tsv", "a,b,c\td\n1,2,3\t4").text == "a,b,c | d\na,b,c: 1,2,3; d: 4"

    def test_rows_of_odd_length(self):
        assert document_of("t.csv", "a,b\n1,2,3\n\n4").text == "a | b\na: 1; b: 2; 3\na: 4"

    def test_a_header_that_would_be_said_too_often_is_said_once(self):
        name = "a" * 130_000
        assert document_of("t.csv", name + "\n1" * 1000).text == name + "\n1" * 1000

    def test_titles_above_the_header_and_a_note_below(self):
        data = "Fees of the harbour\nas of May\n\nBerth;Night\nA 1;12,50\nThe crane is free on Mondays.;\nA 2;9,00\n"
        document = document_of("t.csv", data)
        assert document.text == (
            "Fees of the harbour\n\nas of May\nBerth | Night\nBerth: A 1; Night: 12,50\n"
            "The crane is free on Mondays.\nBerth: A 2; Night: 9,00"
        )
        assert [block.line for block in document.blocks] == [1, 2, 4, 5, 6, 7]

    def test_decimal_commas_are_no_delimiter(self):
        assert "x: 1,5; y: 2,5; z: 3,5" in document_of("t.csv", "x;y;z\n1,5;2,5;3,5\n4,5;5,5;6,5\n").text

    def test_old_encodings(self):
        assert document_of("t.csv", "käse\nGrün".encode("latin-1")).text == "käse\nkäse: Grün"

    def test_headers_alone_are_refused(self):
        assert "no row below" in refusal("t.csv", b"a,b\n")

    def test_a_giant_field_is_refused_with_its_line(self):
        assert "line 2 " in refusal("t.csv", b"a\n" + b"x" * 200_000)


class TestJsonLines:
    def lines(self, *rows):
        return load(Path("c.jsonl"), "\n".join(json.dumps(row) for row in rows).encode())

    def test_every_row_is_a_document(self):
        rows = ({"_id": "d1", "title": "T", "text": "One."}, {"id": 7, "body": "Two."}, {"content": "Three."})
        documents = [(d.fragment, d.title, d.text) for d in self.lines(*rows)]
        assert documents == [("d1", "T", "One."), ("7", "", "Two."), ("3", "", "Three.")]

    def test_paragraphs_and_plain_strings(self):
        assert [d.text for d in self.lines({"paragraphs": ["a", "b"]}, {"text": ["c"]}, "d")] == [
            "a\n\nb",
            "c",
            "d",
        ]

    def test_other_rows_are_rendered(self):
        assert self.lines({"id": 1, "name": "Tea", "price": 2.5, "tags": ["hot"], "none": None})[0].text == (
            'name: Tea\nprice: 2.5\ntags: ["hot"]'
        )

    def test_a_row_with_only_a_title_keeps_it_and_an_empty_one_is_left_out(self):
        assert [d.text for d in self.lines({"title": "T", "text": ""}, {"text": " "}, {"text": "x"})] == [
            "T",
            "x",
        ]

    def test_a_repeated_id_is_told_apart_by_its_line(self):
        assert [d.fragment for d in self.lines({"id": "a", "text": "x"}, {"id": "a", "text": "y"})] == [
            "a",
            "a@2",
        ]

    def test_an_id_that_looks_like_a_repeated_one_is_told_apart_too(self):
        rows = [{"id": name, "text": name} for name in ("a", "a@3", "a", "4", "x")] + [{"text": "y"}]
        fragments = [d.fragment for d in self.lines(*rows)]
        assert fragments == ["a", "a@3", "a@3@3", "4", "x", "6"]

    def test_an_id_is_one_short_line(self):
        documents = self.lines({"id": "a\n- b", "text": "x"}, {"id": "i" * 5000, "text": "y"})
        assert documents[0].fragment == "a - b"
        assert len(documents[1].fragment) == 200

    def test_a_row_nested_too_deep_is_named(self):
        row = '{"a":' * 990 + "1" + "}" * 990
        with pytest.raises(UnreadableFile, match="line 1 is nested too deep"):
            load(Path("c.jsonl"), f"{row}\n{row}".encode())

    def test_only_newlines_part_rows(self):
        data = '{"text": "a\u2028b"}\r\n\n{"text": "half \\ud800 \\u0000"}'.encode()
        assert [d.text for d in load(Path("c.jsonl"), data)] == ["a\u2028b", "half \ufffd  "]

    @pytest.mark.parametrize("line", ["{", "[1]", "7", "null", "[" * 100_000])
    def test_a_bad_line_is_named(self, line):
        assert "line 2 " in refusal("c.jsonl", f'{{"text": "x"}}\n{line}'.encode())


@pytest.mark.parametrize("name", ["README", "Copying", "faq", "README.Debian"])
def test_names_of_plain_text_need_no_suffix(name):
    assert load(Path(name), b"Fine words.")[0].text == "Fine words."


@pytest.mark.parametrize("name", ["readme.xyz", "Makefile", "licenses"])
def test_other_names_without_a_known_suffix_are_refused(name):
    assert "this file type cannot be read" in refusal(name, b"Fine words.")


@pytest.mark.parametrize("suffix", sorted(LOADERS))
@settings(deadline=None)
@given(data=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(suffix, data):
    try:
        documents = load(Path(f"a{suffix}"), data)
    except UnreadableFile as error:
        assert error.reason
        return
    for document in documents:
        assert document.text.strip()
        document.text.encode()
        document.title.encode()
        assert "\0" not in document.text + document.title
