"""What a source is, wherever its documents live: three methods. `corpus.sources.syncing` brings an index up to date
with any of them.

A folder is mirrored by `corpus.indexing`, since files know what has changed without being read, and a walk knows at
once what is gone; both hand what they have read to the same `corpus.writing.IndexWriter`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.files import LeftOut, Original
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.record_types import FileRecord

COMMENTS = "#comments"
"""Behind the address of a page: what its readers wrote there, a document of its own."""


def of_source(files: Mapping[str, FileRecord], address: str) -> dict[str, FileRecord]:
    """Those of an index's files (`Store.files`) that are documents of the source at the address."""
    return {key: record for key, record in files.items() if record.root == address}


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a source: its address, and a mark of its content, which is another where the content is."""

    address: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ItemPart:
    """What one hand wrote in an item: `ending` stands behind the address as a name of its own. What ends in
    COMMENTS anybody may have written, whatever the source's trust."""

    readings: Sequence[ParsedDocument]
    original: Original
    size: int
    ending: str = ""


class DocumentSource(Protocol):
    """Where documents live: everything in it has an address that begins with a `://`."""

    @property
    def address(self) -> str:
        """Its own address, the root of its documents."""
        ...

    @property
    def failed(self) -> Sequence[UnreadableFile]:
        """What could not be read so far: nothing is said about it."""
        ...

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """What was met and on purpose not read."""
        ...

    def items(self, known: Mapping[str, str]) -> Iterator[Item]:
        """Everything that is there; `known` has the fingerprints of what the index holds. Raises CorpusError where
        nothing can be listed at all."""
        ...

    def read(self, item: Item) -> Sequence[ItemPart]:
        """The documents of the item that `items` gave last."""
        ...

    def gone(self, known: Mapping[str, str]) -> Sequence[str]:
        """What of the index is gone from the source, after `items`: only what the source says so of."""
        ...
