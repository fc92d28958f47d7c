"""EPUB books and OpenDocument texts: blocks, order, titles, hidden text, and what is refused."""

import pytest

from blocks_of import document_of, outline
from equipoise.core.errors import UnreadableFile
from hiding import hides
from office_files import epub, odt, zipped


def page(body, head=""):
    return f'<?xml version="1.0"?><html><head>{head}</head><body>{body}</body></html>'


class TestEpub:
    def test_chapters_come_in_their_order_with_their_blocks(self):
        first = page("<h1>One</h1><p>Text <a id='x'/>of one.</p>", "<title/><script src='x'/>")
        book = epub(
            page("<h1>Two</h1>"), first, page("no"), order="<itemref idref='c1'/><itemref idref='c0'/>"
        )
        assert outline("a.epub", book) == [
            ("heading", 1, "", "One"),
            ("paragraph", 0, "", "Text of one."),
            ("heading", 1, "", "Two"),
        ]
        assert document_of("a.epub", book).title == "The book"
        assert document_of("name.epub", epub(page("x"), title=" ")).title == "name"

    def test_its_table_of_contents_is_asides(self):
        contents = page("<nav><ol><li><a href='x'>One</a></li></ol></nav>")
        assert outline("a.epub", epub(contents, page("<p>Text.</p>")))[0][0] == "aside"

    def test_style_sheets_in_the_book_hide(self):
        chapter = page(
            "<p>seen</p><p class='c'>SECRET</p>", '<link rel="stylesheet" href="../css/a%20b.css"/>'
        )
        loaded = document_of("a.epub", epub(chapter, more={"css/a b.css": ".c{display:none}"}))
        assert (loaded.text, loaded.hidden) == ("seen", 6)
        assert "SECRET" in document_of("a.epub", epub(chapter)).text

    def test_protected_books_are_refused(self):
        locked = '<e><CipherReference URI="in/c0.xhtml"/></e>'
        with pytest.raises(UnreadableFile, match="protected"):
            document_of("a.epub", epub(page("x"), more={"META-INF/encryption.xml": locked}))
        fonts = '<e><CipherReference URI="in/font.otf"/></e>'
        assert document_of("a.epub", epub(page("x"), more={"META-INF/encryption.xml": fonts})).text == "x"

    @pytest.mark.parametrize("data", [b"PK\3\4 no zip", zipped({"a": "b"}), epub("<p>x")[:200]])
    def test_broken(self, data):
        with pytest.raises(UnreadableFile, match="EPUB file is broken"):
            document_of("a.epub", data)


STYLES = """
<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>
<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:style style:name="W" style:family="text"><style:text-properties fo:color="#FFFFFF"/></style:style>
<style:style style:name="S" style:family="text"><style:text-properties fo:font-size="1pt"/></style:style>
<style:style style:name="T" style:family="paragraph" style:parent-style-name="Title"/>
<style:style style:name="Title" style:family="paragraph"/>
<style:style style:name="A" style:family="paragraph" style:parent-style-name="B"/>
<style:style style:name="B" style:family="paragraph" style:parent-style-name="A"/>
"""


FIELD = "<text:hidden-paragraph text:condition='ooow:1' text:is-hidden='true'/>"


def text(content, style=""):
    return f'<text:p text:style-name="{style}">{content}</text:p>'


def item(*content):
    return f"<text:list-item>{''.join(content)}</text:list-item>"


def row(*cells):
    inside = "".join(f"<table:table-cell>{text(cell)}</table:table-cell>" for cell in cells)
    return f"<table:table-row>{inside}</table:table-row>"


def blocks(body):
    return outline("a.odt", odt(body, styles=STYLES))


