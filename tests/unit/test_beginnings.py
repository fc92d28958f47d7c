"""What a file is, where its name says something else: one sentence that says what to do."""

from pathlib import Path

import pytest

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import load
from equipoise.corpus.loaders.beginnings import misnamed
from office_files import odt, pptx, xlsx, zipped

PAPER = "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>Seen.</w:t></w:r></w:p></w:body></w:document>"
WORD = zipped({"[Content_Types].xml": "<Types/>", "_rels/.rels": "<r/>", "word/document.xml": PAPER})
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0"
PDF = b"%PDF-1.7\n%\0\1\2\n"
ROWS = b"Supplier;Phone\nDentalo;01632 960 555\n"
BLUR = "run it through text recognition (OCR) first, or leave it out"
MISNAMED = {
    "a Word file as PDF": ("a.pdf", WORD, "this is a Word file called .pdf; rename it to .docx"),
    "a Word file as Excel": ("a.xlsx", WORD, "this is a Word file called .xlsx; rename it to .docx"),
    "slides as PDF": ("a.PDF", pptx(""), "this is a PowerPoint file called .pdf; rename it to .pptx"),
    "a sheet as rows": ("a.csv", xlsx(""), "this is an Excel file called .csv; rename it to .xlsx"),
    "a zip as PDF": (
        "a.pdf",
        zipped({"a.txt": "b"}),
        "this is a zip archive called .pdf; unpack it and index what is in it",
    ),
    "a picture as PDF": ("a.pdf", JPEG, f"this is a picture called .pdf; {BLUR}"),
    "a picture as Word": ("a.docx", JPEG, f"this is a picture called .docx; {BLUR}"),
    "a picture as text": ("a.txt", JPEG, f"this is a picture called .txt; {BLUR}"),
    "a PDF as Word": ("a.docx", PDF, "this is a PDF file called .docx; rename it to .pdf"),
    "a PDF as text": ("a.txt", PDF, "this is a PDF file called .txt; rename it to .pdf"),
    "rows as Excel": ("a.xlsx", ROWS, "this is text called .xlsx; rename it to .csv"),
    "text as Word": ("a.docx", b"Dear all, ...", "this is text called .docx; rename it to .txt"),
    "RTF as Word": ("a.docx", b"{\\rtf1 Seen.}", "this is an RTF file called .docx; rename it to .rtf"),
    "a page as PDF": ("a.pdf", b"<!DOCTYPE html><p>x", "this is a web page called .pdf; rename it to .html"),
    "with a password": (
        "a.xlsx",
        bytes.fromhex("d0cf11e0a1b11ae1"),
        "this is an old format or has a password; save it as .xlsx without one",
    ),
    "something else": (
        "a.pdf",
        b"\0\1\2",
        "this is no .pdf file, or a broken one; get it again, or open it in its program and save it",
    ),
}


@pytest.mark.parametrize("case", MISNAMED)
def test_a_file_with_a_wrong_name_says_what_it_is(case):
    name, data, says = MISNAMED[case]
    with pytest.raises(UnreadableFile) as caught:
        load(Path(name), data)
    assert caught.value.reason == misnamed(Path(name).suffix.lower(), data) == says


def test_a_file_that_was_cut_short_says_so_without_a_name_of_a_class():
    with pytest.raises(UnreadableFile) as caught:
        load(Path("a.docx"), WORD[: len(WORD) // 2])
    said = "the Word file is broken or cut short; get it again, or open it in its program and save it"
    assert caught.value.reason == said


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".docx", WORD),
        (".docm", WORD),
        (".docx", b"PK\3\4 what it is stands further on"),
        (".pptx", pptx("", more={"ppt/embeddings/a.docx": WORD})),
        (".ods", odt("")),
        (".odp", odt("")),
        (".xls", xlsx("")),
        (".pdf", b"\n\n" + PDF),
        (".txt", b"%PDF-1.7 is how such a file begins."),
        ("", b"PK\3\4"),
    ],
)
def test_a_file_that_may_be_what_it_is_called_is_read(suffix, data):
    assert misnamed(suffix, data) == ""
