"""What other readers' public test files hold, and a loader once lost or changed; the fixtures here are our own."""

import io
import zipfile

import pytest

from blocks_of import document_of, outline
from hostile_files import docx
from office_files import pptx, relations, xlsx, zipped

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def test_items_in_an_item_without_words_are_read_with_the_item_around_it():
    body = "<ul><li>Harbour<ul><li><ul><li>week: 33<li>day: 9</ul></ul><li>Hill<ul><li>week: 21</ul></ul>"
    assert [(text, above) for *_, above, text in outline("a.html", body)] == [
        ("- Harbour", ""),
        ("- week: 33", "- Harbour"),
        ("- day: 9", "- Harbour"),
        ("- Hill", ""),
        ("- week: 21", "- Hill"),
    ]


def test_terms_in_an_explanation_are_read_with_the_term_that_it_explains():
    inner = "<dl><dt>Adult<dd>12 euros</dl>"
    body = f"<dl><dt>Pool<dd>{inner}<dt>Sauna<dd>Towels are lent.<dd>{inner}<dd>Closed in May.</dl>"
    assert [(text, above) for *_, above, text in outline("a.html", body)] == [
        ("Pool", ""),
        ("Adult", "Pool"),
        ("12 euros", "Adult"),
        ("Sauna", ""),
        ("Towels are lent.", "Sauna"),
        ("Adult", "Sauna"),
        ("12 euros", "Adult"),
        ("Closed in May.", "Sauna"),
    ]


def test_subtitles_say_who_speaks():
    cues = (
        "<v Ann Lee>The fee is\nforty euros,",
        "<v Ann Lee>due in May.",
        "<v.loud Bo &amp; Co>Thirty!</v>",
        "Who said that?",
    )
    text = (
        "WEBVTT\n\n" + "\n\n".join(f"00:0{n}.000 --> 00:0{n}.900\n{cue}" for n, cue in enumerate(cues)) + "\n"
    )
    assert document_of("a.vtt", text).text.split("\n\n") == [
        "Ann Lee: The fee is forty euros, due in May.",
        "Bo & Co: Thirty!",
        "Who said that?",
    ]


def test_settings_for_formulas_are_no_text_of_rtf():
    body = r"{\rtf1\ansi{\mmathPr\mmathFont34\mbrkBin0\mdispDef1\mlMargin0}\pard Seen\par}"
    assert document_of("a.rtf", body).text == "Seen"


def math(name, *parts, **properties):
    said = "".join(f'<m:{key} m:val="{value}"/>' for key, value in properties.items())
    inside = "".join(part if part.startswith("<") else f"<m:r><m:t>{part}</m:t></m:r>" for part in parts)
    return f"<m:{name}><m:{name}Pr>{said}</m:{name}Pr>{inside}</m:{name}>"


def power(base, exponent):
    return math("sSup", math("e", base), math("sup", exponent))


def fraction(above, below, **properties):
    return math("f", math("num", above), math("den", below), **properties)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (f"<m:r><m:t>550×</m:t></m:r>{power('10', '-6')}", "550×10^-6"),
        (power("e", power("x", "2")), "e^x²"),
        (power(fraction("x-c", "v"), "n"), "((x-c)/v)^n"),
        (f"<m:r><m:t>2</m:t></m:r>{fraction('1', '2')}", "2 1/2"),
        (math("d", math("e", fraction("n", "k", type="noBar"))), "(n choose k)"),
        (math("rad", math("deg", "3"), math("e", "x+1")), "∛(x+1)"),
        (math("rad", math("deg"), math("e", "2a"), degHide="1"), "√(2a)"),
        (math("nary", math("sub", "k=0"), math("sup", "n"), math("e", "k"), chr="∑"), "∑_(k=0)^n k"),
        (math("func", math("fName", "sin"), math("e", "x")), "sin x"),
        (math("sSub", math("e", "a"), math("sub", "n+1")), "a_(n+1)"),
        (math("m", math("mr", math("e", "1"), math("e", "0")), math("mr", math("e", "0"))), "1, 0; 0"),
        (math("phant", math("e", "SECRET"), show="0"), ""),
    ],
)
def test_formulas_of_word_keep_their_powers_and_fractions(formula, text):
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    body = f"<w:p><w:r><w:t>so </w:t></w:r><m:oMath {space}>{formula}</m:oMath><w:r><w:t> holds</w:t></w:r></w:p>"
    assert document_of("a.docx", docx(body)).text == f"so {text} holds"


def test_hidden_runs_of_formulas_are_left_out():
    hidden = "<m:r><w:rPr><w:vanish/></w:rPr><m:t>SECRET</m:t></m:r><w:del><m:r><m:t>GONE</m:t></m:r></w:del>"
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    body = f"<w:p><m:oMath {space}>{hidden}<m:r><m:t>a</m:t></m:r></m:oMath></w:p>"
    document = document_of("a.docx", docx(body))
    assert (document.text, document.hidden) == ("a", len("SECRETGONE"))


