"""Milliseconds a question of every filter: python benchmarks/speed/filters.py

Candidates are made up (384 dimensions, a fixed seed), k is 5. SMART's NLI model answers at once here: its own
time comes on top, 100 predictions at the default of 50 pairs. Median and 95th percentile of RUNS calls, with
one thread for linear algebra: on a busy machine several threads wait for each other.
"""

import asyncio
import os
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from equipoise.core.types import Array, Candidates, Passage, Query
from equipoise.rag.filters import BiasDefFilter, NoFilter
from equipoise.rag.trust import ByTrust
from equipoise_lab.methods.filters import BrraFilter, MmrFilter, SmartFilter

RUNS, DIMENSIONS, SIZES, K = 200, 384, (20, 100), 5


class Neutral:
    """Says at once that nothing contradicts anything."""

    async def predict(self, pairs: list[tuple[str, str]]) -> Array:
        """Rows of 0, 1, 0."""
        return np.tile(np.array([[0, 1, 0]], np.float32), (len(pairs), 1))


def candidates(count: int) -> Candidates:
    """Unit vectors around a question, most similar first."""
    rng = np.random.default_rng(count)
    question = rng.standard_normal(DIMENSIONS)
    question /= np.linalg.norm(question)
    rows = 0.6 * question + 0.8 * rng.standard_normal((count, DIMENSIONS)) / DIMENSIONS**0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows[np.argsort(-(rows @ question))].astype(np.float32)
    passages = tuple(Passage(n, f"d{n}", 0, 1, "x") for n in range(count))
    vector = question.astype(np.float32)
    return Candidates(passages, rows @ vector, rows, vector)


async def main() -> None:
    """Print one line for each filter and size."""
    filters = {
        "none": NoFilter(),
        "mmr": MmrFilter(),
        "smart (nli: none)": SmartFilter(),
        "smart (nli: instant)": SmartFilter(Neutral()),
        "brra": BrraFilter(),
        "biasdef": BiasDefFilter(),
        "auto (all open)": ByTrust(BiasDefFilter()),
    }
    for name, chosen in filters.items():
        for count in SIZES:
            pool, times = candidates(count), []
            for _ in range(RUNS):
                begin = perf_counter()
                await chosen.filter(Query("?"), pool, k=K)
                times.append((perf_counter() - begin) * 1e3)
            median, late = np.percentile(times, [50, 95])
            print(f"{name:22}{count:4} candidates: {median:6.2f} ms (95%: {late:.2f})")


asyncio.run(main())
