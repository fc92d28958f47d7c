"""What a site says to programs in robots.txt (RFC 9309), and the sitemaps that it names."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from protego import Protego

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus.sources.addresses import Address, parsed
from equipoise.corpus.sources.fetching import AGENT, LONGEST_WAIT_S, Fetcher
from equipoise.corpus.sources.source import Unanswered
from equipoise.corpus.workers import Readers

MOST_BYTES = 500_000
MOST_SITEMAPS = 500


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for this program."""

    rules: Protego
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def of(cls, fetcher: Fetcher) -> "Robots":
        """The rules of the fetcher's site; from now on the fetcher pauses as they say. Raises Unanswered if they
        cannot be read: then no page is asked for."""
        answer = fetcher.follow(replace(fetcher.start, path="/robots.txt", query=""))
        if answer.status >= 500:
            raise Unanswered(f"robots.txt cannot be read (status {answer.status}), so no page is asked for")
        text = answer.data[:MOST_BYTES].decode("utf-8", "replace") if answer.status == 200 else ""
        rules = Protego.parse(text)
        fetcher.delay = min(max(float(rules.crawl_delay(AGENT) or 0.0), fetcher.delay), LONGEST_WAIT_S)
        return cls(rules, tuple(rules.sitemaps)[:MOST_SITEMAPS])

    def allow(self, address: Address) -> bool:
        """Whether this program may ask there."""
        return bool(self.rules.can_fetch(str(address), AGENT))


def pages_of(
    named: tuple[str, ...], fetcher: Fetcher, readers: Readers, failed: list[UnreadableFile]
) -> Iterator[Address]:
    """The addresses in the sitemaps of a site: those that robots.txt names, else /sitemap.xml, and those that they
    name in turn. If robots.txt names any, those that cannot be read are put into `failed`."""
    waiting = [made for one in named or ("/sitemap.xml",) if (made := parsed(one, fetcher.start))]
    seen: set[Address] = set()
    while waiting and len(seen) < MOST_SITEMAPS:
        address = waiting.pop(0)
        if address in seen or address.origin != fetcher.start.origin:
            continue
        seen.add(address)
        try:
            maps, pages = _read(address, fetcher, readers)
        except CorpusError as error:
            if named:
                reason = error.reason if isinstance(error, UnreadableFile) else str(error)
                failed.append(UnreadableFile(str(address), f"this sitemap cannot be read: {reason}"))
            continue
        waiting += [made for one in maps if (made := parsed(one))]
        yield from (made for one in pages if (made := parsed(one)))


def _read(address: Address, fetcher: Fetcher, readers: Readers) -> tuple[list[str], list[str]]:
    """The sitemaps and the pages that one names. Raises CorpusError."""
    answer = fetcher.follow(address)
    if answer.status != 200:
        raise Unanswered(f"status {answer.status}")
    name = "sitemap.xml.gz" if answer.data.startswith(b"\x1f\x8b") else "sitemap.xml"
    return readers.sitemap(name, answer.data)
