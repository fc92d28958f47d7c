"""Word documents: headings, paragraphs and tables, in the order of the document."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import docx
from docx.document import Document as WordDocument
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_UNPACKED = 500_000_000


def load_docx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: paragraphs separated by blank lines, a table row a line with ` | ` between cells."""
    if data.startswith(_OLE):
        reason = "this is an old .doc or has a password; save it as .docx without a password"
        raise UnreadableFile(str(path), reason)
    try:
        _refuse_bombs(path, data)
        word = docx.Document(io.BytesIO(data))
        text = "\n\n".join(part for part in _parts(word) if part.strip())
        title = word.core_properties.title or _first_heading(word)
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # the parser reads hostile bytes and may stumble in any way
        reason = f"the Word file is broken ({type(error).__name__}); open it in Word and save it again"
        raise UnreadableFile(str(path), reason) from error
    return [LoadedDocument(clean(text), one_line(clean(title)) or path.stem)]


def _refuse_bombs(path: Path, data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > _MOST_UNPACKED:
        reason = f"it unpacks to {unpacked:,} bytes, more than {_MOST_UNPACKED:,}; split it"
        raise UnreadableFile(str(path), reason)


def _parts(word: WordDocument) -> Iterator[str]:
    for block in word.iter_inner_content():
        yield block.text.strip() if isinstance(block, Paragraph) else "\n".join(_rows(block))


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        cells = {id(cell._tc): cell for cell in row.cells}  # a merged cell comes once for every column
        texts = [_cell_text(cell) for cell in cells.values()]
        if any(texts):
            yield " | ".join(texts)


def _cell_text(cell: _Cell) -> str:
    parts = []
    for block in cell.iter_inner_content():
        parts.append(block.text if isinstance(block, Paragraph) else "; ".join(_rows(block)))
    return one_line(" ".join(parts))


def _first_heading(word: WordDocument) -> str:
    for paragraph in word.paragraphs:
        style = (paragraph.style.name or "") if paragraph.style is not None else ""
        if style.startswith(("Title", "Heading")) and paragraph.text.strip():
            return paragraph.text
    return ""
