import io
import zlib
from pathlib import Path

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Document
from equipoise.corpus.loaders import load
from hostile_files import pdf as pdf_of


def document_of(name, data):
    (loaded,) = load(Path(name), data)
    return loaded


def refusal(name, data):
    with pytest.raises(UnreadableFile) as caught:
        load(Path(name), data)
    return caught.value.reason


def damaged(name, data):
    try:
        load(Path(name), data)
    except UnreadableFile as error:
        assert error.reason


NEW = "\n"


def pdf(*pages, title=None, encrypt=None):
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5, encrypt=encrypt)
    if title:
        canvas.setTitle(title)
    for page in pages:
        for number, line in enumerate(page.split("\n")):
            if line:
                canvas.drawString(40, 550 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


class TestPdf:
    def test_lines_are_unwrapped_and_cut_words_mended(self):
        page = (
            "Introduction\n"
            "The store keeps every document in one single file, and it is exam-\n"
            "ined on opening. A well-known file format is used for it, a well-\n"
            "known one, which many other programs can read as well. It is old\n"
            "and good.\n"
            "A second paragraph begins after the short line and it also goes on\n"
            "for two lines."
        )
        assert document_of("a.pdf", pdf(page)).text == (
            "Introduction\n\n"
            "The store keeps every document in one single file, and it is examined on opening. "
            "A well-known file format is used for it, a well-known one, which many other programs "
            "can read as well. It is old and good.\n\n"
            "A second paragraph begins after the short line and it also goes on for two lines."
        )

    def test_pages_are_found_again_and_a_sentence_may_run_over_their_border(self):
        pages = ["The first page ends in the middle of a", "", "sentence here.", "Last page."]
        loaded = document_of(
            "a.pdf", pdf(*(f"{page}{36 * NEW}{number}" for number, page in enumerate(pages, 1)))
        )
        assert loaded.text == "The first page ends in the middle of a sentence here.\n\nLast page."
        document = Document("d", loaded.text, "a.pdf", pages=loaded.pages)
        assert document.page_at(0) == 1
        assert document.page_at(loaded.text.index("sentence")) == 3
        assert document.page_at(loaded.text.index("Last")) == 4

    def test_titles(self):
        assert document_of("a.pdf", pdf("Text.", title="The  title")).title == "The title"
        assert document_of("name.pdf", pypdf_copy(pdf("Text."))).title == "name"

    def test_list_items_stay_apart(self):
        page = "A list of things that are here:\n- the first thing of the list\n- the second thing"
        assert document_of("a.pdf", pdf(page)).text.count("\n\n- ") == 2

    def test_encrypted(self):
        assert "without a password" in refusal("a.pdf", pdf("Secret.", encrypt="key"))

    def test_a_scan(self):
        assert "OCR" in refusal("a.pdf", pdf("", ""))

    @pytest.mark.parametrize("data", [b"%PDF-", b"%PDF-1.7\n%%EOF", pdf("Some text here.")[:300]])
    def test_broken(self, data):
        assert "broken" in refusal("a.pdf", data)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b" " * 100_000_000, "no text"),
            (b"BT /F 9 Tf " + (b"(" + b"x" * 30_000 + b")Tj ") * 100 + b"ET", "work"),
            (b"0 0 1 1 re f " * 120_000, "work"),
        ],
        ids=["unpacked", "text", "objects"],
    )
    def test_a_small_file_that_asks_for_much_is_refused(self, content, says):
        data = pdf_of(zlib.compress(content, 9)).replace(b"<</Length", b"<</Filter/FlateDecode/Length")
        assert says in refusal("a.pdf", data)

    @settings(deadline=None)
    @given(st.binary(max_size=40), st.integers(0, 1200))
    def test_damage_is_read_or_refused_and_nothing_else(self, noise, at):
        whole = pdf("Some text here.")
        damaged("a.pdf", whole[:at] + noise + whole[at + len(noise) :])


def pypdf_copy(data):
    """The same pages without metadata."""
    writer = pypdf.PdfWriter()
    for page in pypdf.PdfReader(io.BytesIO(data)).pages:
        writer.add_page(page)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_struck_text_is_left_out_and_underlined_text_is_not():
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5)
    canvas.setFont("Helvetica", 10)

    def said(height, text, *, at=40.0, above=None, longer=0.0):
        canvas.drawString(at, height, text)
        end = at + canvas.stringWidth(text, "Helvetica", 10)
        if above is not None:
            canvas.line(at, height + above, end + longer, height + above)
        return end

    said(540, "A dog costs 9 euros.", above=2.6)
    end = said(520, "A deposit of ")
    end = said(520, "40 euros", at=end, above=2.6)
    said(520, " 55 euros is due.", at=end)
    end = said(510, "Bring it back. ")
    half = said(510, "Cash ", at=end)
    half = said(510, "only.", at=half)
    canvas.line(end, 512.6, half, 512.6)  # one stroke through two pieces of text
    said(500, "Pay at the counter.", above=-1.5)
    said(
        480, "North of this line.", above=2.6, longer=200
    )  # what goes on far beyond the text is drawn for itself
    canvas.save()
    document = document_of("a.pdf", buffer.getvalue())
    assert (
        " ".join(document.text.split())
        == "A deposit of 55 euros is due. Bring it back. Pay at the counter. North of this line."
    )
    assert document.hidden == len("Adogcosts9euros.40eurosCashonly.")


def test_nothing_is_printed(capfd):
    damaged("a.pdf", pdf("Some text here.").replace(b"endobj", b"endob"))
    refusal("a.pdf", b"%PDF-1.7\n%%EOF")
    assert capfd.readouterr() == ("", "")
