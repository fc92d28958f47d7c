"""Draws a page of a PDF as a PNG, with quotes marked: in a process of its own, within limits.

`picture` starts `python -m equipoise.corpus.pictures`, which gets the file's bytes on stdin and looks for the quote
among the page's letters, blind to white space and hyphens. A quote that is not found is not marked: better none than
the wrong one.
"""

import ctypes
import os
import struct
import subprocess
import sys
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import pypdfium2 as pdfium  # type: ignore[import-untyped]
from numpy.typing import NDArray
from pypdfium2 import raw

from equipoise.core.errors import CorpusError
from equipoise.corpus import frames, limits
from equipoise.corpus.workers import environment

Rect = tuple[float, float, float, float]
Pixels = NDArray[np.uint8]

SCALE = 1.6
"""Pixels per point: a page of paper becomes about 1,300 pixels high."""
MOST_PIXELS = 6_000_000
MEMORY, SECONDS, WALL = 2_000_000_000, 20, 60.0
_SKIPPED = frozenset("-\u00ad\u2010\u2011\ufffe\u0002")
_DIM = 0.45  # factor for the blue channel where a page is marked


@dataclass(frozen=True, slots=True)
class Picture:
    """`png`, and where on it the quote stands: (left, top, right, bottom) as shares of width and height."""

    png: bytes
    marks: tuple[Rect, ...]


def picture(data: bytes, page: int, quotes: Sequence[tuple[str, float]] = ()) -> Picture:
    """The page with this number, from 1, with quotes marked: of each its words, and about how far down the page's text
    (0 to 1) it begins.

    Raises CorpusError for a page that cannot be drawn.
    """
    given = BytesIO()
    frames.send(given, {"page": page, "quotes": list(quotes)}, data)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "equipoise.corpus.pictures"],
            input=given.getvalue(),
            capture_output=True,
            timeout=WALL,
            check=True,
            env=environment(os.environ),
            cwd=os.sep,
        )
        made = BytesIO(done.stdout)
        header, length = frames.receive_header(made, most=len(done.stdout))
        image = frames.exactly(made, length)
    except (OSError, subprocess.SubprocessError, frames.BrokenFrame) as error:
        raise CorpusError(f"page {page} cannot be drawn; read its text instead") from error
    return Picture(image, tuple((rect[0], rect[1], rect[2], rect[3]) for rect in header.get("marks", ())))


def main() -> None:
    """Answer the one request on stdin."""
    limits.enclose()
    limits.apply(memory=MEMORY, seconds=SECONDS)
    wanted, length = frames.receive_header(sys.stdin.buffer, most=limits.LARGEST_FILE)
    document = pdfium.PdfDocument(frames.exactly(sys.stdin.buffer, length))
    pixels, marks = drawn(document[wanted["page"] - 1], wanted["quotes"])
    frames.send(sys.stdout.buffer, {"marks": marks}, png(pixels))


def drawn(page: Any, quotes: Sequence[tuple[str, float]]) -> tuple[Pixels, list[Rect]]:  # noqa: ANN401
    """The page in red, green and blue (height, width, 3) with the quotes marked, and where they are."""
    width, height = page.get_size()
    scale = min(SCALE, (MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    pixels = np.array(page.render(scale=scale, rev_byteorder=True).to_numpy()[..., :3])
    size = (pixels.shape[1], pixels.shape[0])
    marks = [mark for quote, near in quotes if quote.strip() for mark in _marks(page, quote, near, *size)]
    for left, top, right, bottom in marks:
        rows = slice(int(top * pixels.shape[0]), int(np.ceil(bottom * pixels.shape[0])))
        columns = slice(int(left * pixels.shape[1]), int(np.ceil(right * pixels.shape[1])))
        pixels[rows, columns, 2] = (pixels[rows, columns, 2] * _DIM).astype(np.uint8)
    return pixels, marks


def png(pixels: Pixels) -> bytes:
    """The pixels (height, width, 3) as a PNG file."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + width * 3), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def locate(text: str, quote: str, near: float = 0.0) -> tuple[int, int] | None:
    """(start, end) of `quote` in `text`, both read without white space and hyphens; of several places the nearest."""
    letters, places = _bare(text)
    wanted, _ = _bare(quote)
    if not wanted:
        return None
    starts: list[int] = []
    at = letters.find(wanted)
    while at >= 0:
        starts.append(at)
        at = letters.find(wanted, at + 1)
    if not starts:
        return None
    start = min(starts, key=lambda start: abs(start - near * len(letters)))
    return places[start], places[start + len(wanted) - 1] + 1


def _bare(text: str) -> tuple[str, list[int]]:
    """The letters of `text` (NFKC) without white space and hyphens, and the index in `text` of each."""
    letters: list[str] = []
    places: list[int] = []
    for at, letter in enumerate(text):
        for character in unicodedata.normalize("NFKC", letter):
            if not character.isspace() and character not in _SKIPPED:
                letters.append(character)
                places.append(at)
    return "".join(letters), places


def _marks(page: Any, quote: str, near: float, width: int, height: int) -> list[Rect]:  # noqa: ANN401
    letters = page.get_textpage()
    text = letters.get_text_range()
    whole = locate(text, quote, near)
    places = [whole] if whole else [locate(text, line, near) for line in quote.splitlines() if line.strip()]
    if any(place is None for place in places):
        return []
    marks: list[Rect] = []
    for start, end in (place for place in places if place):
        for row in range(letters.count_rects(start, end - start)):
            left, bottom, right, top = letters.get_rect(row)
            (x0, y0), (x1, y1) = (_device(page, width, height, *at) for at in ((left, top), (right, bottom)))
            rect = (min(x0, x1) / width, min(y0, y1) / height, max(x0, x1) / width, max(y0, y1) / height)
            marks.append((max(rect[0], 0.0), max(rect[1], 0.0), min(rect[2], 1.0), min(rect[3], 1.0)))
    return marks


def _device(page: Any, width: int, height: int, x: float, y: float) -> tuple[int, int]:  # noqa: ANN401
    """Where a point of the page lies on its picture."""
    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, ctypes.byref(across), ctypes.byref(down))
    return across.value, down.value


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


if __name__ == "__main__":
    main()
