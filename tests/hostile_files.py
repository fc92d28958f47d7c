"""Files of a length to choose, made to cost a loader more than their length: data for tests and benchmarks.

`HOSTILE` maps a name to a function of a size n that gives (file name, bytes); bytes grow in proportion to n.
"""

import io
import zipfile
from collections.abc import Callable

from hostile_formats import FORMATS

File = tuple[str, bytes]

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def docx(body: str, *, styles: str = "") -> bytes:
    """A Word file with this body and these styles, stored without compression so that bytes grow with both."""

    def relations(*targets: tuple[str, str]) -> str:
        rows = "".join(
            f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
            for n, (kind, target) in enumerate(targets)
        )
        return f'<Relationships xmlns="{_RELATIONS}">{rows}</Relationships>'

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("_rels/.rels", relations(("officeDocument", "word/document.xml")))
        archive.writestr("word/_rels/document.xml.rels", relations(("styles", "styles.xml")))
        archive.writestr("word/styles.xml", f"<w:styles {_WORD}>{styles}</w:styles>")
        archive.writestr("word/document.xml", f"<w:document {_WORD}><w:body>{body}</w:body></w:document>")
    return buffer.getvalue()


def pdf(*contents: bytes, pages: int | None = None) -> bytes:
    """A PDF with a page for each content stream, or with `pages` pages that share the first one."""
    count = len(contents) if pages is None else pages
    first_page = 4 + len(contents)
    kids = b" ".join(b"%d 0 R" % (first_page + n) for n in range(count))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>>>"
        % (count, kids),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for content in contents:
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
    for number in range(count):
        objects.append(b"<</Type/Page/Parent 2 0 R/Contents %d 0 R>>" % (4 + number % len(contents)))
    return _written(objects)


def form_in_form(*, levels: int, times: int) -> bytes:
    """A PDF whose page shows a form so many times, which shows the next one so many times, and so on."""
    shown = b"/X Do " * times
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 595 842]>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(shown), shown),
    ]
    form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>/Length %d>>"
    form += b"stream\n%s\nendstream"
    objects += [form % (6 + level, len(shown), shown) for level in range(levels)]
    objects.append(form % (5 + levels, 13, b"0 0 9 9 re f "))
    return _written(objects)


def _written(objects: list[bytes]) -> bytes:
    """A PDF of these objects, the first of which is its catalog."""
    data = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    return bytes(data + end % (size, table, size, len(data)))


def _lines(*lines: bytes) -> bytes:
    shown = b"".join(b"(%s)Tj 0 -14 Td " % line for line in lines)
    return b"BT /F 12 Tf 40 800 Td %sET" % shown


def _page(text: str) -> File:
    return "a.html", text.encode()


def _markdown(text: str) -> File:
    return "a.md", text.encode()


def _paragraph(text: str, before: str = "") -> str:
    return f"<w:p>{before}<w:r><w:t>{text}</w:t></w:r></w:p>"


