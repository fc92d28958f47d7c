"""Finds nearly the same paragraphs in several documents, by MinHash and banding: in linear time, no pair is missed for
being far apart, and none is compared with all others.

Broder, "On the resemblance and containment of documents" (1997). Of SHINGLE words in a row each, two paragraphs share
a Jaccard share J; each of HASHES minima agrees with probability J. Paragraphs that agree in one of the bands of ROWS
minima are compared: of those with J = 0.5 at least 64% meet, with 0.6 at least 89%, with 0.7 at least 98%.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equipoise.audit.scan.words import Words
from equipoise.core.types import BlockKind, Document
from equipoise.text.visible import flowing

SHINGLE = 3
HASHES, ROWS = 64, 4
LEAST_WORDS = 12
"""Of a paragraph that is looked at: shorter ones are alike by chance."""
BEGINNING = 160
"""Characters of a paragraph that are shown."""
ALIKE = 0.6
"""The least estimated Jaccard share of near-copies."""

Signatures = NDArray[np.uint32]

_random = np.random.default_rng(20251124)
_FACTORS = _random.integers(1, 2**63, HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _random.integers(0, 2**63, HASHES, dtype=np.uint64)
_MIX = _random.integers(1, 2**63, SHINGLE, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of document number `document`: text[start:end], a digest of its words, and how it begins."""

    document: int
    start: int
    end: int
    digest: int
    begins: str = ""


@dataclass(slots=True)
class Paragraphs:
    """The paragraphs of many documents with their signatures, taken in one document after the other."""

    items: list[Paragraph] = field(default_factory=list)
    signatures: list[Signatures] = field(default_factory=list)

    def add(self, number: int, document: Document, words: Words) -> None:
        """The paragraphs of a document, whose words are `words`."""
        hashes = np.fromiter(
            (zlib.crc32(word.encode("utf-8", "replace")) for word in words.words), np.uint64, len(words.words)
        )
        for start, end in _paragraphs(document):
            first, behind = np.searchsorted(words.starts, [start, end])
            if behind - first >= LEAST_WORDS:
                own, begins = (
                    hashes[first:behind],
                    flowing(document.text[start : min(end, start + BEGINNING)]),
                )
                self.items.append(Paragraph(number, start, end, zlib.crc32(own.tobytes()), begins))
                self.signatures.append(signature(own))

    def groups(self) -> Iterator[tuple[Paragraph, ...]]:
        """Paragraphs that are nearly the same, of two documents or more, in their order."""
        for rows in alike(np.array(self.signatures, np.uint32).reshape(-1, HASHES)):
            members = tuple(self.items[row] for row in rows)
            if len({member.document for member in members}) > 1:
                yield members


def _paragraphs(document: Document) -> Iterator[tuple[int, int]]:
    kinds = {BlockKind.PARAGRAPH, BlockKind.ITEM}
    if document.blocks:
        yield from ((block.start, block.end) for block in document.blocks if block.kind in kinds)
    else:
        yield from document.sentences


def signature(hashes: NDArray[np.uint64]) -> Signatures:
    """The minima (HASHES,) of the shingles of words with these hashes (n,), n at least SHINGLE."""
    count = len(hashes) - SHINGLE + 1
    mixed = sum((hashes[row : row + count] * _MIX[row] for row in range(SHINGLE)), np.zeros(count, np.uint64))
    mixed ^= mixed >> np.uint64(29)
    spread = mixed[:, None] * _FACTORS + _TERMS
    return np.asarray((spread >> np.uint64(32)).min(axis=0), np.uint32)


def alike(signatures: Signatures) -> list[list[int]]:
    """Groups of rows of `signatures` (n, HASHES), two or more each, that are chained by an estimated Jaccard share of
    ALIKE. A row is compared with the first of each bucket alone, so the time is linear in n."""
    parents = list(range(len(signatures)))
    for band in range(0, HASHES, ROWS):
        first: dict[bytes, int] = {}
        for row, key in enumerate(np.ascontiguousarray(signatures[:, band : band + ROWS])):
            other = first.setdefault(key.tobytes(), row)
            root, other_root = _root(parents, row), _root(parents, other)
            if root != other_root and np.mean(signatures[row] == signatures[other]) >= ALIKE:
                parents[max(root, other_root)] = min(root, other_root)
    groups: dict[int, list[int]] = defaultdict(list)
    for row in range(len(parents)):
        groups[_root(parents, row)].append(row)
    return [rows for rows in groups.values() if len(rows) > 1]


def _root(parents: list[int], row: int) -> int:
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row


def is_same(members: Sequence[Paragraph]) -> bool:
    """Whether all have the very same words."""
    return len({member.digest for member in members}) == 1
