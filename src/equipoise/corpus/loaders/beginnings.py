"""What a file is by its first bytes, where its name says something else."""

import re
from collections.abc import Collection, Iterator
from itertools import chain

from equipoise.corpus.loaders.loaded import OLD

HEAD = 65_536
"""How many of the first bytes are looked at."""
_PDF, _ZIP, _OLE = b"%PDF-", b"PK\3\4", bytes.fromhex("d0cf11e0a1b11ae1")
_PDF_WITHIN = 1_024
_PACKAGES = (
    (b"word/", "a Word file", (".docx", ".docm")),
    (b"ppt/", "a PowerPoint file", (".pptx", ".pptm")),
    (b"xl/w", "an Excel file", (".xlsx", ".xlsm")),
    (b"application/epub+zip", "an EPUB book", (".epub",)),
    (b"application/vnd.oasis.opendocument.text", "an OpenDocument text", (".odt", ".ods")),
    (b"application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument sheet", (".ods", ".odt")),
)
"""Kinds of zip files: bytes that occur in them, what they are called, and their suffixes, the usual one first."""
_ZIPS = frozenset(suffix for *_, suffixes in _PACKAGES for suffix in suffixes)
_SHEETS = frozenset({".xlsx", ".xlsm", ".ods"})
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"II*\0", b"MM\0*")
_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")


def misnamed(suffix: str, head: bytes) -> str:
    """Why a file with these first bytes cannot be what its suffix says, and what to do; empty where it can.

    >>> misnamed(".docx", b"%PDF-1.7 ..."), misnamed(".pdf", b"%PDF-1.7 ...")
    ('this is a PDF file called .docx; rename it to .pdf', '')
    """
    packages = [row for row in _PACKAGES if head.startswith(_ZIP) and row[0] in head]
    if _may_begin(suffix, head, [name for *_, names in packages for name in names]):
        return ""
    if suffix in _ZIPS and head.startswith(_OLE):
        return f"this is an old format or has a password; save it as {suffix} without one"
    known = ((what, f"rename it to {names[0]}") for _, what, names in packages)
    if found := next(chain(known, _others(suffix, head)), None):
        return f"this is {found[0]} called {suffix}; {found[1]}"
    return f"this is no {suffix} file, or a broken one; get it again, or open it in its program and save it"


def _may_begin(suffix: str, head: bytes, packed: Collection[str]) -> bool:
    """Whether a file with this suffix may begin so; `packed` are those that fit the content of a zip file, if known."""
    if suffix == ".pdf":
        return _PDF in head[:_PDF_WITHIN]
    if suffix in _ZIPS:
        return head.startswith(b"PK") and (not packed or suffix in packed)
    is_pdf = head.startswith(_PDF) and _NO_TEXT.search(head) is not None
    return not suffix or suffix in OLD or not (is_pdf or head.startswith((_ZIP, *_PICTURES)))


def _others(suffix: str, head: bytes) -> Iterator[tuple[str, str]]:
    """What a file may be that is no package, and what to do with it."""
    start = head[:_PDF_WITHIN].lstrip().lower()
    if head.startswith(_ZIP):
        yield "a zip archive", "unpack it and index what is in it"
    if head.startswith(_PICTURES):
        yield "a picture", "run it through text recognition (OCR) first, or leave it out"
    if _PDF in head[:_PDF_WITHIN]:
        yield "a PDF file", "rename it to .pdf"
    if start.startswith(b"{\\rtf"):
        yield "an RTF file", "rename it to .rtf"
    if b"<html" in start or start.startswith(b"<!doctype html"):
        yield "a web page", "rename it to .html"
    if not _NO_TEXT.search(head):
        yield "text", f"rename it to {'.csv' if suffix in _SHEETS else '.txt'}"
