"""What the fuzz target starts from: small files of every kind and a store, built here."""

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import docx
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

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
ENVIRONMENT = (
    "EQUIPOISE_RETRIEVAL_K=7\nEQUIPOISE_MODEL_LLM=openai/x\nEQUIPOISE_FILTER_MOST=0.3\nHOME=/nowhere\n"
)
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
    return out.getvalue()


@cache
def store() -> bytes:
    """A store of three documents, as one file at rest."""
    texts = {
        "prose": PROSE,
        "gold": "Gold was found in 1851. Two miners came by train.",
        "bells": "Bells ring.",
    }
    documents = [
        Document(name, text, f"{name}.txt", name.title(), Trust.OPEN if name == "gold" else Trust.TRUSTED)
        for name, text in texts.items()
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        with Store.open(path, create=True) as opened:
            opened.bind_encoder(HashedWords())
            opened.add_documents(prepare(documents, HashedWords()))
        return path.read_bytes()
