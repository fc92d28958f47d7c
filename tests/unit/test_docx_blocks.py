"""What a block of a Word document is: by styles, outline levels, numbering, fields and tables."""

import io

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement

from blocks_of import outline
from hostile_files import docx as docx_of
from office_files import relations, zipped

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LISTED = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'


def word(build):
    document = docx.Document()
    build(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return outline("a.docx", buffer.getvalue())


def paragraph(text, properties="", run=""):
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def cell(text, run=""):
    return f"<w:tc>{paragraph(text, run=run)}</w:tc>"


def body(*parts):
    return outline("a.docx", docx_of("".join(parts)))


def style(name, properties="", based_on=""):
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{properties}</w:pPr></w:style>"
    )


def test_headings_lists_and_paragraphs():
    def build(document):
        document.add_heading("Manual", 0)
        document.add_heading("Start", 2)
        document.add_paragraph("Do this:")
        document.add_paragraph("first", style="List Bullet")
        document.add_paragraph("inside", style="List Bullet 2")
        document.add_paragraph("second", style="List Bullet")
        document.add_paragraph("Done.")

    assert word(build) == [
        ("heading", 1, "", "Manual"),
        ("heading", 2, "", "Start"),
        ("paragraph", 0, "", "Do this:"),
        ("item", 1, "Do this:", "first"),
        ("item", 2, "first", "inside"),
        ("item", 1, "Do this:", "second"),
        ("paragraph", 0, "", "Done."),
    ]


def test_headings_by_their_outline_level_and_by_the_style_that_theirs_is_based_on():
    styles = (
        style("heading 3") + style("Mine", based_on="heading 3") + style("Own", '<w:outlineLvl w:val="1"/>')
    )
    structure = outline(
        "a.docx",
        docx_of(
            paragraph("One", '<w:pStyle w:val="Mine"/>')
            + paragraph("Two", '<w:pStyle w:val="Own"/>')
            + paragraph("Three", '<w:outlineLvl w:val="4"/>')
            + paragraph("Text", '<w:pStyle w:val="Own"/><w:outlineLvl w:val="9"/>'),
            styles=styles,
        ),
    )
    assert [(kind, level) for kind, level, _, _ in structure] == [
        ("heading", 3),
        ("heading", 2),
        ("heading", 5),
        ("paragraph", 0),
    ]


def test_numbered_paragraphs_are_items_and_numbering_can_be_switched_off():
    def numbered(text, depth, number=3):
        return paragraph(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')

    assert body(
        paragraph("These:"), numbered("a", 0), numbered("b", 1), numbered("c", 1), numbered("d", 0, 0)
    ) == [
        ("paragraph", 0, "", "These:"),
        ("item", 1, "These:", "a"),
        ("item", 2, "a", "b"),
        ("item", 2, "a", "c"),
        ("paragraph", 0, "", "d"),
    ]
    assert [level for _, level, _, _ in body(numbered("a", 10**8), numbered("b", 2))] == [9, 3]


def test_lines_of_code_are_one_block():
    def build(document):
        document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
        document.add_paragraph("Type:")
        document.add_paragraph("if x:", style="Source Code")
        document.add_paragraph("    y()", style="Source Code")
        document.add_paragraph("More.")

    assert word(build)[1:] == [("code", 0, "Type:", "if x:\n    y()"), ("paragraph", 0, "", "More.")]


def test_a_row_repeated_on_every_page_is_a_header():
    def build(document):
        document.add_paragraph("Prices:")
        table = document.add_table(3, 2)
        for block, text in zip(
            (c for row in table.rows for c in row.cells), ["What", "Cost", *"abcd"], strict=True
        ):
            block.text = text
        table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))

    assert word(build)[1:] == [
        ("aside", 0, "Prices:", "What | Cost"),
        ("row", 0, "Prices:", "What: a; Cost: b"),
        ("row", 0, "Prices:", "What: c; Cost: d"),
    ]


