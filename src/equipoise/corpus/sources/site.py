"""A site as a source: its pages are found by sitemaps and by the owner's own links below the start address.

What is gone is what the site says is gone: not found (404, 410), moved, for no index. A page that nothing leads to any
more, or that may not be read any more, goes after the second run that finds it so.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus.files import Content, Original
from equipoise.corpus.loaders import kind_of
from equipoise.corpus.pages import ParsedPage
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.sources.addresses import Address, SiteScope, parsed
from equipoise.corpus.sources.answers import day_of, fingerprint_of, hash_of, suffix_of, versions
from equipoise.corpus.sources.fetching import CONNECTIONS, REDIRECTS, Fetched, Fetcher
from equipoise.corpus.sources.memory import Memory, Seen
from equipoise.corpus.sources.robots import Robots, pages_of
from equipoise.corpus.sources.source import COMMENTS, Addressed, Item, ItemPart, Unanswered
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers

if TYPE_CHECKING:
    from equipoise.corpus.sources.browser import Browser

DEEPEST = 30
"""Links from the start, or from a sitemap, to a page, at most: so an endless calendar has an end."""
MOST_QUERIES = 100
"""Addresses of one path that differ in their query."""
_AHEAD = 2
"""Requests in flight or waiting for each that may run at once, so that none is idle while a page is read."""
PATIENCE = 2
"""A page is gone once it was missing in so many runs in a row."""
BARE = 200
"""Characters that a page with scripts must say by itself, so that no browser is asked: "Loading..." is no page."""
_BY_SCRIPT = "there is no text on it before its scripts have run: see browser in docs/sources.md"
_GONE = frozenset({404, 410})


@dataclass(slots=True)
class Site(Addressed):
    """The pages of one site within a `scope`; `selectors` choose what readers wrote, and no more than `most` pages are
    asked for. `is_known_anew`: what was remembered of pages does not count, as they are now read in another way."""

    scope: SiteScope
    fetcher: Fetcher
    readers: Readers
    memory: Memory
    selectors: tuple[str, ...] = ()
    is_known_anew: bool = False
    browser: "Browser | None" = None
    _seen: dict[str, Seen] = field(default_factory=dict)
    _queue: deque[tuple[Address, int]] = field(default_factory=deque)
    _queued: set[Address] = field(default_factory=set)
    _queries: Counter[str] = field(default_factory=Counter)
    _met: set[str] = field(default_factory=set)
    _gone: set[str] = field(default_factory=set)
    _missing: set[str] = field(default_factory=set)
    _canonical: dict[Address, Address] = field(default_factory=dict)
    _parts: dict[str, Sequence[ItemPart]] = field(default_factory=dict)
    _asked: int = 0
    _known: int = 0

    @property
    def expected(self) -> int:
        return self._known

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """The pages, each as soon as it is read. Raises CorpusError where the site does not answer."""
        self._seen, self._known = self.memory.pages(self.address), len({_page_of(key) for key in known})
        robots = Robots.of(self.fetcher)
        if self.browser is not None:
            self.browser.allow = robots.allow
        self._enter(self.scope.start, 0)
        for address in pages_of(robots.sitemaps, self.fetcher, self.readers, self.failed):
            self._enter(address, 1)
        yield from self._walk(robots, known)
        for alias, other in list(self._canonical.items()):
            if str(other) not in self._met:  # its canonical page is no document: it stands for itself
                yield from self._visit(alias, robots, known, is_alias=True)
        yield from self._look_again(robots, known)

    def _walk(self, robots: Robots, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """Several pages are asked for at once, where the site does not mind, and read in their order."""
        waiting: deque[_Asked] = deque()
        asking = ThreadPoolExecutor(CONNECTIONS, "equipoise-site")
        try:
            while self._queue or waiting:
                while self._queue and len(waiting) < self._ahead() and not self._is_enough():
                    address, depth = self._queue.popleft()
                    if self._may_ask(address, robots):
                        marks = self._marks(address, known)
                        headers = marks.headers if marks else None
                        answer = asking.submit(self.fetcher.get, address, headers)
                        waiting.append(_Asked(address, depth, marks, answer.result))
                if waiting:
                    yield from self._answered(waiting.popleft())
                elif self._queue and self._is_enough():
                    why = f"more than {self.most:,} pages: raise pages, or narrow the address"
                    self._leave(self._queue[0][0], why)
                    return
        finally:
            asking.shutdown(cancel_futures=True)

    def _ahead(self) -> int:
        return 1 if self.fetcher.at_once == 1 else _AHEAD * self.fetcher.at_once

    def _is_enough(self) -> bool:
        return self._asked >= self.most

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
                    yield from self._visit(address, robots, known)

    def _runs_missing(self, page: str) -> int:
        return self._seen.get(page, Seen()).missing + 1

    def read(self, item: Item) -> Sequence[ItemPart]:
        """See DocumentSource: the parts that `items` has kept."""
        return self._parts.pop(item.key)

    def gone(self, known: Mapping[str, FileRecord]) -> Sequence[str]:
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

    def _may_ask(self, address: Address, robots: Robots) -> bool:
        """Whether a page may be asked for; counts it."""
        if not robots.allow(address):
            self._leave(address, "closed by robots.txt")
            self._missing.add(str(address))
            return False
        self._asked += 1
        return True

    def _marks(self, address: Address, known: Mapping[str, FileRecord]) -> Seen | None:
        """What is remembered of a page if the index has just that version of it, else None."""
        before = self._seen.get(str(address))
        is_held = before is not None and _mark(str(address), known) == before.fingerprint != ""
        return before if is_held and not self.is_known_anew else None

    def _visit(
        self, address: Address, robots: Robots, known: Mapping[str, FileRecord], *, is_alias: bool = False
    ) -> Iterator[Item]:
        """Fetch one page and yield it, if it is a document; `is_alias`: its canonical address does not count."""
        if self._may_ask(address, robots):
            marks = None if is_alias else self._marks(address, known)
            answer = partial(self.fetcher.get, address, marks.headers if marks else None)
            depth = 0 if is_alias else DEEPEST
            yield from self._answered(_Asked(address, depth, marks, answer, is_alias))

    def _answered(self, asked: "_Asked") -> Iterator[Item]:
        """Take the answer to a request and yield its page, if it is a document."""
        address, depth, before = asked.address, asked.depth, asked.before
        try:
            answer = asked.answer()
        except Unanswered as error:
            if address == self.scope.start:
                raise
            self._fail(address, str(error), depth)
            return
        if answer.status == 200 and before is not None and before.body == hash_of(answer):
            before = replace(before, **versions(answer))
            yield from self._same(address, depth, before)
        elif answer.status == 304 and before is not None:
            yield from self._same(address, depth, before)
        elif answer.status == 200:
            yield from self._taken(answer, depth, is_alias=asked.is_alias)
        else:
            self._refused(answer, depth)

    def _same(self, address: Address, depth: int, before: Seen) -> Iterator[Item]:
        """Yield a page that has not changed."""
        page = str(address)
        self._met.add(page)
        now = before if page in self._missing else replace(before, missing=0)
        if now != self._seen[page]:
            self.memory.keep(self.address, page, now)
        self._follow(before.links, depth)
        yield Item(page, self._again(address), before.fingerprint)

    def _fail(self, address: Address, why: str, depth: int) -> None:
        """Note that a page could not be read this time; its links are those of last time."""
        self.failed.append(UnreadableFile(str(address), why))
        self._follow(self._seen.get(str(address), Seen()).links, depth)

    def _refused(self, answer: Fetched, depth: int) -> None:
        """Take an answer that is no page: a redirect or an error."""
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
        suffix = suffix_of(answer)
        if not suffix:
            self._missing.add(page)
            self._leave(address, f"of a type that is not read ({answer.kind[:60] or 'none is said'})")
            return
        is_html = suffix == ".html"
        try:
            read = self._page(answer) if is_html else self._file(answer, suffix)
            if self.browser is not None and is_html and _is_bare(answer, read):
                answer = self.browser.rendered(answer)
                read = self._page(answer)
        except UnreadableFile as error:
            self._fail(address, error.reason, depth)
            return
        self._follow(read.links, depth)
        if self._is_no_document(answer, read, depth, is_alias=is_alias):
            return
        content = Content(answer.data, len(answer.data), 0)
        whose = ((read.own, ""), (read.others, COMMENTS))
        self._parts[page] = [ItemPart(content, parsed, ending) for parsed, ending in whose if parsed]
        mark = fingerprint_of(read.own, read.others)
        self._met.add(page)
        seen = Seen(**versions(answer), fingerprint=mark, links=read.links, body=hash_of(answer))
        self.memory.keep(self.address, page, seen)
        original = Original(page, f"page{suffix}", lambda: answer.data, day_of(answer))
        yield Item(page, original, mark)

    def _again(self, address: Address) -> Original:
        """The original of a page that has not changed; its bytes are fetched only when they are needed."""
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
            is_by_script = self.browser is None and _is_bare(answer, read)
            self._leave(address, _BY_SCRIPT if is_by_script else read.why or "there is no text on it")
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """A page that is asked for; `before` is what is remembered of it (`_marks`), `answer` waits for the answer."""

    address: Address
    depth: int
    before: Seen | None
    answer: Callable[[], Fetched]
    is_alias: bool = False


def _is_bare(answer: Fetched, read: ParsedPage) -> bool:
    """Whether a page that may be read says next to nothing without its scripts."""
    said = sum(len(one.text) for one in (*read.own, *read.others))
    return said < BARE and not (read.noindex or read.login) and b"<script" in answer.data.lower()


def _page_of(key: str) -> str:
    return key.removesuffix(COMMENTS)


def _mark(page: str, known: Mapping[str, FileRecord]) -> str | None:
    """The fingerprint of a page of the index, whoever wrote it."""
    record = known.get(page) or known.get(page + COMMENTS)
    return record.sha256 if record else None
