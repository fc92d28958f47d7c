"""PDF: lines of a paragraph joined, words cut at line ends mended, the start of every page recorded."""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import pypdf
from pypdf.generic import StreamObject

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.inks import Inks, TooMuch
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line

_PAGE_NUMBER = re.compile(
    r"(?:page\s*+)?+[-–]?+\s*+\d{1,4}+\s*+[-–]?+(?:\s*+(?:/|of)\s*+\d{1,4}+)?+", re.IGNORECASE
)
_LONGEST_NUMBER = 40
_ITEM = re.compile(r"(?:[-*•▪◦●–]|\(?+\d{1,3}+[.)]|\(?+[a-z]\))\s")
_CLOSING = '"”’)]'
_HYPHENS = "-\u00ad\u2010"
_LONGEST_WORD = 60
_WORD = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*+")
_FULL_LINE = 0.75  # of the page's usual line length: a shorter line probably ends its paragraph
_HEADING_LINE = 0.6


_OPERATIONS, _OPERATIONS_EACH = 100_000, 2  # of all pages: for any file, and for each of its bytes
_CONTENT, _CONTENT_EACH = 5_000_000, 50  # unpacked bytes of all pages' contents, in the same way
_PAGE_TEXT = 500_000  # characters; pypdf copies a page's text again and again
_LIMITS = pypdf.Configuration(
    zlib_maximum_output_length=20_000_000,
    lzw_maximum_output_length=20_000_000,
    run_length_maximum_output_length=20_000_000,
    array_based_stream_maximum_output_length=20_000_000,
    xform_maximum_invocations_per_extraction=1_000,
)
_TIMES, _ALWAYS_FINE = 20, 2_000_000  # characters of text for a byte of the file, and for any file


@dataclass(frozen=True, slots=True)
class _Pages:
    title: str
    texts: list[str]
    hidden: int
    invisible: int