HOSTILE: dict[str, Callable[[int], File]] = {
    # plain text, Markdown and reStructuredText
    "text: one line": lambda n: ("a.txt", b"x" * n),
    "text: controls": lambda n: ("a.txt", "a\u200b\u202e\ufe0f\ufe0f".encode() * n),
    "text: joiners": lambda n: ("a.txt", b"a" + "\u200d".encode() * n),
    "rst: rule": lambda n: ("a.rst", b"Title\n" + b"=" * n + b"x\n" + b"=" * n),
    "rst: comments": lambda n: ("a.rst", b".. x\n\n" * n + b"text"),
    "markdown: spaces in a heading": lambda n: _markdown("# x" + " " * n + "y"),
    "markdown: marks in a heading": lambda n: _markdown("# x" + "#" * n + "y" + " #" * n),
    "markdown: rule": lambda n: _markdown("x\n" + "=" * n + " " * n + "x"),
    "markdown: front matter": lambda n: _markdown("---\ntitle:" + " " * n + "\n" + "---" + " " * n + "x"),
    "markdown: fences": lambda n: _markdown("```\n~~~\n" * n),
    "markdown: ticks": lambda n: _markdown("`a``b```c" * n),
    "markdown: ticks of all lengths": lambda n: _markdown("\n".join("`" * k for k in range(1, int(n**0.5)))),
    "markdown: open comments": lambda n: _markdown("a <!-- b " * n),
    "markdown: comments": lambda n: _markdown("a <!-- b --> c\n" * n),
    "markdown: open tags": lambda n: _markdown("a <a " * n),
    "markdown: open quotes": lambda n: _markdown("<a b='<a b=\"" * n),
    "markdown: long names": lambda n: _markdown("<" + "a" * n + "<a" * n),
    "markdown: hidden elements": lambda n: _markdown("<p hidden>x</p>a" * n),
    "markdown: hidden, never closed": lambda n: _markdown("<div hidden><div>" * n),
    "markdown: hidden spans, never closed": lambda n: _markdown("<span hidden>" * n),
    "markdown: styles": lambda n: _markdown("<style>" * n + "text"),
    "markdown: definitions": lambda n: _markdown("[a]: b (\n[a]: b \"\n[a]: b '\n\n" * n),
    "markdown: brackets": lambda n: _markdown("[a\\]: " * n),
    "markdown: backslashes": lambda n: _markdown("\\" * n),
    "markdown: blank lines": lambda n: _markdown("a\n" + " \n" * n + "`"),
    # HTML
    "html: nested div": lambda n: _page("<div>" * n + "deep"),
    "html: nested span": lambda n: _page("<span>" * n + "deep"),
    "html: nested in what is not closed": lambda n: _page("<span><div></span>" * n + "deep"),
    "html: paragraphs in divs": lambda n: _page("<div>" * 500 + "<p>x" * n),
    "html: items in divs": lambda n: _page("<div>" * 500 + "<li>x" * n),
    "html: closing what is not open": lambda n: _page("<b>" * 400 + "</i>" * n + "x"),
    "html: attributes": lambda n: _page("<p " + " ".join(f"a{k}" for k in range(n)) + ">x"),
    "html: attributes with quotes": lambda n: _page("<p " + "".join(f"a{k}='>'" for k in range(n)) + ">x"),
    "html: attributes of the body": lambda n: _page("".join(f"<body a{k}=1>" for k in range(n)) + "x"),
    "html: tags of 999 attributes": lambda n: _page(
        ("<p " + " ".join(f"a{k}" for k in range(999)) + ">x") * (n // 1000)
    ),
    "html: options": lambda n: _page("<select>" + "<option>x" * n + "</select>x"),
    "html: formatting, never closed": lambda n: _page("".join(f"<p><b a{k}>x" for k in range(n))),
    "html: nested tables": lambda n: _page("<table><tr><td>x" * n),
    "html: tables": lambda n: _page("<table><tr><td>x</table>" * n),
    "html: cells": lambda n: _page("<table><tr>" + "<td>x" * n + "</table>"),
    "html: rows": lambda n: _page("<table>" + "<tr><td>x" * n + "</table>"),
    "html: nested styles": lambda n: _page("<p style='color:red'>x" * n),
    "html: hidden elements": lambda n: _page("<b hidden>x</b>y" * n),
    "html: one style of many declarations": lambda n: _page("<p style='" + "display:block;" * n + "'>x"),
    "html: open comments in a style": lambda n: _page("<p style='" + "/*" * n + "'>x"),
    "html: escapes in a style": lambda n: _page("<p style='" + "\\64" * n + "'>x"),
    "html: rules": lambda n: _page("<style>" + ".a{display:none}" * n + "</style>" + "<p>x" * n),
    "html: rules that match": lambda n: _page("<style>" + "p{color:red}" * n + "</style>" + "<p>x" * n),
    "html: descendants": lambda n: _page(
        "<style>" + "b " * 15 + "i p{display:none}</style>" + "<b>" * 300 + "<p>x" * n
    ),
    "html: siblings": lambda n: _page("<style>i ~ p{display:none}</style>" + "<p>x" * n),
    "html: nested rules": lambda n: _page("<style>" + ".a{&&," * n + "</style>x"),
    "html: at-rules": lambda n: _page("<style>" + "@media screen{" * n + "</style>x"),
    "html: quotes in a sheet": lambda n: _page("<style>" + "\"'" * n + "</style>x"),
    "html: brackets in a selector": lambda n: _page("<style>" + ":not(" * n + "{display:none}</style>x"),
    "html: media queries": lambda n: _page("<style>@media " + "screen and," * n + "{p{color:red}}</style>x"),
    "html: comments": lambda n: _page("<!--" * n + "--><!-- -->" * n + "x"),
    "html: less-than": lambda n: _page("<" * n + "<a" * n + "</" * n + "x"),
    "html: open quotes": lambda n: _page("<a b='<a c=\"" * n),
    "html: titles": lambda n: _page("<title>x" * n + "</title><p>x"),
    "html: one long heading": lambda n: _page("<h1>" + "<i>x</i> " * n),
    "html: breaks": lambda n: _page("<br>x" * n),
    "html: entities": lambda n: _page("&amp;&#x41" * n),
    "html: nested lists": lambda n: _page("<ul><li>x" * n),
    "html: terms": lambda n: _page("<dl>" + "<dt>x<dd>y" * n),
    "html: headings in a table": lambda n: _page("<table><tr><td>" + "<div>" * 400 + "<h2>x</h2>" * n),
    "html: tables of one row": lambda n: _page("<table><tr><td><p>x</table>" * n),
    "html: column names": lambda n: _page(
        "<table><tr>" + "<th>long name of a column" * 50 + "<tr><td>x" * n + "</table>"
    ),
    "html: links": lambda n: _page("<p>" + "<a href=x>x</a> | " * n),
    "html: classes": lambda n: _page("<p class='" + "toc " * n + "'>x"),
    "html: spaces": lambda n: _page("<p>a" + " " * n + "b"),
    "html: punycode": lambda n: _page("<meta charset=punycode><p>x-" + "0a" * n),
    "html: preformatted": lambda n: _page("<pre>" + "<b>x</b>\n" * n),
    # tables and JSON Lines
    "csv: columns": lambda n: ("a.csv", b"a," * n + b"\n" + b"1," * n),
    "csv: columns and short rows": lambda n: ("a.csv", b"," * n + b"\n" + b"1\n" * n),
    "csv: long name and short rows": lambda n: ("a.csv", b"a" * min(n, 130_000) + b"\n" + b"1\n" * n),
    "csv: short header, long row": lambda n: ("a.csv", b"a\n" + b"1," * n),
    "csv: quotes": lambda n: ("a.csv", b"a\n" + b'"",' * n),
    "csv: open quotes": lambda n: ("a.csv", b"a\n" + b'"\n' * n),
    "csv: empty rows": lambda n: ("a.csv", b"a\n" + b"\n" * n + b"1"),
    "jsonl: rows": lambda n: ("a.jsonl", b'{"text":"x"}\n' * n),
    "jsonl: equal ids": lambda n: ("a.jsonl", b'{"id":"a","text":"x"}\n' * n),
    "jsonl: ids that are taken": lambda n: (
        "a.jsonl",
        "".join(f'{{"id":"a@{2 * k}","text":"x"}}\n{{"id":"a","text":"x"}}\n' for k in range(1, n)).encode(),
    ),
    "jsonl: depth": lambda n: ("a.jsonl", b'{"x":' + b"[" * n + b"]" * n + b"}"),
    "jsonl: fields": lambda n: ("a.jsonl", ("{" + ",".join(f'"k{k}":1' for k in range(n)) + "}").encode()),
    "jsonl: one long title": lambda n: ("a.jsonl", b'{"title":"' + b"x " * n + b'","text":"x"}'),
    "jsonl: digits": lambda n: ("a.jsonl", b"[" + b"9" * n + b"]"),
    # Word
    "docx: empty paragraphs": lambda n: ("a.docx", docx("<w:p/>" * n + _paragraph("x"))),
    "docx: paragraphs": lambda n: ("a.docx", docx(_paragraph("x") * n)),
    "docx: runs": lambda n: ("a.docx", docx("<w:p>" + "<w:r><w:t>x</w:t></w:r>" * n + "</w:p>")),
    "docx: rows": lambda n: (
        "a.docx",
        docx("<w:tbl>" + f"<w:tr><w:tc>{_paragraph('x')}</w:tc></w:tr>" * n + "</w:tbl>"),
    ),
    "docx: cells": lambda n: (
        "a.docx",
        docx("<w:tbl><w:tr>" + f"<w:tc>{_paragraph('x')}</w:tc>" * n + "</w:tr></w:tbl>"),
    ),
    "docx: merged rows": lambda n: (
        "a.docx",
        docx(
            f"<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{_paragraph('x' * n)}</w:tc></w:tr>"
            + "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>" * n
            + "</w:tbl>"
        ),
    ),
    "docx: a cell over a billion columns": lambda n: (
        "a.docx",
        docx(
            "<w:tbl>"
            + f"<w:tr><w:tc><w:tcPr><w:gridSpan w:val='1000000000'/></w:tcPr>{_paragraph('x')}</w:tc></w:tr>"
            * n
            + "</w:tbl>"
        ),
    ),
    "docx: nested tables": lambda n: (
        "a.docx",
        docx("<w:tbl><w:tr><w:tc>" * n + "</w:tc></w:tr></w:tbl>" * n),
    ),
    "docx: nested text boxes": lambda n: (
        "a.docx",
        docx("<w:p><w:r><w:txbxContent>" * n + _paragraph("x") + "</w:txbxContent></w:r></w:p>" * n),
    ),
    "docx: depth": lambda n: ("a.docx", docx("<w:a>" * n + "</w:a>" * n + _paragraph("x"))),
    "docx: attributes": lambda n: ("a.docx", docx("<w:p " + " ".join(f'a{k}=""' for k in range(n)) + "/>")),
    "docx: styles": lambda n: (
        "a.docx",
        docx(
            "".join(_paragraph("x", f'<w:pPr><w:pStyle w:val="s{k}"/></w:pPr>') for k in range(n)),
            styles="".join(
                f'<w:style w:type="paragraph" w:styleId="s{k}"><w:basedOn w:val="s{k + 1}"/></w:style>'
                for k in range(n)
            ),
        ),
    ),
    "docx: fields": lambda n: (
        "a.docx",
        docx(
            "<w:p><w:r><w:fldChar w:fldCharType='begin'/><w:instrText>TOC</w:instrText><w:t>x</w:t></w:r></w:p>"
            * n
        ),
    ),
    "docx: items": lambda n: (
        "a.docx",
        docx(
            "".join(
                _paragraph("x", f"<w:pPr><w:numPr><w:ilvl w:val='{k}'/></w:numPr></w:pPr>") for k in range(n)
            )
        ),
    ),
    "docx: a header of many names": lambda n: (
        "a.docx",
        docx(
            "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>"
            + f"<w:tc>{_paragraph('name' * 10)}</w:tc>" * 50
            + "</w:tr>"
            + f"<w:tr>{'<w:tc><w:p/></w:tc>' * 49}<w:tc>{_paragraph('x')}</w:tc></w:tr>" * (n // 20)
            + "</w:tbl>"
        ),
    ),
    # PDF
    "pdf: two lines of letters": lambda n: ("a.pdf", pdf(_lines(b"x" * n, b"y" * n))),
    "pdf: lines": lambda n: ("a.pdf", pdf(_lines(*[b"some words here"] * (n // 4)))),
    "pdf: lines of one paragraph": lambda n: (
        "a.pdf",
        pdf(*[_lines(*[b"and this goes on and on over the line"] * 50)] * (n // 200)),
    ),
    "pdf: hyphens": lambda n: ("a.pdf", pdf(_lines(b"x-" * n, b"y" + b"-y" * n))),
    "pdf: stops": lambda n: ("a.pdf", pdf(_lines(b'."' * n + b"x", b'."' * n))),
    "pdf: pages": lambda n: ("a.pdf", pdf(*[_lines(b"Some words.")] * (n // 20))),
    "pdf: pages that share their content": lambda n: (
        "a.pdf",
        pdf(_lines(*[b"Some words."] * (n // 4)), pages=n // 4),
    ),
    "pdf: painted boxes": lambda n: ("a.pdf", pdf(b"1 0 0 rg 9 9 9 9 re f 1 g BT /F 9 Tf (x)Tj ET " * n)),
    "pdf: letters apart": lambda n: (
        "a.pdf",
        pdf(b"BT /F 9 Tf 1 0 0 1 9 9 Tm (x)Tj 1 0 0 1 300 400 Tm (x)Tj ET " * (n // 4)),
    ),
    "pdf: letters of one width": lambda n: (
        "a.pdf",
        pdf(*[_lines(*[b"a  b"] * 50)] * (n // 200)).replace(b"/Helvetica", b"/Courier"),
    ),
    "pdf: headers, items and numbers": lambda n: (
        "a.pdf",
        pdf(*[_lines(b"1.1 Of this", b"1. one", b"- two", b"three . . . . 4", b"x 5")] * (n // 20)),
    ),
    "pdf: saved states": lambda n: ("a.pdf", pdf(b"q " * n + _lines(b"Some words."))),
    **FORMATS,
}

ENDED = {
    "html: nested div": 128_000,
    "html: nested in what is not closed": 128_000,
    "html: nested lists": 64_000,
    "html: attributes": 128_000,
    "html: attributes with quotes": 128_000,
    "html: attributes of the body": 128_000,
    "html: formatting, never closed": 8_000,
    "html: rules": 64_000,
    "html: rules that match": 16_000,
    "html: siblings": 256_000,
}
"""Forms of the square of their length, and a size that takes longer than a worker may."""
