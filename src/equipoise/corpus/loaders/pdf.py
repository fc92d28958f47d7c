"""PDF: lines of a paragraph joined, words cut at line ends joined, the start of every page recorded, and its blocks."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from pypdfium2 import PdfDocument, PdfiumError

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.columns import arranged, table_parts
from equipoise.corpus.loaders.forms import with_fields
from equipoise.corpus.loaders.furniture import without_furniture, without_note_marks
from equipoise.corpus.loaders.glyphs import read_page
from equipoise.corpus.loaders.layout import LayoutPart, Usual, parted, usual
from equipoise.corpus.loaders.lines import PageLine
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line
from equipoise.corpus.loaders.structure import (
    Bookmark,
    joined_headings,
    kinds,
    mark_headings,
    mark_items,
    without_leaders,
)
from equipoise.corpus.loaders.visibility import PageTooMuch

_HYPHENS = "-\u00ad\u2010"
_LONGEST_WORD, _LONGEST_ADDRESS = 60, 200
_WORD_OF_ITS_OWN, _MANY_WORDS = 4, 2_000
_WORD = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*+")

_OBJECTS, _OBJECTS_EACH = 100_000, 2  # of all pages: for any file, and for each of its bytes
_A_PAGE = 10  # objects that a page costs
_TIMES, _ALWAYS_FINE = 20, 2_000_000  # characters of text for a byte of the file, and for any file
_BOOKMARKS, _BOOKMARK_DEPTH, _LONGEST_TITLE = 10_000, 20, 10_000
_NO_TITLES = frozenset({"untitled", "(untitled)", "unknown", "(anonymous)", "none"})
_WORD_PREFIX = "Microsoft Word - "

_LOCKS = frozenset({pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY})
_LOCKED = "the PDF is encrypted; save a copy without a password"
_BROKEN = "the PDF is broken or cut short; get it again, or open it in a viewer and save it"

_alone = Lock()


@dataclass(slots=True)
class _Pages:
    title: str = ""
    lines: list[list[PageLine]] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    outline: list[Bookmark] = field(default_factory=list)
    hidden: int = 0
    invisible: int = 0


def load_pdf(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document whose `pages` are the offsets at which its pages begin.

    Letters of render mode 3 (the text layer of a scan) are kept and counted as `invisible`.
    """
    try:
        with opened(path, data) as document:
            extract = _extract(document, len(data))
    except PageTooMuch as error:
        reason = "its pages ask for far more work than their text is worth; print it to a new PDF"
        raise UnreadableFile(str(path), reason) from error
    if not any(extract.lines) and not extract.hidden:
        reason = "no text on any page, probably a scan; run it through text recognition (OCR) first"
        raise UnreadableFile(str(path), reason)
    pages, running = without_furniture(extract.lines, extract.heights)
    extract.lines = pages
    text, starts, blocks = _assemble(extract)
    title = extract.title or _first_heading(text, blocks) or path.stem
    return [
        LoadedDocument(text, title, starts, "", extract.hidden, extract.invisible, blocks, running=running)
    ]


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[PdfDocument]:
    """The document in a file; one at a time, since pdfium is not thread-safe. Raises UnreadableFile."""
    try:
        with _alone, PdfDocument(data) as document:
            yield document
    except PdfiumError as error:
        raise UnreadableFile(str(path), _LOCKED if error.err_code in _LOCKS else _BROKEN) from error


def _extract(document: PdfDocument, size: int) -> _Pages:
    extract = _Pages(_title(document), outline=list(_outline(document)))
    objects, letters = _OBJECTS + _OBJECTS_EACH * size, _TIMES * size + _ALWAYS_FINE
    for number in range(len(document)):
        objects -= _A_PAGE
        if objects < 0:
            raise PageTooMuch
        page = pdfium.FPDF_LoadPage(document, number)
        extract.lines.append([])
        extract.heights.append(0.0)
        if not page:
            continue
        try:
            read, objects = read_page(page, number, objects)
            shown = [line for line in read.lines if line.text]
            lines = with_fields(page, number, shown, upright=not read.turn)
        finally:
            pdfium.FPDF_ClosePage(page)
        extract.lines[-1], extract.heights[-1] = arranged(lines, read.rules), read.height
        extract.hidden, extract.invisible = extract.hidden + read.hidden, extract.invisible + read.invisible
        letters -= max(read.letters, sum(len(line.text) for line in lines))
        if letters < 0:
            raise PageTooMuch
    return extract


def _title(document: PdfDocument) -> str:
    """The title that the file says it has, without what programs put there by themselves."""
    title = _words(lambda: document.get_metadata_value("Title"))
    if title.startswith(_WORD_PREFIX):
        title = Path(title.removeprefix(_WORD_PREFIX)).stem
    return "" if title.lower() in _NO_TITLES else title


def _words(read: Callable[[], str]) -> str:
    """A text of the file as one line, empty for one that is no valid UTF-16."""
    try:
        return one_line(clean(read()[:_LONGEST_TITLE]))
    except UnicodeDecodeError:
        return ""


def _first_heading(text: str, blocks: Sequence[Block]) -> str:
    """The heading that the document begins with, if it is of the highest level."""
    begins = bool(blocks) and blocks[0].kind is BlockKind.HEADING and blocks[0].level == 1
    return text[blocks[0].start : blocks[0].end] if begins else ""


