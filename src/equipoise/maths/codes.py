"""Unit vectors in four bits a value, an eighth of their memory: to choose a few of many rows for exact products.

A value becomes one of 16 equal steps. Their width is the one with the least error for normal values (Max, "Quantizing
for minimum distortion", 1960: 0.3352 standard deviations), and values of a unit vector have a standard deviation of
1 / sqrt(d): nothing is learnt from other rows.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise.maths.similarity import Array

LEVELS = 16
STEP = 0.3352
_BLOCK = 1 << 10  # rows that are widened at a time, in the processor's cache

Codes = NDArray[np.uint8]


def coded(rows: Array) -> Codes:
    """(n, ceil(d / 2)) bytes for unit `rows` (n, d): the first half of the values in the low four bits, the second
    half in the high ones, 0 the most negative step.

    Worked value: with d = 4 a step is 0.1676, and (0.5, 0.5, -0.5, 0.5) has the steps 10, 10, 5, 10: bytes 0x5a, 0xaa.
    """
    width = rows.shape[1]
    half = -(-width // 2)
    steps = np.floor(rows * np.float32(np.sqrt(width) / STEP)) + np.float32(LEVELS // 2)
    whole = np.clip(steps, 0, LEVELS - 1).astype(np.uint8)
    low: Codes = whole[:, :half].copy()
    low[:, : width - half] |= whole[:, half:] << 4
    return low


def products(codes: Codes, vector: Array) -> Array:
    """(n,) estimates of the inner products of the coded rows with `vector` (d,). Working memory, the result aside, is
    the same for any n."""
    width = len(vector)
    half = codes.shape[1]
    scaled = vector * np.float32(STEP / np.sqrt(width))
    low, high = scaled[:half], np.zeros(half, np.float32)
    high[: width - half] = scaled[half:]
    middle = scaled.sum() * np.float32((LEVELS - 1) / 2)
    estimates = np.empty(len(codes), np.float32)
    for start in range(0, len(codes), _BLOCK):
        block = codes[start : start + _BLOCK]
        sums = (block & 15).astype(np.float32) @ low + (block >> 4).astype(np.float32) @ high
        estimates[start : start + _BLOCK] = sums - middle
    return estimates
