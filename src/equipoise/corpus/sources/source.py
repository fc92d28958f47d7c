"""The protocol of all sources of documents: a folder, a site, a bucket. `corpus.mirroring` brings an index up to date
with any of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus.files import Content, LeftOut, Original
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.record_types import FileRecord

COMMENTS = "#comments"
"""Added to the address of a page for what its readers wrote there, a document of its own."""


class Unanswered(CorpusError):
    """No answer, or none that can be used; another try may bring one. What was asked for may still be there."""


def of_source(files: Mapping[str, FileRecord], address: str) -> dict[str, FileRecord]:
    """Those of an index's files (`Store.files`) that are documents of the source at the address."""
    return {key: record for key, record in files.items() if record.root == address}


@dataclass(frozen=True, slots=True)
class Item:
    """A document of a source: its `key` in the index, and a fingerprint of its content: `sha256` if known, else size
    and time (or a number that differs for each version). `whole` is its name for people if that of `original` is
    taken. `is_anybodys`: anybody may have written it, whatever the trust of the source.
    """

    key: str
    original: Original
    sha256: str = ""
    size: int = 0
    mtime_ns: int = 0
    whole: str = ""
    is_anybodys: bool = False

    def is_as(self, old: FileRecord) -> bool:
        """Whether the index holds just this."""
        if self.sha256:
            return self.sha256 == old.sha256
        return (self.size, self.mtime_ns) == (old.size, old.mtime_ns)


@dataclass(frozen=True, slots=True)
class ItemPart:
    """What one writer wrote of an item, already parsed if it has `readings`; `ending` is added to the key, so that it
    has a name of its own. A part that ends in COMMENTS is untrusted, whatever the trust of the source."""

    content: Content
    readings: Sequence[ParsedDocument] | None = None
    ending: str = ""


class DocumentSource(Protocol):
    """Where documents live: in all but a folder every key begins with a `://` address."""

    @property
    def nothing(self) -> str:
        """What to say where nothing could be read."""
        ...

    @property
    def expected(self) -> int:
        """How many items there seem to be, as far as that is known."""
        ...

    @property
    def failed(self) -> Sequence[UnreadableFile]:
        """What could not be read so far, so that nobody knows whether it is gone."""
        ...

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """What was met and on purpose not read."""
        ...

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """Everything that is there; `known` is what the index holds of it. Raises CorpusError where nothing can be
        listed at all."""
        ...

    def read(self, item: Item) -> Sequence[ItemPart]:
        """What is in an item now, asked for once, in a thread, while later ones are listed. Raises UnreadableFile for
        what cannot be a document any more, Unanswered where another try may bring it."""
        ...

    def gone(self, known: Mapping[str, FileRecord]) -> Sequence[str]:
        """The keys of the index that the source says are gone; called after `items`."""
        ...


@dataclass(slots=True)
class Addressed:
    """The base of every DocumentSource at an `address`; no more than `most` of its items are read."""

    address: str
    most: int = field(default=10_000, kw_only=True)
    failed: list[UnreadableFile] = field(default_factory=list, kw_only=True)
    _reasons: dict[str, list[str]] = field(default_factory=dict, kw_only=True)

    @property
    def nothing(self) -> str:
        return f"nothing could be read at {self.address}"

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """See DocumentSource: for each reason the first, and how many more there are."""
        return [
            LeftOut(first, why + (f" (and {len(rest):,} more)" if rest else ""))
            for why, (first, *rest) in self._reasons.items()
        ]

    def _leave(self, what: object, why: str) -> None:
        self._reasons.setdefault(why, []).append(str(what))


@dataclass(slots=True)
class Listed(Addressed):
    """The base of one that lists all its items (`_there`, by key) before it yields the first `most` of them."""

    _there: dict[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def expected(self) -> int:
        return min(len(self._there), self.most)

    def gone(self, known: Mapping[str, FileRecord]) -> Sequence[str]:
        return [key for key in known if key not in self._there]

    def _first(self, what: str) -> Iterator[tuple[str, Any]]:
        """What is there, by key; those beyond the first `most` are left out, and called `what`."""
        for number, (key, found) in enumerate(sorted(self._there.items())):
            if number < self.most:
                yield key, found
            else:
                self._leave(key, f"more than {self.most:,} {what}: raise pages, or narrow the address")
