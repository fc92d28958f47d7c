"""HTML pages made into Word files (python-docx), Word files into PDF (LibreOffice), JSON into CSV.

The text is that of the page, in its order: headings, paragraphs, lists, tables, code. Pictures are left out.
"""

import csv
import datetime
import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from selectolax.lexbor import LexborHTMLParser, LexborNode

from equipoise.core.errors import CorpusError

_DROPPED = (
    "script, style, nav, head, noscript, img, footer, div.dochead, a.headerlink, div.rst-footer-buttons"
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEAVES = frozenset({"p", "li", "dt", "dd", "blockquote", "td", "figcaption", "address", *_HEADINGS})
_WHOLE = frozenset({"pre", "table"})
_PAGE = 'div[role="main"]'
_EPOCH = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_TIMEOUT = 600  # seconds for all files of a set


def docx_of(page: Path, target: Path) -> None:
    """Write the page's text as a Word file with Word's own styles; the same bytes whenever it is made."""
    tree = LexborHTMLParser(page.read_bytes())
    title = tree.css_first("title")
    named = _one_line(title) if title is not None else page.stem
    for node in tree.css(_DROPPED):
        node.decompose()
    word = docx.Document()
    properties = word.core_properties
    properties.title, properties.author, properties.comments = named, "", ""
    properties.created = properties.modified = _EPOCH
    body = tree.css_first(_PAGE) or tree.body
    if body is not None:
        _write(body, word)
    saved = io.BytesIO()
    word.save(saved)
    target.write_bytes(_undated(saved))


def office_pdfs(words: Path, target: Path, soffice: str) -> Path:
    """The Word files of a folder printed to PDF. Raises CorpusError without LibreOffice."""
    program = shutil.which(soffice)
    if program is None:
        raise CorpusError(
            f"there is no program {soffice!r} to print PDF with: install LibreOffice (Debian: "
            "libreoffice-writer-nogui) or name its soffice with --soffice"
        )
    target.mkdir()
    files = sorted(str(path) for path in words.glob("*.docx"))
    command = [program, "--headless", "--convert-to", "pdf", "--outdir", str(target), *files]
    subprocess.run(command, capture_output=True, timeout=_TIMEOUT, check=False)
    missing = [name for name in files if not (target / Path(name).with_suffix(".pdf").name).is_file()]
    if missing:
        raise CorpusError(f"{soffice} made no PDF of {Path(missing[0]).name}: run it by hand to see why")
    return target


def csv_of(folder: Path, target: Path) -> Path:
    """The JSON files of a folder as tables: of an object of objects with the same keys, one row for each."""
    target.mkdir()
    for path in sorted(folder.glob("*.json")):
        records = json.loads(path.read_text("utf-8"))
        columns = list(next(iter(records.values())))
        with (target / f"{path.stem}.csv").open("w", encoding="utf-8", newline="") as out:
            table = csv.writer(out, lineterminator="\n")
            table.writerow(["id", *columns])
            table.writerows([name, *(record[key] for key in columns)] for name, record in records.items())
    return target


def _undated(saved: io.BytesIO) -> bytes:
    """The same archive with one date for all its parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = zipfile.ZipInfo(name, _EPOCH.timetuple()[:6])
            part.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(part, old.read(name))
    return made.getvalue()


def _write(body: LexborNode, word: WordDocument) -> None:
    for node in _blocks(body):
        tag = node.tag or ""
        if tag == "table":
            _write_table(node, word)
        elif tag == "pre":
            word.add_paragraph(node.text(deep=True).strip("\n"), style="No Spacing")
        elif text := _own_text(node):
            if tag in _HEADINGS:
                word.add_heading(text, level=_HEADINGS[tag])
            else:
                word.add_paragraph(text, style=_style(node))


def _style(node: LexborNode) -> str:
    if node.tag == "dt":
        return "Intense Quote"
    holder = node
    while holder is not None and holder.tag not in ("li", "body"):
        holder = holder.parent
    if holder is None or holder.tag != "li" or holder.parent is None:
        return "Normal"
    return "List Number" if holder.parent.tag == "ol" else "List Bullet"


def _blocks(body: LexborNode) -> Iterator[LexborNode]:
    """Elements with text of their own, in the order of the page; tables and code are not entered."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.tag in _WHOLE:
            yield node
            continue
        if node.tag in _LEAVES or _has_loose_text(node):
            yield node
        waiting += reversed(list(node.iter()))


def _has_loose_text(node: LexborNode) -> bool:
    """True for a container, such as a div, with running text straight inside it."""
    if node.tag not in ("div", "section", "body", "center"):
        return False
    return any(c.tag == "-text" and (c.text_content or "").strip() for c in node.iter(include_text=True))


def _own_text(node: LexborNode) -> str:
    """The text of `node` without that of the blocks inside it."""
    parts, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if one is not node and _is_block(one):
            continue
        if one.tag == "-text":
            parts.append(one.text_content or "")
        waiting += reversed(list(one.iter(include_text=True)))
    return " ".join("".join(parts).split())


def _is_block(node: LexborNode) -> bool:
    return node.tag in _LEAVES | _WHOLE | {"ul", "ol", "dl", "div", "section"}


def _write_table(table: LexborNode, word: WordDocument) -> None:
    rows = [[_one_line(cell) for cell in row.css("td, th")] for row in table.css("tr")]
    rows = [row for row in rows if any(row)]
    if not rows:
        return
    made = word.add_table(len(rows), max(len(row) for row in rows), style="Table Grid")
    for row, texts in zip(made.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=False):
            cell.text = text


def _one_line(node: LexborNode) -> str:
    return " ".join(node.text(deep=True, separator=" ").split())