@pytest.mark.parametrize(
    ("properties", "run", "header"),
    [
        ("", "", False),
        ("", "<w:b/>", True),
        ("", '<w:b w:val="0"/>', False),
        ('<w:tblStyle w:val="Fancy"/><w:tblLook w:firstRow="1"/>', "", True),
        ('<w:tblStyle w:val="Fancy"/><w:tblLook w:val="04A0"/>', "", True),
        ('<w:tblStyle w:val="Fancy"/><w:tblLook w:firstRow="0"/>', "", False),
        ('<w:tblStyle w:val="TableGrid"/><w:tblLook w:firstRow="1"/>', "", False),
    ],
)
def test_a_first_row_that_is_set_off_is_a_header(properties, run, header):
    rows = f"<w:tr>{cell('What', run)}{cell('Cost', run)}</w:tr><w:tr>{cell('Tea')}{cell('2')}</w:tr>"
    structure = body(f"<w:tbl><w:tblPr>{properties}</w:tblPr>{rows}</w:tbl>")
    assert structure[1][3] == ("What: Tea; Cost: 2" if header else "Tea | 2")


def test_a_table_of_contents_is_asides():
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    begin = mark.format("begin") + "<w:r><w:instrText> TOC \\o </w:instrText></w:r>" + mark.format("separate")
    shown = "<w:r><w:t>{}</w:t></w:r>"
    page = mark.format("begin") + "<w:r><w:instrText>PAGEREF x</w:instrText></w:r>" + mark.format("end")
    gallery = '<w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
    structure = body(
        f"<w:p>{begin}{shown.format('One 3')}</w:p><w:p>{shown.format('Two 4')}{page}</w:p>",
        f"<w:p>{mark.format('end')}</w:p>",
        paragraph("Text."),
        f"<w:sdt>{gallery}<w:sdtContent>{paragraph('Contents')}</w:sdtContent></w:sdt>",
        paragraph("More."),
    )
    assert [(kind, text) for kind, _, _, text in structure] == [
        ("aside", "One 3"),
        ("aside", "Two 4"),
        ("paragraph", "Text."),
        ("aside", "Contents"),
        ("paragraph", "More."),
    ]
    contents = docx_of(paragraph("Three 5", '<w:pStyle w:val="toc 1"/>'), styles=style("toc 1"))
    assert outline("a.docx", contents)[0][0] == "aside"


def test_notes_comments_and_margins():
    """A footnote and a comment on an item keep the list together; margins are read once, page numbers not at all."""

    def part(name, *inside):
        return f"<w:{name} xmlns:w='{WORD}'>{''.join(inside)}</w:{name}>"

    def note(kind, number, author, text):
        return f"<w:{kind} w:id='{number}' w:author='{author}'>{paragraph(text)}</w:{kind}>"

    def marked(text, *marks):
        return f"<w:p><w:pPr>{LISTED}</w:pPr><w:r><w:t>{text}</w:t></w:r>{''.join(marks)}</w:p>"

    main = "".join(
        [
            paragraph("Bring:"),
            marked("boots", '<w:r><w:footnoteReference w:id="1"/></w:r>'),
            marked("a coat", '<w:r><w:commentReference w:id="7"/></w:r>'),
            '<w:del><w:p><w:r><w:t>x</w:t><w:footnoteReference w:id="2"/></w:r></w:p></w:del>',
            '<w:p><w:r><w:footnoteReference w:id="3"/></w:r></w:p>',
        ]
    )
    kinds = ("footnotes", "comments", "header", "footer")
    data = zipped(
        {
            "_rels/.rels": relations({"m": ("officeDocument", "word/document.xml")}),
            "word/_rels/document.xml.rels": relations({kind: (kind, f"{kind}.xml") for kind in kinds}),
            "word/document.xml": part("document", f"<w:body>{main}</w:body>"),
            "word/footnotes.xml": part(
                "footnotes",
                note("footnote", 1, "", "Not sandals."),
                note("footnote", 2, "", "GONE"),
                note("footnote", 3, "", "Of an empty paragraph."),
            ),
            "word/comments.xml": part("comments", note("comment", 7, "Ida", "And a hat?")),
            "word/header.xml": part("hdr", paragraph("Issue 4 of May"), paragraph("Page 1 of 9")),
            "word/footer.xml": part("ftr", paragraph("Issue 4 of May")),
        }
    )
    assert outline("a.docx", data) == [
        ("paragraph", 0, "", "Bring:"),
        ("item", 1, "Bring:", "boots"),
        ("paragraph", 0, "boots", "Not sandals."),
        ("item", 1, "Bring:", "a coat"),
        ("paragraph", 0, "a coat", "Comment by Ida: And a hat?"),
        ("paragraph", 0, "", "Issue 4 of May"),
        ("paragraph", 0, "", "Of an empty paragraph."),
    ]
