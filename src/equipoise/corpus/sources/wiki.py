"""A MediaWiki as a source, by its API: each page is a document, and its revision says which version it is.

It is asked through the client for sites, so its host is checked as that of a site is. The HTML of a page is read, not
its wikitext, so that templates are filled in. Who may edit a page decides its trust: `level` names the group that alone
may edit trusted pages and, by cascading protection, their templates; anybody may have written the others.
"""

import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from equipoise.core.errors import CorpusError, InputError
from equipoise.core.source_settings import SourceSettings
from equipoise.corpus.files import Content, Original
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.sources.addresses import Address, is_chosen, parsed
from equipoise.corpus.sources.fetching import Fetched, Fetcher
from equipoise.corpus.sources.source import Item, ItemPart, Listed, Unanswered
from equipoise.corpus.workers import Readers

_MOST_LISTS = 20_000
"""Answers of a listing; each names up to 500 pages."""


@dataclass(slots=True)
class Wiki(Listed):
    """The pages of the wiki whose `api.php` is in the folder at `address`, of some `namespaces` ("0|4"; 0 is articles),
    the first `most` of them; with `level`, pages that others may edit are anybody's."""

    fetcher: Fetcher
    readers: Readers
    level: str = ""
    namespaces: str = "0"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _known: Mapping[str, FileRecord] = field(default_factory=dict)

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """See DocumentSource: all of it is listed before the first is given."""
        self._known = known
        for page in self._listed():
            path = quote(str(page["title"]).replace(" ", "_"), safe="/:")
            key = self.address + path
            if is_chosen(f"/{path}", self.include, self.exclude):
                self._there[key] = page
            else:
                self._leave(key, "excluded")
        for key, page in self._first("pages"):
            original = Original(key, "page.html", partial(self._html, key), _day(page))
            is_open = bool(self.level) and not _is_closed(page, self.level)
            yield Item(key, original, "", int(page.get("length") or 0), _version(page), is_anybodys=is_open)

    def read(self, item: Item) -> Sequence[ItemPart]:
        """See DocumentSource. A page whose templates have changed may look as before."""
        content = Content(self._html(item.key), item.size, item.mtime_ns)
        before = self._known.get(item.key)
        if before is not None and before.sha256 == content.sha256:
            return [ItemPart(content)]
        title = str(self._there[item.key]["title"]).replace("/", " ")[:100]
        return [ItemPart(content, self.readers.read(f"{title}.html", content.data))]

    def _listed(self) -> Iterator[Mapping[str, Any]]:
        """All pages that are no redirects. Raises CorpusError where one answer is missing."""
        for namespace in self.namespaces.split("|"):
            asked = {
                "action": "query",
                "generator": "allpages",
                "gapnamespace": namespace,
                "gapfilterredir": "nonredirects",
                "gaplimit": "500",
                "prop": "info|revisions",
                "rvprop": "timestamp",
                "inprop": "protection",
            }
            more: Mapping[str, Any] = {}
            for _ in range(_MOST_LISTS):
                answer = self._asked({**asked, **{str(name): str(value) for name, value in more.items()}})
                yield from (page for page in answer.get("query", {}).get("pages", ()) if "lastrevid" in page)
                if not (more := answer.get("continue", {})):
                    break
            else:
                raise CorpusError(f"the list of {self.address} does not end")

    def _html(self, key: str) -> bytes:
        page = self._there[key]
        asked = {
            "action": "parse",
            "oldid": str(page["lastrevid"]),
            "prop": "text",
            "disablelimitreport": "1",
            "disableeditsection": "1",
            "disabletoc": "1",
        }
        try:
            text = str(self._asked(asked)["parse"]["text"])
        except Unanswered:
            raise
        except (CorpusError, KeyError, TypeError) as error:  # it was taken out meanwhile
            raise Unanswered(str(error)) from error
        title = html.escape(str(page["title"]))
        return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{text}</body></html>".encode()

    def _asked(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The answer of the API. Raises Unanswered if there is none, CorpusError for an error or what is no API."""
        start = self.fetcher.start
        query = urlencode({**given, "format": "json", "formatversion": "2"})
        answer = self.fetcher.get(replace(start, path=f"{start.path.rstrip('/')}/api.php", query=query))
        if answer.status != 200:
            raise Unanswered(f"{self.address} cannot be read (status {answer.status}){_where(answer)}")
        try:
            said = json.loads(answer.data)
            error = said.get("error")
        except (ValueError, RecursionError, AttributeError) as fault:
            raise CorpusError(
                f"{self.address} has no API of a MediaWiki: give the folder of api.php"
            ) from fault
        if error:
            raise CorpusError(f"{self.address} says: {str(error.get('info', error))[:200]}")
        return dict(said)


def _where(answer: Fetched) -> str:
    there = answer.headers.get("location", "")[:200]
    return f": it leads to {there}" if there else ""


def api_of(address: str) -> Address:
    """The folder of the API, as the client of sites asks for it. Raises CorpusError."""
    place = parsed(address.removeprefix("mediawiki+"))
    if place is None:
        raise CorpusError(f"{address} is no address of a wiki")
    return place


def wiki_of(chosen: SourceSettings, address: str, fetcher: Fetcher, readers: Readers) -> Wiki:
    """The wiki that the settings choose. Raises InputError for unknown options."""
    options = dict(chosen.options)
    level, namespaces = options.pop("protected", None), options.pop("namespaces", "0")
    if options or level == "" or not re.fullmatch(r"[0-9]+(\|[0-9]+)*+", namespaces):
        raise InputError('options of a wiki are protected, as "sysop", and namespaces, as "0|4"')
    within = (level or "", namespaces, chosen.include, chosen.exclude)
    return Wiki(address, fetcher, readers, *within, most=chosen.pages)


def _is_closed(page: Mapping[str, Any], level: str) -> bool:
    """Whether only one group may edit a page and the templates in it."""
    return any(
        one.get("type") == "edit"
        and one.get("level") == level
        and "cascade" in one
        and one["cascade"] is not False
        for one in page.get("protection", ())
    )


def _version(page: Mapping[str, Any]) -> int:
    """A number that changes with the page, and with the templates in it."""
    said = f"{page['lastrevid']} {page.get('touched', '')}"
    return int(hashlib.sha256(said.encode()).hexdigest()[:15], 16)


def _day(page: Mapping[str, Any]) -> date | None:
    """The day on which it was edited last."""
    try:
        return date.fromisoformat(str(page["revisions"][0]["timestamp"])[:10])
    except (KeyError, IndexError, TypeError, ValueError):
        return None
