"""The type of a site's answer, its version (ETag, Last-Modified), and the fingerprint of its content."""

import hashlib
from collections.abc import Sequence
from datetime import date
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from equipoise.corpus import offsets
from equipoise.corpus.blocks import packed_blocks
from equipoise.corpus.loaders import kind_of
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.sources.fetching import Fetched

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TYPES = {
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/epub+zip": ".epub",
    "application/rtf": ".rtf",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
_BY_NAME = frozenset({"application/octet-stream", "binary/octet-stream", "application/force-download"})


def versions(answer: Fetched) -> dict[str, Any]:
    """What the server calls this version of a page, as fields of `Seen`."""
    etag, modified = (_plain(answer.headers.get(name, "")) for name in ("etag", "last-modified"))
    return {"etag": etag, "modified": modified}


def day_of(answer: Fetched) -> date | None:
    """The day of its Last-Modified."""
    try:
        return parsedate_to_datetime(answer.headers.get("last-modified", "")).date()
    except (ValueError, TypeError, OverflowError):
        return None


def hash_of(answer: Fetched) -> str:
    """sha256 (hex) of all that reading the page depends on: headers and body."""
    said = [answer.kind, answer.charset, answer.headers.get("x-robots-tag", "")]
    return hashlib.sha256("\n".join(said).encode() + b"\n" + answer.data).hexdigest()


def _plain(header: str) -> str:
    """A header that may be sent back as it is; else nothing."""
    return header if header.isascii() and header.isprintable() else ""


def suffix_of(answer: Fetched) -> str:
    """The type of an answer, as a suffix; "" for one that is not read."""
    if answer.kind in _HTML:
        return ".html"
    own = kind_of(Path(answer.address.path)) if answer.kind in _BY_NAME else ""
    return _TYPES.get(answer.kind, own)


def fingerprint_of(*parts: Sequence[ParsedDocument]) -> str:
    """sha256 (hex) of all that is searched and quoted: what else stands in a page changes with every request."""
    digest = hashlib.sha256()
    for part in parts:
        for one in part:
            texts = (one.text.encode(), one.title.encode(), one.fragment.encode())
            lists = (offsets.packed(one.sentences), offsets.packed(one.pages), packed_blocks(one.blocks))
            for data in (*texts, *lists):
                digest.update(hashlib.sha256(data).digest())
        digest.update(b"|")
    return digest.hexdigest()
