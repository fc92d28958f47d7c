"""A sitemap, an index of sitemaps, or a feed: the addresses in it. Runs in a worker process."""

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from equipoise.core.errors import UnreadableFile
from equipoise.corpus import loaders
from equipoise.corpus.loaders.xml import read_xml

MOST = 50_000
"""Addresses in one, as sitemaps.org says."""
LONGEST = 2_000


def load_sitemap(path: Path, data: bytes) -> tuple[list[str], list[str]]:
    """The addresses of other sitemaps, and those of pages. Raises UnreadableFile."""
    data = loaders.unzipped(path, data)
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = data.decode("utf-8", "replace").split("\n")
        return [], _clean([line for line in lines if "://" in line])
    try:
        root = read_xml(data)
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableFile(str(path), f"it is not valid XML ({error}); correct it") from error
    maps = [_text(node.find("loc")) for node in root.iter("sitemap")]
    pages = [_text(node.find("loc")) for node in root.iter("url")]
    for node in (*root.iter("item"), *root.iter("entry")):
        pages += [_text(link) or link.get("href") or "" for link in node.iter("link")]
    return _clean(maps), _clean(pages)


def _text(node: Element | None) -> str:
    return "" if node is None else (node.text or "").strip()


def _clean(addresses: list[str]) -> list[str]:
    found = dict.fromkeys(one.strip() for one in addresses)
    return [one for one in found if one and len(one) <= LONGEST][:MOST]


def written(maps: list[str], pages: list[str]) -> tuple[dict[str, Any], list[bytes]]:
    """The addresses as header and body of a frame."""
    return {"maps": maps, "pages": pages}, []


def read(header: dict[str, Any], body: bytes) -> tuple[list[str], list[str]]:
    """The addresses in a frame. Raises ValueError for any that is not in order."""
    return texts(header, "maps", MOST), texts(header, "pages", MOST)


def texts(header: dict[str, Any], name: str, most: int) -> list[str]:
    """A list of short texts in a header that a worker sent. Raises ValueError."""
    found = header.get(name)
    if not isinstance(found, list) or len(found) > most:
        raise ValueError(f"no {name}")
    if not all(isinstance(one, str) and len(one) <= LONGEST for one in found):
        raise ValueError(f"{name} that are no addresses")
    return found
