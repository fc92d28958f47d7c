"""Near copies among a few texts, by their word shingles: the runs of so many words in a row.

Broder, "On the resemblance and containment of documents" (1997). The sets are compared whole, without sketches: for
the quotes of one question. For the paragraphs of a corpus there is MinHash (`audit.scan.copies`).
"""

import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b

from equipoise.text.normal import normalise
from equipoise.text.tokens import words

SIZE = 5
SHORT_SIZE = 3
"""Words of a shingle where `near_copy` compares: in a sentence of 12 words one changed word spoils 3 of 10 shingles,
but 5 of 8 of the usual size."""
ALIKE = 0.5
"""The resemblance from which two texts are near copies: 12 words of which one was changed have 7/13 in common."""
HELD = 0.8
"""The share of its shingles in the longer text from which the shorter one counts as taken out of it."""
LEAST_HELD = 12
"""Words of a text that can be taken out of another: shorter ones occur in others by chance."""


def shingles(text: str, size: int = SIZE) -> frozenset[int]:
    """The 64-bit hashes of the runs of `size` words of `text`, the same in every process.

    Case, white space, punctuation and typography do not count. A text of fewer words is one shingle, a text without
    words none. Raises ValueError where `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    return _shingles(_folded(text), size)


def resemblance(first: AbstractSet[int], second: AbstractSet[int]) -> float:
    """The Jaccard share of two sets of shingles, 0 to 1: what they have in common of all they have (Broder, r(A, B)).
    0 where both are empty."""
    return len(first & second) / max(1, len(first | second))


def containment(first: AbstractSet[int], second: AbstractSet[int]) -> float:
    """The share of `first`, 0 to 1, that is also in `second` (Broder, c(A, B)). 0 where `first` is empty."""
    return len(first & second) / max(1, len(first))


def near_copy(first: str, second: str) -> bool:
    """Whether one text is the other with little changed, or was taken out of it: the resemblance reaches ALIKE, or,
    for a text of LEAST_HELD words, its containment in the longer one reaches HELD.

    Symmetric. Texts of fewer than SHORT_SIZE words are near copies only where their words are equal.
    """
    shorter, longer = sorted((_folded(first), _folded(second)), key=lambda tokens: (len(tokens), tokens))
    mine, others = _shingles(shorter, SHORT_SIZE), _shingles(longer, SHORT_SIZE)
    if resemblance(mine, others) >= ALIKE:
        return True
    return len(shorter) >= LEAST_HELD and containment(mine, others) >= HELD


def _folded(text: str) -> list[str]:
    return words(normalise(unicodedata.normalize("NFKC", text)).text)


def _shingles(tokens: Sequence[str], size: int) -> frozenset[int]:
    runs = [tokens[at : at + size] for at in range(max(1, len(tokens) - size + 1))] if tokens else []
    return frozenset(map(_hash, runs))


def _hash(run: Sequence[str]) -> int:
    digest = blake2b(" ".join(run).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