def _outline(document: PdfDocument) -> Iterator[Bookmark]:
    """The bookmarks, each with its children behind it."""
    for mark in islice(document.get_toc(max_depth=_BOOKMARK_DEPTH), _BOOKMARKS):
        if place := mark.get_dest():
            page = place.get_index()
            yield Bookmark(_words(mark.get_title), mark.level + 1, -1 if page is None else page)


def _assemble(extract: _Pages) -> tuple[str, tuple[int, ...], tuple[Block, ...]]:
    """The text of all pages, where each begins, and its blocks."""
    parts, measures = _parts(extract)
    intros = mark_items(parts, measures)
    known = frozenset(
        word.lower() for lines in extract.lines for line in lines for word in _WORD.findall(line.text)
    )
    starts: dict[int, int] = {}
    pieces: list[str] = []
    blocks: list[Block] = []
    place = 0
    for part, intro in zip(parts, intros, strict=True):
        if pieces:
            pieces.append(_border(blocks[-1].kind, part.kind))
            place += len(pieces[-1])
        begin = place
        for line, piece in zip(part.lines, _written(part, known), strict=True):
            starts.setdefault(line.page, place)
            pieces.append(piece)
            place += len(piece)
        blocks.append(Block(part.kind, begin, place, part.level, intro))
    return "".join(pieces), _page_starts(starts, len(extract.lines), place), tuple(blocks)


def _parts(extract: _Pages) -> tuple[list[LayoutPart], Usual]:
    """The parts on all pages, without note marks; and what is usual in the document."""
    lines = [line for page in extract.lines for line in without_note_marks(page)]
    known = usual(lines)
    parts: list[LayoutPart] = []
    for kind, stretch in kinds(lines):
        if kind is BlockKind.ROW:
            parts += table_parts(stretch)
        else:
            parts += (
                [LayoutPart([line], kind) for line in stretch]
                if kind is BlockKind.ASIDE
                else parted(stretch, known)
            )
    mark_headings(parts, known, extract.outline)
    return joined_headings(parts), known


def _border(before: BlockKind, kind: BlockKind) -> str:
    """What stands between two blocks: lines of a table or of contents are lines, all else is apart."""
    return "\n" if before is kind and kind in {BlockKind.ROW, BlockKind.ASIDE} else "\n\n"


def _page_starts(starts: dict[int, int], count: int, end: int) -> tuple[int, ...]:
    """Where each page begins; one without text where the next one does."""
    offsets = []
    for page in reversed(range(count)):
        end = min(starts.get(page, end), end)
        offsets.append(end)
    return tuple(reversed(offsets))


def _written(part: LayoutPart, known: frozenset[str]) -> list[str]:
    """What each line adds to the text of its part."""
    if part.kind is BlockKind.CODE:
        return _indented(part.lines)
    if part.said:
        return [part.said]
    if part.kind is BlockKind.ASIDE:
        return [without_leaders(part.first.text)]
    pieces: list[str] = []
    for line in part.lines:
        if pieces:
            pieces[-1:] = _joined(pieces[-1], one_line(line.text), known)
        else:
            pieces.append(one_line(line.text))
    return pieces


def _indented(lines: Sequence[PageLine]) -> list[str]:
    """Lines of code, each after the first behind a line end, with spaces for how far it is set in."""
    left = min(line.left for line in lines)
    pieces = []
    for row, line in enumerate(lines):
        width = (line.right - line.left) / max(len(line.text), 1)
        spaces = " " * min(round((line.left - left) / width), _LONGEST_WORD) if width > 0 else ""
        pieces.append(f"\n{spaces}{line.text}" if row else line.text)
    return pieces


def _cut_word(text: str) -> str:
    """The beginning of a word that a hyphen cuts at the end of `text`, empty where none does."""
    if text[-1:] not in tuple(_HYPHENS):
        return ""
    start = end = len(text) - 1
    while start and text[start - 1].isalpha() and end - start < _LONGEST_WORD:
        start -= 1
    return text[start:end]


def _joined(piece: str, line: str, known: frozenset[str]) -> tuple[str, str]:
    """The end of a paragraph and its next line, to be written one after the other.

    A word cut at the line's end loses its hyphen, unless the document has the hyphenated word elsewhere and
    not the closed one; an address and a name with an underscore go on without a space.
    """
    head = _cut_word(piece).lower()
    rest = _WORD.match(line)
    if not (head and rest and line[0].islower()):
        runs_on = (head and line[:1].isalnum()) or _is_cut_address(piece, line)
        return piece, line if runs_on else f" {line}"
    tail = rest.group().lower()
    keeps = head + tail not in known and (f"{head}-{tail}" in known or _are_words(head, tail, known))
    return f"{piece[:-1]}-" if keeps else piece[:-1], line


def _are_words(head: str, tail: str, known: frozenset[str]) -> bool:
    """True where a long document has both parts of a cut word as words of their own."""
    return (
        min(len(head), len(tail)) >= _WORD_OF_ITS_OWN and len(known) >= _MANY_WORDS and {head, tail} <= known
    )


def _is_cut_address(piece: str, line: str) -> bool:
    word = piece[-_LONGEST_ADDRESS:].rpartition(" ")[2]
    if not line[:1].isalnum() or (line[:1].isupper() and not word.endswith("_")):
        return False
    return (len(word) > 1 and word.endswith("_")) or ("://" in word and word[-1] in "./-_?=&#%")
