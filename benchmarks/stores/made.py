"""Made documents for measuring stores: words by Zipf's law, vectors in clusters; a fixed seed."""

from collections.abc import Iterator

import numpy as np

from equipoise.core.types import Document
from equipoise.corpus.records import Entry

SEED, DIMENSIONS, VOCABULARY = 20261124, 384, 20_000
PASSAGES, WORDS, CLUSTERS, SPREAD = 20, 60, 400, 0.7


class Corpus:
    """Documents of PASSAGES passages of WORDS words, and questions for them."""

    name, dimensions = "made", DIMENSIONS

    def __init__(self) -> None:
        self._rng = np.random.default_rng(SEED)
        self._centres = unit(self._rng.normal(size=(CLUSTERS, DIMENSIONS)))
        ranks = 1.0 / np.arange(1, VOCABULARY + 1)
        self._shares = ranks / ranks.sum()

    def entries(self, passages: int) -> Iterator[Entry]:
        """Documents with so many passages together."""
        for number in range(passages // PASSAGES):
            pieces = [f"{' '.join(self.words(WORDS))}." for _ in range(PASSAGES)]
            text = "\n\n".join(pieces)
            spans, start = [], 0
            for piece in pieces:
                spans.append((start, start + len(piece)))
                start += len(piece) + 2
            document = Document(f"d{number}", text, f"d{number}.txt", sentences=tuple(spans))
            yield Entry(document, tuple(spans), self.vectors(PASSAGES))

    def words(self, count: int) -> list[str]:
        """Some words, the common ones more often."""
        return [f"w{n}x" for n in self._rng.choice(VOCABULARY, count, p=self._shares)]

    def vectors(self, count: int) -> np.ndarray:
        """(n, d) unit vectors, each near to one of the centres."""
        centres = self._centres[self._rng.integers(0, CLUSTERS, count)]
        noise = unit(self._rng.normal(size=(count, DIMENSIONS)))
        return unit(centres + SPREAD * noise)

    def encode(self, texts: list[str]) -> np.ndarray:
        """Vectors for questions."""
        return self.vectors(len(texts))


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