def load_pdf(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document whose `pages` are the offsets at which its pages begin.

    Letters of render mode 3 (the text layer of a scan) are kept and counted as `invisible`.
    """
    try:
        with pypdf.apply_configuration(_LIMITS):
            found = _extract(path, data)
    except (UnreadableFile, MemoryError):
        raise
    except pypdf.errors.DependencyError as error:
        raise UnreadableFile(str(path), _LOCKED) from error
    except (TooMuch, pypdf.errors.LimitReachedError) as error:
        reason = "its pages ask for far more work than their text is worth; print it to a new PDF"
        raise UnreadableFile(str(path), reason) from error
    except Exception as error:  # the parser reads hostile bytes and may stumble in any way
        reason = f"the PDF is broken ({type(error).__name__}); open it in a viewer and save it again"
        raise UnreadableFile(str(path), reason) from error
    if not any(page.strip() for page in found.texts) and not found.hidden:
        reason = f"no text on its {len(found.texts)} pages, probably a scan; run it through OCR first"
        raise UnreadableFile(str(path), reason)
    text, starts = _assemble(found.texts)
    return [LoadedDocument(text, found.title or path.stem, starts, "", found.hidden, found.invisible)]


_LOCKED = "the PDF is encrypted; save a copy without a password"


def _extract(path: Path, data: bytes) -> _Pages:
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableFile(str(path), _LOCKED)
    operations = _OPERATIONS + _OPERATIONS_EACH * len(data)
    content = _CONTENT + _CONTENT_EACH * len(data)
    most = _TIMES * len(data) + _ALWAYS_FINE
    texts: list[str] = []
    hidden = invisible = 0
    for page in reader.pages:
        content -= _content_length(page)
        if content < 0:
            raise TooMuch
        inks = Inks(_box(page), operations)
        text = clean(_text_of(page, inks))
        texts.append(text)
        operations, most = inks.operations, most - len(text)
        hidden, invisible = hidden + inks.hidden, invisible + inks.invisible
        if most < 0:
            raise TooMuch
    meta = reader.metadata
    title = one_line(clean(str(meta.title))) if meta and meta.title else ""
    return _Pages(title, texts, hidden, invisible)


def _text_of(page: pypdf.PageObject, inks: Inks) -> str:
    left = _PAGE_TEXT

    def count(text: str, *_: object) -> None:
        nonlocal left
        left -= len(text)
        if left < 0:
            raise TooMuch

    return page.extract_text(
        visitor_operand_before=inks.before, visitor_operand_after=inks.after, visitor_text=count
    )


def _content_length(page: pypdf.PageObject) -> int:
    """Bytes of a page's content streams, unpacked."""
    found = page.get("/Contents")
    found = found.get_object() if found is not None else None
    streams = [one.get_object() for one in found] if isinstance(found, list) else [found]
    return sum(len(stream.get_data()) for stream in streams if isinstance(stream, StreamObject))


def _box(page: pypdf.PageObject) -> tuple[float, float, float, float]:
    """The part of the plane that is printed."""
    box = page.cropbox
    return float(box.left), float(box.bottom), float(box.right), float(box.top)


def _assemble(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """The text of all pages, and where each begins. A paragraph may run over a page's end."""
    known = frozenset(word.lower() for page in pages for word in _WORD.findall(page))
    parts: list[str] = []
    starts: list[int] = []
    place, tail = 0, ""
    for page in pages:
        body = "\n\n".join(_paragraphs(page, known))
        if tail and body:
            border = " " if body[0].islower() and not _has_ended(tail) else "\n\n"
            parts.append(border)
            place += len(border)
        starts.append(place)
        parts.append(body)
        place += len(body)
        tail = body[-3:] or tail
    return "".join(parts), tuple(starts)


def _paragraphs(page: str, known: frozenset[str]) -> list[str]:
    lines = _without_page_number([one_line(line) for line in page.split("\n")])
    width = _usual_width(lines)
    paragraphs: list[list[str]] = []
    before = ""
    for line in lines:
        if line and before and _runs_on(before, line, width):
            paragraphs[-1][-1:] = _joined(paragraphs[-1][-1], line, known)
        elif line:
            paragraphs.append([line])
        before = line
    return ["".join(pieces) for pieces in paragraphs]


def _without_page_number(lines: list[str]) -> list[str]:
    """`lines` without empty ones at both ends and without a page number as first or last line."""
    lines = _trimmed(lines)
    if len(lines) > 1 and _is_page_number(lines[0]):
        lines = lines[1:]
    if len(lines) > 1 and _is_page_number(lines[-1]):
        lines = lines[:-1]
    return lines


def _trimmed(lines: list[str]) -> list[str]:
    filled = [number for number, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _is_page_number(line: str) -> bool:
    return len(line) <= _LONGEST_NUMBER and _PAGE_NUMBER.fullmatch(line) is not None


def _usual_width(lines: list[str]) -> int:
    """The length nine tenths of the lines do not exceed."""
    lengths = sorted(len(line) for line in lines if line)
    return lengths[(len(lengths) - 1) * 9 // 10] if lengths else 0


def _has_ended(text: str) -> bool:
    """True where a sentence ends at the end of `text`."""
    return text.rstrip(_CLOSING)[-1:] in tuple(".!?:;")


def _cut_word(text: str) -> str:
    """The beginning of a word that a hyphen cuts at the end of `text`, empty where none does."""
    if text[-1:] not in tuple(_HYPHENS):
        return ""
    start = end = len(text) - 1
    while start and text[start - 1].isalpha() and end - start < _LONGEST_WORD:
        start -= 1
    return text[start:end]


def _runs_on(before: str, line: str, width: int) -> bool:
    """True where `line` goes on with the paragraph that `before` belongs to."""
    if _ITEM.match(line):
        return False
    if line[0].islower() and _cut_word(before):
        return True
    ended = _has_ended(before)
    if len(before) < _FULL_LINE * width:
        return line[0].islower() and not ended
    heading = len(line) < _HEADING_LINE * width and line[0].isupper() and not _has_ended(line)
    return not (ended and heading)


def _joined(piece: str, line: str, known: frozenset[str]) -> tuple[str, str]:
    """The end of a paragraph and its next line, to be written one after the other.

    A word cut at the line's end loses its hyphen, unless the document has the hyphenated word elsewhere and
    not the closed one.
    """
    head = _cut_word(piece).lower()
    rest = _WORD.match(line)
    if not (head and rest and line[0].islower()):
        return piece, f" {line}"
    tail = rest.group().lower()
    keeps = f"{head}-{tail}" in known and head + tail not in known
    return f"{piece[:-1]}-" if keeps else piece[:-1], line
