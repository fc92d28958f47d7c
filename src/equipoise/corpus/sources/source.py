"""What a source is, wherever its documents live: three methods. `corpus.mirroring` brings an index up to date with any
of them: a folder, a site, a bucket."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.corpus.files import Content, LeftOut, Original
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.record_types import FileRecord

COMMENTS = "#comments"
"""Behind the address of a page: what its readers wrote there, a document of its own."""


class Unanswered(CorpusError):
    """No answer, or none that can be used; another try may bring one. Nothing is said about what was asked for."""


def of_source(files: Mapping[str, FileRecord], address: str) -> dict[str, FileRecord]:
    """Those of an index's files (`Store.files`) that are documents of the source at the address."""
    return {key: record for key, record in files.items() if record.root == address}


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a source: its `key` in the index, and its fingerprint, which is another where the content is: the
    `sha256` where that is known, else size and time (or a number that is another for each version). `whole` is its name
    for people where that of `original` is taken. `is_anybodys`: anybody may have written it, whatever the source is.
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
    """What one hand wrote in an item, parsed already where there are `readings`: `ending` stands behind the key as a
    name of its own. What ends in COMMENTS anybody may have written, whatever the source's trust."""

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
        """What could not be listed so far: nothing is said about it."""
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
        """What of the index is gone from the source, after `items`: only what the source says so of."""
        ...


@dataclass(slots=True)
class Addressed:
    """What holds of every DocumentSource at an `address`, of which no more than `most` is read."""

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
    """The same of one that lists all that is `_there`, by key, before it gives the first `most` of it."""

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
