"""Text of Word documents that no reader sees is left out and counted."""

import pytest

from blocks_of import document_of
from hiding import hides, run
from hostile_files import docx

W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
NO_FILL = "<w14:noFill/>"
CLEAR_FILL = (
    '<w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr></w14:solidFill>'
)


def effect(*parts):
    """What letters are painted with: the fill and the outline, each by its kind or colour."""
    said = ""
    for name, ink in zip(("textFill", "textOutline"), parts, strict=False):
        paint = f'<w14:solidFill><w14:srgbClr w14:val="{ink}"/></w14:solidFill>'
        said += f"<w14:{name} {W14}>{paint if ink.isalnum() else ink}</w14:{name}>"
    return said


def style(name, properties, kind="paragraph", more=""):
    return f'<w:style w:type="{kind}" w:styleId="{name}">{more}<w:rPr>{properties}</w:rPr></w:style>'


class TestWord:
    @pytest.mark.parametrize(
        ("properties", "hidden"),
        [
            ("<w:vanish/>", True),
            ('<w:vanish w:val="1"/>', True),
            ('<w:vanish w:val="0"/>', False),
            ('<w:sz w:val="1"/>', True),
            ('<w:sz w:val="0"/>', True),
            ('<w:sz w:val="12"/>', False),
            ('<w:color w:val="FFFFFF"/>', True),
            ('<w:color w:val="FEFEFE"/>', True),
            ('<w:color w:val="auto"/>', False),
            ('<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000000"/>', False),
            ('<w:color w:val="FFFFFF"/><w:highlight w:val="blue"/>', False),
            ('<w:color w:val="112233"/><w:shd w:val="clear" w:fill="112233"/>', True),
            ('<w:rStyle w:val="Quiet"/>', True),
            ('<w:rStyle w:val="Based"/>', True),
            ('<w:rStyle w:val="Quiet"/><w:vanish w:val="0"/>', False),
            ("<w:webHidden/>", False),
            (effect(NO_FILL), True),
            (effect(NO_FILL, NO_FILL), True),
            (effect(NO_FILL, "FFFFFF"), True),
            (effect(CLEAR_FILL), True),
            (effect("FEFEFE"), True),
            (effect(NO_FILL, "4472C4"), False),
            (effect("FFFFFF", "4472C4"), False),
            (effect("000000", "FFFFFF"), False),
            (effect("<w14:gradFill/>"), False),
            ('<w:color w:val="FFFFFF"/>' + effect("<w14:gradFill/>"), True),
            ('<w:color w:val="FFFFFF"/>' + effect("000000"), False),
        ],
    )
    def test_runs(self, properties, hidden):
        sheet = style("Quiet", "<w:vanish/>", "character") + style(
            "Based", "", "character", '<w:basedOn w:val="Quiet"/>'
        )
        body = f"<w:p>{run('seen')}{run('SECRET', properties)}{run(' too')}</w:p>"
        assert hides("a.docx", docx(body, styles=sheet)) == hidden

    @pytest.mark.parametrize(
        ("body", "hidden"),
        [
            (f'<w:p><w:pPr><w:pStyle w:val="Quiet"/></w:pPr>{run("SECRET")}</w:p>', True),
            (f"<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run('SECRET')}</w:p>", False),
            ("<w:p><w:del><w:r><w:delText>SECRET</w:delText></w:r></w:del></w:p>", True),
            (f"<w:p><w:moveFrom>{run('SECRET')}</w:moveFrom></w:p>", True),
            (f"<w:p><w:ins>{run('SECRET')}</w:ins></w:p>", False),
            (
                f"<w:p><w:r><w:pict><w:txbxContent><w:p>{run('SECRET')}</w:p></w:txbxContent></w:pict></w:r></w:p>",
                False,
            ),
            (f"<w:sdt><w:sdtContent><w:p>{run('SECRET')}</w:p></w:sdtContent></w:sdt>", False),
        ],
    )
    def test_paragraphs(self, body, hidden):
        data = docx(f"<w:p>{run('seen')}</w:p>{body}", styles=style("Quiet", "<w:vanish/>"))
        assert hides("a.docx", data) == hidden

    @pytest.mark.parametrize(
        ("shape", "hidden"),
        [
            ("<w:pict><w:shape style='width:9pt;visibility:hidden'>{}</w:shape></w:pict>", True),
            (
                "<w:pict><w:group style='Visibility: hidden'><w:shape style='x:y'>{}</w:shape></w:group></w:pict>",
                True,
            ),
            ("<w:pict><w:shape style='visibility:visible'>{}</w:shape></w:pict>", False),
            ("<w:drawing><w:anchor hidden='1'>{}</w:anchor></w:drawing>", True),
            ("<w:drawing><w:anchor hidden='0'>{}</w:anchor></w:drawing>", False),
            ("<w:drawing><w:inline><w:docPr hidden='true'/>{}</w:inline></w:drawing>", True),
            ("<w:drawing><w:anchor><w:wsp><w:cNvPr hidden='1'/>{}</w:wsp></w:anchor></w:drawing>", True),
        ],
    )
    def test_text_boxes(self, shape, hidden):
        text = f"<w:txbxContent><w:p>{run('SECRET')}</w:p></w:txbxContent>"
        body = f"<w:p>{run('seen')}</w:p><w:p><w:r>{shape.format(text)}</w:r></w:p>"
        assert hides("a.docx", docx(body)) == hidden

    @pytest.mark.parametrize(
        ("properties", "cell", "hidden"),
        [
            ("", "", True),
            ('<w:tblStyle w:val="Grand"/>', "", False),
            ("", '<w:shd w:val="clear" w:fill="000080"/>', False),
            ("", '<w:shd w:val="clear" w:fill="FFFFFF"/>', True),
        ],
    )
    def test_white_letters_in_a_table(self, properties, cell, hidden):
        white = run("SECRET", '<w:color w:val="FFFFFF"/>')
        table = (
            f"<w:tbl><w:tblPr>{properties}</w:tblPr><w:tr><w:tc><w:tcPr>{cell}</w:tcPr>"
            f"<w:p>{white}</w:p></w:tc></w:tr></w:tbl>"
        )
        assert hides("a.docx", docx(f"<w:p>{run('seen')}</w:p>{table}")) == hidden

    def test_a_field_code_is_no_text(self):
        body = f"<w:p>{run('seen')}<w:r><w:instrText>SECRET</w:instrText></w:r></w:p>"
        assert document_of("a.docx", docx(body)).text == "seen"
