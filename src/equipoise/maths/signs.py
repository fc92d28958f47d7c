"""Sign bits of vectors, a thirty-second of their memory: to choose a few of many rows for exact products.

The number of signs in which two vectors differ grows with the angle between them (Charikar, "Similarity estimation
techniques from rounding algorithms", 2002, with the axes as planes), so the nearest rows are nearly always among those
with the fewest. How nearly is measured in benchmarks/speed.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise.maths.similarity import Array

WORD = 64
_BLOCK = 1 << 15  # rows whose words stay in the processor's cache
_SAMPLE = 1 << 14

Bits = NDArray[np.uint64]


def sign_bits(rows: Array) -> Bits:
    """(w, n) words for `rows` (n, d), w = d / 64 rounded up: one bit for each value, set where it is above 0.

    Worked value: the row (0.5, -0.5, 0.1) has the word 0b101 with its bits from the first on.
    """
    packed = np.packbits(rows > 0, axis=1, bitorder="little")
    words = -(-rows.shape[1] // WORD)
    padded = np.zeros((len(rows), words * WORD // 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view("<u8").T)


def differing(bits: Bits, vector: Array) -> NDArray[np.uint16]:
    """(n,) how many signs of each row of `bits` (w, n) differ from those of `vector` (d,).

    Working memory, the result aside, is the same for any n.
    """
    query = sign_bits(vector[None])[:, 0]
    total = np.zeros(bits.shape[1], np.uint16)
    for start in range(0, len(total), _BLOCK):
        part = total[start : start + _BLOCK]
        for word, wanted in zip(bits[:, start : start + _BLOCK], query, strict=True):
            part += np.bitwise_count(word ^ wanted)
    return total


def fewest(counts: NDArray[np.uint16], k: int) -> NDArray[np.intp]:
    """The rows (min(k, n),) with the lowest `counts` (n,), ascending; of equal ones at the border the first.

    Worked value: counts (3, 1, 2, 2) and k = 2 give rows 1 and 2.
    """
    if k >= len(counts):
        return np.arange(len(counts))
    border = _border(counts, k)
    below = np.flatnonzero(counts < border)
    equal = np.flatnonzero(counts == border)[: k - len(below)]
    return np.sort(np.concatenate((below, equal)))


def _border(counts: NDArray[np.uint16], k: int) -> int:
    """The least count that at least `k` rows do not exceed, 1 <= k < n: a sample says where to look for it."""
    sample = np.sort(counts[:: max(1, len(counts) // _SAMPLE)])
    border = int(sample[k * len(sample) // len(counts)])
    while np.count_nonzero(counts <= border) < k:
        border += 1
    while border and np.count_nonzero(counts <= border - 1) >= k:
        border -= 1
    return border
