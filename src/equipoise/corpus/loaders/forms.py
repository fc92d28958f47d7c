"""Form fields that are filled in on a PDF's page, and comments on it (ISO 32000-1, 12.5 and 12.7)."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from equipoise.corpus.loaders.lines import PageLine
from equipoise.corpus.loaders.loaded import clean, comment, one_line
from equipoise.corpus.loaders.visibility import Box, Handle

_NOTES = frozenset(
    {
        pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE,
        pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_CARET,
    }
)  # fmt: skip
_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_MOST, _LONGEST = 500, 20_000  # annotations of a page, and bytes of a text
_OFF, _YES, _NO = "Off", "yes", "no"
_SHORT = 8  # words of a label that is no sentence
_TOUCH = 3.0  # points that a label may reach into its field
_STEP = 3.0  # sizes from one comment to the next
_SIZE = 11.0  # points, where a page has no text


class _Field(NamedTuple):
    """A field that is filled in: its place, name and value. `is_box`: a box to tick, whose value is yes or no."""

    box: Box
    name: str
    value: str
    is_box: bool


def with_fields(page: Handle, number: int, lines: list[PageLine], *, upright: bool) -> list[PageLine]:
    """The lines of a loaded page, the values of fields behind their labels, and comments below all lines.

    A box whose label is a sentence is written before it, as `[x]` or `[ ]`. If the page is not read `upright`, or no
    label stands beside a field, it stands below all lines with its own name as its label.
    """
    said: list[str] = []
    lines = list(lines)
    for annotation in _annotations(page):
        if isinstance(annotation, str):
            said.append(annotation)
            continue
        row = _label(annotation, lines) if upright else -1
        if row >= 0:
            lines[row] = _filled_in(lines[row], annotation)
        else:
            said.append(_said(annotation.name, annotation.value))
    size = median(line.size for line in lines) if lines else _SIZE
    base = min((line.base for line in lines), default=0.0)
    left = min((line.left for line in lines), default=0.0)
    edge = max((line.right for line in lines), default=0.0)
    for text in said:
        base -= _STEP * size
        right = min(left + size * len(text) / 2, edge)
        lines.append(PageLine(text, number, left, right, base, size, bold=False, mono=False))
    return lines


def _annotations(page: Handle) -> Iterator[_Field | str]:
    """Fields that are filled in, and what comments say."""
    for row in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST)):
        handle = pdfium.FPDFPage_GetAnnot(page, row)
        if not handle:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(handle)
            if pdfium.FPDFAnnot_GetFlags(handle) & _UNSEEN:
                continue
            if kind == pdfium.FPDF_ANNOT_WIDGET and (found := _field(handle)):
                yield found
            elif kind in _NOTES and (text := _text(handle, b"Contents")):
                yield text if kind == pdfium.FPDF_ANNOT_FREETEXT else comment(text, _text(handle, b"T"))
        finally:
            pdfium.FPDFPage_CloseAnnot(handle)


def _field(handle: Handle) -> _Field | None:
    state = _text(handle, b"AS")
    value = {_OFF: _NO}.get(state, _YES) if state else _text(handle, b"V")
    rect = pdfium.FS_RECTF()
    if not value or not pdfium.FPDFAnnot_GetRect(handle, rect):
        return None
    name = _text(handle, b"TU") or _text(handle, b"T")
    return _Field((rect.left, rect.bottom, rect.right, rect.top), name, value, bool(state))


def _text(handle: Handle, key: bytes) -> str:
    length = min(pdfium.FPDFAnnot_GetStringValue(handle, key, None, 0), _LONGEST)
    buffer = (ctypes.c_ushort * (length // 2 + 1))()
    pdfium.FPDFAnnot_GetStringValue(handle, key, buffer, length)
    return one_line(clean(bytes(buffer).decode("utf-16-le", "replace").partition("\0")[0]))


def _label(field: _Field, lines: list[PageLine]) -> int:
    """The row of the nearest line level with a field, to its left or, for a box, on either side; -1 without one."""
    left, bottom, right, top = field.box
    level = [row for row, line in enumerate(lines) if bottom - _TOUCH <= line.base < top and not line.row]
    before = [row for row in level if lines[row].right <= left + _TOUCH]
    behind = [row for row in level if lines[row].left >= right - _TOUCH] if field.is_box else []
    gaps = {row: left - lines[row].right for row in before} | {row: lines[row].left - right for row in behind}
    return min(gaps, key=lambda row: gaps[row], default=-1)


def _filled_in(line: PageLine, field: _Field) -> PageLine:
    pieces = line.pieces
    if field.is_box and line.left >= field.box[2] - _TOUCH and len(line.text.split()) > _SHORT:
        return _ticked(line, field)  # a sentence, which may go on below
    text, right = _said(line.text, field.value), max(line.right, field.box[2])
    if pieces:
        last = pieces[-1]
        pieces = (
            *pieces[:-1],
            last._replace(text=_said(last.text, field.value), right=max(last.right, right)),
        )
    return replace(line, text=text, right=right, pieces=pieces)


def _ticked(line: PageLine, field: _Field) -> PageLine:
    mark = "[ ] " if field.value == _NO else "[x] "
    pieces = line.pieces and (line.pieces[0]._replace(text=mark + line.pieces[0].text), *line.pieces[1:])
    return replace(line, text=mark + line.text, pieces=pieces)


def _said(label: str, value: str) -> str:
    if label.endswith((": yes", ": no", ", yes", ", no")) and value in (_YES, _NO):
        return f"{label}, {value}"
    mark = "" if label.endswith((":", "?", ".")) else ":"
    return f"{label}{mark} {value}" if label else value
