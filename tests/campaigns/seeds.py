"""What the fuzz target starts from: small files of every kind and a store, built here."""

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import docx
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

import office_files
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from hashed_words import HashedWords

PROSE = (
    'Dr. Smith said: "I am here." He paid 1,200.50 dollars (about 5 °C) to the U.S. Embassy; see Fig. 3.\n'
    "It’s a well-known “fact” that twenty-three miners found 2.5 million ounces in 1851. Why? Nobody knows!\n\n"
    "# Heading\n- one item\n- two\n\n1. First step.\n2. Second step.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    "3.2 Methods\nWe use a hyphen-\nated word, e.g. here.\n\n```py\nx = {1: [2]}\n```\n"
)
QUESTIONS = (
    "Who found the gold? When did he leave it?",
    "1. What is the fee?\n2. Is it due in May?",
    "Is the bridge open (or is it closed? who knows?) and how long does it take to cross?",
    'I am a member. Who said "Why? Because!" and what does it cost to park?',
)
CALLS = (
    'Sure: send_email("a@b.example", body=\'Hi {"x": 1}\') and send_email(to=a, body=`b`)\n',
    r'{"answer": "send_email(\n  to=\"a@b.example\",\n  body=\"Hi there\"\n)"}',
)
TEXTS = (PROSE, *QUESTIONS, *CALLS)

MARKDOWN = f"---\ntitle: 'In front'\n---\n# First #\n\nUnder\n=====\n\n{PROSE}\n> quoted\n\n~~~\ncode\n~~~\n"
RST = f"=====\nTitle\n=====\n\n{PROSE}"
HTML = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page &amp; more</title>
<style>.x{display:none}</style><script>var a = "<p>";</script></head><body class="a b">
<h1>Head</h1><p>One <b>bold</b> word,<br>next line. <span style="display: none">hidden</span></p>
<ul><li>one<li><p>two</p></ul><table><caption>Prices</caption><tr><th>What<th>Cost</tr><tr><td colspan="2">Tea<td>2 €
</table><pre>if x:\n    y = 1</pre><div hidden>no</div><a href="http://a.example/?q=1&amp;r=2">link</a><!-- note -->
<svg><text>drawn</text></svg><template><p>t</p></template></body></html>"""
CSV = 'name,note,price\nTea,"hot, ""green""\nand good",2.50\nMilk,,1\n"Salt",white,0\n'
TSV = "name\tnote\nTea\thot\nMilk\tcold\n"
JSONL = "\n".join(
    json.dumps(row, ensure_ascii=False)
    for row in (
        {"id": "a", "title": "First", "text": "One text. Two sentences."},
        {"_id": 3, "contents": ["A part.", "Another part."], "url": "http://a.example"},
        {
            "question": "What?",
            "answer": {"text": ["x"], "start": [1.5]},
            "tags": [],
            "ok": True,
            "none": None,
        },
    )
)
JSON = '{"title": "Shop", "days": ["Mon", 2, null], "tea": {"green": {"price": 2.5}}, "staff": [{"name": "Ann"}, 7]}'
MAIL = (
    "From: Ann <a@x.example>\nTo: Bob\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nMIME-Version: 1.0\n"
    "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/plain; charset=iso-8859-1\n"
    "Content-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe.\n\n- one\n- two\n\n> said\n-- \nAnn\n"
    '--B\nContent-Type: text/html\n\n<p>Text\n--B\nContent-Type: application/pdf; name="a.pdf"\n\nx\n--B--\n'
)
SOURCE = (
    '"""Doc."""\n\nimport os\n\n\n# What f does.\n'
    'def f(x):\n    """Says."""\n\n    return {\n        1: x\n\n    }\n'
)
ADOC = (
    "= Title\n:toc:\n\nText\nof it.\n\n== Part\n\n* one\n** deep\n. two\n\nterm:: what\nlabel::\n\n"
    ".Run\n[source]\n----\nmake\n"
    "----\n\n// no\n////\nno\n////\n|===\n|a |b\n\n|1 |2\n|===\n"
)
RTF = (
    r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\colortbl;\red255\green255\blue255;}{\info{\title Named}}"
    r"\pard\outlinelevel1 Head\par\pard Text \b bold\b0  and \'fc\u8364?.{\v no}{\cf1 no}\par\pard\ls1\ilvl1 item\par"
    r"\trowd\trhdr\pard\intbl a\cell b\cell\row\intbl 1\cell 2\cell\row\pard End\par}"
)
TOML = """[store]
path = "index.db"
[retrieval]
name = "dense"
k = 5
candidates = 20
[filter]
name = "biasdef"
bins = 10
most = 0.5
[highlight]
name = "sentence"
threshold = 0.4
abstain = false
[model]
llm = "none"
timeout = 60.0
base_url = "http://127.0.0.1:9/v1"
api_key = "secret"
context = 8192
"""
ENVIRONMENT = """\
EQUIPOISE_RETRIEVAL_K=7
EQUIPOISE_MODEL_LLM=openai/x
EQUIPOISE_FILTER_MAX_FLAGGED_SHARE=0.3
HOME=/nowhere
"""
SPLIT = "\n#environment\n"

ROWS = (
    "UPDATE documents SET sentences = x'0000000005000000' WHERE number = 1;",
    "UPDATE documents SET sentences = x'ffffffff05000000', text = 'short' WHERE number = 2;",
    "UPDATE documents SET pages = x'0500000001', trust = 'nobody', title = 5;",
    "UPDATE documents SET text = replace(text, 'e', char(0));",
    "UPDATE passages SET start = 900000, end = -5 WHERE passage_id = 1;",
    "UPDATE passages SET end = 9223372036854775807;",
    "UPDATE vectors SET data = x'0000c07f' WHERE document = 1;",
    "UPDATE vectors SET count = 1000000000, first = -1;",
    "UPDATE meta SET value = '4000000000' WHERE key = 'dimensions';",
    "UPDATE meta SET value = 'nan';",
    "UPDATE files SET trust = 'x', size = 'y', mtime_ns = 1e300;",
    "DELETE FROM documents WHERE number = 1;",
    "DELETE FROM vectors; DELETE FROM words;",
    "DELETE FROM meta;",
    "DROP TABLE passages;",
    "CREATE TRIGGER t AFTER UPDATE ON documents BEGIN DELETE FROM passages; END;",
    "CREATE VIEW w AS SELECT 1; PRAGMA user_version = 99;",
    "INSERT INTO passages SELECT passage_id + 1000, document, start, end FROM passages;",
)


@cache
def pdf() -> bytes:
    """Two pages, not compressed, so that a mutation meets their text."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A5, pageCompression=0, invariant=1)
    canvas.setTitle("A paper")
    for page in range(2):
        for row, line in enumerate([*PROSE.split("\n")[:8], f"Page {page + 1} of 2"]):
            canvas.drawString(40, 500 - 14 * row, line[:60])
        canvas.showPage()
    canvas.save()
    return out.getvalue()


