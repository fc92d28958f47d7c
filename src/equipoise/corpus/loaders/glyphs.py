"""The glyphs of a PDF's page as pdfium finds them: which are seen, where they stand, and in what type."""

import ctypes
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from equipoise.corpus.loaders.lines import PageLine, TextRun, Type, by_height, filled, line_of, whole
from equipoise.corpus.loaders.visibility import Box, Handle, PageTooMuch, Visibility

_PAGE_TEXT = 500_000
"""Characters of one page."""
_HYPHENS = frozenset({0x02, 0xFFFE})  # pdfium's sign for the hyphen of a word that goes on in the next line
_LINE_ENDS = frozenset({0x0D, 0x0A})
_ASKED = 100  # letters of a page that are sampled to tell which way up it is
_LONGEST_NAME = 200  # bytes of a font's name
_BOLD = ("bold", "black", "heavy", "cmbx", "cmb1", "sfbx", "medi", "demi")
_MONO = ("mono", "courier", "typewriter", "cmtt", "sltt", "sftt", "ectt", "lmtt", "consol", "menlo", "fixed")
_THROUGH = 0.12, 0.45  # of the size above the baseline: here a stroke goes through letters
_FIXED_PITCH, _FORCED_BOLD, _HEAVY = 1, 1 << 18, 600


def _address(thing: object) -> int:
    return ctypes.cast(thing, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


_text_object = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
    _address(pdfium.FPDFText_GetTextObject)
)
_unicode = ctypes.PYFUNCTYPE(ctypes.c_uint, ctypes.c_void_p, ctypes.c_int)(
    _address(pdfium.FPDFText_GetUnicode)
)


@dataclass(slots=True)
class GlyphPage:
    """What is read of one page: `lines` with its visible letters, and how many letters are `hidden` and `invisible`."""

    box: Box
    turn: int
    visibility: Visibility
    lines: list[PageLine] = field(default_factory=list)
    rules: list[Box] = field(default_factory=list)
    hidden: int = 0
    invisible: int = 0
    letters: int = 0

    @property
    def height(self) -> float:
        """The height of the page in points, as it is looked at."""
        left, bottom, right, top = self.box
        return right - left if self.turn % 2 else top - bottom


def read_page(page: Handle, number: int, left: int) -> tuple[GlyphPage, int]:
    """What is read of a loaded page, and how many of the `left` objects may still follow. Raises PageTooMuch."""
    box = _box(page)
    content = GlyphPage(box, pdfium.FPDFPage_GetRotation(page) % 4, Visibility(box, left))
    content.visibility.walk(page)
    text = pdfium.FPDFText_LoadPage(page)
    if not text:
        return content, content.visibility.left
    try:
        count = pdfium.FPDFText_CountChars(text)
        if count > _PAGE_TEXT:
            raise PageTooMuch
        content.letters = count
        looked_at, content.turn = content.turn, _turn(text, count, content.turn)
        glyphs = _Glyphs(content, text)
        ends = ((glyphs.turned(*rule[:2]), glyphs.turned(*rule[2:])) for rule in content.visibility.rules)
        content.rules = [(min(a, c), min(b, d), max(a, c), max(b, d)) for (a, b), (c, d) in ends]
        level = (rule for rule in content.rules if rule[3] - rule[1] < rule[2] - rule[0])
        glyphs.strokes = sorted(((bottom + top) / 2, left, right) for left, bottom, right, top in level)
        lines = whole(glyphs.lines(count))
        if content.turn != looked_at:
            lines = by_height([run for runs in lines for run in runs])
        content.lines = [line_of(runs, number) for runs in lines]
    finally:
        pdfium.FPDFText_ClosePage(text)
    return content, content.visibility.left


