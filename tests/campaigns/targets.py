"""What the fuzzer runs: each target makes itself ready and returns a function of a seeded source of chance.

Such a function raises where something is wrong: an exception that is not declared, or a failed assertion.
"""

import io
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import docx
from mutations import mutated, text
from reportlab.pdfgen.canvas import Canvas

from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.core.errors import CorpusError, InputError, SettingsError, UnreadableFile
from equipoise.core.settings import Settings
from equipoise.core.types import Document, Span
from equipoise.corpus.chunks import passages
from equipoise.corpus.indexing import prepare
from equipoise.corpus.loaders import load
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.parts import Parts
from equipoise.text.align import align
from equipoise.text.calls import calls
from equipoise.text.numerals import quantities
from equipoise.text.questions import split_questions
from equipoise.text.sentences import sentence_spans
from equipoise.text.spans import canonicalize
from equipoise.text.support import unsupported
from equipoise.text.visible import MAX_TITLE, title, visible
from hashed_words import HashedWords
from library_texts import TEXTS

Run = Callable[[Random], object]

SEEDS = tuple(TEXTS.values())
MARKDOWN = """---
title: Fees
---
# Fees <!-- note -->

The fee is 12.5 %. See [it](a.md).

- one
- two

```
x = 1
```
"""
HTML = """<!doctype html><html><head><title>Fees</title><style>.h{display:none} @media print{p{color:red}}
</style></head>
<body><nav>Menu</nav><h1>Fees</h1><p style="color:#111">The fee is 12.5&nbsp;%.</p><p class=h>unseen</p>
<table><tr><th>a<th>b<tr><td>1<td colspan=2>2</table><ul><li>one<li>two</ul><pre>x
 y</pre></body></html>"""
CSV = 'name;fee\n"Ann; B.";12\nBob;"3 ""x"""\n'
JSONL = '{"_id": "a", "title": "Fees", "text": "The fee is 12.5."}\n{"id": 3, "body": ["x", "y"]}\n{"k": {"v": [1]}}\n'
TOML = '[retrieval]\nk = 5\nname = "dense"\n[filter]\nbins = 10\n[model]\nllm = "none"\nbase_url = "http://a/v1"\n'
QUESTIONS = (
    "Who founded it? When did he die?",
    "1. What is WAL?\n2. Is it safe?",
    'Hi, tell me: (what) is "it"?',
)
ANSWERS = (
    "The U.S. paid $1,000.50 (three times) to I.B.M.",
    "twenty-three hundred and five thousand e-mails in 1980s",
)


def _pdf() -> bytes:
    out = io.BytesIO()
    page = Canvas(out)
    page.setTitle("Fees")
    for number in range(3):
        page.drawString(72, 700, f"The fee of year {number} is twelve Euro, and the ap-")
        page.drawString(72, 685, "plication is free.")
        page.showPage()
    page.save()
    return out.getvalue()


def _docx() -> bytes:
    word, out = docx.Document(), io.BytesIO()
    word.add_heading("Fees")
    word.add_paragraph("The fee is twelve Euro.").add_run(" unseen").font.hidden = True
    word.add_table(2, 2).cell(0, 0).text = "a"
    word.save(out)
    return out.getvalue()


def _repacked(data: bytes, chance: Random) -> bytes:
    """A Word file whose parts are mutated inside the archive, half of the time."""
    if chance.random() < 0.5:
        return mutated(data, chance)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            body = old.read(name)
            hit = name.startswith("word/") and chance.random() < 0.5
            new.writestr(name, mutated(body, chance) if hit else body)
    return out.getvalue()


def _loader(
    suffix: str, seed: Callable[[], bytes], change: Callable[[bytes, Random], bytes] = mutated
) -> Callable[[], Run]:
    def ready() -> Run:
        whole = seed()

        def run(chance: Random) -> None:
            try:
                documents = load(Path(f"f.{suffix}"), change(whole, chance))
            except UnreadableFile:
                return
            assert documents
            for one in documents:
                assert one.text.strip()
                assert "\0" not in one.text
                assert list(one.pages) == sorted(one.pages)
                assert not one.pages or 0 <= one.pages[0] <= one.pages[-1] <= len(one.text)
                _cut(one.text)

        return run

    return ready


def _cut(body: str) -> Document:
    """Sentences and passages of a text, held to what they promise."""
    spans = sentence_spans(body)
    ends = [0, *(place for span in spans for place in span)]
    assert ends == sorted(ends) and ends[-1] <= len(body)
    assert all(body[a:b].strip() == body[a:b] != "" for a, b in spans)
    assert sum(len("".join(body[a:b].split())) for a, b in spans) == len("".join(body.split()))
    document = Document("d", body, "d", sentences=spans)
    pieces = passages(document)
    assert all(a < b for a, b in pieces) and [p for pair in pieces for p in pair] == sorted(
        p for pair in pieces for p in pair
    )
    return document


