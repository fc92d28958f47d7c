"""What a site says to programs in robots.txt (RFC 9309), and the sitemaps that it names."""

from collections.abc import Iterator
from dataclasses import dataclass, field

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
        """The rules of the fetcher's site, whose pause it keeps from now on. Raises Unanswered where the site does not
        say them: then nothing is asked."""
        address = parsed("/robots.txt", fetcher.start)
        answer = fetcher.follow(address or fetcher.start)
        if answer.status >= 500:
            raise Unanswered(f"robots.txt cannot be read (status {answer.status}), so no page is asked for")
        text = answer.data[:MOST_BYTES].decode("utf-8", "replace") if answer.status == 200 else ""
        rules = Protego.parse(text)
        fetcher.delay = min(max(float(rules.crawl_delay(AGENT) or 0.0), fetcher.delay), LONGEST_WAIT_S)
        return cls(rules, tuple(rules.sitemaps)[:MOST_SITEMAPS])

    def allow(self, address: Address) -> bool:
        """Whether this program may ask there."""
        return bool(self.rules.can_fetch(str(address), AGENT))


@dataclass(slots=True)
class Sitemaps:
    """The sitemaps of a site: those that robots.txt names, else /sitemap.xml, and all that they lead to there."""

    fetcher: Fetcher
    readers: Readers
    failed: list[UnreadableFile] = field(default_factory=list)

    def pages(self, named: tuple[str, ...]) -> Iterator[Address]:
        """The addresses in them."""
        waiting = [made for one in named or ("/sitemap.xml",) if (made := parsed(one, self.fetcher.start))]
        seen: set[Address] = set()
        while waiting and len(seen) < MOST_SITEMAPS:
            address = waiting.pop(0)
            if address in seen or address.origin != self.fetcher.start.origin:
                continue
            seen.add(address)
            maps, pages = self._read(address, is_guess=not named)
            waiting += [made for one in maps if (made := parsed(one))]
            yield from (made for one in pages if (made := parsed(one)))

    def _read(self, address: Address, *, is_guess: bool) -> tuple[list[str], list[str]]:
        try:
            answer = self.fetcher.follow(address)
            if answer.status != 200:
                raise Unanswered(f"status {answer.status}")
            name = "sitemap.xml.gz" if answer.data.startswith(b"\x1f\x8b") else "sitemap.xml"
            return self.readers.sitemap(name, answer.data)
        except CorpusError as error:
            if not is_guess:
                reason = error.reason if isinstance(error, UnreadableFile) else str(error)
                self.failed.append(UnreadableFile(str(address), f"this sitemap cannot be read: {reason}"))
            return [], []