def _turn(text: Handle, count: int, page: int) -> int:
    """The quarter turns after which most letters of a page stand upright; without letters `page`, its own rotation."""
    angles = (pdfium.FPDFText_GetCharAngle(text, row) for row in range(0, count, max(count // _ASKED, 1)))
    quarters = [round(angle / (math.pi / 2)) % 4 for angle in angles if angle >= 0]
    return max(range(4), key=lambda turn: (quarters.count(turn), turn == page))


def _box(page: Handle) -> Box:
    """The bounding box of the page, in its own coordinates."""
    rect = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, rect)
    return rect.left, rect.bottom, rect.right, rect.top


class _Stretch(NamedTuple):
    """Letters of one text object that follow each other: its address, and the rows of the first and the last."""

    text: str
    address: int
    first: int
    last: int


@dataclass(slots=True)
class _Glyphs:
    page: GlyphPage
    text: Handle
    fonts: dict[int, tuple[bool, bool]] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)
    strokes: list[tuple[float, float, float]] = field(default_factory=list)

    def lines(self, count: int) -> Iterator[list[TextRun]]:
        """The runs of every line. Counts what is hidden and invisible."""
        runs: list[tuple[int, TextRun]] = []
        for stretch in chain(self._stretches(count), [None]):
            if stretch is not None:
                runs += ((stretch.first, run) for run in self._run(stretch))
            elif runs:
                yield self._unstruck(runs)
                runs = []
        self.page.hidden += len(self.page.visibility.hidden - self.met)  # pdfium leaves out what has no width

    def _stretches(self, count: int) -> Iterator[_Stretch | None]:
        """Stretches, and None where a line ends."""
        text = repeat(_address(self.text))
        owners = map(_text_object, text, range(count))
        letters: list[str] = []
        address = first = last = 0
        for index, (code, owner) in enumerate(zip(map(_unicode, text, range(count)), owners, strict=True)):
            ends = code in _LINE_ENDS
            if letters and (ends or (owner and owner != address)):
                yield _Stretch("".join(letters), address, first, last)
                letters = []
            if ends:
                yield None
            elif owner or letters:
                first, last = first if letters else index, index if owner else last
                address = owner or address
                letters.append(chr(code))
            if code in _HYPHENS:
                yield _Stretch("".join(letters), address, first, last)
                yield None
                letters = []
        if letters:
            yield _Stretch("".join(letters), address, first, last)

    def _run(self, stretch: _Stretch) -> list[TextRun]:
        """The seen letters of a stretch: one run, or none."""
        visibility, length = self.page.visibility, filled(stretch.text)
        self.met.add(stretch.address)
        if stretch.address in visibility.hidden:
            self.page.hidden += length
            return []
        text = stretch.text
        if stretch.address in visibility.invisible:
            self.page.invisible += length
        elif stretch.address in visibility.cut:
            text = self._inside(stretch)
            self.page.hidden += length - filled(text)
        type_ = self._type(stretch)
        left, base, _ = self._place(stretch.first)
        right = self._place(stretch.last)[2]
        rows = range(stretch.first, stretch.first + len(text)) if type_.mono else range(0)
        places = tuple(self.turned(*self._origin(row))[0] for row in rows)
        return [TextRun(text, left, right, base, type_, places)]

    def _unstruck(self, runs: Sequence[tuple[int, TextRun]]) -> list[TextRun]:
        """The runs of a line, with a space for every letter that a stroke no longer than the line goes through; `runs`
        come with the index of their first letter."""
        if not self.strokes:
            return [run for _, run in runs]
        left, right = min(run.left for _, run in runs), max(run.right for _, run in runs)
        kept = []
        for first, run in runs:
            size = run.type.size
            low, high = (run.base + share * size for share in _THROUGH)
            near = self.strokes[bisect_left(self.strokes, (low,)) : bisect_right(self.strokes, (high,))]
            across = [(start, end) for _, start, end in near if left - size < start and end < right + size]
            kept.append(self._outside(across, run, first) if across else run)
        return kept

    def _outside(self, across: Sequence[tuple[float, float]], run: TextRun, first: int) -> TextRun:
        """The run with a space for every letter that one of the strokes goes through."""
        places = (self.turned(*self._origin(row))[0] for row in range(first, first + len(run.text)))
        text = "".join(
            " " if any(start - 1 < at < end - 1 for start, end in across) else letter
            for letter, at in zip(run.text, places, strict=True)
        )
        self.page.hidden += filled(run.text) - filled(text)
        return run._replace(text=text)

    def _inside(self, stretch: _Stretch) -> str:
        """The text with a space for every letter outside the page."""
        left, bottom, right, top = self.page.box
        letters = []
        for row, letter in enumerate(stretch.text, stretch.first):
            x, y = self._origin(row)
            letters.append(letter if left <= x <= right and bottom <= y <= top else " ")
        return "".join(letters)

    def _origin(self, row: int) -> tuple[float, float]:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self.text, row, x, y)
        return x.value, y.value

    def _place(self, row: int) -> tuple[float, float, float]:
        """Where a letter begins, its height above the page's foot, and where it ends, as the page is looked at."""
        box = pdfium.FS_RECTF()
        pdfium.FPDFText_GetLooseCharBox(self.text, row, box)
        x, base = self.turned(*self._origin(row))
        ends = self.turned(box.left, box.bottom)[0], self.turned(box.right, box.top)[0]
        return x, base, max(ends)

    def turned(self, x: float, y: float) -> tuple[float, float]:
        """A place on the page as the page is looked at, from its lower left corner."""
        left, bottom, right, top = self.page.box
        if self.page.turn == 0:
            return x - left, y - bottom
        return ((y - bottom, right - x), (right - x, top - y), (top - y, x - left))[self.page.turn - 1]

    def _type(self, stretch: _Stretch) -> Type:
        item, size, matrix = (
            ctypes.cast(stretch.address, pdfium.FPDF_PAGEOBJECT),
            ctypes.c_float(),
            pdfium.FS_MATRIX(),
        )
        pdfium.FPDFTextObj_GetFontSize(item, size)
        pdfium.FPDFText_GetMatrix(self.text, stretch.first, matrix)
        font = pdfium.FPDFTextObj_GetFont(item)
        key = ctypes.addressof(font.contents) if font else 0
        if key not in self.fonts:
            self.fonts[key] = _face(font) if font else (False, False)
        return Type(abs(size.value) * math.hypot(matrix.c, matrix.d), *self.fonts[key])


def _face(font: Handle) -> tuple[bool, bool]:
    """Whether a font is bold, and whether all its letters have one width."""
    buffer = ctypes.create_string_buffer(_LONGEST_NAME)
    pdfium.FPDFFont_GetBaseFontName(font, buffer, _LONGEST_NAME)
    name = buffer.value.decode("latin-1").lower().replace("monotype", "")  # a maker of fonts
    marks = pdfium.FPDFFont_GetFlags(font)
    bold = (marks > 0 and bool(marks & _FORCED_BOLD)) or pdfium.FPDFFont_GetWeight(font) >= _HEAVY
    mono = marks > 0 and bool(marks & _FIXED_PITCH)
    return bold or any(part in name for part in _BOLD), mono or any(part in name for part in _MONO)