class TestOdt:
    def test_headings_lists_and_code(self):
        nested = f"<text:list>{item(text('deep'))}</text:list>"
        body = (
            text("Name", "T")
            + '<text:h text:outline-level="2">Start</text:h>'
            + text("Do   <text:span>this</text:span><text:s text:c='2'/>now:<text:line-break/>\n all")
            + f"<text:list>{item(text('one'), text('more'), nested)}{item(text('two'))}</text:list>"
            + text("if x:", "P1")
            + text("<text:s text:c='4'/>y()", "P1")
            + text("Done.", "A")
        )
        assert blocks(body) == [
            ("heading", 1, "", "Name"),
            ("heading", 2, "", "Start"),
            ("paragraph", 0, "", "Do this  now:\n all"),
            ("item", 1, "Do this  now:\n all", "one"),
            ("paragraph", 0, "one", "more"),
            ("item", 2, "more", "deep"),
            ("item", 1, "Do this  now:\n all", "two"),
            ("code", 0, "two", "if x:\n    y()"),
            ("paragraph", 0, "", "Done."),
        ]

    def test_tables(self):
        head = f"<table:table-header-rows>{row('What', 'Cost')}</table:table-header-rows>"
        nested = f"<table:table-cell><table:table>{row('x', 'y')}</table:table></table:table-cell>"
        body = (
            text("Prices:")
            + f"<table:table>{head}{row('Tea', '2')}</table:table>"
            + f"<table:table><table:table-row>{nested}<table:table-cell table:number-columns-repeated='999'/>"
            + "</table:table-row></table:table>"
        )
        assert blocks(body)[1:-1] == [
            ("aside", 0, "Prices:", "What | Cost"),
            ("row", 0, "Prices:", "What: Tea; Cost: 2"),
        ]
        assert blocks(body)[-1][3] == "x | y"

    def test_indexes_are_asides_and_notes_stand_below_their_paragraph(self):
        body = f"<text:table-of-content><text:index-body>{text('Start 1')}</text:index-body></text:table-of-content>"
        note = (
            "<text:note><text:note-citation>1</text:note-citation>"
            "<text:note-body><text:p>But not in May.</text:p></text:note-body></text:note>"
        )
        assert [(kind, intro, text) for kind, _, intro, text in blocks(body + text(f"Text{note}."))] == [
            ("aside", "", "Start 1"),
            ("paragraph", "", "Text."),
            ("paragraph", "Text.", "But not in May."),
        ]

    @pytest.mark.parametrize(
        "hidden",
        [
            "<text:span text:style-name='H'>SECRET</text:span>",
            "<text:span text:style-name='W'>SECRET</text:span>",
            "<text:span text:style-name='S'>SECRET</text:span>",
            "<text:hidden-text text:is-hidden='true'>SECRET</text:hidden-text>",
        ],
    )
    def test_hidden_text(self, hidden):
        loaded = document_of("a.odt", odt(text(f"seen {hidden}"), styles=STYLES))
        assert (loaded.text, loaded.hidden) == ("seen", 6)

    @pytest.mark.parametrize(
        ("paragraph", "hidden"),
        [
            (f"<text:p>{FIELD}SECRET</text:p>", True),
            (f"<text:p>SEC<text:span>RET{FIELD}</text:span></text:p>", True),
            (f"<text:h>{FIELD}SECRET</text:h>", True),
            (f"<text:list>{item(text(f'SECRET{FIELD}'))}</text:list>", True),
            (f"<table:table>{row(f'{FIELD}SECRET', 'x')}</table:table>", True),
            (
                f"<text:p>{FIELD}x<draw:frame><draw:text-box>{text('SECRET')}</draw:text-box></draw:frame></text:p>",
                True,
            ),
            (
                f"<text:p>SECRET<draw:frame><draw:text-box>{text(FIELD)}</draw:text-box></draw:frame></text:p>",
                False,
            ),
            (f"<text:p>{FIELD.replace('true', 'false')}SECRET</text:p>", False),
            ("<text:p text:style-name='H'>SECRET</text:p>", True),
        ],
    )
    def test_hidden_paragraphs(self, paragraph, hidden):
        assert hides("a.odt", odt(text("seen") + paragraph, styles=STYLES)) == hidden

    def test_a_hidden_section_and_white_letters_on_dark_paper(self):
        section = f"<text:section text:display='none'>{text('SECRET')}</text:section>"
        assert document_of("a.odt", odt(text("seen") + section)).text == "seen"
        dark = "<style:page-layout><style:page-layout-properties fo:background-color='#000000'/></style:page-layout>"
        white = text("<text:span text:style-name='W'>seen</text:span>")
        assert document_of("a.odt", odt(white, styles=STYLES + dark)).text == "seen"

    def test_titles(self):
        assert document_of("a.odt", odt(text("x"), title="Named")).title == "Named"
        assert document_of("a.odt", odt("<text:h>Head</text:h>")).title == "Head"
        assert document_of("name.odt", odt(text("x"))).title == "name"

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"PK\3\4 no zip", "OpenDocument file is broken"),
            (odt(text("x"), more={"META-INF/manifest.xml": "<m><encryption-data/></m>"}), "has a password"),
            (
                odt(
                    "<table:table><table:table-row><table:table-cell>" * 1_000
                    + "</table:table-cell></table:table-row></table:table>" * 1_000
                ),
                "nested",
            ),
            (zipped({"content.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}), "broken"),
            (zipped({"content.xml": b" " * 60_000_000}, packed=True), "unpacks to more than"),
        ],
    )
    def test_what_is_refused(self, data, says):
        with pytest.raises(UnreadableFile, match=says):
            document_of("a.odt", data)


def test_comments_headers_and_footers_of_a_text():
    note = (
        "<office:annotation><dc:creator>Ann</dc:creator><text:p>Until</text:p><text:p>"
        "May.</text:p></office:annotation>"
    )
    margins = (
        "<text:p>Secret until May</text:p>",
        "<text:p>Page <text:page-number>2</text:page-number></text:p>",
    )
    master = (
        f"<office:document-styles xmlns:office='o' xmlns:style='s' xmlns:text='t'><style:header>"
        f"{margins[0]}</style:header>"
        f"<style:footer>{margins[1]}</style:footer><style:footer>{margins[0]}</style:footer>"
        f"</office:document-styles>"
    )
    assert outline("a.odt", odt(f"<text:p>It is 4 euros{note}.</text:p>", more={"styles.xml": master})) == [
        ("paragraph", 0, "", "It is 4 euros."),
        ("paragraph", 0, "It is 4 euros.", "Comment by Ann: Until May."),
        ("paragraph", 0, "", "Secret until May"),
    ]


class TestSheets:
    def row(self, *texts):
        cells = (f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in texts)
        rest = "<table:table-cell table:number-columns-repeated='900'/>"
        return f"<table:table-row>{''.join(cells)}{rest}</table:table-row>"

    def test_sheets_are_headings_and_empty_rows_part_tables(self):
        hidden = '<table:table-column/><table:table-column table:visibility="collapse"/>'
        rows = (
            self.row("Boat", "SECRET", "Day")
            + self.row("Punt", "SECRET", "9.50 EUR")
            + self.row("Canoe", "", "7")
        )
        boats = f'<table:table table:name="Boats">{hidden}{rows}{self.row()}{self.row("Not in winter.")}</table:table>'
        away = f'<table:table table:name="Away" table:style-name="A">{self.row("SECRET")}</table:table>'
        styles = (
            '<style:style style:name="A" style:family="table">'
            '<style:table-properties table:display="false"/>'
            "</style:style>"
        )
        data = odt(f"<office:spreadsheet>{boats}{away}</office:spreadsheet>", styles=styles)
        assert outline("a.ods", data) == [
            ("heading", 1, "", "Boats"),
            ("aside", 0, "", "Boat | Day"),
            ("row", 0, "", "Boat: Punt; Day: 9.50 EUR"),
            ("row", 0, "", "Boat: Canoe; Day: 7"),
            ("paragraph", 0, "", "Not in winter."),
        ]
        assert document_of("a.ods", data).hidden == 3 * len("SECRET")