@cache
def word() -> bytes:
    """Headings, paragraphs, a list and a table with merged cells and one inside it."""
    document = docx.Document()
    document.core_properties.title = "A contract"
    document.add_heading("Contract", 1)
    for paragraph in PROSE.split("\n\n")[:3]:
        document.add_paragraph(paragraph)
    table = document.add_table(2, 3)
    table.cell(1, 0).merge(table.cell(1, 1)).text = "merged"
    table.cell(0, 2).add_table(1, 2).cell(0, 0).text = "inner"
    document.add_paragraph("An item.", style="List Bullet")
    out = io.BytesIO()
    document.save(out)
    with ZipFile(out) as archive:
        return office_files.zipped({name: archive.read(name) for name in archive.namelist()}, packed=True)


def _book() -> bytes:
    return office_files.epub(
        f"<html><body>{HTML}</body></html>", "<h1>Two</h1><p>Text <a id='x'/>of two.</p>"
    )


def _open_document() -> bytes:
    body = (
        '<text:h text:outline-level="2">Head</text:h><text:p>Text<text:s text:c="3"/>of it.</text:p>'
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list><table:table><table:table-row>"
        "<table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>"
    )
    return office_files.odt(body)


def _workbook() -> bytes:
    rows = (
        '<row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>'
        '<row><c r="A2" s="1"><v>45292</v></c><c t="b"><v>1</v></c></row>'
    )
    return office_files.xlsx(
        rows, rows, shared=("What", "Cost"), styles='<cellXfs><xf/><xf numFmtId="14"/></cellXfs>'
    )


def _slides() -> bytes:
    title = '<sp><nvSpPr><cNvPr/><nvPr><ph type="title"/></nvPr></nvSpPr><txBody><p><r><t>One</t></r></p></txBody></sp>'
    lines = (
        '<sp><txBody><p><pPr lvl="1"/><r><rPr sz="900"/><t>a</t></r></p><p><r><t>b</t></r></p></txBody></sp>'
    )
    table = '<graphicFrame><tbl><tblPr firstRow="1"/><tr><tc><p><r><t>c</t></r></p></tc></tr></tbl></graphicFrame>'
    return office_files.pptx(title + lines, lines + table)


ZIPPED = {"epub": _book, "odt": _open_document, "xlsx": _workbook, "pptx": _slides}
"""How a small file of each zipped format is made."""


@cache
def store() -> bytes:
    """A store of three documents, as one file at rest."""
    texts = {
        "prose": PROSE,
        "gold": "Gold was found in 1851. Two miners came by train.",
        "bells": "Bells ring.",
    }
    documents = [
        Document(
            name, text, f"{name}.txt", name.title(), Trust.UNTRUSTED if name == "gold" else Trust.TRUSTED
        )
        for name, text in texts.items()
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        with Store.open(path, create=True) as opened:
            opened.bind_encoder(HashedWords())
            opened.add_documents(prepare(documents, HashedWords()))
        return path.read_bytes()