def _canonical(chance: Random) -> None:
    document = _cut(text(SEEDS, chance))
    many = chance.choice((1, 5, 300))
    spans = [
        Span("d", chance.randint(-2, len(document.text) + 2), chance.randint(-2, len(document.text) + 2))
        for _ in range(many)
    ]
    kept, _ = canonicalize(spans, {"d": document})
    again, dropped = canonicalize(kept, {"d": document})
    assert kept == again and not dropped


def _strings(chance: Random) -> None:
    answer, evidence = text((*ANSWERS, *SEEDS), chance), text(SEEDS, chance)
    unsupported(answer, [evidence])
    quantities(answer)
    calls(answer, "send_email", ("to", "body"))
    found = align(answer[:3000], evidence, budget_s=0.05)
    assert found is None or 0 <= found.start < found.end <= len(evidence)
    assert visible(visible(answer)) == visible(answer)
    assert len(title(answer)) <= MAX_TITLE and title(title(answer)) == title(answer)


def _settings() -> Run:
    folder = Path(tempfile.mkdtemp())

    def run(chance: Random) -> None:
        (folder / layers.FILE_NAME).write_bytes(mutated(TOML.encode(), chance))
        values = (
            {"EQUIPOISE_FILTER_BINS": text(("10",), chance).replace("\0", "")[:100]}
            if chance.random() < 0.3
            else {}
        )
        try:
            for _, value, _ in layers.load(folder=folder, environment=values).rows():
                assert "hidden-key" not in value
        except SettingsError as error:
            assert 0 < len(str(error)) < 5_000

    return run


def _store() -> Run:
    folder = Path(tempfile.mkdtemp())
    whole, encoder = folder / "whole.db", HashedWords()
    documents = [Document(name, body, name, name) for name, body in TEXTS.items()]
    with Store.open(whole, create=True) as store:
        store.bind_encoder(encoder)
        store.add_documents(prepare(documents, encoder))
    chosen = Settings.model_validate({"model": {"llm": "none"}, "filter": {"name": "auto"}})

    def run(chance: Random) -> None:
        path = folder / "tampered.db"
        for stale in folder.glob("tampered.db*"):
            stale.unlink()
        if chance.random() < 0.5:
            path.write_bytes(_damaged(whole.read_bytes(), chance))
        else:
            shutil.copy(whole, path)
            _tamper(path, chance)
        try:
            with Store.open(path, read_only=True) as store:
                result = sync.run(
                    build.pipeline("hs", Parts(chosen, store, encoder)).ask("When does the office open?")
                )
                for item in result.highlights.items:
                    assert item.text
                store.verify()
        except (CorpusError, InputError):
            pass

    return run


def _damaged(data: bytes, chance: Random) -> bytes:
    """Bytes changed anywhere, in the first page (schema, format) more often; the length stays, mostly."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 30, 500))):
        place = chance.randrange(len(changed) if chance.random() < 0.7 else 4096)
        changed[place] = chance.randrange(256)
    return bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.1 else changed)


def _tamper(path: Path, chance: Random) -> None:
    """One value of one table becomes another one; SQLite finds nothing wrong with such a file."""
    columns = {"documents": ("doc_id", "source", "title", "trust", "sentences", "pages", "text"), "meta": ("value",),
               "passages": ("document", "start", "end"), "vectors": ("first", "count", "data")}  # fmt: skip
    table = chance.choice(list(columns))
    value = chance.choice(
        (None, -1, 0, 2**40, 2**62, 1.5, "x", b"x", b"\xff" * 400, float("nan"), "y" * 100_000, b"\0" * 128)
    )
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA foreign_keys = OFF")
    raw.execute("PRAGMA ignore_check_constraints = ON")
    try:
        raw.execute(
            f"UPDATE {table} SET {chance.choice(columns[table])} = ?{chance.choice(('', ' WHERE rowid = 1'))}",
            (value,),
        )
    except sqlite3.Error:
        pass  # a value that SQLite itself refuses there
    finally:
        raw.close()


TARGETS: dict[str, Callable[[], Run]] = {
    "markdown": _loader("md", MARKDOWN.encode),
    "rst": _loader("rst", lambda: b"Fees\n====\n\n.. a comment\n\nThe fee is 12.\n"),
    "text": _loader("txt", lambda: "\n\n".join(SEEDS).encode()),
    "html": _loader("html", HTML.encode),
    "csv": _loader("csv", CSV.encode),
    "tsv": _loader("tsv", lambda: b"name\tfee\nAnn\t12\n"),
    "jsonl": _loader("jsonl", JSONL.encode),
    "pdf": _loader("pdf", _pdf),
    "docx": _loader("docx", _docx, _repacked),
    "sentences": lambda: lambda chance: _cut(text(SEEDS, chance)),
    "spans": lambda: _canonical,
    "questions": lambda: lambda chance: split_questions(text(QUESTIONS, chance)[:4_000]),
    "strings": lambda: _strings,
    "settings": _settings,
    "stores": _store,
}