def test_rows_of_latex_below_a_cell_that_spans_them_keep_their_columns():
    source = (
        "\\begin{tabular}{lll}\\hline Zone & Week & Day \\\\ \\hline\\rule{0pt}{2ex}"
        "\\multirow{2}{*}{A} & 33 & 9 \\\\ & 21 & 4 \\\\ B & 12 & 2 \\\\ \\hline\\end{tabular}"
    )
    rows = [text for kind, *_, text in outline("a.tex", source) if kind == "row"]
    assert rows == ["Zone: A; Week: 33; Day: 9", "Zone: A; Week: 21; Day: 4", "Zone: B; Week: 12; Day: 2"]


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\int_0^\infty e^{-x^2} dx = \frac{\sqrt{\pi}}{2}", "∫_0^∞e^(-x²) dx = √π/2"),
        (r"2\frac12", "2 1/2"),
        (r"\frac{1}{2}x_{n+1}", "1/2 x_(n+1)"),
        (r"\sqrt[3]{2a}\sin x", "∛(2a)sin x"),
        (r"5^{th}, 45^\circ, 3\times 10^{-6}", "5th, 45°, 3×10^-6"),
    ],
)
def test_formulas_of_latex_keep_their_powers_and_fractions(formula, text):
    assert document_of("a.tex", f"So ${formula}$.").text == f"So {text}."


def chart(*series, title="Sales", code="General"):
    def points(values, tag="strCache"):
        inside = "".join(f'<pt idx="{number}"><v>{value}</v></pt>' for number, value in enumerate(values))
        return f"<{tag}><formatCode>{code if tag == 'numCache' else 'General'}</formatCode>{inside}</{tag}>"

    rows = "".join(
        f"<ser><tx><strRef>{points([name])}</strRef></tx><cat><strRef>{points(values)}</strRef></cat>"
        f"<val><numRef>{points(values.values(), 'numCache')}</numRef></val></ser>"
        for name, values in series
    )
    words = f"<title><tx><rich><p><r><t>{title[:3]}</t></r><r><t>{title[3:]}</t></r></p></rich></tx></title>"
    return f"<chartSpace><chart>{words}<plotArea><barChart>{rows}</barChart></plotArea></chart></chartSpace>"


CHART = chart(("Tea", {"2024": 0.25, "2025": 0.5}), ("Milk", {"2024": 0.125, "2025": 0.2}), code="0.0%")
SHOWN = ["Sales", "Tea | Milk", "2024; Tea: 25.0%; Milk: 12.5%", "2025; Tea: 50.0%; Milk: 20.0%"]
PLACED = f'<chart xmlns:r="{OFFICE}" r:id="c"/>'


@pytest.mark.parametrize(("more", "shown"), [("", SHOWN), ("<nv><cNvPr hidden='1'/></nv>", [])])
def test_charts_of_slides_are_tables(more, shown):
    slide = f"<graphicFrame>{more}{PLACED}</graphicFrame><sp><txBody><p><r><t>End</t></r></p></txBody></sp>"
    parts = {"ppt/_rels/s0.xml.rels": relations({"c": ("chart", "c.xml")}), "ppt/c.xml": CHART}
    assert [text for *_, text in outline("a.pptx", pptx(slide, more=parts))] == [*shown, "End"]


