"""All the text of a file, also what its loader leaves out because a reader would not see it.

Read in a worker process, as everything that looks into hostile bytes (`corpus.worker`). It is not made for reading:
the text of a page comes with its scripts, the parts of an office file come one after the other.
"""

import email
import html
import re
from collections.abc import Iterator
from email.policy import compat32
from pathlib import Path

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from equipoise.corpus.loaders import eml
from equipoise.corpus.loaders.html import decode_page
from equipoise.corpus.loaders.loaded import decoded, parsing
from equipoise.corpus.loaders.msg import as_mail
from equipoise.corpus.loaders.package import Package
from equipoise.corpus.loaders.pdf import opened
from equipoise.corpus.whole import MOST_PIECES, WholeText

_TAG = re.compile(r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)|<[A-Za-z/!?][^<>]*+>")
_LETTERS = re.compile(r"[^\n]")
_ENDS = re.compile(
    r"</(?:\w{1,10}:)?(?:p|h|h\d|si|row|tr|td|c|li|div|comment)>|<(?:\w{1,10}:)?(?:br|tab)\b[^<>]*+>"
)
_PART = re.compile(r"\.(?:xml|xhtml|html|htm)\Z", re.IGNORECASE)
_NO_TEXT = re.compile(
    r"theme|styles|fontTable|settings|_rels|Content_Types|META-INF|numbering|docProps|manifest", re.IGNORECASE
)
_PACKED = frozenset({".docx", ".docm", ".odt", ".ods", ".pptx", ".pptm", ".xlsx", ".xlsm", ".epub"})
_MAIL = frozenset({".eml", ".mbox"})
_PAGES = frozenset({".html", ".htm"})
_PAGE_LETTERS = 2_000_000


def whole_texts(path: Path, data: bytes) -> list[WholeText]:
    """The texts of a file. Raises UnreadableFile."""
    suffix = path.suffix.lower()
    if suffix in _PACKED:
        return list(_packed(path, data))
    if suffix in _PAGES:
        return list(_marked_up(decode_page(path, data), has_lines=True))
    if suffix == ".pdf":
        return list(_pages(path, data))
    if suffix == ".msg":
        return list(_mail(as_mail(path, data)))
    if suffix in _MAIL:
        return list(_mail(data))
    return [WholeText(decoded(path, data).replace("\r\n", "\n").replace("\r", "\n"), has_lines=True)]


def _marked_up(source: str, *, has_lines: bool) -> Iterator[WholeText]:
    """Two texts: what is between tags, and what is in tags and comments; each has spaces in place of the rest."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    yield WholeText(_TAG.sub(lambda tag: _blank(tag.group()), source), has_lines=has_lines)
    kept, at = [], 0
    for tag in _TAG.finditer(source):
        kept += [_blank(source[at : tag.start()]), tag.group()]
        at = tag.end()
    yield WholeText("".join([*kept, _blank(source[at:])]), has_lines=has_lines)


def _blank(text: str) -> str:
    return _LETTERS.sub(" ", text)


def _packed(path: Path, data: bytes) -> Iterator[WholeText]:
    with parsing(path, "file"):
        package = Package(path, data)
        for name in package.names():
            if _PART.search(name) and not _NO_TEXT.search(name):
                source = package.part(name).decode("utf-8", "replace")
                text = html.unescape(_TAG.sub("", _ENDS.sub("\n", source)))
                if text.strip():
                    yield WholeText(text)


def _pages(path: Path, data: bytes) -> Iterator[WholeText]:
    with opened(path, data) as document:
        for number in range(min(len(document), MOST_PIECES)):
            try:
                letters = document[number].get_textpage()
            except pdfium.PdfiumError:  # a page that cannot be read
                continue
            text = letters.get_text_range(
                0, min(max(letters.count_chars(), 0), _PAGE_LETTERS), errors="replace"
            )
            if text:
                yield WholeText(text.replace("\r\n", "\n"), page=number + 1)


def _mail(data: bytes) -> Iterator[WholeText]:
    for part in email.message_from_bytes(data, policy=compat32).walk():
        if part.get_content_subtype() == "html":
            yield from _marked_up(eml.decoded(part), has_lines=False)
        elif part.get_content_maintype() == "text":
            yield WholeText(eml.decoded(part))
