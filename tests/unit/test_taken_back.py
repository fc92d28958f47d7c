"""Text that is crossed out is not the document's, and raised letters do not run into what stands before them."""

import io

import docx
import pytest

from blocks_of import document_of
from office_files import odt, pptx, xlsx


def a_docx():
    document = docx.Document()
    paragraph = document.add_paragraph("Open at ")
    for text, struck in (("eight", True), ("nine, 10", False)):
        paragraph.add_run(text).font.strike = struck
    paragraph.add_run("6").font.superscript = True
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


ODT_STYLES = "".join(
    f'<style:style style:name="{name}" style:family="text"><style:text-properties style:{look}/></style:style>'
    for name, look in (("S", 'text-position="super 58%"'), ("D", 'text-line-through-style="solid"'))
)
XLSX_STYLES = (
    '<fonts><font/><font><strike/></font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs>'
)


def cell(place, text, style=0):
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t>{text}</t></is></c>'


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.html", "<p>Open at <del>eight</del><s>half past</s> nine, 10<sup>6</sup>", "Open at nine, 10^6"),
        (
            "b.html",
            "<style>.o{text-decoration:line-through red}</style><p>Open at <b class=o>eight</b>"
            '<i style="text-decoration-line: line-through">half past</i> nine, 10<sup>6</sup>',
            "Open at nine, 10^6",
        ),
        ("a.docx", a_docx(), "Open at nine, 10^6"),
        (
            "a.odt",
            odt(
                '<text:p>Open at <text:span text:style-name="D">eight</text:span>nine, 10'
                '<text:span text:style-name="S">6</text:span></text:p>',
                styles=ODT_STYLES,
            ),
            "Open at nine, 10^6",
        ),
        ("a.rtf", r"{\rtf1 Open at {\strike eight}nine, 10{\super 6}\par}", "Open at nine, 10^6"),
        (
            "a.pptx",
            pptx(
                '<sp><txBody><p><r><t>Open at </t></r><r><rPr strike="sngStrike"/><t>eight</t></r>'
                '<r><t>nine, 10</t></r><r><rPr baseline="30000"/><t>6</t></r></p></txBody></sp>'
            ),
            "Open at nine, 10^6",
        ),
        (
            "a.xlsx",
            xlsx(f"<row>{cell('A1', 'eight', 1)}</row><row>{cell('A2', 'nine')}</row>", styles=XLSX_STYLES),
            "Sheet1\n\nnine",
        ),
    ],
)
def test_text_that_is_crossed_out_is_left_out_and_counted(name, data, text):
    document = document_of(name, data)
    assert (document.text, document.hidden >= len("eight")) == (text, True)


def test_what_markdown_crosses_out():
    text = "Open at ~~eight~~ nine; <del>ten</del> `~~a~~` ~/a ~~~ and 5 ~~ 6."
    assert document_of("a.md", text).text == f"Open at {' ' * 9} nine; {' ' * 14} `~~a~~` ~/a ~~~ and 5 ~~ 6."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("20 m<sup>2</sup>, CO<sub>2</sub>, 101<sub>2</sub>", "20 m², CO2, 101_2"),
        ("the 5<sup>th</sup> of May, 2<sup>n</sup>", "the 5th of May, 2^n"),
        ('since 2024<sup><a href="#n1">1</a></sup>', "since 2024¹"),
        ("<sup>1</sup> At the gate", "1 At the gate"),
    ],
)
def test_superscript_and_subscript(html, text):
    assert document_of("a.html", f"<p>{html}</p><p>More.</p>").text == f"{text}\n\nMore."