def test_charts_of_word_stand_below_their_paragraph():
    body = f"<w:p><w:r><w:t>As follows.</w:t></w:r><w:r><w:drawing>{PLACED}</w:drawing></w:r></w:p>"
    with zipfile.ZipFile(io.BytesIO(docx(body))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/_rels/document.xml.rels"] = relations({"c": ("chart", "c.xml")})
    data = zipped(parts | {"word/c.xml": CHART})
    assert [text for *_, text in outline("a.docx", data)] == ["As follows.", *SHOWN]


def test_comments_on_slides_and_their_replies_say_who_wrote_them():
    said = "<txBody><p><r><t>{}</t></r></p></txBody>"
    reply = f'<replyLst><reply authorId="b">{said.format("In June.")}</reply></replyLst>'
    comments = f'<cmLst><cm authorId="a">{reply}{said.format("Until when?")}</cm></cmLst>'
    parts = {
        "ppt/_rels/p.xml.rels": relations({"r0": ("slide", "s0.xml"), "a": ("authors", "a.xml")}),
        "ppt/a.xml": '<authorLst><author id="a" name="Ann"/><author id="b" name="Bo"/></authorLst>',
        "ppt/_rels/s0.xml.rels": relations({"c": ("comments", "c.xml")}),
        "ppt/c.xml": comments,
    }
    slide = "<sp><txBody><p><r><t>Open</t></r></p></txBody></sp>"
    texts = [text for *_, text in outline("a.pptx", pptx(slide, more=parts))]
    assert texts == ["Open", "Comment by Ann: Until when?", "Comment by Bo: In June."]


def test_comments_on_cells_and_their_replies_say_who_wrote_them():
    book = {"r0": ("worksheet", "s0.xml"), "p": ("person", "p.xml")}
    sheet = {"c": ("comments", "c.xml"), "t": ("threadedComment", "t.xml")}
    thread = '<threadedComment ref="A1" personId="{}" id="{}"><text>{}</text></threadedComment>'
    parts = {
        "xl/_rels/workbook.xml.rels": relations(book),
        "xl/p.xml": '<personList><person id="a" displayName="Ann"/><person id="b" displayName="Bo"/></personList>',
        "xl/_rels/s0.xml.rels": relations(sheet),
        "xl/c.xml": "<comments><authors><author>tc=1</author></authors><commentList>"
        '<comment ref="A1" authorId="0"><text><t>[Threaded comment] Why?</t></text></comment></commentList></comments>',
        "xl/t.xml": f"<all>{thread.format('a', '1', 'Why?')}{thread.format('b', '2', 'Ask Jo.')}</all>",
    }
    data = xlsx('<row><c t="inlineStr"><is><t>tea</t></is></c></row>', more=parts)
    texts = [text for *_, text in outline("a.xlsx", data)]
    assert texts[-2:] == ["Comment by Ann on A1: Why?", "Comment by Bo on A1: Ask Jo."]
    assert not any("[Threaded" in text for text in texts)


def numbered(*paragraphs):
    """A Word document of (list, depth, text), with lists 1 and 2 of one kind, where 2 begins again, and bullets (3)."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    kinds = (("upperRoman", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"))
    levels = "".join(
        f'<lvl ilvl="{row}"><start val="1"/><numFmt val="{kind}"/><lvlText val="{text}"/></lvl>'
        for row, (kind, text) in enumerate(kinds)
    )
    head, again = '<w:outlineLvl w:val="0"/>', '<lvlOverride ilvl="0"><startOverride val="1"/></lvlOverride>'
    lists = (
        f'<abstractNum abstractNumId="7">{levels}</abstractNum><abstractNum abstractNumId="8">'
        '<lvl ilvl="0"><numFmt val="bullet"/><lvlText val="o"/></lvl></abstractNum>'
        f'<num numId="1"><abstractNumId val="7"/></num><num numId="2"><abstractNumId val="7"/>{again}</num>'
        '<num numId="3"><abstractNumId val="8"/></num>'
    )
    body = "".join(
        f"<w:p><w:pPr>{head if depth == 0 and name < 3 else ''}<w:numPr>"
        f'<w:ilvl w:val="{depth}"/><w:numId w:val="{name}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for name, depth, text in paragraphs
    )
    with zipfile.ZipFile(io.BytesIO(docx(body))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/_rels/document.xml.rels"] = relations({"n": ("numbering", "n.xml")})
    return zipped(parts | {"word/n.xml": f'<numbering xmlns="{word}">{lists}</numbering>'})


def test_headings_and_items_of_word_have_the_numbers_that_word_shows():
    rows = [(1, 0, "Rent"), (1, 1, "Due"), (1, 2, "May"), (1, 2, "June"), (3, 0, "note"), (1, 1, "Late")]
    data = numbered(*rows, (1, 0, "Term"), (1, 1, "End"), (2, 0, "Annex"), (9, 0, "odd"))
    assert [text for *_, text in outline("a.docx", data)] == [
        "I. Rent", "I.1 Due", "(a) May", "(b) June", "note", "I.2 Late", "II. Term", "II.1 End", "I. Annex", "odd"
    ]  # fmt: skip
    assert document_of("a.docx", data).title == "Rent"


def test_numbers_of_sections_in_xml_stand_before_their_titles():
    inner = "<sec><label>2.1</label><title>Deposit</title><p>It is 40 euros.</p></sec>"
    source = f"<article><body><sec><label>2.</label><title>Fees</title>{inner}</sec></body></article>"
    assert [text for *_, text in outline("a.xml", source)] == ["2. Fees", "2.1 Deposit", "It is 40 euros."]


def test_formulas_on_slides_are_read_and_their_hidden_runs_are_not():
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    hidden = '<m:r><rPr sz="0"/><m:t>SECRET</m:t></m:r>'
    formula = f"<m:oMath {space}>{power('10', '6')}{hidden}</m:oMath>"
    slide = f"<sp><txBody><p><r><t>about </t></r>{formula}<r><t> cells</t></r></p></txBody></sp>"
    document = document_of("a.pptx", pptx(slide))
    assert (document.text, document.hidden) == ("about 10^6 cells", len("SECRET"))
