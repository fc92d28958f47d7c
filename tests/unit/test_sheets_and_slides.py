"""Excel workbooks and PowerPoint presentations: blocks, values as they are seen, hidden parts, pages."""

import io
import zipfile

import pytest

from blocks_of import document_of, outline
from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Document
from office_files import pptx, relations, xlsx, zipped


def row(*cells, place=None, more=""):
    """Words are inline strings, numbers are numbers, markup stands as it is."""

    def cell(value):
        if isinstance(value, str):
            return value if value.startswith("<c") else f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    where = f' r="{place}"' if place else ""
    return f"<row{where}{more}>{''.join(map(cell, cells))}</row>"


class TestXlsx:
    def test_formulas_without_a_stored_value_are_computed_where_they_are_arithmetic(self):
        def formula(reference, text):
            return f'<c r="{reference}"><f>{text}</f></c>'

        sheet = (
            row("Item", "Month", "Year")
            + row("Water", 310, formula("C2", "B2*12"))
            + row("Waste", 145.5, formula("C3", "$B$3*12"))
            + row("Total", formula("B4", "SUM(B2:B3)"), formula("C4", "ROUND(SUM(C2:C3)/7,2)"))
            + row("Mean", formula("B5", "AVERAGE(B2:B3)-MIN(B2,B3)*10%"), formula("C5", "-(2+1)^2"))
            + row("Odd", formula("B6", "VLOOKUP(A2,B2:C3,2)"), formula("C6", "C6+1"))
            + row("None", formula("B7", "1/0"), '<c t="e"><v>#N/A</v></c>')
        )
        said = "(a formula whose value is not stored)"
        assert [text for kind, *_, text in outline("a.xlsx", xlsx(sheet)) if kind == "row"] == [
            "Item: Water; Month: 310; Year: 3720",
            "Item: Waste; Month: 145.5; Year: 1746",
            "Item: Total; Month: 455.5; Year: 780.86",
            "Item: Mean; Month: 213.2; Year: 9",
            f"Item: Odd; Month: {said}; Year: {said}",
            f"Item: None; Month: {said}; Year: #N/A",
        ]

    def test_comments_stand_below_their_sheet(self):
        notes = (
            "<comments><authors><author>Ann</author></authors><commentList>"
            '<comment ref="B2" authorId="0"><text>'
            "<r><t>Ann:</t></r><r><t> until May</t></r></text></comment></commentList></comments>"
        )
        more = {"xl/_rels/s0.xml.rels": relations({"r": ("comments", "c.xml")}), "xl/c.xml": notes}
        data = xlsx(row("A", "B") + row("tea", 2) + row("milk", 1), more=more)
        assert outline("a.xlsx", data)[-1] == ("paragraph", 0, "", "Comment by Ann on B2: until May")

    def test_rows_say_their_column_names(self):
        sheet = (
            row("Prices of 2024")
            + row("What", "Cost")
            + row("Tea", 2.5)
            + row("Milk", 1)
            + row(place=9)
            + row("A note.")
        )
        assert outline("a.xlsx", xlsx(sheet, row("x", 1), names=("Food", "More"))) == [
            ("heading", 1, "", "Food"),
            ("paragraph", 0, "", "Prices of 2024"),
            ("aside", 0, "Prices of 2024", "What | Cost"),
            ("row", 0, "Prices of 2024", "What: Tea; Cost: 2.5"),
            ("row", 0, "Prices of 2024", "What: Milk; Cost: 1"),
            ("paragraph", 0, "", "A note."),
            ("heading", 1, "", "More"),
            ("row", 0, "", "x | 1"),
        ]

    def test_cells_find_their_column(self):
        sheet = (
            row("A", "B", "C")
            + row('<c r="C2"><v>3</v></c>')
            + row('<c r="B3" t="s"><v>1</v></c>', '<c r="ZZZZ3"><v>4</v></c>')
        )
        structure = outline("a.xlsx", xlsx(sheet, shared=("no", "two")))
        assert [text for *_, text in structure][2:] == ["C: 3", "B: two; 4"]

    def test_words_alone_in_one_row_are_no_header(self):
        assert outline("a.xlsx", xlsx(row("What", "Cost")))[1:] == [("row", 0, "", "What | Cost")]

    @pytest.mark.parametrize(
        ("cell", "text"),
        [
            ('<c s="1"><v>45292</v></c>', "2024-01-01"),
            ('<c s="1"><v>45292.5</v></c>', "2024-01-01 12:00:00"),
            ('<c s="2"><v>0.5</v></c>', "12:00"),
            ('<c s="3"><v>0.125</v></c>', "13%"),
            ('<c s="4"><v>45292</v></c>', "2024-01-01"),
            ('<c s="5"><v>7</v></c>', "7 days"),
            ('<c s="1"><v>1e300</v></c>', "1e300"),
            ("<c><v>0.30000000000000004</v></c>", "0.3"),
            ('<c t="b"><v>1</v></c>', "TRUE"),
            ('<c t="str"><v>a  b</v></c>', "a b"),
            ('<c s="999"><v>5</v></c>', "5"),
            ('<c s="2"><v>45292.75</v></c>', "18:00"),
            ('<c s="6"><v>1.5729166</v></c>', "2265:00"),
            ('<c s="7"><v>1.5729166</v></c>', "37:45"),
            ('<c s="8"><v>78134</v></c>', "007-8134"),
            ('<c s="8"><v>1.5</v></c>', "1.5"),
        ],
    )
    def test_values_are_shown_as_they_are_seen(self, cell, text):
        formats = (
            '<numFmts><numFmt numFmtId="170" formatCode="[$-409]d\\ mmm yyyy"/>'
            '<numFmt numFmtId="171" formatCode="0 &quot;days&quot;"/>'
            '<numFmt numFmtId="172" formatCode="[mm]:ss"/><numFmt numFmtId="173" formatCode="[h]:mm"/>'
            '<numFmt numFmtId="174" formatCode="000\\-0000"/></numFmts>'
        )
        cells = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 20, 9, 170, 171, 172, 173, 174))
        styles = f"{formats}<cellXfs>{cells}</cellXfs>"
        assert outline("a.xlsx", xlsx(row("x", cell), styles=styles))[1][3] == f"x | {text}"

    @pytest.mark.parametrize(
        ("sheet", "styles"),
        [
            (row("seen") + row("SECRET", more=' hidden="1"'), ""),
            ('<cols><col min="2" max="16384" hidden="1"/></cols>' + row("seen", "SECRET"), ""),
            (row("seen", '<c s="1" t="str"><v>SECRET</v></c>'), ""),
            (row("seen", '<c s="2" t="str"><v>SECRET</v></c>'), ""),
        ],
    )
    def test_hidden_cells(self, sheet, styles):
        styles = (
            '<numFmts><numFmt numFmtId="170" formatCode=";;;"/></numFmts>'
            '<fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><fills><fill/></fills>'
            '<cellXfs><xf/><xf numFmtId="170"/><xf fontId="1"/></cellXfs>'
        )
        loaded = document_of("a.xlsx", xlsx(sheet, styles=styles))
        assert ("SECRET" in loaded.text, loaded.hidden) == (False, 6)

    def test_white_letters_on_a_fill_are_seen(self):
        styles = (
            '<fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><fills><fill/>'
            '<fill><patternFill patternType="solid"><fgColor rgb="FF000000"/></patternFill></fill></fills>'
            '<cellXfs><xf/><xf fontId="1" fillId="1"/></cellXfs>'
        )
        assert (
            "seen"
            in document_of("a.xlsx", xlsx(row("x", '<c s="1" t="str"><v>seen</v></c>'), styles=styles)).text
        )

    def test_a_hidden_sheet(self):
        loaded = document_of("a.xlsx", xlsx(row("seen"), row("SECRET"), states=("visible", "hidden")))
        assert (loaded.text, loaded.hidden) == ("Sheet1\n\nseen", 6)

    def test_a_text_that_too_many_cells_share_is_refused(self):
        sheet = row(*['<c t="s"><v>0</v></c>'] * 20_000)
        with pytest.raises(UnreadableFile, match="too often"):
            document_of("a.xlsx", xlsx(sheet, shared=("x" * 10_000,)))

    def test_broken(self):
        with pytest.raises(UnreadableFile, match="Excel file is broken"):
            document_of("a.xlsx", zipped({"xl/workbook.xml": "<a>"}))


