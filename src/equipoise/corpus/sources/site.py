"""A site as a source: its pages are found by sitemaps and by the owner's own links below the start address.

What is gone is what the site says is gone: not found (404, 410), moved, for no index. A page that nothing leads to any
more, or that may not be read any more, goes after the second run that finds it so.
"""

import hashlib
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus import blocks, offsets
from equipoise.corpus.files import Content, LeftOut, Original
from equipoise.corpus.loaders import kind_of
from equipoise.corpus.pages import ParsedPage
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.sources.addresses import Address, SiteScope, parsed
from equipoise.corpus.sources.fetching import REDIRECTS, Fetched, Fetcher
from equipoise.corpus.sources.memory import Memory, Seen
from equipoise.corpus.sources.robots import Robots, Sitemaps
from equipoise.corpus.sources.source import COMMENTS, Item, ItemPart, Unanswered
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers

DEEPEST = 30
"""Links from the start, or from a sitemap, to a page: a calendar without end is left here."""
MOST_QUERIES = 100
"""Addresses of one path that differ in their query."""
PATIENCE = 2
"""Runs in a row in which nothing leads to a page until it is gone."""
_GONE = frozenset({404, 410})
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


@dataclass(slots=True)
class Site:
    """The pages of one site within a `scope`; `selectors` choose what readers wrote, and no more than `most` pages are
    asked for. `is_known_anew`: nothing that was remembered of pages holds, since they are read otherwise now."""

    scope: SiteScope
    fetcher: Fetcher
    readers: Readers
    memory: Memory
    selectors: tuple[str, ...] = ()
    most: int = 10_000
    is_known_anew: bool = False
    failed: list[UnreadableFile] = field(default_factory=list)
    _seen: dict[str, Seen] = field(default_factory=dict)
    _queue: deque[tuple[Address, int]] = field(default_factory=deque)
    _queued: set[Address] = field(default_factory=set)
    _queries: Counter[str] = field(default_factory=Counter)
    _met: set[str] = field(default_factory=set)
    _gone: set[str] = field(default_factory=set)
    _missing: set[str] = field(default_factory=set)
    _canonical: dict[Address, Address] = field(default_factory=dict)
    _reasons: dict[str, list[str]] = field(default_factory=dict)
    _parts: dict[str, Sequence[ItemPart]] = field(default_factory=dict)
    _asked: int = 0
    _known: int = 0

    @property
    def address(self) -> str:
        """Where it begins."""
        return str(self.scope.start)

    @property
    def nothing(self) -> str:
        """See DocumentSource."""
        return f"nothing could be read at {self.address}"

    @property
    def expected(self) -> int:
        """See DocumentSource."""
        return self._known

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """For each reason the first address, and how many more there are."""
        return [
            LeftOut(first, why + (f" (and {len(rest):,} more)" if rest else ""))
            for why, (first, *rest) in self._reasons.items()
        ]

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """The pages, each while it is at hand. Raises CorpusError where the site does not answer."""
        self._seen, self._known = self.memory.pages(self.address), len({_page_of(key) for key in known})
        robots = Robots.of(self.fetcher)
        self._enter(self.scope.start, 0)
        maps = Sitemaps(self.fetcher, self.readers, self.failed)
        for address in maps.pages(robots.sitemaps):
            self._enter(address, 1)
        yield from self._walk(robots, known)
        for alias, other in list(self._canonical.items()):
            if str(other) not in self._met:  # the page that it names is none: it stands for itself
                yield from self._visit(alias, 0, robots, known, is_alias=True)
        yield from self._look_again(robots, known)

    def _walk(self, robots: Robots, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        while self._queue:
            if self._asked >= self.most:
                self._leave(
                    self._queue[0][0], f"more than {self.most:,} pages: raise pages, or narrow the address"
                )
                return
            address, depth = self._queue.popleft()
            yield from self._visit(address, depth, robots, known)

    def _look_again(self, robots: Robots, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """Ask for the pages of the index that nothing led to."""
        asked = {str(address) for address in self._queued}
        for page in sorted({_page_of(key) for key in known} - asked - self._met):
            address = parsed(page)
            if address is None or not self.scope.holds(address):
                self._gone.add(page)
            elif self._asked < self.most:
                if not self.failed:  # what failed may be what leads there
                    self._missing.add(page)
                if self._runs_missing(page) < PATIENCE or self.failed:
                    yield from self._visit(address, DEEPEST, robots, known)

    def _runs_missing(self, page: str) -> int:
        return self._seen.get(page, Seen()).missing + 1

    def read(self, item: Item) -> Sequence[ItemPart]:
        """See DocumentSource: all that `items` still has at hand."""
        return self._parts.pop(item.key)

    def gone(self, known: Mapping[str, FileRecord]) -> Sequence[str]:
        """See DocumentSource."""
        unsure = {error.path for error in self.failed}
        gone = []
        for key in known:
            page = _page_of(key)
            if page in unsure:
                continue
            if page in self._gone and page not in self._met:
                gone.append(key)
            elif page in self._missing:
                runs = self._runs_missing(page)
                if runs >= PATIENCE:
                    gone.append(key)
                self.memory.keep(self.address, page, replace(self._seen.get(page, Seen()), missing=runs))
        return gone

    @property
    def met(self) -> int:
        """How many pages there are."""
        return len(self._met)

    def tidy(self, store: Store) -> None:
        """Remember nothing of pages that are not in the index."""
        kept = {_page_of(key) for key, record in store.files().items() if record.root == self.address}
        for page in self._seen.keys() - kept:
            self.memory.forget(self.address, page)

    def _enter(self, address: Address, depth: int) -> None:
        """Queue an address, once."""
        if address in self._queued or not (self.scope.holds(address) or address == self.scope.start):
            return
        if depth > DEEPEST:
            self._leave(address, f"more than {DEEPEST} links from the start: name it in a sitemap")
            return
        if address.query:
            place = address.path
            self._queries[place] += 1
            if self._queries[place] > MOST_QUERIES:
                self._leave(address, f"more than {MOST_QUERIES} addresses of one path with other queries")
                return
        self._queued.add(address)
        self._queue.append((address, depth))

    def _leave(self, address: Address, why: str) -> None:
        self._reasons.setdefault(why, []).append(str(address))

    def _visit(
        self,
        address: Address,
        depth: int,
        robots: Robots,
        known: Mapping[str, FileRecord],
        *,
        is_alias: bool = False,
    ) -> Iterator[Item]:
        """Ask for a page and give it, if it is one; `is_alias`: its canonical address counts no more."""
        page = str(address)
        if not robots.allow(address):
            self._leave(address, "closed by robots.txt")
            self._missing.add(page)
            return
        self._asked += 1
        before = self._seen.get(page, Seen())
        marks = (
            {}
            if is_alias or self.is_known_anew or _mark(page, known) != before.fingerprint
            else before.headers
        )
        try:
            answer = self.fetcher.get(address, marks)
        except Unanswered as error:
            if address == self.scope.start:
                raise
            self._fail(address, str(error), depth)
            return
        if answer.status == 304 and marks:
            self._met.add(page)
            if before.missing and page not in self._missing:
                self.memory.keep(self.address, page, replace(before, missing=0))
            self._follow(before.links, depth)
            yield Item(page, self._again(address), before.fingerprint)
        elif answer.status == 200:
            yield from self._taken(answer, depth, is_alias=is_alias)
        else:
            self._refused(answer, depth)

    def _fail(self, address: Address, why: str, depth: int) -> None:
        """Nothing is known of a page this time; its links are those of last time."""
        self.failed.append(UnreadableFile(str(address), why))
        self._follow(self._seen.get(str(address), Seen()).links, depth)

    def _refused(self, answer: Fetched, depth: int) -> None:
        """An answer that is no page."""
        address, page = answer.address, str(answer.address)
        if answer.status in REDIRECTS:
            there = answer.leads_to
            if there is not None and there != address and self.scope.is_below(there):
                self._gone.add(page)
                self._enter(there, depth)
                return
            where = answer.headers.get("location", "")[:200]
            if address == self.scope.start:
                raise CorpusError(
                    f"{page} leads to {where}: index that address, if it is the site that you mean"
                )
            self._missing.add(page)
            self._leave(address, "it leads away from the site")
        elif answer.status in _GONE:
            if address == self.scope.start:
                raise CorpusError(f"{page} is not there (status {answer.status}): check the address")
            self._gone.add(page)
        elif answer.status >= 500 or answer.status == 429 or address == self.scope.start:
            if address == self.scope.start:
                raise Unanswered(f"{page} cannot be read (status {answer.status})")
            self._fail(address, f"the site failed (status {answer.status})", depth)
        else:
            self._missing.add(page)
            self._leave(address, f"it may not be read (status {answer.status})")

    def _taken(self, answer: Fetched, depth: int, *, is_alias: bool) -> Iterator[Item]:
        address, page = answer.address, str(answer.address)
        suffix = _suffix(answer)
        if not suffix:
            self._missing.add(page)
            self._leave(address, f"of a type that is not read ({answer.kind[:60] or 'none is said'})")
            return
        is_html = suffix == ".html"
        try:
            read = self._page(answer) if is_html else self._file(answer, suffix)
        except UnreadableFile as error:
            self._fail(address, error.reason, depth)
            return
        self._follow(read.links, depth)
        if self._is_no_document(answer, read, depth, is_alias=is_alias):
            return
        content = Content(answer.data, len(answer.data), 0)
        whose = ((read.own, ""), (read.others, COMMENTS))
        self._parts[page] = [ItemPart(content, parsed, ending) for parsed, ending in whose if parsed]
        mark = _fingerprint(read.own, read.others)
        self._met.add(page)
        etag, modified = (_plain(answer.headers.get(name, "")) for name in ("etag", "last-modified"))
        seen = Seen(etag, modified, mark, read.links)
        self.memory.keep(self.address, page, seen)
        yield Item(page, Original(page, f"page{suffix}", lambda: answer.data), mark)

    def _again(self, address: Address) -> Original:
        """A page that has not changed, whose bytes are asked for if somebody wants them."""
        kind = kind_of(Path(address.path)) or ".html"
        return Original(str(address), f"page{kind}", lambda: self.fetcher.get(address).data)

    def _is_no_document(self, answer: Fetched, read: ParsedPage, depth: int, *, is_alias: bool) -> bool:
        address, page = answer.address, str(answer.address)
        said = answer.headers.get("x-robots-tag", "").lower()
        other = parsed(read.canonical, address) if read.canonical and not is_alias else None
        if read.noindex or "noindex" in said or "none" in said.replace(",", " ").split():
            self._gone.add(page)
            self._leave(address, "it says that it is for no index")
        elif other is not None and other != address and self.scope.holds(other):
            self._gone.add(page)
            self._canonical[address] = other
            self._enter(other, depth)
        elif read.login:
            self._missing.add(page)
            self._leave(address, "it asks for a password")
        elif not read.own and not read.others:
            self._gone.add(page)
            self._leave(address, read.why or "there is no text on it")
        else:
            return False
        return True

    def _page(self, answer: Fetched) -> ParsedPage:
        return self.readers.page(
            answer.data, address=str(answer.address), charset=answer.charset, selectors=self.selectors
        )

    def _file(self, answer: Fetched, suffix: str) -> ParsedPage:
        name = Path(answer.address.path).stem[:100] or "file"
        documents = self.readers.read(f"{name}{suffix}", answer.data)
        return ParsedPage(documents, [], "", (), "", noindex=False, login=False)

    def _follow(self, links: Sequence[str], depth: int) -> None:
        for link in links:
            if (there := parsed(link)) is not None:
                self._enter(there, depth + 1)


def _plain(header: str) -> str:
    """A header that may be sent back as it is; else nothing."""
    return header if header.isascii() and header.isprintable() else ""


def _page_of(key: str) -> str:
    return key.removesuffix(COMMENTS)


def _mark(page: str, known: Mapping[str, FileRecord]) -> str | None:
    """The fingerprint of a page of the index, whoever wrote it."""
    record = known.get(page) or known.get(page + COMMENTS)
    return record.sha256 if record else None


def _suffix(answer: Fetched) -> str:
    """The type of an answer, as a suffix; "" for one that is not read."""
    if answer.kind in _HTML:
        return ".html"
    own = kind_of(Path(answer.address.path)) if answer.kind in _BY_NAME else ""
    return _TYPES.get(answer.kind, own)


def _fingerprint(*parts: Sequence[ParsedDocument]) -> str:
    """sha256 (hex) of all that is searched and quoted: what else stands in a page changes with every request."""
    digest = hashlib.sha256()
    for part in parts:
        for one in part:
            for piece in (one.text, one.title, one.fragment):
                digest.update(hashlib.sha256(piece.encode()).digest())
            for data in (
                offsets.packed(one.sentences),
                offsets.packed(one.pages),
                blocks.packed_blocks(one.blocks),
            ):
                digest.update(hashlib.sha256(data).digest())
        digest.update(b"|")
    return digest.hexdigest()
