"""PDF: lines of a paragraph joined, words cut at line ends mended, the start of every page recorded."""

import io
import re
from pathlib import Path

import pypdf

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line

_PAGE_NUMBER = re.compile(r"(?:page\s*)?[-–]?\s*\d{1,4}\s*[-–]?(?:\s*(?:/|of)\s*\d{1,4})?", re.IGNORECASE)
_ITEM = re.compile(r"(?:[-*•▪◦●–]|\(?\d{1,3}[.)]|\(?[a-z]\))\s")
_ENDED = re.compile(r"[.!?:;][\"”’)\]]*$")
_CUT_WORD = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_FULL_LINE = 0.75  # of the page's usual line length: a shorter line probably ends its paragraph
_HEADING_LINE = 0.6


def load_pdf(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document whose `pages` are the offsets at which its pages begin."""
    try:
        title, pages = _extract(path, data)
    except (UnreadableFile, MemoryError):
        raise
    except pypdf.errors.DependencyError as error:
        raise UnreadableFile(str(path), _LOCKED) from error
    except Exception as error:  # the parser reads hostile bytes and may stumble in any way
        reason = f"the PDF is broken ({type(error).__name__}); open it in a viewer and save it again"
        raise UnreadableFile(str(path), reason) from error
    if not any(page.strip() for page in pages):
        reason = f"no text on its {len(pages)} pages, probably a scan; run it through OCR first"
        raise UnreadableFile(str(path), reason)
    text, starts = _assemble(pages)
    return [LoadedDocument(text, title or path.stem, starts)]


_LOCKED = "the PDF is encrypted; save a copy without a password"


def _extract(path: Path, data: bytes) -> tuple[str, list[str]]:
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableFile(str(path), _LOCKED)
    pages = [clean(page.extract_text()) for page in reader.pages]
    meta = reader.metadata
    return one_line(clean(str(meta.title))) if meta and meta.title else "", pages


def _assemble(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """The text of all pages, and where each begins. A paragraph may run over a page's end."""
    known = frozenset(word.lower() for page in pages for word in _WORD.findall(page))
    text, starts = "", []
    for page in pages:
        body = "\n\n".join(_paragraphs(page, known))
        if text and body:
            runs_on = body[0].islower() and not _ENDED.search(text[-3:])
            text += " " if runs_on else "\n\n"
        starts.append(len(text))
        text += body
    return text, tuple(starts)


def _paragraphs(page: str, known: frozenset[str]) -> list[str]:
    lines = _without_page_number([one_line(line) for line in page.split("\n")])
    width = _usual_width(lines)
    paragraphs: list[str] = []
    before = ""
    for line in lines:
        if line and before and _runs_on(before, line, width):
            paragraphs[-1] = _joined(paragraphs[-1], line, known)
        elif line:
            paragraphs.append(line)
        before = line
    return paragraphs


def _without_page_number(lines: list[str]) -> list[str]:
    """`lines` without empty ones at both ends and without a page number as first or last line."""
    for edge in (0, -1):
        while lines and not lines[edge]:
            lines.pop(edge)
        if len(lines) > 1 and _PAGE_NUMBER.fullmatch(lines[edge]):
            lines.pop(edge)
    return lines


def _usual_width(lines: list[str]) -> int:
    """The length nine tenths of the lines do not exceed."""
    lengths = sorted(len(line) for line in lines if line)
    return lengths[(len(lengths) - 1) * 9 // 10] if lengths else 0


def _runs_on(before: str, line: str, width: int) -> bool:
    """True where `line` goes on with the paragraph that `before` belongs to."""
    if _ITEM.match(line):
        return False
    if _CUT_WORD.search(before) and line[0].islower():
        return True
    ended = _ENDED.search(before) is not None
    if len(before) < _FULL_LINE * width:
        return line[0].islower() and not ended
    heading = len(line) < _HEADING_LINE * width and line[0].isupper() and not _ENDED.search(line)
    return not (ended and heading)


def _joined(paragraph: str, line: str, known: frozenset[str]) -> str:
    """The two with a space, or without the hyphen of a word cut at the line's end.

    The hyphen stays where the document has the hyphenated word elsewhere and not the closed one.
    """
    cut = _CUT_WORD.search(paragraph)
    rest = _WORD.match(line)
    if not (cut and rest and line[0].islower()):
        return f"{paragraph} {line}"
    head, tail = cut.group(1).lower(), rest.group().lower()
    keeps = f"{head}-{tail}" in known and head + tail not in known
    return f"{paragraph[:-1]}-{line}" if keeps else paragraph[:-1] + line