def shape(*lines, kind=None, more="", place=""):
    holder = f'<nvPr><ph type="{kind}"/></nvPr>' if kind is not None else ""
    paragraphs = "".join(
        line if line.startswith("<p>") else f"<p><r><rPr/><t>{line}</t></r></p>" for line in lines
    )
    properties = f"<nvSpPr><cNvPr {more}/>{holder}</nvSpPr><spPr><xfrm>{place}</xfrm></spPr>"
    return f"<sp>{properties}<txBody>{paragraphs}</txBody></sp>"


def with_notes(data, *notes):
    """A presentation whose first slides have these notes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/notesSlide"
    for number, text in enumerate(notes):
        relation = f'<Relationship Id="r" Type="{kind}" Target="n{number}.xml"/>'
        parts[f"ppt/_rels/s{number}.xml.rels"] = f"<Relationships>{relation}</Relationships>"
        parts[f"ppt/n{number}.xml"] = f"<notes><spTree>{text}</spTree></notes>"
    return zipped(parts)


class TestPptx:
    def test_notes_stand_on_the_page_of_their_slide(self):
        notes = shape("Say that the pier is closed in May.", "And smile.", kind="body") + shape(
            "7", kind="sldNum"
        )
        loaded = document_of(
            "a.pptx", with_notes(pptx(shape("One", kind="title"), shape("Two", kind="title")), notes)
        )
        assert loaded.text == "One\n\nSay that the pier is closed in May.\n\nAnd smile.\n\nTwo"
        assert loaded.pages == (0, loaded.text.index("Two"))

    def test_notes_of_a_hidden_slide_are_hidden(self):
        hidden = f'<sld show="0"><spTree>{shape("One", kind="title")}</spTree></sld>'
        loaded = document_of("a.pptx", with_notes(pptx(hidden, shape("Two")), shape("SECRET", kind="body")))
        assert (loaded.text, loaded.hidden) == ("Two", len("OneSECRET"))

    def test_slides_are_pages_with_headings_and_items(self):
        deep = '<p><pPr lvl="1"/><r><t>inside</t></r></p>'
        first = (
            shape("first", deep, "second", kind="body")
            + shape("The title", kind="title")
            + shape("3", kind="sldNum")
        )
        cells = "".join(f"<tc><txBody><p><r><t>{text}</t></r></p></txBody></tc>" for text in ("What", "Cost"))
        more = cells.replace("What", "Tea").replace("Cost", "2")
        rows = f"<tr>{cells}</tr><tr>{more}</tr>"
        table = f'<graphicFrame><tbl><tblPr firstRow="1"/>{rows}</tbl></graphicFrame>'
        data = pptx(first, shape("Next", kind="ctrTitle") + shape("A box.") + table)
        assert outline("a.pptx", data) == [
            ("heading", 1, "", "The title"),
            ("item", 1, "", "first"),
            ("item", 2, "first", "inside"),
            ("item", 1, "", "second"),
            ("aside", 0, "", "3"),
            ("heading", 1, "", "Next"),
            ("paragraph", 0, "", "A box."),
            ("aside", 0, "", "What | Cost"),
            ("row", 0, "", "What: Tea; Cost: 2"),
        ]
        loaded = document_of("a.pptx", data)
        document = Document("d", loaded.text, "a.pptx", pages=loaded.pages)
        assert (document.page_at(0), document.page_at(loaded.text.index("Next"))) == (1, 2)
        assert loaded.title == "The title"

    def test_a_line_alone_is_a_paragraph_and_bullets_make_items(self):
        bullets = (
            '<p><pPr><buChar char="-"/></pPr><r><t>a</t></r></p><p><pPr><buNone/></pPr><r><t>b</t></r></p>'
        )
        assert [kind for kind, *_ in outline("a.pptx", pptx(shape("One.", kind="body")))] == ["paragraph"]
        assert [kind for kind, *_ in outline("a.pptx", pptx(shape(bullets)))] == ["item", "paragraph"]

    @pytest.mark.parametrize(
        "hidden",
        [
            shape("SECRET", more='hidden="1"'),
            shape("SECRET", place='<off x="1001" y="0"/><ext cx="5" cy="5"/>'),
            shape("SECRET", place='<off x="-100" y="0"/><ext cx="5" cy="5"/>'),
            shape('<p><r><rPr sz="100"/><t>SECRET</t></r></p>'),
            shape(
                "<p><r><rPr><solidFill><srgbClr><alpha val='0'/></srgbClr></solidFill></rPr><t>SECRET</t>"
                "</r></p>"
            ),
        ],
    )
    def test_hidden_text(self, hidden):
        loaded = document_of("a.pptx", pptx(shape("seen") + hidden))
        assert (loaded.text, loaded.hidden) == ("seen", 6)

    def test_a_hidden_slide_and_a_shape_in_a_group(self):
        slide = f'<sld show="0"><spTree>{shape("SECRET")}</spTree></sld>'
        far = shape("too", place='<off x="9999" y="0"/><ext cx="5" cy="5"/>')
        loaded = document_of("a.pptx", pptx(slide, shape("seen") + f"<grpSp>{far}</grpSp>"))
        assert (loaded.text, loaded.hidden) == ("seen\n\ntoo", 6)

    def test_broken_and_empty(self):
        with pytest.raises(UnreadableFile, match="PowerPoint file is broken"):
            document_of("a.pptx", b"PK\3\4")
        with pytest.raises(UnreadableFile, match="no text"):
            document_of("a.pptx", pptx(""))


@pytest.mark.parametrize("name", ["a.xlsx", "a.xlsm"])
def test_a_formula_without_a_value_is_said_to_be_one(name):
    sheet = (
        "<row><c><v>7</v></c><c><f>A1*2</f><v>14</v></c></row>"
        "<row><c><v>8</v></c><c><f>LEN(A2)</f><v></v></c></row>"
    )
    assert [text for kind, *_, text in outline(name, xlsx(sheet)) if kind == "row"] == [
        "7 | 14",
        "8 | (a formula whose value is not stored)",
    ]
