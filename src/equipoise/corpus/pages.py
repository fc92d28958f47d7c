"""What a worker process makes of a page of a site, how it is sent, and how the receiver checks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.corpus import parsed
from equipoise.corpus.loaders.sitemap import LONGEST, texts
from equipoise.corpus.parsed import ParsedDocument

MOST_LINKS = 5_000


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page that was read: what its owner and what its readers wrote, `why` there is nothing of the owner, and what it
    says to programs (`corpus.loaders.sitepage.Told`)."""

    own: list[ParsedDocument]
    others: list[ParsedDocument]
    why: str
    links: tuple[str, ...]
    canonical: str
    noindex: bool
    login: bool


def written(
    own: Sequence[ParsedDocument], others: Sequence[ParsedDocument], told: dict[str, Any]
) -> tuple[dict[str, Any], list[bytes]]:
    """A page as header and body of a frame; `told` has the other fields of `ParsedPage`."""
    header, body = parsed.written([*own, *others])
    return header | {"own": len(own)} | told, body


def read(header: dict[str, Any], body: bytes) -> ParsedPage:
    """The page in a frame. Raises ValueError for any that is not in order."""
    documents = parsed.read(header, body) if header.get("documents") else []
    number, why, canonical = header.get("own"), header.get("why"), header.get("canonical")
    if type(number) is not int or not 0 <= number <= len(documents):
        raise ValueError("no number of documents")
    if not isinstance(why, str) or not isinstance(canonical, str) or len(canonical) > LONGEST:
        raise ValueError("no canonical address")
    links = tuple(texts(header, "links", MOST_LINKS))
    flags = header.get("noindex") is True, header.get("login") is True
    return ParsedPage(documents[:number], documents[number:], why[:LONGEST], links, canonical, *flags)
