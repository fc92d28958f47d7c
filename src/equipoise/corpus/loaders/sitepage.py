"""A page of a site: its own text, what its readers wrote, its links, and what it says to programs.

Runs in a worker process, as whatever parses bytes of others. `corpus.pages` sends the result to the main process.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from equipoise.core.errors import UnreadableFile
from equipoise.core.metadata import Scalar
from equipoise.corpus import loaders
from equipoise.corpus.loaders import encodings
from equipoise.corpus.loaders.html import dated, decode_page, read_page
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.written_by import of_readers

MOST_LINKS, LONGEST_LINK = 5_000, 2_000
_ROBOTS = "meta[name=robots i], meta[name=equipoise i]"
_FEW_WORDS = 120
"""Words, at most, of a page with a password field that is only for logging in."""
_STYLES = "style, link[rel~=stylesheet]"


@dataclass(frozen=True, slots=True)
class Told:
    """What a page says to programs: links to follow, its canonical address, whether it is for no index (`noindex`), and
    whether it only asks for a password (`login`)."""

    links: tuple[str, ...] = ()
    canonical: str = ""
    noindex: bool = False
    login: bool = False


@dataclass(frozen=True, slots=True)
class SitePage:
    """`own` are the documents of the owner, `others` of the page's readers, `why` says why there are none."""

    told: Told
    own: list[LoadedDocument] = field(default_factory=list)
    others: list[LoadedDocument] = field(default_factory=list)
    why: str = ""


def load_page(path: Path, data: bytes, asked: dict[str, Any]) -> SitePage:
    """The page at the address `asked["address"]`, in the encoding `asked["charset"]` if the server said one."""
    codec = encodings.known(str(asked.get("charset") or "")).replace("utf-8", "utf-8-sig")
    source = clean(data.decode(codec, "replace")) if codec else decode_page(path, data)
    tree = LexborHTMLParser(source)
    theirs = of_readers(tree, [str(one) for one in asked.get("selectors") or ()])
    title = _title(tree)
    others = _only(tree, theirs)
    for node in theirs:
        node.decompose()
    told = _told(tree, str(asked["address"]))
    own = tree.html or "" if theirs else source
    documents, why = _documents(path, own, title or path.stem, dated(tree))
    comments, _ = (
        _documents(path, others, f"Comments: {title or path.stem}", {}, as_is=True) if theirs else ([], "")
    )
    return SitePage(told, documents, comments, why)


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("title")
    return one_line(node.text(deep=True)) if node else ""


def _only(tree: LexborHTMLParser, nodes: Sequence[LexborNode]) -> str:
    """A page with just these parts of a page, and all of its style sheets."""
    styles = "".join(node.html or "" for node in tree.css(_STYLES))
    body = "".join(f"<div>{node.html or ''}</div>" for node in nodes)
    return f"<html><head>{styles}</head><body>{body}</body></html>"


def _documents(
    path: Path, source: str, title: str, dated: Mapping[str, Scalar], *, as_is: bool = False
) -> tuple[list[LoadedDocument], str]:
    outline = Outline()
    try:
        found = read_page(path, source, outline)
        loaded = outline.loaded(title if as_is else found or title)
        return loaders.seen(path, [replace(loaded, metadata=dated)]), ""
    except UnreadableFile as error:
        return [], error.reason


def _told(tree: LexborHTMLParser, address: str) -> Told:
    rules = ",".join(node.attributes.get("content") or "" for node in tree.css(_ROBOTS)).lower()
    words = {word.strip() for word in rules.split(",")}
    base_node = tree.css_first("base[href]")
    base = _joined(address, base_node.attributes.get("href") or "") if base_node else address
    canonical = tree.css_first("link[rel~=canonical][href]")
    stops = not words.isdisjoint({"nofollow", "none"})
    return Told(
        links=() if stops else tuple(dict.fromkeys(_links(tree, base or address)))[:MOST_LINKS],
        canonical=_joined(base or address, canonical.attributes.get("href") or "") if canonical else "",
        noindex=not words.isdisjoint({"noindex", "none"}),
        login=_is_login(tree),
    )


def _links(tree: LexborHTMLParser, base: str) -> Iterator[str]:
    """Where the owner's own links lead; what readers wrote is out of the tree by now."""
    for node in tree.css("a[href], area[href], link[rel~=next][href], link[rel~=prev][href]"):
        marks = (node.attributes.get("rel") or "").lower().split()
        if "nofollow" in marks or "ugc" in marks:
            continue
        href = (node.attributes.get("href") or "").strip()
        if href and not href.startswith("#") and (link := _joined(base, href)):
            yield link


def _joined(base: str, href: str) -> str:
    try:
        made = urljoin(base, href.strip()).partition("#")[0]
    except ValueError:
        return ""
    return made if len(made) <= LONGEST_LINK else ""


def _is_login(tree: LexborHTMLParser) -> bool:
    if tree.css_first("input[type=password]") is None or tree.body is None:
        return False
    return len(tree.body.text(deep=True, separator=" ").split()) <= _FEW_WORDS
