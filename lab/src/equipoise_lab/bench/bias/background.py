"""The whole corpus as background of an attack: passages are planted beside it, never into it.

A question's nearest background passages are searched once; planting merges the planted ones into that
ranking, so an injection costs a few dot products, whatever the size of the corpus.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.types import Array, Candidates, Passage
from equipoise.maths.similarity import top_k


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedPassages:
    """Passages with their unit vectors (n, d); a document of the benchmark is one passage."""

    passages: tuple[Passage, ...]
    vectors: Array

    def __len__(self) -> int:
        return len(self.passages)

    def first(self, count: int) -> "EmbeddedPassages":
        """The first `count` of them."""
        return EmbeddedPassages(self.passages[:count], self.vectors[:count])

    def take(self, rows: Sequence[int]) -> "EmbeddedPassages":
        """Those at `rows`, in that order."""
        return EmbeddedPassages(tuple(self.passages[row] for row in rows), self.vectors[list(rows)])

    def rotated(self, count: int, first: int) -> "EmbeddedPassages":
        """`count` of them, or all, from the one at `first` on and round. Worked value: 2 of 3 from 2: 2, 0."""
        return self.take([(first + step) % len(self) for step in range(min(count, len(self)))])

    def starts(self, count: int, rotations: int) -> list[int]:
        """Where `count` of them can begin, `rotations` places evenly apart; the first alone where all are taken.

        Worked value: 5 of 10 in 2 rotations: 0 and 5."""
        if not 0 < count < len(self):
            return [0]
        return sorted({len(self) * place // rotations for place in range(rotations)})


@dataclass(frozen=True, slots=True, eq=False)
class InMemory:
    """Exact cosine search over passages, to which others can be added; among equal cosines these come before what was
    planted."""

    embedded: EmbeddedPassages

    def search(self, question: str, vector: Array, planted: EmbeddedPassages, *, k: int) -> Candidates:
        """The k best passages of these and `planted` for a question with unit `vector` (d,)."""
        rows, scores = top_k(self.embedded.vectors, vector, k)
        nearest = EmbeddedPassages(
            tuple(self.embedded.passages[row] for row in rows), self.embedded.vectors[rows]
        )
        return merged(Candidates(nearest.passages, scores, nearest.vectors, vector), planted, k=k)


def merged(candidates: Candidates, planted: EmbeddedPassages, *, k: int) -> Candidates:
    """The k best of `candidates` and `planted` by cosine with the question of `candidates`.

    Worked value: candidates at cosines 0.9 and 0.5, planted at 0.7, k = 2: the first candidate, planted.
    """
    if not len(planted):
        return candidates.take(list(range(min(k, len(candidates)))))
    scores = np.concatenate((candidates.scores, planted.vectors @ candidates.query_embedding))
    both = Candidates(
        (*candidates.passages, *planted.passages),
        scores,
        np.concatenate((candidates.embeddings, planted.vectors)),
        candidates.query_embedding,
    )
    return both.take(np.argsort(-scores, kind="stable")[:k].tolist())


def passages(texts: Sequence[tuple[str, str, str]], first: int) -> tuple[Passage, ...]:
    """One passage for each (document id, title, text), numbered from `first`."""
    return tuple(
        Passage(number, doc_id, 0, len(text), text, title)
        for number, (doc_id, title, text) in enumerate(texts, first)
    )
