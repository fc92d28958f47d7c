"""Finding a quote among the letters of a page, and drawing PNG files."""

import struct
import zlib

import numpy as np
import pytest

from equipoise.core.errors import CorpusError
from equipoise.corpus.pictures import locate, picture, png


@pytest.mark.parametrize(
    ("text", "quote", "cut"),
    [
        ("It does not\r\nwork here.", "does not work", "does not\r\nwork"),
        ("a net-\r\nwork of pipes", "network of", "net-\r\nwork of"),
        ("the \ufb01le system", "file system", "\ufb01le system"),
        ("so\u00adft hy\u2010phens", "soft hyphens", "so\u00adft hy\u2010phens"),
        ("nothing here", "something", None),
        ("nothing here", "  ", None),
    ],
)
def test_a_quote_is_found_without_white_space_and_hyphens(text, quote, cut):
    place = locate(text, quote)
    assert (text[place[0] : place[1]] if place else None) == cut


def test_of_several_places_the_nearest_counts():
    text = "again " + "x" * 100 + " again " + "y" * 100 + " again"
    assert locate(text, "again", 0.0)[0] == 0
    assert locate(text, "again", 0.5)[0] == text.index("again", 6)
    assert locate(text, "again", 1.0)[0] == text.rindex("again")


def test_a_png_holds_the_pixels():
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    data = png(pixels)
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    start = data.index(b"IDAT") + 4
    length = struct.unpack(">I", data[start - 8 : start - 4])[0]
    rows = zlib.decompress(data[start : start + length])
    assert rows == b"\0" + bytes(range(9)) + b"\0" + bytes(range(9, 18))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 and nothing more", b"\0" * 1000])
def test_what_is_no_pdf_is_one_clear_error(data):
    with pytest.raises(CorpusError, match="page 1 cannot be drawn"):
        picture(data, 1)
