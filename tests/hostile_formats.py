"""Hostile files of EPUB, OpenDocument, Excel, PowerPoint, JSON, mail, source code, AsciiDoc and RTF."""

from collections.abc import Callable

from office_files import epub, odt, pptx, xlsx

FORMATS: dict[str, Callable[[int], tuple[str, bytes]]] = {
    # EPUB and OpenDocument
    "epub: chapters": lambda n: ("a.epub", epub(*["<p>x"] * (n // 20))),
    "epub: tags that close themselves": lambda n: ("a.epub", epub("<a/><p/>x" * n)),
    "epub: tags that never close": lambda n: ("a.epub", epub("<a <a/" * n)),
    "epub: a long style sheet for every chapter": lambda n: (
        "a.epub",
        epub(
            *['<link rel="stylesheet" href="s"/><p>x'] * (n // 50), more={"in/s": ".a{color:red}" * (n // 10)}
        ),
    ),
    "epub: chapters of different styles": lambda n: (
        "a.epub",
        epub(
            *[f'<link rel="stylesheet" href="s"/><style>i{k}{{}}</style><p>x' for k in range(n // 50)],
            more={"in/s": ".a{color:red}" * (n // 10)},
        ),
    ),
    "odt: paragraphs": lambda n: ("a.odt", odt("<text:p>x</text:p>" * n)),
    "odt: nested spans": lambda n: (
        "a.odt",
        odt("<text:p>" + "<text:span>" * n + "</text:span>" * n + "</text:p>"),
    ),
    "odt: nested lists": lambda n: (
        "a.odt",
        odt("<text:list><text:list-item><text:p>x</text:p>" * n + "</text:list-item></text:list>" * n),
    ),
    "odt: nested paragraphs": lambda n: ("a.odt", odt("<text:p>x" * n + "</text:p>" * n)),
    "odt: spaces": lambda n: ("a.odt", odt("<text:p>x" + '<text:s text:c="999999999"/>' * n + "</text:p>")),
    "odt: repeated cells": lambda n: (
        "a.odt",
        odt(
            "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>"
            + '<table:table-cell table:number-columns-repeated="999"/>' * n
            + "</table:table-row></table:table>"
        ),
    ),
    "odt: styles": lambda n: (
        "a.odt",
        odt(
            "".join(f'<text:p text:style-name="s{k}">x</text:p>' for k in range(n)),
            styles="".join(
                f'<style:style style:family="paragraph" style:name="s{k}" style:parent-style-name="s{k + 1}"/>'
                for k in range(n)
            ),
        ),
    ),
    # Excel and PowerPoint
    "xlsx: rows": lambda n: ("a.xlsx", xlsx("<row><c><v>1</v></c></row>" * n)),
    "xlsx: cells": lambda n: ("a.xlsx", xlsx("<row>" + "<c><v>1</v></c>" * n + "</row>")),
    "xlsx: empty rows": lambda n: ("a.xlsx", xlsx("<row/>" * n + "<row><c><v>1</v></c></row>")),
    "xlsx: a diagonal": lambda n: (
        "a.xlsx",
        xlsx(
            "".join(f'<row><c r="{chr(65 + k % 26)}{chr(65 + k % 17)}"><v>1</v></c></row>' for k in range(n))
        ),
    ),
    "xlsx: long column names": lambda n: (
        "a.xlsx",
        xlsx(
            "<row>"
            + f'<c t="str"><v>{"name " * 10}</v></c>' * 100
            + "</row>"
            + "<row><c><v>1</v></c></row>" * n
        ),
    ),
    "xlsx: a text shared by all cells": lambda n: (
        "a.xlsx",
        xlsx("<row>" + '<c t="s"><v>0</v></c>' * (n // 10) + "</row>", shared=("x" * n,)),
    ),
    "xlsx: hidden columns": lambda n: (
        "a.xlsx",
        xlsx(
            "<cols>" + '<col min="1" max="999999999" hidden="1"/>' * n + "</cols><row><c><v>1</v></c></row>"
        ),
    ),
    "xlsx: sheets": lambda n: ("a.xlsx", xlsx(*["<row><c><v>1</v></c></row>"] * (n // 20))),
    "xlsx: formats": lambda n: (
        "a.xlsx",
        xlsx(
            "".join(f'<row><c s="{k}"><v>1</v></c></row>' for k in range(n)),
            styles="<cellXfs>" + "".join(f'<xf numFmtId="{k}"/>' for k in range(n)) + "</cellXfs>",
        ),
    ),
    "pptx: slides": lambda n: ("a.pptx", pptx(*["<sp><txBody><p><t>x</t></p></txBody></sp>"] * (n // 20))),
    "pptx: paragraphs": lambda n: ("a.pptx", pptx("<sp><txBody>" + "<p><t>x</t></p>" * n + "</txBody></sp>")),
    "pptx: nested groups": lambda n: (
        "a.pptx",
        pptx("<grpSp>" * n + "<sp><p><t>x</t></p></sp>" + "</grpSp>" * n),
    ),
    "pptx: nested tables": lambda n: ("a.pptx", pptx("<tbl><tr><tc>" * n + "</tc></tr></tbl>" * n)),
    "pptx: clear letters": lambda n: (
        "a.pptx",
        pptx(
            "<sp><p>" + '<rPr><solidFill><c><alpha val="0"/>' * n + "</c></solidFill></rPr>" * n + "</p></sp>"
        ),
    ),
    # JSON, mail, source code, AsciiDoc and RTF
    "json: rows": lambda n: ("a.json", b"[" + b",".join([b'{"text":"x"}'] * n) + b"]"),
    "json: depth": lambda n: ("a.json", b'{"a":' * n + b"1" + b"}" * n),
    "json: objects inside one another": lambda n: (
        "a.json",
        b"[" + b",".join([b'{"a":' * 300 + b"1" + b"}" * 300] * (n // 100)) + b",1]",
    ),
    "json: keys": lambda n: (
        "a.json",
        ("{" + ",".join(f'"k{k}":{{"a":1}}' for k in range(n)) + "}").encode(),
    ),
    "json: long keys": lambda n: (
        "a.json",
        b'{"' + b"x " * n + b'":{"a":' + b"[1]," * 0 + b"[" + b"1," * n + b"1]}}",
    ),
    "eml: headers": lambda n: ("a.eml", b"Subject: x\n" * n + b"\nx"),
    "eml: a long header": lambda n: ("a.eml", b"Subject: " + b"=?utf-8?q?x?= " * n + b"\n\nx"),
    "eml: folded lines": lambda n: ("a.eml", b"Subject: x\n" + b" y\n" * n + b"\nx"),
    "eml: addresses": lambda n: ("a.eml", b"From: " + b'<("a@' * n + b"\n\nx"),
    "eml: nested parts": lambda n: (
        "a.eml",
        b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (k, k) for k in range(n // 50))
        + b"x",
    ),
    "eml: parts": lambda n: (
        "a.eml",
        b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * n + b"--b--",
    ),
    "eml: parameters": lambda n: (
        "a.eml",
        b"Subject: x\nContent-Type: text/plain" + b"".join(b"; a*%d=x" % k for k in range(n)) + b"\n\nx",
    ),
    "eml: quotes in parameters": lambda n: (
        "a.eml",
        b"Subject: x\nContent-Type: a/b; c=" + b'";\\' * n + b"\n\nx",
    ),
    "eml: lines": lambda n: ("a.eml", b"Subject: x\n\n" + b"- x\n\n> y\n" * n),
    "eml: one list": lambda n: ("a.eml", b"Subject: x\n\n- x\n" + b"y\n" * n),
    "eml: encoded lines": lambda n: (
        "a.eml",
        b"Subject: x\nContent-Transfer-Encoding: quoted-printable\n\n" + b"=\n=41" * n,
    ),
    "source: lines": lambda n: ("a.py", b"x\n\n" * n),
    "source: indented lines": lambda n: ("a.py", b"x\n" + b"\n    y\n" * n),
    "source: a long indent": lambda n: ("a.py", b"x\n\n" + b" " * n + b"y\n\n" + b"\t" * n),
    "adoc: items": lambda n: ("a.adoc", b"* x\n- x\n. x\n" * n),
    "adoc: marks": lambda n: ("a.adoc", b"*" * n + b"\n" + b"=" * n + b"x\n" + b"-" * n),
    "adoc: terms": lambda n: ("a.adoc", b"a::\n" * n),
    "adoc: colons": lambda n: ("a.adoc", b"a:b" * n + b"::x\n" + b":" * n),
    "adoc: rows": lambda n: ("a.adoc", b"|===\n" + b"|a\n\n|b |c\n" * n),
    "adoc: comments": lambda n: ("a.adoc", b"////\nx\n////\n// y\n" * n + b"x"),
    "adoc: brackets": lambda n: ("a.adoc", b"[" * n + b"\n[a" * n),
    "rtf: groups": lambda n: ("a.rtf", b"{\\rtf1 x" + b"{" * n),
    "rtf: groups, closed": lambda n: ("a.rtf", b"{\\rtf1 x" + b"{\\b x}" * n + b"}"),
    "rtf: bytes": lambda n: ("a.rtf", b"{\\rtf1 " + b"\\'fc" * n + b"}"),
    "rtf: paragraphs": lambda n: ("a.rtf", b"{\\rtf1 " + b"x\\par " * n + b"}"),
    "rtf: cells": lambda n: ("a.rtf", b"{\\rtf1\\intbl " + b"x\\cell\\row " * n + b"}"),
    "rtf: rows of different widths": lambda n: (
        "a.rtf",
        b"{\\rtf1\\intbl "
        + b"".join(b"\\trowd\\clvmrg\\cellx%d x\\cell\\row " % (200 * k) for k in range(n))
        + b"}",
    ),
    "rst: tables of directives": lambda n: (
        "a.rst",
        b".. list-table::\n\n" + b"   * - x\n     - y\n" * n + b".. csv-table::\n\n   a,b\n" * n,
    ),
    "md: crossed out": lambda n: ("a.md", b"~~a b " * n + b"\n" + b"~~a~~ ~~~ ~~" * n),
    "ods: rows": lambda n: (
        "a.ods",
        odt(
            "<office:spreadsheet><table:table>" + "<table:table-column/><table:table-row><table:table-cell>"
            "<text:p>x</text:p></table:table-cell></table:table-row><table:table-row/>"
            * n
            + "</table:table></office:spreadsheet>"
        ),
    ),
    "odt: notes": lambda n: (
        "a.odt",
        odt(
            "<text:p>x<text:note><text:note-body><text:p>y</text:p></text:note-body></text:note></text:p>" * n
        ),
    ),
    "ics: entries": lambda n: ("a.ics", b"BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n" * n),
    "ics: names": lambda n: ("a.ics", b"BEGIN:VEVENT\n" + b"SUMMARY;a=b;c:x\n y\n" * n + b"END:VEVENT\n"),
    "srt: cues": lambda n: ("a.srt", b"00:00:01,000 --> 00:00:02,000\nx y\n\n" * n),
    "ipynb: cells": lambda n: (
        "a.ipynb",
        b'{"cells":[' + b",".join([b'{"cell_type":"raw","source":"x"}'] * n) + b"]}",
    ),
    "eml: attachments of one name": lambda n: (
        "a.eml",
        b"Subject: x\nContent-Type: multipart/mixed; boundary=B\n\n"
        + b'--B\nContent-Type: x/y; name="a.txt"\n\nx\n' * n
        + b"--B--\n",
    ),
    "mbox: messages": lambda n: ("a.mbox", b"From x\nSubject: x\n\ny\n\n" * n),
    "rtf: colours": lambda n: (
        "a.rtf",
        b"{\\rtf1{\\colortbl" + b"\\red1;" * n + b"}" + b"\\cf9 x" * n + b"}",
    ),
    "rtf: long words": lambda n: ("a.rtf", b"{\\rtf1 \\" + b"a" * n + b"\\b" + b"9" * n + b" x}"),
    "rtf: titles": lambda n: ("a.rtf", b"{\\rtf1{\\info" + b"{\\title x}" * n + b"}x}"),
}
